"""How long attention takes beside the plain formula that a reader would write, without a check.

usage: python tools/bench_attention.py [n ...]      times of the plain formula, measured in turn in one run
"""

import math
import statistics
import sys
import time

import numpy as np

from course_lib.attention import scores, self_attention, softmax, weighted_sum

D_K = 64
ROUNDS = 9


def plain_scores(Q, K):
    return Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])


def plain_softmax(alpha):
    powers = np.exp(alpha - alpha.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def plain_weighted_sum(weights, V):
    return weights @ V


def plain_attention(X, W_q, W_k, W_v):
    return plain_softmax(plain_scores(X @ W_q, X @ W_k)) @ (X @ W_v)


def seconds(function, inputs):
    start = time.perf_counter()
    function(*inputs)
    return time.perf_counter() - start


def times_of_the_plain(function, plain, inputs, rounds=ROUNDS):
    """The median time of a function as a multiple of the plain formula's, both measured in turn."""
    pairs = [(seconds(function, inputs), seconds(plain, inputs)) for _ in range(rounds + 1)]
    mine, formula = zip(*pairs[1:])  # the first round warms up
    return statistics.median(mine) / statistics.median(formula)


def compare(n, rounds=ROUNDS):
    """n tokens, D_K features, float64.  ->  how many times as long as the plain formula each takes"""
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, n, D_K))
    matrices = rng.normal(size=(3, D_K, D_K)) / math.sqrt(D_K)
    alpha = plain_scores(Q, K)
    weights = plain_softmax(alpha)
    return {
        "softmax": times_of_the_plain(softmax, plain_softmax, (alpha,), rounds),
        "scores": times_of_the_plain(scores, plain_scores, (Q, K), rounds),
        "weighted_sum": times_of_the_plain(weighted_sum, plain_weighted_sum, (weights, V), rounds),
        "self_attention": times_of_the_plain(self_attention, plain_attention, (Q, *matrices), rounds),
    }


def main(sizes):
    for line, n in enumerate(sizes):
        found = compare(n)
        if line == 0:
            print("times of the plain formula\n" + " ".join(["     n", *found]))
        print(f"{n:6d} " + " ".join(f"{ratio:{len(name)}.2f}" for name, ratio in found.items()))


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [64, 1024, 4096])
