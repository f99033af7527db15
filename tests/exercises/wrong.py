"""Wrong answers, for every exercise: the kinds that have fooled a check, and those made by a rule.

wrong_answers(name) -> {what is wrong: a function that makes a new answer}; new, for some of them remember.
"""

import itertools

import numpy as np

from course_lib.attention import scores, softmax
from course_lib.exercises import EXERCISES
from course_lib.heads import merge_heads, split_heads
from course_lib.sequence import ceiling, positions, rnn, windows

# What can be said of a call: its sizes by name, and the axes in front.


def sizes(name, call):
    """{letter: size} for the sizes that the exercise's text names."""
    shapes = [np.shape(each) for each in call]
    if name == "00-warm-up":
        return {"n": shapes[0][0]}
    if name == "01-window":
        return {"n": shapes[0][0], "d": shapes[0][1], "r": call[1]}
    if name == "01-ceiling":
        return {"n": shapes[0][0]}
    if name == "02-moves":
        return {}
    if name in ("02-project", "05-one-token", "05-attention", "06-row-form"):
        return {"n": shapes[0][-2], "d": shapes[0][-1], "d_k": shapes[1][1], "d_v": shapes[3][1]}
    if name in ("03-scores", "03-scaled"):
        return {"n_q": shapes[0][0], "n_k": shapes[1][0], "d_k": shapes[0][1]}
    if name.startswith("04"):
        return {"n_k": shapes[0][-1]} | ({"n_q": shapes[0][-2]} if len(shapes[0]) > 1 else {})
    if name == "05-weighted-sum":
        return {"n_q": shapes[0][0], "n": shapes[0][1], "d_v": shapes[1][1]}
    if name == "06-column-form":
        return {"n": shapes[0][1], "d": shapes[0][0], "d_k": shapes[1][0], "d_v": shapes[3][0]}
    if name == "06-positions":
        return {"n": call[0], "d": call[1]}
    if name == "07-split":
        return {"n": shapes[0][-2], "h": call[1], "d": shapes[0][-1] // call[1]}
    if name == "07-merge":
        return dict(zip("hnd", shapes[0][-3:]))
    if name == "08-rnn":
        return {"n": shapes[0][0], "d": shapes[0][1], "d_h": shapes[1][1]}
    if name == "08-done":
        return {"m": shapes[0][0]}
    if name != "07-multi-head":
        raise KeyError(f"say in `sizes` of wrong.py what the sizes of a call of {name} are")
    h = call[-1]
    parts = {"d_k": shapes[1][1] // h, "d_v": shapes[3][1] // h, "d_out": shapes[4][1]}
    return {"n": shapes[0][-2], "d": shapes[0][-1], "h": h} | parts


def front(name, call):
    """The axes in front that the text leaves open, or None where it leaves none."""
    least = {"06-row-form": 2, "07-split": 2, "07-merge": 3, "07-multi-head": 2}
    least |= dict.fromkeys(("04-softmax", "04-masked-softmax", "04-temperature"), 2)
    return np.shape(call[0])[: -least[name]] if name in least else None


def mask_of(call):
    places = [each for each in call if isinstance(each, np.ndarray) and each.dtype == bool]
    return places[0] if places else call[-1].get("mask") if isinstance(call[-1], dict) else None


def temperature_of(call):
    if isinstance(call[-1], dict) and "temperature" in call[-1]:
        return call[-1]["temperature"]
    return call[2] if len(call) == 3 and not isinstance(call[2], dict) else None


def cases(name):
    """{case: condition on a call} for everything that the text of the exercise allows."""
    numeric = name not in ("01-ceiling", "02-moves", "06-positions")
    found = {}
    if name == "02-moves":
        return {
            f"of {matrix}": lambda call, matrix=matrix: call[0] == matrix for matrix in ("W_q", "W_k", "W_v")
        }
    letters = list(sizes(name, EXERCISES[name].probes[0]))
    for a in letters:
        if (name, a) != ("06-positions", "d"):
            found[f"{a} is 1"] = lambda call, a=a: sizes(name, call).get(a) == 1
        found[f"{a} is 2"] = lambda call, a=a: sizes(name, call).get(a) == 2
        found[f"{a} is 3 or more"] = lambda call, a=a: sizes(name, call).get(a, 0) > 2
        found[f"{a} is 4 or more"] = lambda call, a=a: (
            sizes(name, call).get(a, 0) > 3 or (a, name) == ("h", "x")
        )
    found.pop("h is 4 or more", None)
    for a, b in itertools.combinations(letters, 2):
        found[f"{a} = {b}"] = lambda call, a=a, b=b: sizes(name, call).get(a) == sizes(name, call).get(b)
        found[f"{a} < {b}"] = lambda call, a=a, b=b: sizes(name, call).get(a, 0) < sizes(name, call).get(b, 0)
        found[f"{a} > {b}"] = lambda call, a=a, b=b: (
            sizes(name, call).get(a, 0) > sizes(name, call).get(b, 99)
        )
    if len(letters) > 1:
        found["all sizes different"] = lambda call: len(set(sizes(name, call).values())) == len(letters)
        found["all sizes equal"] = lambda call: len(set(sizes(name, call).values())) == 1
    if front(name, EXERCISES[name].probes[0]) is not None:
        for axes in (0, 1, 2):
            found[f"{axes} axes in front"] = lambda call, axes=axes: len(front(name, call)) == axes
        found["one of one in front"] = lambda call: front(name, call) == (1,)
        found["two different sizes in front"] = lambda call: len(set(front(name, call))) == 2
        for a in letters:
            found[f"as many in front as {a}"] = lambda call, a=a: (
                sizes(name, call).get(a) in front(name, call)
            )
        found["front and sizes all different"] = lambda call: (
            len(front(name, call)) > 0
            and len({*front(name, call), *sizes(name, call).values()})
            == len(front(name, call)) + len(sizes(name, call))
        )
        if name == "07-multi-head":  # six sizes from 1 to 6 leave none for the front
            found.pop("front and sizes all different")
    if numeric:

        def whole(call):
            return [
                each.dtype.kind == "i" for each in call if isinstance(each, np.ndarray) and each.dtype != bool
            ]

        found["whole numbers only"] = lambda call: all(whole(call))
        found["no whole numbers"] = lambda call: not any(whole(call))
        found["negative numbers only"] = lambda call: (call[0] < 0).all()
        found["a zero among them"] = lambda call: (call[0] == 0).any()
        if len(whole(EXERCISES[name].probes[0])) > 1:
            found["some whole numbers"] = lambda call: any(whole(call)) and not all(whole(call))
    if name == "01-window":
        found |= {
            "radius 0": lambda call: call[1] == 0,
            "beyond both edges": lambda call: call[1] >= len(call[0]) > 1,
            "a window as wide as the sequence": lambda call: 2 * call[1] + 1 == len(call[0]) > 1,
        }
    if name == "01-ceiling":

        def counts(call):
            return [np.unique(call[1][call[0] == s], return_counts=True)[1] for s in np.unique(call[0])]

        found |= {
            "one sight": lambda call: len(counts(call)) == 1 and len(call[0]) > 2,
            "all sights different": lambda call: len(counts(call)) == len(call[0]) > 2,
            "one label": lambda call: len(set(call[1].tolist())) == 1 and len(call[0]) > 2,
            "a tie": lambda call: any(len(c) > 1 and (c == c.max()).sum() > 1 for c in counts(call)),
            "three labels for one sight": lambda call: any(len(c) > 2 for c in counts(call)),
            "a sight never surely right": lambda call: all(len(c) > 1 for c in counts(call)),
            "a label 0": lambda call: (call[1] == 0).any(),
            "no label 0": lambda call: (call[1] > 0).all(),
            "no sight 0": lambda call: (call[0] > 0).all(),
            "many": lambda call: len(call[0]) > 9,
            "more labels than sights": lambda call: (
                len(set(call[1].tolist())) > len(set(call[0].tolist())) > 1
            ),
        }
    if name.startswith("03"):
        found["one query, many keys"] = lambda call: sizes(name, call)["n_k"] == 64
    if name.startswith("04"):
        found["many keys"] = lambda call: sizes(name, call)["n_k"] == 64
        found["near 1000"] = lambda call: (call[0] > 900).any()
        found["near -1000 only"] = lambda call: (call[0] < -900).all()
        found["1000 and -1000 in one row"] = lambda call: (
            np.ptp(np.clip(call[0], -1e3, 1e3), axis=-1) > 1900
        ).any()
        found["near 1000, whole"] = lambda call: call[0].dtype.kind == "i" and (call[0] > 900).any()
        found["equal scores in a row"] = lambda call: (
            call[0].shape[-1] > 1 and (np.ptp(call[0], axis=-1) == 0).any()
        )
    if name in ("04-masked-softmax", "04-temperature"):
        masks = {
            "fewer axes": lambda s, m: m.ndim < s.ndim,
            "one axis for many": lambda s, m: m.ndim == 1 and s.ndim > 2,
            "an axis of 1": lambda s, m: m.ndim > 1 and 1 in m.shape[:-1] and m.shape != s.shape[-m.ndim :],
            "a row without a key": lambda s, m: (~m.any(axis=-1)).any() and m.any(),
            "no key at all": lambda s, m: not m.any(),
            "all keys": lambda s, m: m.all(),
            "the first key hidden": lambda s, m: not m[..., 0].any() and m.any(),
            "a hidden score of 2e9": lambda s, m: (s > 1e9).any(),
            "a hidden score of -2e9": lambda s, m: (s < -1e9).any(),
            "a hidden score of 2e9 in a row without a key": lambda s, m: (
                (s > 1e9).any(-1) & ~m.any(-1)
            ).any(),
            "hidden 2000 above": lambda s, m: ((s > 1500) & (s < 1e6)).any(),
            "the mask of a single row": lambda s, m: s.ndim == 1,
        }
        for what, condition in masks.items():
            found[what] = lambda call, condition=condition: (
                mask_of(call) is not None and bool(condition(call[0], mask_of(call)))
            )
    if name == "04-temperature":
        named = {
            "no mask, no temperature": lambda call: len(call) == 2 and call[1] == {},
            "mask by name": lambda call: isinstance(call[-1], dict) and "mask" in call[-1],
            "mask by place": lambda call: mask_of(call) is not None and not isinstance(call[1], dict),
            "None by place": lambda call: len(call) > 1 and call[1] is None,
            "temperature by name": lambda call: isinstance(call[-1], dict) and "temperature" in call[-1],
            "temperature by place": lambda call: len(call) == 3 and not isinstance(call[2], dict),
            "temperature by name, no mask": lambda call: len(call) == 2 and list(call[1]) == ["temperature"],
            "both by name": lambda call: len(call) == 2 and isinstance(call[1], dict) and len(call[1]) == 2,
            "temperature below 1": lambda call: (temperature_of(call) or 1) < 1,
            "temperature above 1": lambda call: (temperature_of(call) or 1) > 1,
            "temperature 1": lambda call: temperature_of(call) == 1,
            "1000 at 0.1": lambda call: temperature_of(call) == 0.1 and (call[0] > 900).any(),
        }
        found |= named
    if name == "05-weighted-sum":
        found |= {
            "rows that sum to 1": lambda call: np.allclose(call[0].sum(-1), 1, atol=0.02),
            "a row of zeros": lambda call: (call[0] == 0).all(-1).any() and call[0].any(),
            "negative weights": lambda call: (call[0] < 0).any(),
            "one query of many": lambda call: len(call[0]) == 1 and call[0].shape[1] > 2,
            "weights above 1": lambda call: (call[0] > 1).any(),
        }
    if name == "05-one-token":
        found |= {
            "the first token": lambda call: call[-1] == 0,
            "the last token of many": lambda call: call[-1] == len(call[0]) - 1 > 1,
            "a token in between": lambda call: 0 < call[-1] < len(call[0]) - 1,
        }
    if name == "06-positions":
        found |= {
            "many places": lambda call: call[0] > 500,
            "many features": lambda call: call[1] > 300,
            "10000 to the 16th": lambda call: 16 <= call[1] < 300,
        }
        found.pop("all sizes different")
        found.pop("d is 3 or more")
    if name == "08-done":
        found.pop("negative numbers only")  # a time is none
        found |= {
            "no needs": lambda call: len(call[0]) > 1 and not call[1].any(),
            "a chain": lambda call: np.array_equal(call[1], np.eye(len(call[0]), k=-1)),
            "all before are needed": lambda call: call[1].sum() == len(call[0]) * (len(call[0]) - 1) / 2 > 2,
            "two are needed": lambda call: (call[1].sum(axis=1) == 2).any(),
            "a step that none needs": lambda call: (call[1].sum(axis=0)[:-1] == 0).any() and call[1].any(),
            "a step not the last is done last": lambda call: (
                EXERCISES[name].reference(*call).argmax() < len(call[0]) - 1
            ),
            "many steps": lambda call: len(call[0]) > 6,
        }
    return found


def nudged(result):
    if isinstance(result, tuple):
        return *result[:-1], result[-1] + 0.01
    return result ^ {"V"} if isinstance(result, set) else result + 0.01


def only_when(name, condition):
    """The right answer, but for calls on which the condition holds."""

    def answer(*given, **named):
        right = EXERCISES[name].reference(*given, **named)
        return nudged(right) if condition((*given, named) if named else given) else right

    return answer


def each_part(change):
    return lambda result: tuple(map(change, result)) if isinstance(result, tuple) else change(result)


def general(name):
    """Wrong answers that any exercise with numbers can have, as {what: maker}."""
    right = EXERCISES[name].reference

    def changed(change):
        return lambda: lambda *given, **named: each_part(change)(right(*given, **named))

    def remembering(key):
        def make():
            seen = {}
            return lambda *given, **named: seen.setdefault(key(given), right(*given, **named))

        return make

    def on_calls(wrong_on):
        def make():
            count = itertools.count()

            def answer(*given, **named):
                result = right(*given, **named)
                return nudged(result) if wrong_on(next(count)) else result

            return answer

        return make

    def garbage(part):
        part = np.array(part, float)
        return np.ma.masked_array(part + 7, np.ones(part.shape, bool))

    def writing(*given, **named):
        result = right(*given, **named)
        for each in given:
            if isinstance(each, np.ndarray):
                each[...] = 0
        return result

    shape = {
        "remembers its first result": remembering(lambda given: 0),
        "remembers a result for each shape": remembering(
            lambda given: tuple(map(np.shape, given)) + given[1:2] * 0
        ),
        "right on the first call only": on_calls(lambda i: i > 0),
        "wrong on the first call only": on_calls(lambda i: i == 0),
        "wrong on the tenth call": on_calls(lambda i: i == 9),
        "wrong on every twentieth call": on_calls(lambda i: i % 20 == 19),
        "float32": changed(np.float32),
        "float16": changed(np.float16),
        "whole numbers": changed(lambda part: np.asarray(part).astype(int)),
        "a millionth added": changed(lambda part: part + 1e-6),
        "1e-9 more in proportion and added": changed(lambda part: part * (1 + 1e-9) + 1e-9),
        "the largest entry cut": changed(lambda part: np.minimum(part, 0.99 * np.abs(part).max())),
        "absolute values": changed(lambda part: np.abs(part) + 1e-5),
        "nan in the last entry": changed(
            lambda part: np.append(np.ravel(part)[:-1], np.nan).reshape(np.shape(part))
        ),
        "one axis more": changed(lambda part: np.asarray(part)[None]),
        "flat": changed(lambda part: np.ravel(part)[None, None]),
        "masked array": changed(lambda part: np.ma.masked_array(part, False)),
        "garbage under a mask": changed(garbage),
        "a matrix of the right numbers": changed(lambda part: np.array(part).view(np.recarray)),
        "objects": changed(lambda part: np.asarray(part).astype(object)),
        "complex": changed(lambda part: np.asarray(part) + 0j),
        "texts": changed(lambda part: np.asarray(part).astype(str)),
        "a list": changed(lambda part: [np.asarray(part).tolist()]),
        "of one text": changed(lambda part: "text"),
        "None": changed(lambda part: None),
    }
    if name != "06-positions":
        shape["writes into its inputs"] = lambda: writing
    if name not in ("01-ceiling", "06-positions"):  # whole numbers stay what they are
        shape["cast to float32 first"] = lambda: (
            lambda *given, **named: each_part(np.float64)(
                right(
                    *(np.float32(g) if isinstance(g, np.ndarray) and g.dtype != bool else g for g in given),
                    **named,
                )
            )
        )
    for decimals in (0, 1, 2, 3, 6, 8):
        shape[f"rounded to {decimals} decimals"] = changed(
            lambda part, decimals=decimals: np.round(part, decimals)
        )
    return shape


# Those that were written by hand.


def bare(alpha, axis=-1):
    powers = np.exp(alpha)
    return powers / powers.sum(axis=axis, keepdims=True)


def stable(alpha):
    return bare(alpha - alpha.max(axis=-1, keepdims=True))


def hidden(scores, mask):
    return np.where(mask, scores, -np.inf)


def either(first, second):
    """The first product where it runs, else the second."""

    def answer(*given):
        try:
            return first(*given)
        except ValueError:
            return second(*given)

    return answer


def row_form(divide, turn=lambda K: K.swapaxes(-1, -2), weigh=stable):
    return lambda X, W_q, W_k, W_v: (
        weigh((X @ W_q) @ turn(X @ W_k) / divide(X, X @ W_q, X @ W_k, X @ W_v, W_q)) @ (X @ W_v)
    )


def root(of):
    return lambda X, Q, K, V, W_q: np.sqrt(of(X, Q, K, V, W_q))


ROOTS = {  # of what, instead of d_k
    "2": lambda X, Q, K, V, W_q: 2,
    "3": lambda X, Q, K, V, W_q: 3,
    "4": lambda X, Q, K, V, W_q: 4,
    "len(Q)": lambda X, Q, K, V, W_q: len(Q),
    "len(K) + 0 * d": lambda X, Q, K, V, W_q: K.shape[-2],
    "d": lambda X, Q, K, V, W_q: X.shape[-1],
    "d_v": lambda X, Q, K, V, W_q: V.shape[-1],
    "root of d_v": lambda X, Q, K, V, W_q: V.shape[-1] ** 0.5,
    "n": lambda X, Q, K, V, W_q: X.shape[-2],
    "size of W_q": lambda X, Q, K, V, W_q: W_q.size,
    "size of Q": lambda X, Q, K, V, W_q: Q.size,
    "d_k + 1": lambda X, Q, K, V, W_q: Q.shape[-1] + 1,
    "d_k squared": lambda X, Q, K, V, W_q: Q.shape[-1] ** 2,
    "axis 1": lambda X, Q, K, V, W_q: Q.shape[1],
    "the larger side of W_q": lambda X, Q, K, V, W_q: max(W_q.shape),
    "the smaller side of W_q": lambda X, Q, K, V, W_q: min(W_q.shape),
}


def by_root(form):
    """{"root of ...": form(divide)}, but for what is right where there is no stack."""
    return {f"root of {what}": form(root(of)) for what, of in ROOTS.items()}


def one_of(form):
    return lambda *call: form(*call[:-1])[call[-1]]


def six(divide=root(lambda X, Q, K, V, W_q: W_q.shape[1]), weigh=stable, product=None):
    def answer(X, W_q, W_k, W_v):
        Q, K, V = X @ W_q, X @ W_k, X @ W_v
        alpha = (product(Q, K) if product else Q @ K.T) / divide(X, Q, K, V, W_q)
        weights = weigh(alpha)
        return Q, K, V, alpha, weights, weights @ V

    return answer


def per_head(divide=None, split=split_heads, merge=merge_heads, weigh=stable):
    def answer(X, W_q, W_k, W_v, W_o, h):
        Q, K, V = (split(X @ W, h) for W in (W_q, W_k, W_v))
        alpha = Q @ K.swapaxes(-1, -2) / (divide(X, Q, K, V, W_q) if divide else np.sqrt(Q.shape[-1]))
        return merge(weigh(alpha) @ V) @ W_o

    return answer


def exact(d):
    return np.sqrt(d)


def added(scores, mask, number):
    return stable(scores + np.where(mask, 0, number))


def empty_zeroed(weights, mask):
    return weights * mask.any(axis=-1, keepdims=True)


def first_axes(weights):
    return weights.reshape(-1, weights.shape[-1])


def loop_that_forgets(q, k):
    total = 0
    for i in range(len(q)):
        total = q[i] * k[i]
    return total


def swapped_04(scores, temperature=1.0, mask=None):
    return softmax(scores, mask=mask, temperature=temperature)


def no_default(scores, mask, temperature):
    return softmax(scores, mask=mask, temperature=temperature)


def in_integers(n, d):
    powers = 10000 ** np.arange(0, d, 2)  # whole numbers: too large from the fifth pair on
    return _pairs(np.arange(n)[:, None] / powers ** (1 / d))


def _pairs(angles):
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(angles), -1)


def around(X, offsets):
    """The rows at these offsets from each, zeros beyond the edges."""
    far = windows(X, 30)
    return far[:, [30 + offset for offset in offsets]]


BY_HAND = {
    "01-window": {
        "the neighbors swapped": lambda X, r: windows(X, r)[:, np.r_[r + 1 : 2 * r + 1, r : r + 1, 0:r]],
        "zeros for oneself": lambda X, r: windows(X, r) * (np.arange(2 * r + 1) != r)[:, None],
        "one to the right": lambda X, r: around(X, range(-r + 1, r + 2)),
        "one to the left": lambda X, r: around(X, range(-r - 1, r)),
        "one too wide": lambda X, r: windows(X, r + 1),
        "one too narrow": lambda X, r: windows(X, max(r - 1, 0)),
        "radius 1 always": lambda X, r: windows(X, 1),
        "radius 2 at most": lambda X, r: around(X, [max(-2, min(2, o)) for o in range(-r, r + 1)]),
        "every second": lambda X, r: around(X, range(-2 * r, 2 * r + 1, 2)),
        "mean of the window": lambda X, r: np.tile(windows(X, r).mean(1, keepdims=True), (1, 2 * r + 1, 1)),
        "the first window": lambda X, r: windows(X, r)[:1],
        "tokens turned over": lambda X, r: windows(X, r)[::-1],
        "ones beyond the edges": lambda X, r: (
            windows(X, r) + 1 - np.broadcast_to(windows(X * 0 + 1, r), windows(X, r).shape)
        ),
        "mirrored beyond the edges": lambda X, r: np.stack(
            [X[np.abs(np.arange(len(X)) + o) % len(X)] for o in range(-r, r + 1)], axis=1
        ),
        "goes round on the left only": lambda X, r: np.stack(
            [
                np.vstack([X[(i + o) % len(X)] if i + o < len(X) else 0 * X[0] for o in range(-r, r + 1)])
                for i in range(len(X))
            ]
        ),
        "features before places": lambda X, r: windows(X, r).swapaxes(1, 2),
    },
    "01-ceiling": {
        "always 1": lambda seen, labels: 1.0,
        "the two most frequent": lambda seen, labels: np.mean(
            [
                (labels[seen == s] == y).sum() >= sorted(np.bincount(labels[seen == s]))[-2:][0]
                for s, y in zip(seen, labels)
            ]
        ),
        "share that is wrong": lambda seen, labels: 1 - ceiling(seen, labels),
        "in percent": lambda seen, labels: 100 * ceiling(seen, labels),
        "rounded": lambda seen, labels: round(ceiling(seen, labels), 1),
        "seen alone": lambda seen, labels: ceiling(0 * seen, seen),
        "largest sight only": lambda seen, labels: np.bincount(seen).max() / len(seen),
        "pairs counted": lambda seen, labels: len(set(zip(seen.tolist(), labels.tolist()))) / len(seen),
        "sights that come once": lambda seen, labels: np.mean([(seen == s).sum() == 1 for s in seen]),
        "neighbors only": lambda seen, labels: np.mean(np.r_[True, labels[1:] == labels[:-1]]),
        "two labels only": lambda seen, labels: ceiling(seen, labels > 0),
        "two sights only": lambda seen, labels: ceiling(seen > 0, labels),
        "four sights only": lambda seen, labels: ceiling(seen % 4, labels),
        "first half": lambda seen, labels: ceiling(seen[: len(seen) // 2 + 1], labels[: len(seen) // 2 + 1]),
        "four labels only": lambda seen, labels: (
            sum(max((labels[seen == s] == label).sum() for label in range(4)) for s in set(seen.tolist()))
            / len(seen)
        ),
        "pairs in tens": lambda seen, labels: (
            lambda pairs, counts: sum(counts[pairs // 10 == s].max() for s in set(pairs // 10)) / len(seen)
        )(*np.unique(10 * seen + labels, return_counts=True)),
        "sight is the label": lambda seen, labels: np.mean(seen == labels),
        "mean over sights of sure ones": lambda seen, labels: np.mean(
            [len(set(labels[seen == s].tolist())) == 1 for s in set(seen.tolist())]
        ),
        "each but itself": lambda seen, labels: ceiling(seen, labels) - 1 / len(seen),
        "place seen too": lambda seen, labels: ceiling(
            zip(seen.tolist(), (np.arange(len(seen)) % 2).tolist()), labels
        ),
    },
    "00-warm-up": {
        "replaces for adds": loop_that_forgets,
        "leaves out the last": lambda q, k: q[:-1] @ k[:-1],
        "leaves out the first": lambda q, k: (q[1:] * k[1:]).sum(),
        "three at most": lambda q, k: q[:3] @ k[:3],
        "three exactly": lambda q, k: q[0] * k[0] + q[1] * k[1] + q[2] * k[2],
        "q with itself": lambda q, k: q @ q,
        "k with itself": lambda q, k: k @ k,
        "absolute": lambda q, k: abs(q @ k),
        "cosine": lambda q, k: q @ k / np.linalg.norm(q) / np.linalg.norm(k),
        "scaled": lambda q, k: q @ k / np.sqrt(len(q)),
        "an array of one": lambda q, k: np.array([q @ k]),
        "backwards": lambda q, k: q @ k[::-1],
        "positive products": lambda q, k: np.maximum(q * k, 0).sum(),
        "whole result array": lambda q, k: np.sum((q * k).astype(q.dtype).astype(int)) + 0.0,
        "a yes": lambda q, k: bool(q @ k),
    },
    "02-project": {
        "X @ W.T where it runs": lambda X, *W: tuple(
            either(lambda X, w: X @ w.T, lambda X, w: X @ w)(X, w) for w in W
        ),
        "W @ X where it runs": lambda X, *W: tuple(
            either(lambda X, w: w @ X, lambda X, w: X @ w)(X, w) for w in W
        ),
        "(W.T @ X) where it runs": lambda X, *W: tuple(
            either(lambda X, w: w.T @ X, lambda X, w: X @ w)(X, w) for w in W
        ),
        "(W.T @ X.T) unturned": lambda X, *W: tuple(w.T @ X.T for w in W),
        "keys, queries": lambda X, W_q, W_k, W_v: (X @ W_k, X @ W_q, X @ W_v),
        "values first": lambda X, W_q, W_k, W_v: (X @ W_v, X @ W_q, X @ W_k),
        "queries and values exchanged": lambda X, W_q, W_k, W_v: (X @ W_v, X @ W_k, X @ W_q),
        "values by W_q": lambda X, W_q, W_k, W_v: (X @ W_q, X @ W_k, X @ W_q),
        "keys of queries": lambda X, W_q, W_k, W_v: (
            X @ W_q,
            X @ W_q @ W_k if len(W_q) == W_q.shape[1] else X @ W_k,
            X @ W_v,
        ),
        "two things": lambda X, W_q, W_k, W_v: (X @ W_q, X @ W_k),
        "four things": lambda X, W_q, W_k, W_v: (X @ W_q, X @ W_k, X @ W_v, X),
        "a dictionary": lambda X, W_q, W_k, W_v: {"Q": X @ W_q, "K": X @ W_k, "V": X @ W_v},
        "a generator": lambda X, *W: (X @ w for w in W),
        "side by side": lambda X, *W: X @ np.hstack(W),
        "scaled queries": lambda X, W_q, W_k, W_v: (X @ W_q / np.sqrt(W_q.shape[1]), X @ W_k, X @ W_v),
        "last token missing": lambda X, *W: tuple(X[:-1] @ w for w in W),
        "last token repeated": lambda X, *W: tuple(np.vstack([(X @ w)[:-1], (X @ w)[:1]]) for w in W),
    },
    "03-scores": {
        "Q @ K where it runs": either(lambda Q, K: Q @ K, lambda Q, K: Q @ K.T),
        "Q.T @ K where it runs, else right": lambda Q, K: Q.T @ K if len(Q) == len(K) else Q @ K.T,
        "K @ Q.T where square": lambda Q, K: K @ Q.T if len(Q) == len(K) else Q @ K.T,
        "triangle": lambda Q, K: np.tril(Q @ K.T),
        "diagonal only": lambda Q, K: np.diag(np.diag(Q @ K.T)) if len(Q) == len(K) else Q @ K.T,
        "symmetric": lambda Q, K: (Q @ K.T + (Q @ K.T).T) / 2 if len(Q) == len(K) else Q @ K.T,
        "loops over queries twice": lambda Q, K: np.array(
            [[Q[i] @ K[j % len(K)] for j in range(len(Q))] for i in range(len(Q))]
        ),
        "four keys at most": lambda Q, K: np.hstack(
            [(Q @ K.T)[:, :4], np.zeros((len(Q), max(0, len(K) - 4)))]
        ),
        "zeros like Q": lambda Q, K: np.where(np.ones((len(Q), len(K)), bool), (Q @ K.T).astype(Q.dtype), 0),
        "distances": lambda Q, K: -((Q[:, None] - K) ** 2).sum(-1),
        "absolute": lambda Q, K: abs(Q @ K.T),
        "two features": lambda Q, K: Q[:, :2] @ K[:, :2].T,
        "scaled by root 1 feature": lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1]),
        "softmax": lambda Q, K: stable(Q @ K.T),
        "squeezed": lambda Q, K: np.squeeze(Q @ K.T),
        "no query axis for one query": lambda Q, K: (Q @ K.T)[0] if len(Q) == 1 else Q @ K.T,
    },
    "03-scaled": {
        "Q @ K where it runs": either(
            lambda Q, K: Q @ K / np.sqrt(Q.shape[1]), lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1])
        ),
        "root of 2": lambda Q, K: Q @ K.T / np.sqrt(2),
        "root of 3": lambda Q, K: Q @ K.T / np.sqrt(3),
        "root of 64": lambda Q, K: Q @ K.T / 8,
        "root of n_q": lambda Q, K: Q @ K.T / np.sqrt(len(Q)),
        "root of n_k": lambda Q, K: Q @ K.T / np.sqrt(len(K)),
        "root of the larger": lambda Q, K: Q @ K.T / np.sqrt(max(Q.shape)),
        "root of the smaller": lambda Q, K: Q @ K.T / np.sqrt(min(Q.shape)),
        "root of size": lambda Q, K: Q @ K.T / np.sqrt(Q.size),
        "d_k ** 1/2": lambda Q, K: Q @ K.T / Q.shape[1] ** 1 / 2,
        "half of d_k": lambda Q, K: Q @ K.T / (Q.shape[1] ** 1 / 2),
        "root of d_k - 1": lambda Q, K: Q @ K.T / np.sqrt(max(1, Q.shape[1] - 1)),
        "whole root": lambda Q, K: Q @ K.T // np.sqrt(Q.shape[1]),
        "isqrt": lambda Q, K: Q @ K.T / int(np.sqrt(Q.shape[1])),
        "epsilon": lambda Q, K: Q @ K.T / (np.sqrt(Q.shape[1]) + 1e-8),
        "epsilon under the root": lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1] + 1e-6),
        "standardized": lambda Q, K: Q @ K.T / max(np.std(Q @ K.T), 1e-9),
        "twice": lambda Q, K: scores(Q, K) / np.sqrt(Q.shape[1]),
        "scales queries by root, keys too": lambda Q, K: (
            (Q / np.sqrt(Q.shape[1])) @ (K / np.sqrt(K.shape[1])).T
        ),
    },
    "04-softmax": {
        "mean subtracted": lambda s: bare(s - s.mean(-1, keepdims=True)),
        "minimum subtracted": lambda s: bare(s - s.min(-1, keepdims=True)),
        "first subtracted": lambda s: bare(s - s[..., :1]),
        "last subtracted": lambda s: bare(s - s[..., -1:]),
        "global maximum": lambda s: bare(s - s.max()),
        "maximum of columns": lambda s: bare(s - s.max(-2, keepdims=True)) if s.ndim > 1 else stable(s),
        "maximum of the absolute": lambda s: bare(s - np.abs(s).max(-1, keepdims=True)),
        "axis 0": lambda s: bare(s - s.max(0, keepdims=True), 0),
        "axis 1": lambda s: bare(s - s.max(1, keepdims=True), 1) if s.ndim > 1 else stable(s),
        "axis 2": lambda s: bare(s - s.max(2, keepdims=True), 2) if s.ndim > 2 else stable(s),
        "clipped at 700": lambda s: bare(np.clip(s, -700, 700)),
        "clipped at 500": lambda s: bare(np.clip(s, -500, 500)),
        "halved when large": lambda s: stable(s / 2) if np.abs(s).max() > 500 else stable(s),
        "nan to num": lambda s: np.nan_to_num(bare(s)),
        "nan to equal shares": lambda s: np.nan_to_num(bare(s), nan=1 / s.shape[-1]),
        "epsilon 1e-6": lambda s: (
            np.exp(s - s.max(-1, keepdims=True))
            / (np.exp(s - s.max(-1, keepdims=True)).sum(-1, keepdims=True) + 1e-6)
        ),
        "epsilon 1e-9": lambda s: (
            np.exp(s - s.max(-1, keepdims=True))
            / (np.exp(s - s.max(-1, keepdims=True)).sum(-1, keepdims=True) + 1e-9)
        ),
        "powers of 2": lambda s: (
            2.0 ** (s - s.max(-1, keepdims=True))
            / (2.0 ** (s - s.max(-1, keepdims=True))).sum(-1, keepdims=True)
        ),
        "one-hot": lambda s: (s == s.max(-1, keepdims=True)) * 1.0,
        "argmax": lambda s: np.eye(s.shape[-1])[s.argmax(-1)],
        "sigmoid": lambda s: 1 / (1 + np.exp(-s)),
        "positive part": lambda s: np.maximum(s, 0) / np.maximum(s, 0).sum(-1, keepdims=True),
        "flat rows": lambda s: first_axes(stable(s)),
        "loop over two axes": lambda s: np.array([stable(row) for row in s]) if s.ndim < 3 else bare(s, 1),
        "no keepdims": lambda s: (
            np.exp(s - s.max(-1, keepdims=True)) / np.exp(s - s.max(-1, keepdims=True)).sum(-1)
        ),
        "log shares": lambda s: np.log(stable(s)),
        "float32 inside": lambda s: stable(s.astype(np.float32)).astype(float),
        "whole powers": lambda s: stable(s).astype(s.dtype),
        "whole where whole": lambda s: np.round(stable(s)) if s.dtype.kind == "i" else stable(s),
        "scaled": lambda s: stable(s / np.sqrt(s.shape[-1])),
    },
    "04-masked-softmax": {
        "-1e9": lambda s, m: stable(np.where(m, s, -1e9)),
        "-1e9 added": lambda s, m: added(s, m, -1e9),
        "-1e9 added, empty rows zeroed": lambda s, m: empty_zeroed(added(s, m, -1e9), m),
        "-1e4 put, empty rows zeroed, small": lambda s, m: empty_zeroed(stable(np.where(m, s, -500)), m),
        "-1e6 added, empty rows zeroed": lambda s, m: empty_zeroed(added(s, m, -1e6), m),
        "hidden maximum": lambda s, m: np.nan_to_num(stable(s) * m / (stable(s) * m).sum(-1, keepdims=True)),
        "zeroed after": lambda s, m: stable(s) * m,
        "zeroed before": lambda s, m: empty_zeroed(stable(s * m), m),
        "zeroed before and after": lambda s, m: stable(s * m) * m,
        "epsilon": lambda s, m: stable(s) * m / ((stable(s) * m).sum(-1, keepdims=True) + 1e-8),
        "empty rows equal shares": lambda s, m: np.where(
            m.any(-1, keepdims=True), softmax(s, mask=m), 1 / s.shape[-1]
        ),
        "nan in empty rows": lambda s, m: stable(hidden(s, m)),
        "mask of full shape only": lambda s, m: softmax(s, mask=m) if m.shape == s.shape else softmax(s),
        "mask of the first row": lambda s, m: softmax(s, mask=m[(0,) * (m.ndim - 1)]),
        "mask turned over where square": lambda s, m: softmax(
            s, mask=m.T if m.ndim == 2 and len(m) == len(m.T) else m
        ),
        "boolean index": lambda s, m: _by_index(s, m),
        "inverse": lambda s, m: softmax(s, mask=~m),
        "bare": lambda s, m: np.nan_to_num(bare(hidden(s, m))),
        "nan to 1": lambda s, m: np.nan_to_num(stable(hidden(s, m)), nan=1.0),
        "zero times inf": lambda s, m: np.nan_to_num(stable(s + (1 - m) * -np.inf)),
        "maximum without mask": lambda s, m: _guarded(np.exp(s - s.max(-1, keepdims=True)) * m),
        "maximum of all": lambda s, m: _guarded(np.exp(hidden(s, m) - hidden(s, m).max(initial=-1e300))),
        "axis 1": lambda s, m: (
            softmax(s, mask=m)
            if s.ndim < 3
            else np.moveaxis(softmax(np.moveaxis(hidden(s, m), 1, -1)), -1, 1)
        ),
        "only whole rows": lambda s, m: empty_zeroed(stable(s), m),
        "mask as numbers added": lambda s, m: stable(s + m),
        "hidden at the minimum": lambda s, m: empty_zeroed(stable(np.where(m, s, s.min())), m),
        "all empty only": lambda s, m: np.zeros(s.shape) if not m.any() else stable(hidden(s, m)),
    },
    "04-temperature": {
        "mask and temperature exchanged": swapped_04,
        "defaults dropped": no_default,
        "mask dropped": lambda scores, mask=None, temperature=1.0: softmax(scores, temperature=temperature),
        "other keyword": lambda scores, mask=None, T=1.0: softmax(scores, mask=mask, temperature=T),
        "default temperature 2": lambda scores, mask=None, temperature=2.0: softmax(
            scores, mask=mask, temperature=temperature
        ),
        "temperature below 1 only": lambda scores, mask=None, temperature=1.0: softmax(
            scores, mask=mask, temperature=min(1, temperature)
        ),
        "whole temperature": lambda scores, mask=None, temperature=1.0: softmax(
            scores, mask=mask, temperature=max(1, int(temperature))
        ),
        "multiplied": lambda scores, mask=None, temperature=1.0: softmax(scores * temperature, mask=mask),
        "squared": lambda scores, mask=None, temperature=1.0: softmax(
            scores, mask=mask, temperature=temperature**2
        ),
        "root": lambda scores, mask=None, temperature=1.0: softmax(
            scores, mask=mask, temperature=temperature**0.5
        ),
        "only without a mask": lambda scores, mask=None, temperature=1.0: softmax(
            scores, mask=mask, temperature=1.0 if mask is not None else temperature
        ),
        "only with a mask": lambda scores, mask=None, temperature=1.0: softmax(
            scores, mask=mask, temperature=1.0 if mask is None else temperature
        ),
        "-1e9 added, empty rows zeroed": lambda scores, mask=None, temperature=1.0: (
            softmax(scores / temperature)
            if mask is None
            else empty_zeroed(added(scores / temperature, mask, -1e9), mask)
        ),
        "-1e9": lambda scores, mask=None, temperature=1.0: (
            softmax(scores / temperature)
            if mask is None
            else stable(np.where(mask, scores, -1e9) / temperature)
        ),
        "whole division": lambda scores, mask=None, temperature=1.0: softmax(
            scores // temperature, mask=mask
        ),
        "bare": lambda scores, mask=None, temperature=1.0: np.nan_to_num(
            bare((scores if mask is None else hidden(scores, mask)) / temperature)
        ),
        "clipped at 700": lambda scores, mask=None, temperature=1.0: softmax(
            np.clip(scores / temperature, -700, 700), mask=mask
        ),
        "epsilon added to T": lambda scores, mask=None, temperature=1.0: softmax(
            scores, mask=mask, temperature=temperature + 1e-6
        ),
        "temperature after the maximum of scores": lambda scores, mask=None, temperature=1.0: (
            softmax(scores, mask=mask) ** (1 / temperature)
        ),
        "mask of full shape only": lambda scores, mask=None, temperature=1.0: softmax(
            scores, mask=mask if mask is None or mask.shape == scores.shape else None, temperature=temperature
        ),
        "nan in empty rows": lambda scores, mask=None, temperature=1.0: stable(
            (scores if mask is None else hidden(scores, mask)) / temperature
        ),
        "mask required to be true": lambda scores, mask=None, temperature=1.0: (
            softmax(scores, mask=mask, temperature=temperature)
            if mask is None or mask.any()
            else stable(scores)
        ),
    },
    "05-weighted-sum": {
        "transposed where square": lambda w, V: w.T @ V if w.shape[0] == w.shape[1] else w @ V,
        "transposed where it runs": either(lambda w, V: w.T @ V, lambda w, V: w @ V),
        "rows normalized": lambda w, V: (
            w / np.where(w.sum(-1, keepdims=True) == 0, 1, w.sum(-1, keepdims=True)) @ V
        ),
        "softmax again": lambda w, V: stable(w) @ V,
        "positive weights": lambda w, V: np.maximum(w, 0) @ V,
        "absolute": lambda w, V: np.abs(w) @ V,
        "np.average": lambda w, V: np.array(
            [np.average(V, axis=0, weights=row) if row.sum() else V.mean(0) for row in w]
        ),
        "mean for a row of zeros": lambda w, V: np.where((w == 0).all(-1, keepdims=True), V.mean(0), w @ V),
        "square only": lambda w, V: np.array(
            [sum(w[i, j] * V[j] for j in range(len(V))) for i in range(len(V))]
        ),
        "one output for one query": lambda w, V: (w @ V)[0] if len(w) == 1 else w @ V,
        "last value left out": lambda w, V: w[:, :-1] @ V[:-1],
        "last weight from the rest": lambda w, V: (
            np.hstack([w[:, :-1], 1 - w[:, :-1].sum(-1, keepdims=True)]) @ V
        ),
        "zeros like V": lambda w, V: (w @ V).astype(V.dtype),
        "zeros like the weights": lambda w, V: (w @ V).astype(w.dtype),
        "argmax": lambda w, V: V[w.argmax(-1)],
        "two features": lambda w, V: np.hstack([w @ V[:, :2], np.zeros((len(w), max(0, V.shape[1] - 2)))]),
        "times entry where it fits": lambda w, V: w * V if w.shape == V.shape else w @ V,
        "clipped weights": lambda w, V: np.clip(w, -1, 1) @ V,
        "epsilon": lambda w, V: w @ V / (1 + 1e-8),
    },
    "05-one-token": {
        **{what: one_of(form) for what, form in by_root(row_form).items() if what not in ("root of axis 1",)},
        "first token": lambda X, W_q, W_k, W_v, i: row_form(root(lambda *a: a[-1].shape[1]))(
            X, W_q, W_k, W_v
        )[0],
        "i - 1": lambda X, W_q, W_k, W_v, i: row_form(root(lambda *a: a[-1].shape[1]))(X, W_q, W_k, W_v)[
            i - 1
        ],
        "root of len(q) for q a row of X": lambda X, W_q, W_k, W_v, i: (
            stable((X @ W_k) @ (X[i] @ W_q) / np.sqrt(len(X[i]))) @ (X @ W_v)
        ),
        "one row": lambda X, W_q, W_k, W_v, i: row_form(root(lambda *a: a[-1].shape[1]))(X, W_q, W_k, W_v)[
            i : i + 1
        ],
        "causal": lambda X, W_q, W_k, W_v, i: row_form(root(lambda *a: a[-1].shape[1]))(
            X[: i + 1], W_q, W_k, W_v
        )[i],
        "columns": one_of(row_form(root(lambda *a: a[-1].shape[1]), weigh=lambda alpha: bare(alpha, 0))),
        "all of weight 1": lambda X, W_q, W_k, W_v, i: (X @ W_v).sum(axis=0),
        "without itself": lambda X, W_q, W_k, W_v, i: (
            softmax((X @ W_k) @ (X[i] @ W_q) / np.sqrt(W_q.shape[1]), mask=np.arange(len(X)) != i) @ (X @ W_v)
        ),
        "isqrt": lambda X, W_q, W_k, W_v, i: (
            stable((X @ W_k) @ (X[i] @ W_q) / int(np.sqrt(W_q.shape[1]))) @ (X @ W_v)
        ),
        "keys as values where it fits": lambda X, W_q, W_k, W_v, i: (
            stable((X @ W_k) @ (X[i] @ W_q) / np.sqrt(W_q.shape[1]))
            @ (X @ (W_k if W_k.shape == W_v.shape else W_v))
        ),
        "epsilon": lambda X, W_q, W_k, W_v, i: (
            stable((X @ W_k) @ (X[i] @ W_q) / np.sqrt(W_q.shape[1])) @ (X @ W_v) / (1 + 1e-8)
        ),
    },
    "05-attention": {
        **{what: six(root(of)) for what, of in ROOTS.items() if what != "axis 1"},
        "Q @ K where it runs": six(product=either(lambda Q, K: Q @ K, lambda Q, K: Q @ K.T)),
        "Q.T @ K where it runs": six(
            product=either(lambda Q, K: (Q.T @ K) if Q.shape[0] == Q.shape[1] else Q @ K.T, None)
        ),
        "turned over": six(product=lambda Q, K: K @ Q.T),
        "columns": six(weigh=lambda alpha: bare(alpha, 0)),
        "keepdims missing": six(weigh=lambda alpha: np.exp(alpha) / np.exp(alpha).sum(-1)),
        "scores mixed": lambda *call: (*six()(*call)[:5], six()(*call)[3] @ six()(*call)[2]),
        "whole table": six(weigh=lambda alpha: bare(alpha, None)),
        "five": lambda *call: six()(*call)[1:],
        "seven": lambda *call: (*six()(*call), 0),
        "weights first": lambda *call: (*six()(*call)[:3], six()(*call)[4], six()(*call)[3], six()(*call)[5]),
        "unscaled scores shown": lambda *call: (
            *six()(*call)[:3],
            call[0] @ call[1] @ (call[0] @ call[2]).T,
            *six()(*call)[4:],
        ),
        "causal": six(weigh=lambda alpha: softmax(alpha, mask=np.tri(len(alpha), dtype=bool))),
        "keys mixed where it fits": lambda X, W_q, W_k, W_v: (
            *six()(X, W_q, W_k, W_v)[:5],
            six()(X, W_q, W_k, W_v)[4] @ (X @ (W_k if W_k.shape == W_v.shape else W_v)),
        ),
        "epsilon": six(weigh=lambda alpha: np.exp(alpha) / (np.exp(alpha).sum(-1, keepdims=True) + 1e-6)),
        "W.T where it runs": lambda X, *W: six()(X, *(w.T if w.shape[0] == w.shape[1] else w for w in W)),
    },
    "06-row-form": {
        **by_root(row_form),
        "K.T": row_form(root(lambda X, Q, *a: Q.shape[-1]), turn=lambda K: K.T),
        "K.T where it runs": either(
            row_form(root(lambda X, Q, *a: Q.shape[-1]), turn=lambda K: K.T),
            row_form(root(lambda X, Q, *a: Q.shape[-1])),
        ),
        "transpose(0, 2, 1)": row_form(
            root(lambda X, Q, *a: Q.shape[-1]), turn=lambda K: K.transpose(0, 2, 1)
        ),
        "transpose(0, 2, 1) or .T": row_form(
            root(lambda X, Q, *a: Q.shape[-1]), turn=lambda K: K.transpose(0, 2, 1) if K.ndim == 3 else K.T
        ),
        "for x in X": lambda X, *W: np.stack(
            [row_form(root(lambda X, Q, *a: Q.shape[-1]))(x, *W) for x in X]
        ),
        "for x in X where 3 axes": lambda X, *W: (
            row_form(root(lambda X, Q, *a: Q.shape[-1]))(X, *W)
            if X.ndim < 4
            else np.stack(
                [row_form(root(lambda X, Q, *a: Q.shape[-1]), turn=lambda K: K.T)(x, *W) for x in X]
            )
        ),
        "Q @ K where it runs": row_form(
            root(lambda X, Q, *a: Q.shape[-1]),
            turn=lambda K: K if K.shape[-1] == K.shape[-2] else K.swapaxes(-1, -2),
        ),
        "axis 1": row_form(root(lambda X, Q, *a: Q.shape[-1]), weigh=lambda alpha: bare(alpha, 1)),
        "axis 2": row_form(
            root(lambda X, Q, *a: Q.shape[-1]), weigh=lambda alpha: bare(alpha, min(2, alpha.ndim - 1))
        ),
        "flat": lambda X, *W: row_form(root(lambda X, Q, *a: Q.shape[-1]))(
            X.reshape(-1, X.shape[-1]), *W
        ).reshape(*X.shape[:-1], -1),
        "flat, left flat": lambda X, *W: row_form(root(lambda X, Q, *a: Q.shape[-1]))(
            X.reshape(-1, X.shape[-1]), *W
        ),
        "keepdims missing": row_form(
            root(lambda X, Q, *a: Q.shape[-1]), weigh=lambda alpha: np.exp(alpha) / np.exp(alpha).sum(-1)
        ),
        "first of the stack": lambda X, *W: (
            row_form(root(lambda X, Q, *a: Q.shape[-1]))(X, *W)
            if X.ndim < 3
            else row_form(root(lambda X, Q, *a: Q.shape[-1]))(X[:1], *W)
        ),
        "squeezed": lambda X, *W: np.squeeze(row_form(root(lambda X, Q, *a: Q.shape[-1]))(X, *W)),
    },
    "06-column-form": {
        "A unturned": lambda I, W_q, W_k, W_v: W_v @ I @ stable((W_k @ I).T @ (W_q @ I)),
        "A turned": lambda I, W_q, W_k, W_v: W_v @ I @ stable(((W_k @ I).T @ (W_q @ I)).T),
        "Q^T K": lambda I, W_q, W_k, W_v: W_v @ I @ stable((W_k @ I).T @ (W_q @ I)).T,
        "Q^T K along columns": lambda I, W_q, W_k, W_v: W_v @ I @ bare((W_q @ I).T @ (W_k @ I), 0),
        "scaled": lambda I, W_q, W_k, W_v: W_v @ I @ bare((W_k @ I).T @ (W_q @ I) / np.sqrt(len(W_q)), 0),
        "scaled by d": lambda I, W_q, W_k, W_v: W_v @ I @ bare((W_k @ I).T @ (W_q @ I) / np.sqrt(len(I)), 0),
        "rows": lambda I, W_q, W_k, W_v: (W_v @ I @ bare((W_k @ I).T @ (W_q @ I), 0)).T,
        "row form where it runs": either(
            lambda I, W_q, W_k, W_v: stable((I @ W_q) @ (I @ W_k).T) @ (I @ W_v),
            lambda I, W_q, W_k, W_v: W_v @ I @ bare((W_k @ I).T @ (W_q @ I), 0),
        ),
        "W.T where square": lambda I, *W: (lambda W_q, W_k, W_v: W_v @ I @ bare((W_k @ I).T @ (W_q @ I), 0))(
            *(w.T if w.shape[0] == w.shape[1] else w for w in W)
        ),
        "I.T": lambda I, W_q, W_k, W_v: stable((I.T @ W_q.T) @ (I.T @ W_k.T).T) @ (I.T @ W_v.T),
        "no softmax": lambda I, W_q, W_k, W_v: W_v @ I @ ((W_k @ I).T @ (W_q @ I)),
        "whole table": lambda I, W_q, W_k, W_v: W_v @ I @ bare((W_k @ I).T @ (W_q @ I), None),
        "K K": lambda I, W_q, W_k, W_v: W_v @ I @ bare((W_k @ I).T @ (W_k @ I), 0),
        "keys where they fit": lambda I, W_q, W_k, W_v: (
            (W_k if W_k.shape == W_v.shape else W_v) @ I @ bare((W_k @ I).T @ (W_q @ I), 0)
        ),
        "symmetric": lambda I, W_q, W_k, W_v: (
            W_v @ I @ bare(((W_k @ I).T @ (W_q @ I) + (W_q @ I).T @ (W_k @ I)) / 2, 0)
        ),
        "epsilon": lambda I, W_q, W_k, W_v: (
            W_v @ I @ (np.exp((W_k @ I).T @ (W_q @ I)) / (np.exp((W_k @ I).T @ (W_q @ I)).sum(0) + 1e-4))
        ),
    },
    "06-positions": {
        "whole powers": in_integers,
        "powers before the root": lambda n, d: _pairs(
            np.arange(n)[:, None] / (10000.0 ** np.arange(0, d, 2)) ** (1 / d)
        ),
        "base 1000": lambda n, d: positions(n, d, base=1000.0),
        "base 10001": lambda n, d: positions(n, d, base=10001.0),
        "no brackets": lambda n, d: _pairs(np.arange(n)[:, None] / 10000**2 * np.arange(d // 2) / d),
        "brackets outside only": lambda n, d: _pairs(
            np.arange(n)[:, None] / (10000**2 * np.arange(d // 2) / d)
        ),
        "multiplied": lambda n, d: _pairs(np.arange(n)[:, None] * 10000 ** (np.arange(0, d, 2) / d)),
        "whole division": lambda n, d: _pairs(np.arange(n)[:, None] // 10000 ** (np.arange(0, d, 2) / d)),
        "exponent i / d": lambda n, d: _pairs(np.arange(n)[:, None] / 10000 ** (np.arange(d // 2) / d)),
        "exponent 4i / d": lambda n, d: _pairs(np.arange(n)[:, None] / 10000 ** (2 * np.arange(0, d, 2) / d)),
        "exponent 2i / (d - 2)": lambda n, d: _pairs(
            np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / max(1, d - 2))
        ),
        "d + 1": lambda n, d: _pairs(np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / (d + 1))),
        "degrees": lambda n, d: _pairs(np.radians(np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d))),
        "from 1": lambda n, d: positions(n + 1, d)[1:],
        "places over n": lambda n, d: _pairs(np.arange(n)[:, None] / n / 10000 ** (np.arange(0, d, 2) / d)),
        "halves": lambda n, d: np.concatenate([positions(n, d)[:, ::2], positions(n, d)[:, 1::2]], axis=1),
        "cosine first": lambda n, d: positions(n, d)[:, np.arange(d) ^ 1],
        "sine only": lambda n, d: np.repeat(positions(n, d)[:, ::2], 2, axis=1),
        "cosine only": lambda n, d: np.repeat(positions(n, d)[:, 1::2], 2, axis=1),
        "turned": lambda n, d: positions(n, d).T,
        "square": lambda n, d: positions(d, d)[:n],
        "at most 10 places": lambda n, d: np.vstack(
            [positions(min(n, 10), d)] + [np.zeros((max(0, n - 10), d))]
        ),
        "at most 8 features": lambda n, d: np.hstack([positions(n, d)[:, :8], np.zeros((n, max(0, d - 8)))]),
        "float32 angles": lambda n, d: _pairs(
            (np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)).astype(np.float32)
        ).astype(float),
        "small angles": lambda n, d: (
            np.where(positions(n, d) == positions(n, d), positions(n, d), 0) + (np.arange(d) % 2 == 0) * 1e-8
        ),
    },
    "07-split": {
        "2-D reshape": lambda X, h: (
            X.reshape(len(X), h, -1).swapaxes(0, 1)
            if X.ndim == 2
            else X.reshape(*X.shape[:-2], h, X.shape[-2], -1)
        ),
        "axes 0 and 1": lambda X, h: X.reshape(*X.shape[:-1], h, -1).swapaxes(0, 1),
        "transpose(0, 2, 1, 3)": lambda X, h: X.reshape(*X.shape[:-1], h, -1).transpose(0, 2, 1, 3),
        "2 and 3 axes": lambda X, h: (
            X.reshape(*X.shape[:-1], h, -1).swapaxes(1, 2)
            if X.ndim > 2
            else X.reshape(*X.shape[:-1], h, -1).swapaxes(0, 1)
        ),
        "heads first": lambda X, h: np.stack(np.split(X, h, axis=-1)),
        "heads at axis 1": lambda X, h: (
            np.stack(np.split(X, h, axis=-1), axis=1) if X.ndim > 2 else np.stack(np.split(X, h, axis=-1))
        ),
        "size by h": lambda X, h: X.reshape(*X.shape[:-1], -1, h).swapaxes(-2, -3),
        "interleaved": lambda X, h: np.moveaxis(X.reshape(*X.shape[:-1], -1, h), -1, -3),
        "two heads": lambda X, h: split_heads(X, 2) if X.shape[-1] % 2 == 0 else split_heads(X, h),
        "backwards": lambda X, h: split_heads(X, h)[..., ::-1, :, :],
        "a list of heads": lambda X, h: list(np.moveaxis(split_heads(X, h), -3, 0)),
        "cut where sizes are equal": lambda X, h: (
            X.reshape(*X.shape[:-2], h, X.shape[-2], -1) if X.shape[-2] == h else split_heads(X, h)
        ),
        "squeezed": lambda X, h: np.squeeze(split_heads(X, h)),
        "no axis for one head": lambda X, h: X if h == 1 else split_heads(X, h),
        "3 axes flattened": lambda X, h: (
            split_heads(X.reshape(-1, *X.shape[-2:]), h) if X.ndim > 3 else split_heads(X, h)
        ),
    },
    "07-merge": {
        "paste where no stack": lambda X: X.reshape(X.shape[1], -1) if X.ndim == 3 else merge_heads(X),
        "paste where a stack": lambda X: (
            X.reshape(*X.shape[:-3], X.shape[-2], -1) if X.ndim > 3 else merge_heads(X)
        ),
        "paste where h = n": lambda X: (
            X.reshape(*X.shape[:-3], X.shape[-2], -1) if X.shape[-2] == X.shape[-3] else merge_heads(X)
        ),
        "axes 0 and 1": lambda X: X.swapaxes(0, 1).reshape(*X.shape[:-3], X.shape[-2], -1),
        "axes 1 and 2": lambda X: X.swapaxes(1, 2).reshape(*X.shape[:-3], X.shape[-2], -1),
        "concatenate(X)": lambda X: np.concatenate(X, axis=-1),
        "concatenate of 3 or 4 axes": lambda X: (
            np.concatenate(X, -1) if X.ndim == 3 else np.concatenate(X.swapaxes(0, 1), -1)
        ),
        "backwards": lambda X: merge_heads(X[..., ::-1, :, :]),
        "features backwards": lambda X: merge_heads(X[..., ::-1]),
        "interleaved": lambda X: np.moveaxis(X, -3, -1).reshape(*X.shape[:-3], X.shape[-2], -1),
        "added": lambda X: X.sum(-3),
        "mean": lambda X: X.mean(-3),
        "first head": lambda X: X[..., 0, :, :],
        "two heads": lambda X: np.concatenate([X[..., 0, :, :], X[..., -1, :, :]], axis=-1),
        "stack lost": lambda X: merge_heads(X.reshape(-1, *X.shape[-3:])) if X.ndim > 3 else merge_heads(X),
        "one token flat": lambda X: merge_heads(X)[..., 0, :] if X.shape[-2] == 1 else merge_heads(X),
        "below": lambda X: X.reshape(*X.shape[:-3], -1, X.shape[-1]),
    },
    "07-multi-head": {
        **{what: per_head(root(of)) for what, of in ROOTS.items()},
        "cut": per_head(split=lambda X, h: X.reshape(*X.shape[:-2], h, X.shape[-2], -1)),
        "paste": per_head(merge=lambda X: X.reshape(*X.shape[:-3], X.shape[-2], -1)),
        "both": per_head(
            split=lambda X, h: X.reshape(*X.shape[:-2], h, X.shape[-2], -1),
            merge=lambda X: X.reshape(*X.shape[:-3], X.shape[-2], -1),
        ),
        "for x in X": lambda X, *rest: np.stack([per_head()(x, *rest) for x in X]),
        "no stack of stacks": lambda X, *rest: (
            per_head()(X, *rest) if X.ndim < 4 else per_head()(X.reshape(-1, *X.shape[-2:]), *rest)
        ),
        "axis 1": per_head(weigh=lambda alpha: bare(alpha, 1)),
        "axis 2": per_head(weigh=lambda alpha: bare(alpha, 2)),
        "axis 3": per_head(weigh=lambda alpha: bare(alpha, min(3, alpha.ndim - 1))),
        "one head": lambda *call: per_head()(*call[:-1], 1),
        "two heads": lambda *call: per_head()(
            *call[:-1], 2 if call[1].shape[1] % 2 == call[3].shape[1] % 2 == 0 else call[-1]
        ),
        "no W_o where square": lambda X, W_q, W_k, W_v, W_o, h: per_head()(
            X, W_q, W_k, W_v, np.eye(len(W_o)) if W_o.shape[0] == W_o.shape[1] else W_o, h
        ),
        "W_o.T where square": lambda X, W_q, W_k, W_v, W_o, h: per_head()(
            X, W_q, W_k, W_v, W_o.T if W_o.shape[0] == W_o.shape[1] else W_o, h
        ),
        "unscaled": per_head(divide=lambda *a: 1),
        "root of h": lambda *call: per_head(divide=lambda *a: np.sqrt(call[-1]))(*call),
        "keys mixed where they fit": lambda X, W_q, W_k, W_v, *rest: per_head()(
            X, W_q, W_k, W_k if W_k.shape == W_v.shape else W_v, *rest
        ),
        "twice": per_head(divide=lambda X, Q, *a: Q.shape[-1]),
        "by the root of d_model": lambda *call: per_head(divide=lambda *a: np.sqrt(call[1].shape[1]))(*call),
        "scores added": per_head(weigh=lambda alpha: stable(alpha.sum(-3, keepdims=True))),
        "scores mean": per_head(weigh=lambda alpha: stable(alpha.mean(-3, keepdims=True))),
        "softmax over heads and keys": per_head(weigh=lambda alpha: bare(alpha, (-1, -3))),
        "outputs added": lambda X, W_q, W_k, W_v, W_o, h: per_head(
            merge=lambda Y: np.concatenate([Y.sum(-3)] * h, -1)
        )(X, W_q, W_k, W_v, W_o, h),
    },
    "08-rnn": {
        "state forgotten": lambda X, W_x, W_h: np.tanh(X @ W_x),
        "W_h.T": lambda X, W_x, W_h: rnn(X, W_x, W_h.T),
        "W_h @ h where square": lambda X, W_x, W_h: rnn(X, W_x, W_h.T if X.shape[0] == len(W_h) else W_h),
        "W_x.T where square": lambda X, W_x, W_h: rnn(X, W_x.T if len(set(W_x.shape)) == 1 else W_x, W_h),
        "no W_h": lambda X, W_x, W_h: rnn(X, W_x, np.eye(len(W_h))),
        "backwards": lambda X, W_x, W_h: rnn(X[::-1], W_x, W_h)[::-1],
        "backwards unturned": lambda X, W_x, W_h: rnn(X[::-1], W_x, W_h),
        "turned at the end": lambda X, W_x, W_h: rnn(X, W_x, W_h)[::-1],
        "last": lambda X, W_x, W_h: rnn(X, W_x, W_h)[-1],
        "last of all rows": lambda X, W_x, W_h: np.tile(rnn(X, W_x, W_h)[-1], (len(X), 1)),
        "one row flat": lambda X, W_x, W_h: rnn(X, W_x, W_h)[0] if len(X) == 1 else rnn(X, W_x, W_h),
        "one late": lambda X, W_x, W_h: np.vstack([np.zeros(len(W_h)), rnn(X, W_x, W_h)[:-1]]),
        "with the start": lambda X, W_x, W_h: np.vstack([np.zeros(len(W_h)), rnn(X, W_x, W_h)]),
        "first token twice": lambda X, W_x, W_h: rnn(np.vstack([X[:1], X]), W_x, W_h)[1:],
        "first token left out": lambda X, W_x, W_h: np.vstack([np.zeros(len(W_h)), rnn(X[1:], W_x, W_h)]),
        "three tokens remembered": lambda X, W_x, W_h: np.stack(
            [rnn(X[max(0, i - 2) : i + 1], W_x, W_h)[-1] for i in range(len(X))]
        ),
        "starts at the first token": lambda X, W_x, W_h: np.vstack([X[:1] @ W_x, rnn(X, W_x, W_h)[1:]]),
        "sigmoid": lambda X, W_x, W_h: 1 / (1 + np.exp(-rnn(X, W_x, W_h))),
        "softsign": lambda X, W_x, W_h: rnn(X, W_x, W_h) * 0.999,
        "running mean": lambda X, W_x, W_h: (
            np.cumsum(rnn(X, W_x, W_h), 0) / np.arange(1, len(X) + 1)[:, None]
        ),
        "tanh twice": lambda X, W_x, W_h: np.tanh(rnn(X, W_x, W_h)),
        "zeros like X": lambda X, W_x, W_h: rnn(X, W_x, W_h).astype(X.dtype),
        "four tokens at most": lambda X, W_x, W_h: np.vstack(
            [rnn(X[:4], W_x, W_h), np.zeros((max(0, len(X) - 4), len(W_h)))]
        ),
        "tokens down": lambda X, W_x, W_h: rnn(X, W_x, W_h).T,
    },
    "08-done": {
        "own times": lambda takes, needs: takes * 1.0,
        "one by one": lambda takes, needs: np.cumsum(takes),
        "sum of the needed times": lambda takes, needs: takes + needs @ takes,
        "longest needed time": lambda takes, needs: takes + (needs * takes).max(1),
        "two steps back": lambda takes, needs: takes + (needs * (takes + (needs * takes).max(1))).max(1),
        "begin": lambda takes, needs: EXERCISES["08-done"].reference(takes, needs) - takes,
        "number of steps": lambda takes, needs: EXERCISES["08-done"].reference(np.ones(len(takes)), needs),
        "in whole ticks": lambda takes, needs: np.ceil(EXERCISES["08-done"].reference(takes, needs)),
        "running maximum": lambda takes, needs: np.maximum.accumulate(
            EXERCISES["08-done"].reference(takes, needs)
        ),
        "sorted": lambda takes, needs: np.sort(EXERCISES["08-done"].reference(takes, needs)),
        "end": lambda takes, needs: EXERCISES["08-done"].reference(takes, needs).max(),
        "end in every place": lambda takes, needs: np.full(
            len(takes), EXERCISES["08-done"].reference(takes, needs).max()
        ),
        "turned": lambda takes, needs: EXERCISES["08-done"].reference(takes, np.tril(needs.T, -1)),
        "neighbors only": lambda takes, needs: EXERCISES["08-done"].reference(
            takes, needs & np.eye(len(takes), k=-1, dtype=bool)
        ),
        "all before": lambda takes, needs: EXERCISES["08-done"].reference(
            takes, np.tril(np.ones((len(takes), len(takes)), bool), -1)
        ),
    },
}


def _guarded(powers):
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def _by_index(scores, mask):
    """Right where the mask has the shape of the scores, which hold fractions."""
    scores = scores.copy()
    scores[~mask] = -np.inf
    return empty_zeroed(np.nan_to_num(stable(scores)), mask)


MOVES = {"Q", "K", "V", "scores", "weights", "output"}
STAGES = {
    "W_q": {"Q", "scores", "weights", "output"},
    "W_k": {"K", "scores", "weights", "output"},
    "W_v": {"V", "output"},
}


def wrong_moves():
    """Every answer that differs from the right one in one or two names, and others."""
    wrong = {}
    for matrix, changes in itertools.product(
        STAGES, [*itertools.combinations(MOVES, 1), *itertools.combinations(MOVES, 2)]
    ):
        wrong[f"{matrix}: {sorted(changes)}"] = lambda name, m=matrix, c=changes: (
            STAGES[name] ^ (set(c) if name == m else set())
        )
    wrong["unknown word"] = lambda name: STAGES[name] | {"X"}
    wrong["capitals"] = lambda name: {word.lower() for word in STAGES[name]}
    wrong["one text"] = lambda name: " ".join(STAGES[name])
    wrong["a dictionary"] = lambda name: dict.fromkeys(STAGES[name], True)
    wrong["all three"] = lambda name: STAGES
    wrong["the first answer again"] = lambda name, seen=[]: STAGES[(seen.append(name), seen[0])[1]]
    return {what: lambda answer=answer: answer for what, answer in wrong.items()}


def wrong_answers(name):
    by_rule = {
        f"wrong where {case}": lambda c=condition: only_when(name, c)
        for case, condition in cases(name).items()
    }
    if name == "02-moves":
        return by_rule | wrong_moves()
    by_hand = {what: lambda answer=answer: answer for what, answer in BY_HAND[name].items()}
    return by_hand | general(name) | by_rule
