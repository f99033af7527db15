"""Every exercise written apart, with loops over single numbers: what the references are compared with.

Nothing here comes from course_lib, no product, sum or softmax from NumPy: arrays are only read and filled.
"""

import math

import numpy as np


def dot(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += float(x) * float(y)
    return total


def column(M, j):
    return [M[i, j] for i in range(M.shape[0])]


def product(A, B):
    table = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            table[i, j] = dot(A[i], column(B, j))
    return table


def share_out(row, seen=None, temperature=1.0):
    """One row of scores as shares, by the largest score that may be seen."""
    seen = [True] * len(row) if seen is None else [bool(s) for s in seen]
    kept = [float(s) / temperature for s, see in zip(row, seen) if see]
    powers = [math.exp(float(s) / temperature - max(kept)) if see else 0.0 for s, see in zip(row, seen)]
    total = math.fsum(powers)
    return [power / total if kept else 0.0 for power in powers]


def each_row(scores, mask=None, temperature=1.0):
    weights = np.zeros(scores.shape)
    seen = None if mask is None else np.broadcast_to(mask, scores.shape)
    for place in np.ndindex(scores.shape[:-1]):
        weights[place] = share_out(scores[place], None if seen is None else seen[place], temperature)
    return weights


def table_of_scores(Q, K, divisor=1.0):
    table = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            table[i, j] = dot(Q[i], K[j]) / divisor
    return table


def stages(X, W_q, W_k, W_v, divisor=None):
    Q, K, V = product(X, W_q), product(X, W_k), product(X, W_v)
    alpha = table_of_scores(Q, K, math.sqrt(Q.shape[1]) if divisor is None else divisor)
    weights = each_row(alpha)
    return Q, K, V, alpha, weights, product(weights, V)


def stacked(X, one):
    """one((n, d)) -> array for every sequence of a stack."""
    results = {place: one(X[place]) for place in np.ndindex(X.shape[:-2])}
    whole = np.zeros(X.shape[:-2] + next(iter(results.values())).shape)
    for place, result in results.items():
        whole[place] = result
    return whole


def moves(name):
    """Follow the arrows: what is made from something that moved moves too."""
    made_from = {
        "Q": {"W_q"},
        "K": {"W_k"},
        "V": {"W_v"},
        "scores": {"Q", "K"},
        "weights": {"scores"},
        "output": {"weights", "V"},
    }
    moved = {name}
    for stage, sources in made_from.items():
        if sources & moved:
            moved.add(stage)
    return moved - {name}


def columns(I, W_q, W_k, W_v):
    outputs = np.zeros((W_v.shape[0], I.shape[1]))
    tokens = [column(I, i) for i in range(I.shape[1])]
    for i, token in enumerate(tokens):
        q = [dot(row, token) for row in W_q]
        weights = share_out([dot([dot(row, other) for row in W_k], q) for other in tokens])
        for r in range(W_v.shape[0]):
            outputs[r, i] = dot(weights, [dot(W_v[r], other) for other in tokens])
    return outputs


def waves(n, d):
    table = np.zeros((n, d))
    for p in range(n):
        for i in range(d // 2):
            angle = p / 10000.0 ** (2 * i / d)
            table[p, 2 * i], table[p, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


def split(X, h):
    d = X.shape[-1] // h
    heads = np.zeros((*X.shape[:-2], h, X.shape[-2], d))
    for *front, n, f in np.ndindex(X.shape):
        heads[(*front, f // d, n, f % d)] = X[(*front, n, f)]
    return heads


def merge(heads):
    *front, h, n, d = heads.shape
    X = np.zeros((*front, n, h * d))
    for *where, head, token, f in np.ndindex(heads.shape):
        X[(*where, token, head * d + f)] = heads[(*where, head, token, f)]
    return X


def multi_head(X, W_q, W_k, W_v, W_o, h):
    def part(W, head):
        width = W.shape[1] // h
        return W[:, head * width : (head + 1) * width]

    def one(tokens):
        heads = [stages(tokens, *(part(W, head) for W in (W_q, W_k, W_v)))[-1] for head in range(h)]
        rows = [[number for head in heads for number in head[n]] for n in range(len(tokens))]
        return product(np.array(rows), W_o)

    return stacked(X, one)


def states(X, W_x, W_h):
    table = np.zeros((X.shape[0], W_h.shape[0]))
    for i in range(X.shape[0]):
        for j in range(W_h.shape[0]):
            before = dot(table[i - 1], column(W_h, j)) if i else 0.0
            table[i, j] = math.tanh(dot(X[i], column(W_x, j)) + before)
    return table


def clock(takes, needs):
    """Look again and again for steps that need nothing that is open."""
    done = {}
    while len(done) < len(takes):
        for i in range(len(takes)):
            needed = [j for j in range(len(takes)) if needs[i][j]]
            if i not in done and all(j in done for j in needed):
                done[i] = float(takes[i]) + max([done[j] for j in needed], default=0.0)
    return np.array([done[i] for i in range(len(takes))])


def gathered(X, radius):
    n, d = X.shape
    found = np.zeros((n, 2 * radius + 1, d))
    for i in range(n):
        for j in range(2 * radius + 1):
            for f in range(d):
                if 0 <= i + j - radius < n:
                    found[i, j, f] = X[i + j - radius, f]
    return found


def best_share(seen, labels):
    """For each sight the label that is right most often, all tried."""
    right = 0
    for sight in {int(each) for each in seen}:
        tries = [
            sum(int(a) == sight and int(b) == int(label) for a, b in zip(seen, labels)) for label in labels
        ]
        right += max(tries)
    return right / len(labels)


LOOPS = {
    "00-warm-up": dot,
    "01-window": gathered,
    "01-ceiling": best_share,
    "02-project": lambda X, *W: tuple(product(X, each) for each in W),
    "02-moves": moves,
    "03-scores": table_of_scores,
    "03-scaled": lambda Q, K: table_of_scores(Q, K, math.sqrt(Q.shape[1])),
    "04-softmax": each_row,
    "04-masked-softmax": each_row,
    "04-temperature": each_row,
    "05-weighted-sum": product,
    "05-one-token": lambda X, W_q, W_k, W_v, i: stages(X, W_q, W_k, W_v)[-1][i],
    "05-attention": stages,
    "06-row-form": lambda X, *W: stacked(X, lambda tokens: stages(tokens, *W)[-1]),
    "06-column-form": columns,
    "06-positions": waves,
    "07-split": split,
    "07-merge": merge,
    "07-multi-head": multi_head,
    "08-rnn": states,
    "08-done": clock,
}
