"""The exercises of notebook 02: queries, keys and values."""

import numpy as np

from course_lib.attention import project
from course_lib.exercises.exercise import Exercise, Slip

EXERCISES = {}
_rng = np.random.default_rng(0)

_X, _Wq, _Wk, _Wv = (_rng.normal(size=shape) for shape in ((4, 3), (3, 2), (3, 2), (3, 5)))

STAGES_MOVED = {
    "W_q": {"Q", "scores", "weights", "output"},
    "W_k": {"K", "scores", "weights", "output"},
    "W_v": {"V", "output"},
}

EXERCISES["02-project"] = Exercise(
    reference=project,
    probes=[(_X, _Wq, _Wk, _Wv)],
    slips=[
        Slip(
            "keys made with W_q",
            lambda X, W_q, W_k, W_v: (X @ W_q, X @ W_q, X @ W_v),
            "Your keys equal your queries: W_k is never used, and the keys are off by {number:.2f}.",
        ),
        Slip(
            "queries and keys exchanged",
            lambda X, W_q, W_k, W_v: (X @ W_k, X @ W_q, X @ W_v),
            "Your queries are the keys and your keys the queries, off by {number:.2f}. Look at their order.",
        ),
        Slip(
            "tokens as columns",
            lambda X, W_q, W_k, W_v: ((X @ W_q).T, (X @ W_k).T, (X @ W_v).T),
            "The numbers are there but turned over: you have {number:.0f} rows for 4 tokens. Here a token is a row.",
            lambda got, want, *inputs: len(got[0]),
        ),
        Slip(
            "only the first token",
            lambda X, W_q, W_k, W_v: (X[0] @ W_q, X[0] @ W_k, X[0] @ W_v),
            "This is the first token alone, an array with {number:.0f} axis. All tokens go through the matrices together.",
            lambda got, want, *inputs: got[0].ndim,
        ),
    ],
)

EXERCISES["02-moves"] = Exercise(
    reference=STAGES_MOVED.get,
    probes=[("W_q",), ("W_k",), ("W_v",)],
    slips=[
        Slip(
            "W_v moves the weights",
            lambda name: STAGES_MOVED[name] | ({"scores", "weights"} if name == "W_v" else set()),
            "You let W_v move {number} stages. Values enter after the weights are made: which stage reads V?",
            lambda got, want, name: len(got),
        ),
        Slip(
            "only the next stage",
            lambda name: {"W_q": {"Q"}, "W_k": {"K"}, "W_v": {"V"}}[name],
            "You name {number} stage where there are more: what is computed from a stage that moved moves too.",
            lambda got, want, name: len(got),
        ),
        Slip(
            "stops at the weights",
            lambda name: STAGES_MOVED[name] - {"output"},
            "You name {number} stages and leave out the last: what is a weighted sum made of?",
            lambda got, want, name: len(got),
        ),
        Slip(
            "everything moves",
            lambda name: {"Q", "K", "V", "scores", "weights", "output"},
            "You name all {number} stages every time. Q is made from X and W_q only: who else reads W_k?",
            lambda got, want, name: len(got),
        ),
    ],
)
