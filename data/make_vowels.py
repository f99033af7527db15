"""Make vowels.wav: three vowels, ah - ee - ah, from pulses and resonances. No voice was recorded.

    python make_vowels.py

A vowel is a train of pulses, the vocal cords, that makes two resonances ring, the formants of the mouth.
The frequencies are round numbers near those of textbooks. Needs NumPy only; writes the same bytes each time.
"""

import wave
from pathlib import Path

import numpy as np

RATE, PITCH, SECONDS = 8000, 125, 0.24  # samples a second, pulses a second, length of a vowel
VOWELS = [(750, 1200), (300, 2300), (750, 1200)]  # Hz: two formants each


def vowel(formants):
    t = np.arange(round(RATE * SECONDS)) / RATE
    pulses = np.zeros(len(t))
    pulses[:: RATE // PITCH] = 1
    ring = sum(np.exp(-200 * t) * np.sin(2 * np.pi * f * t) for f in formants)
    swell = np.minimum(1, np.minimum(t, t[::-1]) / 0.02)
    return swell * np.convolve(pulses, ring)[: len(t)]


if __name__ == "__main__":
    samples = np.concatenate([vowel(formants) for formants in VOWELS])
    whole = np.round(samples / np.abs(samples).max() * 20000).astype("<i2")
    with wave.open(str(Path(__file__).with_name("vowels.wav")), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(whole.tobytes())
