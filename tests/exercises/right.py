"""Right answers written otherwise than the references: loops, einsum, equal formulas, other containers."""

import math
from collections import Counter, defaultdict

import numpy as np
from loops import LOOPS

from course_lib.attention import scores, self_attention, self_attention_columns, softmax, weighted_sum
from course_lib.heads import merge_heads, multi_head_attention, split_heads
from course_lib.sequence import bidirectional_rnn, ceiling, rnn, windows


def stable(alpha):
    powers = np.exp(alpha - alpha.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def bare(alpha):
    return np.exp(alpha) / np.exp(alpha).sum(axis=-1, keepdims=True)


def add_up(q, k):
    total = 0
    for a, b in zip(q, k):
        total += a * b
    return total


def count_up(q, k):
    total = 0.0
    i = 0
    while i < len(q):
        total = total + q[i] * k[i]
        i += 1
    return total


def filled(Q, K):
    alpha = np.empty((Q.shape[0], K.shape[0]))
    for j, k in enumerate(K):
        for i, q in enumerate(Q):
            alpha[i, j] = (q * k).sum()
    return alpha


def appended(Q, K):
    rows = []
    for q in Q:
        row = []
        for k in K:
            row.append(np.dot(q, k))
        rows.append(row)
    return np.array(rows)


def by_column(Q, K):
    return np.column_stack([Q @ k for k in K])


def root(Q):
    return math.sqrt(Q.shape[-1])


def by_logarithm(s):
    top = s.max(-1, keepdims=True)
    return np.exp(s - top - np.log(np.exp(s - top).sum(-1, keepdims=True)))


def row_by_row(s):
    rows = [stable(row) for row in s.reshape(-1, s.shape[-1])]
    return np.array(rows).reshape(s.shape)


def every_place(s):
    weights = np.zeros(s.shape)
    for place in np.ndindex(s.shape[:-1]):
        powers = np.exp(s[place] - max(s[place]))
        weights[place] = powers / sum(powers)
    return weights


def one_over(s):
    return 1 / np.exp(s[..., None, :] - s[..., :, None]).sum(-1)


def recursive(s):
    return stable(s) if s.ndim == 1 else np.stack([recursive(part) for part in s])


def keys_first(s):
    powers = np.exp(np.moveaxis(s, -1, 0) - s.max(-1))
    return np.moveaxis(powers / powers.sum(0), 0, -1)


def with_epsilon(s, m):
    s = s.astype(float)
    powers = np.exp(np.where(m, s, -np.inf) - np.max(s, axis=-1, keepdims=True, where=m, initial=-1e300))
    return powers / (powers.sum(-1, keepdims=True) + 1e-13)


def renormalized(s, m):
    s = np.where(m, s, s.min() - 1)
    low = np.where(m, s, -np.inf).max(-1, keepdims=True)
    powers = np.exp(np.where(m, s - np.where(np.isfinite(low), low, 0), 0)) * m
    total = powers.sum(-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros(powers.shape), where=total > 0)


def loop_of_rows(s, m):
    m = np.broadcast_to(m, s.shape)
    weights = np.zeros(s.shape)
    for place in np.ndindex(s.shape[:-1]):
        if m[place].any():
            weights[place][m[place]] = stable(s[place][m[place]])
    return weights


def nan_out(s, m):
    hidden = np.where(m, s, -np.inf)
    return np.nan_to_num(stable(hidden))


def filled_by_index(s, m):
    s = s.astype(float).copy()
    s[~np.broadcast_to(m, s.shape)] = -np.inf
    top = s.max(-1, keepdims=True)
    top[top == -np.inf] = 0
    powers = np.exp(s - top)
    total = powers.sum(-1, keepdims=True)
    total[total == 0] = 1
    return powers / total


def put(number):
    return lambda s, m: stable(np.where(m, s, number)) * np.broadcast_to(m, s.shape).any(-1, keepdims=True)


def minus_infinity_added(s, m):
    return np.nan_to_num(stable(np.where(m, s, 0) + np.where(m, 0, -np.inf)))


def whole(masked):
    """A masked softmax with mask and temperature as choices."""

    def answer(scores, mask=None, temperature=1.0):
        mask = np.ones(scores.shape, dtype=bool) if mask is None else mask
        return masked(np.where(mask, scores, 0) / temperature, mask)

    return answer


def hidden_first(scores, mask=None, temperature=1.0):
    scores = scores / temperature
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return np.nan_to_num(stable(scores))


def two_ways(scores, mask=None, temperature=1.0):
    if mask is None:
        return softmax(scores / temperature)
    return nan_out(scores / temperature, mask)


def any_order(*given, **named):
    return hidden_first(*given, **named)


def parts(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_k, X @ W_v


def head(X, W_q, W_k, W_v, weigh=stable):
    Q, K, V = parts(X, W_q, W_k, W_v)
    return weigh(Q @ K.swapaxes(-1, -2) / root(Q)) @ V


def six(X, W_q, W_k, W_v, weigh=stable):
    Q, K, V = parts(X, W_q, W_k, W_v)
    alpha = Q @ K.T / root(Q)
    return Q, K, V, alpha, weigh(alpha), weigh(alpha) @ V


def together(X, W_q, W_k, W_v):
    Q, K, V = np.split(X @ np.hstack([W_q, W_k, W_v]), [W_q.shape[1], 2 * W_q.shape[1]], axis=-1)
    return Q, K, V


def token_by_token(X, W_q, W_k, W_v):
    return tuple(np.array([x @ W for x in X]) for W in (W_q, W_k, W_v))


def from_both_sides(X, W_q, W_k, W_v):
    """The scores by one matrix, X (W_q W_k^T) X^T."""
    alpha = X @ (W_q @ W_k.T) @ X.swapaxes(-1, -2) / W_q.shape[1] ** 0.5
    return stable(alpha) @ X @ W_v


def by_einsum(X, W_q, W_k, W_v):
    Q, K, V = (np.einsum("...nd,de->...ne", X, W) for W in (W_q, W_k, W_v))
    return np.einsum("...qk,...kv->...qv", stable(np.einsum("...qd,...kd->...qk", Q, K) / root(Q)), V)


def stacked(X, *W):
    return head(X, *W) if X.ndim == 2 else np.stack([stacked(x, *W) for x in X])


def flattened(X, *W):
    sequences = X.reshape(-1, *X.shape[-2:])
    return np.stack([head(x, *W) for x in sequences]).reshape(*X.shape[:-1], -1)


def query_by_query(X, W_q, W_k, W_v):
    return np.stack([weighted_sum(stable(X @ W_k @ (x @ W_q) / root(W_q))[None], X @ W_v)[0] for x in X])


def one_of(form):
    return lambda *call: form(*call[:-1])[call[-1]]


def other_by_other(X, W_q, W_k, W_v, i):
    q, output = X[i] @ W_q, 0
    weights = stable(np.array([q @ (x @ W_k) for x in X]) / root(W_q))
    for weight, x in zip(weights, X):
        output = output + weight * (x @ W_v)
    return output


def angles(n, d):
    return np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)


def twice(n, d):
    return np.repeat(np.outer(np.arange(n), np.exp(-math.log(10000) * np.arange(0, d, 2) / d)), 2, axis=1)


def by_turning(n, d):
    """Each place from the one before, its pairs turned by one angle."""
    turn = 100.0 ** (-np.arange(0, d, 2) * 2 / d)
    rows = [np.stack([np.zeros(d // 2), np.ones(d // 2)], axis=-1)]
    for _ in range(n - 1):
        sine, cosine = rows[-1].T
        rows.append(
            np.stack(
                [sine * np.cos(turn) + cosine * np.sin(turn), cosine * np.cos(turn) - sine * np.sin(turn)],
                axis=-1,
            )
        )
    return np.array(rows).reshape(n, d)


def pairs(n, d):
    P = np.zeros((n, d))
    for p in range(n):
        for i in range(0, d, 2):
            P[p, i], P[p, i + 1] = math.sin(p / 10000 ** (i / d)), math.cos(p / 10000 ** (i / d))
    return P


def split_axis(X, h):
    return np.stack(np.split(X, h, axis=-1), axis=-3)


def split_loop(X, h):
    d = X.shape[-1] // h
    heads = np.zeros((*X.shape[:-2], h, X.shape[-2], d))
    for i in range(h):
        heads[..., i, :, :] = X[..., i * d : (i + 1) * d]
    return heads


def merge_loop(X):
    h, n, d = X.shape[-3:]
    merged = np.zeros((*X.shape[:-3], n, h * d))
    for i in range(h):
        merged[..., i * d : (i + 1) * d] = X[..., i, :, :]
    return merged


def multi(X, W_q, W_k, W_v, W_o, h, split=split_heads, merge=merge_heads, weigh=stable):
    Q, K, V = (split(X @ W, h) for W in (W_q, W_k, W_v))
    return merge(weigh(Q @ np.swapaxes(K, -1, -2) / root(Q)) @ V) @ W_o


def head_by_head(X, W_q, W_k, W_v, W_o, h):
    outputs = [head(X, *(np.split(W, h, axis=1)[i] for W in (W_q, W_k, W_v))) for i in range(h)]
    return np.concatenate(outputs, axis=-1) @ W_o


def blocks_added(X, W_q, W_k, W_v, W_o, h):
    W = [np.split(each, h, axis=1) for each in (W_q, W_k, W_v)]
    return sum(head(X, q, k, v) @ o for q, k, v, o in zip(*W, np.split(W_o, h)))


def multi_einsum(X, W_q, W_k, W_v, W_o, h):
    Q, K, V = (np.einsum("...nd,dhe->...hne", X, W.reshape(len(W), h, -1)) for W in (W_q, W_k, W_v))
    weights = stable(np.einsum("...qe,...ke->...qk", Q, K) / root(Q))
    return np.einsum("...hne,hev->...nv", weights @ V, W_o.reshape(h, -1, W_o.shape[1]))


def read_on(X, W_x, W_h):
    h = np.zeros(len(W_h))
    states = []
    for x in X:
        h = np.tanh(x @ W_x + h @ W_h)
        states.append(h)
    return np.array(states)


def filled_states(X, W_x, W_h):
    states = np.zeros((len(X), len(W_h)))
    for i in range(len(X)):
        states[i] = np.tanh(X[i] @ W_x + states[i - 1] @ W_h)  # before the first stands the last: still 0
    return states


def recurring(X, W_x, W_h):
    if len(X) == 0:
        return np.zeros((0, len(W_h)))
    before = recurring(X[:-1], W_x, W_h)
    h = before[-1] if len(before) else 0 * W_h[0]
    return np.vstack([before, np.tanh(X[-1] @ W_x + h @ W_h)])


def one_matrix(X, W_x, W_h):
    W, h, states = np.vstack([W_x, W_h]), np.zeros(len(W_h)), []
    for x in X:
        states.append(h := np.tanh(np.concatenate([x, h]) @ W))
    return np.stack(states)


def by_columns(X, W_x, W_h):
    h, states = np.zeros((len(W_h), 1)), []
    for x in X:
        h = np.tanh(W_x.T @ x[:, None] + W_h.T @ h)
        states.append(h[:, 0])
    return np.array(states)


def all_again_and_again(X, W_x, W_h):
    states = np.zeros((len(X), len(W_h)))
    for _ in X:  # after i rounds the first i states are right
        states = np.tanh(X @ W_x + np.vstack([np.zeros(len(W_h)), states[:-1]]) @ W_h)
    return states


def in_order(takes, needs):
    done = np.zeros(len(takes))
    for i in range(len(takes)):
        begin = 0
        for j in range(i):
            if needs[i, j]:
                begin = max(begin, done[j])
        done[i] = begin + takes[i]
    return done


def listed(takes, needs):
    done = []
    for i, row in enumerate(needs):
        done.append(takes[i] + max((done[j] for j in range(i) if row[j]), default=0))
    return done and np.array(done)


def multiplied(takes, needs):
    done = np.zeros(len(takes))
    for i, own in enumerate(takes):
        done[i] = (needs[i] * done).max() + own
    return done


def settled(takes, needs):
    done = np.array(takes, dtype=float)
    for _ in takes:
        done = takes + (needs * done).max(axis=1)
    return done


def asked_back(takes, needs):
    def when(i):
        return takes[i] + max([when(j) for j in np.flatnonzero(needs[i])], default=0)

    return np.array([when(i) for i in range(len(takes))])


def longest_way(takes, needs):
    """The longest sum of times along a way back, for all pairs at once."""
    m = len(takes)
    ways = np.where(needs, takes[:, None], -np.inf) + 0.0  # [i, j]: from j to the end of i
    for k in range(m):
        ways = np.maximum(ways, ways[:, k, None] + ways[k])
    return np.maximum(takes, (ways + takes).max(axis=1))


MOVED = {
    "W_q": ["Q", "scores", "weights", "output"],
    "W_k": ["K", "scores", "weights", "output"],
    "W_v": ["V", "output"],
}


def follow(name):
    moved, stages = set(), ("Q", "K", "V", "scores", "weights", "output")
    for stage in stages:
        if (
            stage == name[-1].upper()
            or stage == "output"
            or (stage in ("scores", "weights") and name != "W_v")
        ):
            moved.add(stage)
    return moved


def padded(X, r):
    n, d = X.shape
    wide = np.zeros((n + 2 * r, d))
    wide[r : r + n] = X
    return np.array([wide[i : i + 2 * r + 1] for i in range(n)])


def shifted(X, r):
    n, d = X.shape
    rows = [np.vstack([np.zeros((r, d)), X, np.zeros((r, d))])[j : j + n] for j in range(2 * r + 1)]
    return np.stack(rows, axis=1)


def asked_by_place(X, r):
    def row(k):
        return X[k] if 0 <= k < len(X) else np.zeros(X.shape[1])

    return np.array([[row(k) for k in range(i - r, i + r + 1)] for i in range(len(X))])


def by_strides(X, r):
    wide = np.pad(X, ((r, r), (0, 0)))
    return np.lib.stride_tricks.sliding_window_view(wide, 2 * r + 1, axis=0).swapaxes(1, 2)


def by_products(X, r):
    n = len(X)
    return np.stack([np.eye(n, k=j) @ X for j in range(-r, r + 1)], axis=1)


def clipped(X, r):
    k = np.arange(len(X))[:, None] + np.arange(-r, r + 1)
    return X[k.clip(0, len(X) - 1)] * ((k >= 0) & (k < len(X)))[..., None]


def row_of_zeros(X, r):
    k = np.arange(len(X))[:, None] + np.arange(-r, r + 1)
    return np.vstack([X, 0 * X[:1]])[np.where((k < 0) | (k >= len(X)), len(X), k)]


def counted(seen, labels):
    groups = defaultdict(Counter)
    for s, y in zip(seen, labels):
        groups[int(s)][int(y)] += 1
    return sum(group.most_common(1)[0][1] for group in groups.values()) / len(labels)


def by_table(seen, labels):
    table = np.zeros((seen.max() + 1, labels.max() + 1))
    np.add.at(table, (seen, labels), 1)
    return table.max(axis=1).sum() / len(seen)


def by_bincount(seen, labels):
    return sum(np.bincount(labels[seen == s]).max() for s in np.unique(seen)) / len(seen)


def by_unique(seen, labels):
    return sum(np.unique(labels[seen == s], return_counts=True)[1].max() for s in set(seen.tolist())) / len(
        seen
    )


def by_answers(seen, labels):
    answer = {s: max(set(labels), key=lambda y: ((seen == s) & (labels == y)).sum()) for s in set(seen)}
    return np.mean([answer[s] == y for s, y in zip(seen, labels)])


def by_lists(seen, labels):
    right, pairs = 0, list(zip(seen, labels))
    for sight in set(seen):
        right += max(pairs.count((sight, label)) for label in labels)
    return right / len(pairs)


def by_mistakes(seen, labels):
    wrong = 0
    for s in np.unique(seen):
        own = labels[seen == s]
        wrong += len(own) - max((own == y).sum() for y in own)
    return 1 - wrong / len(labels)


RIGHT = {
    "01-window": [
        windows,
        padded,
        shifted,
        asked_by_place,
        by_strides,
        by_products,
        clipped,
        row_of_zeros,
        LOOPS["01-window"],
        lambda X, r: windows(X[::-1], r)[::-1, ::-1],
        lambda X, r: windows(X[None], r)[0],
        lambda X, r: windows(X, r + 2)[:, 2:-2],
    ],
    "01-ceiling": [
        ceiling,
        counted,
        by_table,
        by_bincount,
        by_unique,
        by_answers,
        by_lists,
        by_mistakes,
        LOOPS["01-ceiling"],
        lambda seen, labels: ceiling(seen.tolist(), labels.tolist()),
        lambda seen, labels: ceiling(3 - seen, 5 * labels),
    ],
    "00-warm-up": [
        lambda q, k: q @ k,
        lambda q, k: np.dot(q, k),
        lambda q, k: (q * k).sum(),
        lambda q, k: sum(q * k),
        add_up,
        count_up,
        lambda q, k: math.fsum(q * k),
        lambda q, k: float(np.einsum("i,i", q, k)),
        lambda q, k: np.array(np.inner(q, k)),
        lambda q, k: np.trace(np.outer(q, k)),
        lambda q, k: np.vdot(k, q),
        lambda q, k: sum(float(q[i]) * float(k[i]) for i in reversed(range(len(q)))),
    ],
    "02-project": [
        parts,
        lambda *call: list(parts(*call)),
        together,
        token_by_token,
        lambda X, *W: [X @ w for w in W],
        lambda X, *W: tuple(np.einsum("nd,de->ne", X, w) for w in W),
        lambda X, *W: tuple((w.T @ X.T).T for w in W),
        lambda X, *W: tuple(np.tensordot(X, w, 1) for w in W),
        lambda X, *W: tuple(np.array([[x @ w[:, j] for j in range(w.shape[1])] for x in X]) for w in W),
        lambda X, *W: tuple((X[:, :, None] * w).sum(axis=1) for w in W),
        LOOPS["02-project"],
        lambda *call: self_attention(*call)[:3],
    ],
    "02-moves": [
        lambda name: set(MOVED[name]),
        lambda name: MOVED[name],
        lambda name: tuple(MOVED[name]),
        lambda name: frozenset(MOVED[name]),
        lambda name: list(reversed(MOVED[name])),
        follow,
        lambda name: MOVED[name] + ["output"],
        lambda name: {"V", "output"} if name == "W_v" else set(MOVED[name]),
        lambda name: {name[-1].upper(), "output"} | ({"scores", "weights"} if name != "W_v" else set()),
        lambda name: {s for s in MOVED[name]},
        LOOPS["02-moves"],
        lambda name: sorted(MOVED[name]),
    ],
    "03-scores": [
        lambda Q, K: Q @ K.T,
        filled,
        appended,
        by_column,
        lambda Q, K: (K @ Q.T).T,
        lambda Q, K: np.einsum("id,jd->ij", Q, K),
        lambda Q, K: np.inner(Q, K),
        lambda Q, K: np.dot(Q, np.transpose(K)),
        lambda Q, K: (Q[:, None, :] * K[None, :, :]).sum(-1),
        lambda Q, K: np.array([K @ q for q in Q]),
        lambda Q, K: np.tensordot(Q, K, axes=(1, 1)),
        LOOPS["03-scores"],
        lambda Q, K: sum(np.outer(Q[:, d], K[:, d]) for d in range(Q.shape[1])),
        lambda Q, K: scores(Q, K, scaled=False),
    ],
    "03-scaled": [
        lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1]),
        lambda Q, K: (Q / np.sqrt(Q.shape[1])) @ K.T,
        lambda Q, K: Q / K.shape[1] ** 0.25 @ (K / K.shape[1] ** 0.25).T,
        lambda Q, K: Q @ K.T / K.shape[-1] ** 0.5,
        lambda Q, K: Q @ K.T * Q.shape[1] ** (-1 / 2),
        lambda Q, K: Q @ K.T / math.sqrt(len(K[0])),
        lambda Q, K: np.einsum("id,jd->ij", Q, K) / root(Q),
        lambda Q, K: filled(Q, K) / root(Q),
        lambda Q, K: appended(Q, K) / len(Q[0]) ** (1 / 2),
        scores,
        LOOPS["03-scaled"],
        lambda Q, K: Q @ K.T / np.linalg.norm(np.ones(Q.shape[1])),
        lambda Q, K: np.exp(-np.log(len(Q.T)) / 2) * (Q @ K.T),
    ],
    "04-softmax": [
        stable,
        by_logarithm,
        row_by_row,
        every_place,
        one_over,
        recursive,
        softmax,
        LOOPS["04-softmax"],
        lambda s: stable(s - 5.0),
        lambda s: np.apply_along_axis(stable, -1, s),
        keys_first,
        lambda s: stable(s[None])[0],
        lambda s: np.exp(s - s.max(-1)[..., None]) / np.exp(s - s.max(-1)[..., None]).sum(-1)[..., None],
        lambda s: np.exp(s - np.logaddexp.reduce(s, axis=-1, keepdims=True)),
    ],
    "04-masked-softmax": [
        with_epsilon,
        renormalized,
        loop_of_rows,
        nan_out,
        filled_by_index,
        put(-1e30),
        put(-1e9),
        minus_infinity_added,
        lambda s, m: softmax(s, mask=m),
        LOOPS["04-masked-softmax"],
        lambda s, m: np.where(m, nan_out(s, m), 0),
        lambda s, m: put(np.finfo(float).min)(s, m),
        lambda s, m: nan_out(np.where(m, s, 0), m),
        put(-1e10),
    ],
    "04-temperature": [
        hidden_first,
        any_order,
        whole(nan_out),
        whole(renormalized),
        whole(loop_of_rows),
        whole(filled_by_index),
        whole(put(-1e30)),
        whole(minus_infinity_added),
        LOOPS["04-temperature"],
        lambda scores, mask=None, temperature=1.0: softmax(scores, mask=mask, temperature=temperature),
        lambda scores, mask=None, temperature=1: hidden_first(scores * (1 / temperature), mask),
        two_ways,
    ],
    "05-weighted-sum": [
        lambda w, V: w @ V,
        lambda w, V: (V.T @ w.T).T,
        lambda w, V: np.einsum("ij,jd->id", w, V),
        np.dot,
        weighted_sum,
        lambda w, V: np.array([sum(a * v for a, v in zip(row, V)) for row in w]),
        lambda w, V: (w[:, :, None] * V).sum(axis=1),
        lambda w, V: np.stack([row @ V for row in w]),
        lambda w, V: sum(np.outer(w[:, j], V[j]) for j in range(len(V))),
        lambda w, V: np.tensordot(w, V, 1),
        LOOPS["05-weighted-sum"],
        lambda w, V: np.column_stack([w @ v for v in V.T]),
    ],
    "05-one-token": [
        *map(one_of, (head, from_both_sides, by_einsum, query_by_query, stacked)),
        LOOPS["05-one-token"],
        lambda X, W_q, W_k, W_v, i: softmax(X @ W_k @ (X[i] @ W_q) / root(W_q)) @ (X @ W_v),
        lambda X, W_q, W_k, W_v, i: bare(X @ W_k @ (X[i] @ W_q) / root(W_q)) @ X @ W_v,
        lambda X, W_q, W_k, W_v, i: head(X, W_q, W_k, W_v, bare)[i],
        lambda X, W_q, W_k, W_v, i: softmax(scores(X[i : i + 1] @ W_q, X @ W_k))[0] @ (X @ W_v),
        lambda *call: self_attention(*call[:4]).output[call[4]],
        other_by_other,
    ],
    "05-attention": [
        six,
        lambda *call: list(six(*call)),
        self_attention,
        LOOPS["05-attention"],
        lambda *call: six(*call, weigh=bare),
        lambda *call: six(*call, weigh=softmax),
        lambda *call: list(self_attention(*call)),
        lambda *call: (*together(*call), *six(*call)[3:]),
        lambda *call: (*token_by_token(*call), *six(*call)[3:]),
        lambda *call: (*parts(*call), *six(*call)[3:5], by_einsum(*call)),
        lambda *call: [*six(*call)[:5], query_by_query(*call)],
        lambda *call: (*six(*call)[:5], from_both_sides(*call)),
    ],
    "06-row-form": [
        head,
        from_both_sides,
        by_einsum,
        stacked,
        flattened,
        LOOPS["06-row-form"],
        lambda *call: head(*call, weigh=bare),
        lambda *call: head(*call, weigh=softmax),
        lambda *call: self_attention(*call).output,
        lambda X, *W: np.apply_over_axes(lambda a, _: a, head(X, *W), []) if X.ndim == 2 else head(X, *W),
        lambda X, W_q, W_k, W_v: head(X, W_q / W_q.shape[1] ** 0.5 * root(W_q), W_k, W_v),
        lambda X, *W: head(X[None], *W)[0],
        lambda X, *W: np.moveaxis(head(X, *W), -1, -1),
    ],
    "06-column-form": [
        lambda I, W_q, W_k, W_v: W_v @ I @ stable(((W_q @ I).T @ (W_k @ I))).T,
        LOOPS["06-column-form"],
        lambda I, W_q, W_k, W_v: W_v @ I @ softmax(((W_k @ I).T @ (W_q @ I)).T).T,
        lambda I, W_q, W_k, W_v: (
            W_v @ I @ (np.exp(I.T @ W_k.T @ W_q @ I) / np.exp(I.T @ W_k.T @ W_q @ I).sum(axis=0))
        ),
        lambda I, W_q, W_k, W_v: head(I.T, W_q.T * root(W_q.T), W_k.T, W_v.T).T,
        lambda *call: self_attention_columns(*call).output,
        lambda *call: list(self_attention_columns(*call))[-1],
        lambda I, W_q, W_k, W_v: np.stack([W_v @ I @ stable((W_k @ I).T @ (W_q @ a)) for a in I.T], axis=1),
        lambda I, *W: self_attention(I.T, *(w.T for w in W), scaled=False).output.T,
        lambda I, W_q, W_k, W_v: (bare((W_q @ I).T @ (W_k @ I)) @ (W_v @ I).T).T,
        lambda I, W_q, W_k, W_v: np.einsum(
            "vj,ij->vi", W_v @ I, stable(np.einsum("di,dj->ij", W_q @ I, W_k @ I))
        ),
    ],
    "06-positions": [
        pairs,
        LOOPS["06-positions"],
        lambda n, d: np.stack([np.sin(angles(n, d)), np.cos(angles(n, d))], axis=-1).reshape(n, d),
        lambda n, d: np.array(
            [
                [(math.cos if j % 2 else math.sin)(p / 10000 ** (j // 2 * 2 / d)) for j in range(d)]
                for p in range(n)
            ]
        ),
        lambda n, d: np.where(np.arange(d) % 2, np.cos(twice(n, d)), np.sin(twice(n, d))),
        lambda n, d: np.sin(twice(n, d) + np.pi / 2 * (np.arange(d) % 2)),
        lambda n, d: np.column_stack(
            [f(np.arange(n) / 10000 ** (2 * i / d)) for i in range(d // 2) for f in (np.sin, np.cos)]
        ),
        lambda n, d: np.exp(1j * angles(n, d)).view(float)[:, np.arange(d) ^ 1],
        by_turning,
        lambda n, d: np.vstack([pairs(p + 1, d)[-1:] for p in range(n)]) if n < 20 else pairs(n, d),
        lambda n, d: np.array(pairs(n, d).tolist()),
    ],
    "07-split": [
        split_axis,
        split_loop,
        split_heads,
        LOOPS["07-split"],
        lambda X, h: X.reshape(*X.shape[:-1], h, -1).swapaxes(-2, -3),
        lambda X, h: np.moveaxis(X.reshape(*X.shape[:-1], h, X.shape[-1] // h), -2, -3),
        lambda X, h: np.moveaxis(np.array(np.split(X, h, axis=-1)), 0, -3),
        lambda X, h: np.einsum("...nhd->...hnd", X.reshape(*X.shape[:-1], h, -1)),
        lambda X, h: X.swapaxes(-1, -2).reshape(*X.shape[:-2], h, -1, X.shape[-2]).swapaxes(-1, -2),
        lambda X, h: np.stack(
            [X[..., i * (X.shape[-1] // h) : (i + 1) * (X.shape[-1] // h)] for i in range(h)], -3
        ),
        lambda X, h: split_axis(X, h).copy(),
        lambda X, h: X[..., np.arange(X.shape[-1]).reshape(h, -1)].swapaxes(-2, -3),
    ],
    "07-merge": [
        merge_loop,
        merge_heads,
        LOOPS["07-merge"],
        lambda X: np.concatenate(list(np.moveaxis(X, -3, 0)), axis=-1),
        lambda X: X.swapaxes(-2, -3).reshape(*X.shape[:-3], X.shape[-2], -1),
        lambda X: np.moveaxis(X, -3, -2).reshape(*X.shape[:-3], X.shape[-2], X.shape[-3] * X.shape[-1]),
        lambda X: np.concatenate([X[..., i, :, :] for i in range(X.shape[-3])], axis=-1),
        lambda X: np.stack([X[..., t, :].reshape(*X.shape[:-3], -1) for t in range(X.shape[-2])], -2),
        lambda X: np.einsum("...hnd->...nhd", X).reshape(*X.shape[:-3], X.shape[-2], -1),
        lambda X: X.swapaxes(-1, -2).reshape(*X.shape[:-3], -1, X.shape[-2]).swapaxes(-1, -2),
        lambda X: merge_loop(X).copy(),
    ],
    "07-multi-head": [
        multi,
        head_by_head,
        blocks_added,
        multi_einsum,
        LOOPS["07-multi-head"],
        lambda *call: multi(*call, weigh=bare),
        lambda *call: multi(*call, split=split_axis),
        lambda *call: multi(*call, merge=merge_loop),
        lambda *call: multi(*call, split=split_loop, weigh=softmax),
        lambda *call: multi_head_attention(*call).output,
        lambda X, *rest: multi(X[None], *rest)[0],
        lambda X, *rest: multi(X, *rest) if X.ndim == 2 else np.stack([multi(x, *rest) for x in X]),
    ],
    "08-rnn": [
        read_on,
        filled_states,
        recurring,
        one_matrix,
        by_columns,
        all_again_and_again,
        rnn,
        LOOPS["08-rnn"],
        lambda X, *W: rnn(X[None], *W)[0],
        lambda X, *W: bidirectional_rnn(X, W, W)[:, : len(W[1])],
        lambda X, *W: bidirectional_rnn(X[::-1], W, W)[::-1, len(W[1]) :],
        lambda X, *W: np.stack([read_on(X[: i + 1], *W)[-1] for i in range(len(X))]),
    ],
    "08-done": [
        in_order,
        listed,
        multiplied,
        settled,
        asked_back,
        longest_way,
        LOOPS["08-done"],
        lambda takes, needs: in_order(takes, needs.astype(int)),
        lambda takes, needs: in_order(takes.tolist(), needs),
        lambda takes, needs: np.where(True, settled(takes, needs * 1.0), 0),
        lambda takes, needs: multiplied(takes.astype(float), needs),
    ],
}
