"""The exercises of notebook 02: queries, keys and values."""

from course_lib.attention import project
from course_lib.exercises.exercise import Exercise, arrays, fixed, sizes, slips

EXERCISES = {}


def _draw(rng):
    n, d, d_k, d_v = sizes(rng, 4)
    return arrays(rng, (n, d), (d, d_k), (d, d_k), (d, d_v))


EXERCISES["02-project"] = Exercise(
    reference=project,
    probes=[
        fixed(0, (4, 3), (3, 2), (3, 2), (3, 5)),
        fixed(1, (4, 3), (3, 2), (3, 2), (3, 5)),
        fixed(2, (3, 2), (2, 2), (2, 2), (2, 2)),  # square matrices: here W.T fits as well
        fixed(3, (2, 3), (3, 2), (3, 2), (3, 2)),  # as many tokens as features made: here W @ X fits
    ],
    draw=_draw,
    slips=slips(
        "keys made with W_q: Your keys equal your queries, off by {off:.2f}: W_k is never used.",
        lambda X, W_q, W_k, W_v: (X @ W_q, X @ W_q, X @ W_v),
        "values made with W_q: Your values have {columns} columns and equal your queries: W_v is never used.",
        lambda X, W_q, W_k, W_v: (X @ W_q, X @ W_k, X @ W_q),
        "values made with W_k: Your values have {columns} columns and equal your keys: W_v is never used.",
        lambda X, W_q, W_k, W_v: (X @ W_q, X @ W_k, X @ W_k),
        "queries and keys exchanged: Your queries are the keys, your keys the queries: off by {off:.2f}.",
        lambda X, W_q, W_k, W_v: (X @ W_k, X @ W_q, X @ W_v),
        "keys and values exchanged: Your keys have {columns} columns: they are the values. Which is second?",
        lambda X, W_q, W_k, W_v: (X @ W_q, X @ W_v, X @ W_k),
        "queries and values exchanged: Your queries have {columns} columns: they are the values.",
        lambda X, W_q, W_k, W_v: (X @ W_v, X @ W_k, X @ W_q),
        "values, queries, keys: Your queries have {columns} columns: they are the values. What comes first?",
        lambda X, W_q, W_k, W_v: (X @ W_v, X @ W_q, X @ W_k),
        "keys, values, queries: Your queries are the keys, off by {off:.2f}. Which of the three comes last?",
        lambda X, W_q, W_k, W_v: (X @ W_k, X @ W_v, X @ W_q),
        "tokens as columns: Right, but turned over: {count} rows for {due} tokens. Here a token is a row.",
        lambda X, W_q, W_k, W_v: ((X @ W_q).T, (X @ W_k).T, (X @ W_v).T),
        "only the first token: This is the first token alone, an array with {axes} axis. All go through.",
        lambda X, W_q, W_k, W_v: (X[0] @ W_q, X[0] @ W_k, X[0] @ W_v),
        "matrices turned over: Where W is square that runs, off by {off:.2f}. Which side do features meet?",
        lambda X, W_q, W_k, W_v: (X @ W_q.T, X @ W_k.T, X @ W_v.T),
        "matrix on the left: Where that runs you get {count} rows for {due} tokens: W meets the tokens.",
        lambda X, W_q, W_k, W_v: (W_q @ X, W_k @ X, W_v @ X),
    ),
)

STAGES_MOVED = {
    "W_q": {"Q", "scores", "weights", "output"},
    "W_k": {"K", "scores", "weights", "output"},
    "W_v": {"V", "output"},
}


def _also(name, *more):
    return STAGES_MOVED[name] | (set(more) if name == "W_v" else set())


def _without(name, *less):
    return STAGES_MOVED[name] - (set(less) if name != "W_v" else set())


EXERCISES["02-moves"] = Exercise(
    reference=STAGES_MOVED.get,
    probes=[("W_q",), ("W_k",), ("W_v",)],
    draw=lambda rng: (str(rng.choice(list(STAGES_MOVED))),),
    slips=slips(
        "W_v moves scores and weights: You let W_v move {count} stages. Which stage reads V?",
        lambda name: _also(name, "scores", "weights"),
        "W_v moves the weights: You let W_v move {count} stages. What are weights made of?",
        lambda name: _also(name, "weights"),
        "W_v moves V alone: You let W_v move {count} stage. Who reads V?",
        lambda name: {"V"} if name == "W_v" else STAGES_MOVED[name],
        "only the next stage: You name {count} of {due}: what is made from a stage that moved moves too.",
        lambda name: {name[-1].upper()},
        "stops at the scores: You name {count} of {due}: what is made of the scores, and what of that?",
        lambda name: STAGES_MOVED[name] - {"weights", "output"},
        "stops at the weights: You name {count} of {due}: what is a weighted sum made of?",
        lambda name: STAGES_MOVED[name] - {"output"},
        "stops too early, at Q and K: You name {count} of {due}: what reads Q, and what is made of that?",
        lambda name: _without(name, "scores", "weights", "output"),
        "stops too early, at the scores: You name {count} of {due}: what is made of the scores, and of that?",
        lambda name: _without(name, "weights", "output"),
        "stops too early, at the weights: You name {count} of {due}: what is mixed in these weights?",
        lambda name: _without(name, "output"),
        "queries and keys move each other: You name {count} for W_q: are keys made from queries?",
        lambda name: _also(name) | ({"Q", "K"} if name != "W_v" else set()),
        "Q, K and V move together: You name {count} for W_q. Are K and V made with it?",
        lambda name: STAGES_MOVED[name] | {"Q", "K", "V"},
        "queries and keys exchanged: You name {count}, one of them for the other matrix. What makes Q?",
        lambda name: STAGES_MOVED[{"W_q": "W_k", "W_k": "W_q", "W_v": "W_v"}[name]],
        "its own stage forgotten: You name {count} of {due}: what is the first thing made with this matrix?",
        lambda name: STAGES_MOVED[name] - {"Q", "K", "V"},
        "everything moves: You name all {count} every time. Q is made from X and W_q only.",
        lambda name: {"Q", "K", "V", "scores", "weights", "output"},
    ),
)
