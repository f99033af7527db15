"""What the article says and notebook 08 shows: A18, A19 and A20, and of A10 what counts can say.

Nothing here races against a clock: slopes, steps, multiplications and bytes are the same on any machine.
"""

import ast
import inspect
import tracemalloc

import numpy as np
import pytest

from course_lib import attention, sequence
from course_lib.attention import scores, self_attention, softmax, weighted_sum
from course_lib.sequence import bidirectional_rnn, rnn

N, D = 24, 4


def drawn(seed):
    """24 tokens and what reads them: a window of five, an RNN, one both ways, attention."""
    rng = np.random.default_rng(seed)
    X, (there, back), W = (
        rng.normal(size=(N, D)),
        rng.normal(size=(2, 2, D, D)) / 2,
        rng.normal(size=(3, D, D)) / 2,
    )
    W_window = rng.normal(size=(5, D, D)) / 2
    models = {
        "window": lambda X: sum(np.eye(N, k=i - 2) @ X @ W_window[i] for i in range(5)),
        "RNN": lambda X: rnn(X, *there),
        "both ways": lambda X: bidirectional_rnn(X, there, back),
        "attention": lambda X: self_attention(X, *W).output,
    }
    return X, models


def reach(model, X, nudge=1e-6):
    nudges = nudge * np.eye(N * D).reshape(-1, N, D)
    slopes = (model(X + nudges) - model(X - nudges)) / (2 * nudge)
    return np.linalg.norm(slopes.reshape(N, D, N, -1), axis=(1, 3)).T


@pytest.mark.parametrize("seed", range(5))
def test_a18_how_far_each_model_sees(seed):
    X, models = drawn(seed)
    # Moved by 1: of a smaller move too little may arrive for the digits of a float.
    sees = {name: reach(model, X, nudge=1) > 0 for name, model in models.items()}
    i, j = np.indices((N, N))
    assert np.array_equal(sees["window"], abs(i - j) <= 2)
    assert np.array_equal(sees["RNN"], j <= i)
    assert sees["both ways"].all() and sees["attention"].all()


@pytest.mark.parametrize("seed", range(5))
def test_a18_what_an_rnn_carries_fades_where_w_h_shortens_and_attention_asks_no_distance(seed):
    rng = np.random.default_rng(seed)
    X, W_x, W_h = rng.normal(size=(N, D)), rng.normal(size=(D, D)), rng.normal(size=(D, D))
    W_h *= 0.7 / np.linalg.norm(W_h, 2)  # no state gets longer than 0.7 of itself
    size = reach(lambda X: rnn(X, W_x, W_h), X)
    for t in range(N):
        assert np.diag(size, -t).max() <= np.linalg.norm(W_x) * 0.7**t + 1e-8
    weighed = reach(drawn(seed)[1]["attention"], X)
    typical = [np.median(np.diag(weighed, -t)) for t in (1, 4, 8, 12)]
    assert max(typical) < 4 * min(typical)


class Clock:
    """An array that knows how many products, one after the other, it took."""

    def __init__(self, value, ticks=0):
        self.value, self.ticks = value, ticks

    def __matmul__(self, other):
        other = other if isinstance(other, Clock) else Clock(other)
        return Clock(self.value @ other.value, 1 + max(self.ticks, other.ticks))

    def then(self, function, *others):
        ticks = max(self.ticks, *(each.ticks for each in others)) if others else self.ticks
        return Clock(function(self.value, *(each.value for each in others)), ticks)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_a19_products_in_a_row_are_n_for_an_rnn_and_three_for_attention(n):
    rng = np.random.default_rng(n)
    X, (W_x, W_h), W = Clock(rng.normal(size=(n, D))), rng.normal(size=(2, D, D)), rng.normal(size=(3, D, D))
    h, states = Clock(np.zeros(D)), []
    for i in range(n):
        h = (Clock(X.value[i]) @ W_x).then(lambda read, old: np.tanh(read + old), h @ W_h)
        states.append(h)
    np.testing.assert_allclose([each.value for each in states], rnn(X.value, W_x, W_h), atol=1e-12)
    assert [each.ticks for each in states] == list(range(1, n + 1))
    Q, K, V = (X @ each for each in W)
    weights = (Q @ K.then(np.transpose)).then(lambda alpha: softmax(alpha / np.sqrt(D)))
    output = weights @ V
    np.testing.assert_allclose(output.value, self_attention(X.value, *W).output, atol=1e-12)
    assert output.ticks == 3


def test_a10_every_output_can_be_made_without_any_other():
    X, models = drawn(0)
    W = np.random.default_rng(9).normal(size=(3, D, D))
    whole = self_attention(X, *W)
    for rows in (slice(0, 1), slice(5, 9), slice(23, 24)):  # as many workers as there are parts
        alone = weighted_sum(softmax(scores(whole.Q[rows], whole.K)), whole.V)
        np.testing.assert_allclose(alone, whole.output[rows], atol=1e-12)


class Counted(ast.NodeTransformer):
    """Every A @ B in a source becomes product(A, B)."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        return ast.Call(ast.Name("product", ast.Load()), [node.left, node.right], [])


def count(module, name, *call):
    """The multiplications that a function of the library makes in its products."""
    made = []

    def product(A, B):
        made.append(A.size * B.shape[-1])
        return A @ B

    names = {"__name__": "counted", "product": product}
    tree = Counted().visit(ast.parse(inspect.getsource(module)))
    exec(compile(ast.fix_missing_locations(tree), "counted", "exec"), names)
    names[name](*call)
    return sum(made)


@pytest.mark.parametrize("n, d, d_h, d_k, d_v", [(7, 5, 3, 2, 4), (1, 2, 6, 3, 1), (40, 4, 4, 4, 4)])
def test_a19_multiplications_as_counted_in_the_library(n, d, d_h, d_k, d_v):
    ones = [np.ones(shape) / 9 for shape in ((n, d), (d, d_h), (d_h, d_h), (d, d_k), (d, d_k), (d, d_v))]
    assert count(sequence, "rnn", *ones[:3]) == n * d_h * (d + d_h)
    assert count(attention, "self_attention", ones[0], *ones[3:]) == n * d * (2 * d_k + d_v) + n * n * (
        d_k + d_v
    )


def test_a19_attention_never_makes_fewer_at_equal_widths():
    n, d = np.arange(1, 3000)[:, None], np.array([1, 4, 64, 1024])
    ratio = (3 * n * d**2 + 2 * n**2 * d) / (2 * n * d**2)
    np.testing.assert_allclose(ratio, 1.5 + n / d)
    assert ratio[15, 2] == 1.75


def test_a19_writing_is_serial_for_both():
    """The next token is chosen from the last output: another first token changes all that follows."""
    X, models = drawn(1)
    for name in ("RNN", "attention"):
        written = []
        for first in (X[0], X[5]):
            text = first[None]
            for _ in range(6):
                padded = np.vstack([text, np.zeros((N - len(text), D))])
                text = np.vstack([text, models[name](padded)[len(text) - 1][None]])
            written.append(text)
        assert (np.abs(written[0] - written[1]).max(axis=1) > 0).all()


def peak(work):
    work()
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 8


def test_a20_reading_keeps_one_state_training_n_attention_n_times_n():
    rng = np.random.default_rng(0)
    (W_x, W_h), W = rng.normal(size=(2, D, D)), rng.normal(size=(3, D, D))

    def last(X):
        h = np.zeros(D)
        for x in X:
            h = np.tanh(x @ W_x + h @ W_h)
        return h

    ways = {"last": last, "all": lambda X: rnn(X, W_x, W_h), "attention": lambda X: self_attention(X, *W)}
    texts = {n: rng.normal(size=(n, D)) for n in (500, 1000, 2000)}
    numbers = {name: [peak(lambda: way(X)) for X in texts.values()] for name, way in ways.items()}
    assert max(numbers["last"]) < 500  # whatever n is
    for n, found in zip(texts, numbers["all"]):
        assert n * D <= found <= 3 * n * D
    for n, found in zip(texts, numbers["attention"]):
        assert n * n <= found <= 3 * n * n
    np.testing.assert_allclose(last(texts[500]), ways["all"](texts[500])[-1], atol=1e-12)


def test_a20_the_way_back_of_training_reads_every_state():
    X, models = drawn(0)
    rng = np.random.default_rng(0)
    rng.normal(size=(N, D))
    (W_x, W_h), _ = rng.normal(size=(2, 2, D, D)) / 2

    def back(states):
        slope = np.eye(D)
        for h in states[:0:-1]:
            slope = W_h * (1 - h**2) @ slope
        return W_x * (1 - states[0] ** 2) @ slope

    states = rnn(X, W_x, W_h)[:6]
    nudges = np.zeros((D, 6, D))
    nudges[:, 0] = 1e-6 * np.eye(D)
    measured = (rnn(X[:6] + nudges, W_x, W_h) - rnn(X[:6] - nudges, W_x, W_h))[:, -1] / 2e-6
    np.testing.assert_allclose(back(states), measured, atol=1e-8)
    for i in range(6):  # without any one of them the slope is another
        forgotten = states.copy()
        forgotten[i] = 0
        assert np.abs(back(forgotten) - measured).max() > 1e-5


def test_a20_attention_row_by_row_needs_no_table():
    X, models = drawn(0)
    W = np.random.default_rng(1).normal(size=(3, D, D))
    Q, K, V = self_attention(X, *W)[:3]
    by_row = [weighted_sum(softmax(scores(Q[[i]], K)), V)[0] for i in range(N)]
    np.testing.assert_allclose(by_row, self_attention(X, *W).output, atol=1e-12)
