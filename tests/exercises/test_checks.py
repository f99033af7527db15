"""What a check says and does: true words, calls that can be pasted, and an end to every function."""

import contextlib
import io
import threading
import time

import numpy as np
import pytest

from course_lib import checks
from course_lib.attention import scores, self_attention, softmax
from course_lib.checks import check, grade
from course_lib.exercises import EXERCISES


class Odd:
    """Something that refuses to be compared, shown or measured."""

    def __eq__(self, other):
        raise RuntimeError("no")

    __repr__ = __len__ = __array__ = __bool__ = __iter__ = __eq__
    __hash__ = None


class OddError(Exception):
    def __str__(self):
        raise RuntimeError("no")


class OddList(list):
    __iter__ = __len__ = __getitem__ = Odd.__eq__


def raiser(error):
    def raises(*inputs):
        raise error

    return raises


def forever(*inputs):
    return forever(*inputs)


ODD = {
    "None": lambda *i: None,
    "dots": lambda *i: ...,
    "list": lambda *i: [1.0, 2.0],
    "text": lambda *i: "text",
    "dict": lambda *i: {"a": 1},
    "ragged": lambda *i: [[1], [1, 2]],
    "objects": lambda *i: np.array([None, "x"]),
    "texts": lambda *i: np.array(["a"]),
    "complex": lambda *i: np.array([1j]),
    "nan": lambda *i: np.array(np.nan),
    "empty": lambda *i: np.array([]),
    "huge": lambda *i: np.zeros((200, 200)),
    "raises": raiser(ZeroDivisionError("division by zero\nsecond line")),
    "leaves": raiser(SystemExit(3)),
    "interrupts": raiser(KeyboardInterrupt()),
    "closes": raiser(GeneratorExit()),
    "raises what cannot be shown": raiser(OddError()),
    "raises what is no exception": raiser(BaseException("base")),
    "recursion": forever,
    "input itself": lambda *i: i[0],
    "odd": lambda *i: Odd(),
    "tuple of odd": lambda *i: (Odd(), Odd(), Odd()),
    "odd list": lambda *i: OddList([1, 2, 3]),
    "set of lists": lambda *i: [[1], [2]],
    "set of numbers": lambda *i: {1, 2, "Q"},
    "no arguments": lambda: 1,
    "generator": lambda *i: (x for x in i),
    "not a function": 3,
    "not a function, odd": Odd(),
    "a class": Odd,
    "a module": np,
    "True": lambda *i: True,
}


@pytest.mark.parametrize("name", ["02-project", "02-moves", "04-temperature"])
@pytest.mark.parametrize("function", ODD.values(), ids=ODD)
def test_nothing_a_learner_returns_breaks_the_check(name, function, capsys):
    check(name, function)
    printed = capsys.readouterr().out
    assert printed.startswith(f"{name}: not yet") and len(printed) < 3000
    assert "object at 0x" not in printed


@pytest.mark.parametrize("name", EXERCISES)
def test_wrong_kinds_of_the_right_numbers_are_told(name):
    reference = EXERCISES[name].reference

    def turned(kind):
        def function(*given, **named):
            right = reference(*given, **named)
            return tuple(map(kind, right)) if isinstance(right, tuple) else kind(right)

        return function

    if name != "02-moves":
        assert "complex128" in grade(name, turned(lambda part: np.asarray(part) + 0j)).message
        assert "<U" in grade(name, turned(lambda part: np.asarray(part).astype(str))).message
        assert "a masked array" in grade(name, turned(lambda part: np.ma.array(part))).message
        assert "shape" in grade(name, turned(lambda part: np.asarray(part)[None])).message
    if name not in ("00-warm-up", "02-moves"):
        assert "a list" in grade(name, turned(lambda part: part.tolist())).message


@pytest.mark.parametrize(
    "name", [name for name, exercise in EXERCISES.items() if isinstance(exercise.probes[0][0], np.ndarray)]
)
def test_changing_the_input_is_noticed_and_harmless(name):
    def careless(*given, **named):
        right = EXERCISES[name].reference(*given, **named)
        given[0][...] = 7
        return right

    before = [probe[0].copy() for probe in EXERCISES[name].probes]
    result = grade(name, careless)
    assert result.slip == "changes its input" and "careless(np.array(" in result.message.replace("\n    ", "")
    assert all(np.array_equal(probe[0], kept) for probe, kept in zip(EXERCISES[name].probes, before))
    assert grade(name, EXERCISES[name].reference).passed


def test_the_call_that_fails_can_be_pasted_and_gives_what_is_shown():
    def my_scores(Q, K):
        return scores(Q, K) * (1 + (len(K) > 2))

    head, *lines = grade("03-scaled", my_scores).message.splitlines()
    gives, should = lines.index("gives"), lines.index("and should give")
    call = "\n".join(lines[:gives])
    got = eval(call, {"np": np, "my_scores": my_scores})
    want = eval(call, {"np": np, "my_scores": EXERCISES["03-scaled"].reference})
    assert not np.allclose(got, want)
    assert got.shape == (1, 3)  # the smallest that fails
    for shown, numbers in ((lines[gives + 1 : should], got), (lines[should + 1 :], want)):
        read = np.array(" ".join(shown).replace("[", " ").replace("]", " ").split(), float)
        assert np.allclose(read, numbers.ravel(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in EXERCISES if name != "02-moves"])
def test_every_failing_call_can_be_pasted(name):
    def mine(*given, **named):
        right = EXERCISES[name].reference(*given, **named)
        return (*right[:-1], right[-1] + 1) if isinstance(right, tuple) else right + 1

    _, *lines = grade(name, mine).message.splitlines()
    assert np.shape(eval("\n".join(lines[: lines.index("gives")]), {"np": np, "mine": mine})) is not None


def test_keywords_are_shown_in_the_call():
    def whole(scores, mask=None, temperature=1.0):
        return softmax(scores, mask=mask, temperature=temperature if mask is None else 1.0)

    assert (
        "mask=" in grade("04-temperature", whole).message
        or ", np.array([" in grade("04-temperature", whole).message
    )
    message = grade("04-temperature", lambda scores, mask, temperature: scores).message
    assert "required positional argument" in message


def test_numbers_are_shown_with_as_many_digits_as_tell_them_apart():
    def nearly(Q, K):
        alpha = scores(Q, K)
        alpha[0, 0] += 3e-8
        return alpha

    head, *lines = grade("03-scaled", nearly).message.splitlines()
    words = head.replace(".", " ", 0).split()
    got, want = words[words.index("is") + 5], words[-1].rstrip(".")
    assert "entry [0, 0] is " in head and got != want
    text = head.split("entry [0, 0] is ")[1].rstrip(".")
    first, second = map(float, text.split(" where it should be "))
    assert abs(first - second) == pytest.approx(3e-8, rel=0.3)
    assert "0.0e+00" not in head and lines


def test_what_the_function_prints_is_shown_shortened_and_nowhere_else(capsys):
    def chatty(q, k):
        print("products", q * k)
        for i in range(1000):
            print("line", i)
        return q @ k + 1

    message = grade("00-warm-up", chatty).message
    assert "It printed:\nproducts [" in message and "line 1\n" in message and len(message) < 1000
    assert grade("00-warm-up", lambda q, k: [print("hello"), q @ k][1]).passed
    printing = grade("00-warm-up", lambda q, k: print(q @ k)).message
    assert printing.startswith("Your function returns None") and "It printed:" in printing
    assert capsys.readouterr().out == ""


def test_an_error_shows_the_line_of_the_learner_and_not_of_numpy():
    def stops(Q, K):
        wide = np.ones((99, 1))
        return np.linalg.norm(Q @ wide)

    head = grade("03-scores", stops).message.splitlines()[0]
    assert "`return np.linalg.norm(Q @ wide)`" in head and "ValueError" in head
    assert "do not fit, size" in head and "gufunc" not in head
    line = stops.__code__.co_firstlineno + 2
    assert f"in line {line}," in head
    long = grade("03-scores", raiser(ValueError("long " * 5000))).message
    assert len(long) < 600 and "ValueError: long long" in long


def test_an_error_inside_the_library_shows_the_line_that_called_it():
    def asks(Q, K):
        return scores(Q, K[:, :0])

    assert "`return scores(Q, K[:, :0])`" in grade("03-scaled", asks).message


def test_one_branch_without_a_return_is_told_from_a_stub():
    def half(q, k):
        if len(q) != 2:
            return q @ k

    message = grade("00-warm-up", half).message
    assert "None here, and something elsewhere" in message and "half(np.array([" in message


def test_several_things_come_in_any_plain_container_and_are_counted_rightly():
    reference = EXERCISES["05-attention"].reference
    assert grade("05-attention", lambda *call: list(reference(*call))).passed
    for wrong, said in (
        (lambda *call: reference(*call)[:5], "Return 6 things, separated by commas; this is 5."),
        (lambda *call: [*reference(*call), 0], "Return 6 things, separated by commas; this is 7."),
        (lambda *call: {}, "Return 6 things, separated by commas; this is of type dict."),
        (
            lambda *call: call[0].sum,
            "Return 6 things, separated by commas; this is a function, perhaps for want of ().",
        ),
        (lambda *call: call[0], "Return 6 things, separated by commas; this is an array."),
    ):
        assert grade("05-attention", wrong).message.splitlines()[0] == said


def test_moves_say_which_matrix_and_which_word_is_unknown():
    right = EXERCISES["02-moves"].reference
    message = grade("02-moves", lambda name: right(name) if name != "W_k" else {"K", "score"}).message
    assert (
        message.splitlines()[0]
        == 'You name 2: 1 right, 1 too many, 3 missing. "score" is not one of the names to choose from.'
    )
    assert "your_function('W_k')" in message
    assert grade("02-moves", lambda name: frozenset(right(name))).passed
    assert not any(word in message for word in ("weights", "output"))  # the answer is not shown


@pytest.mark.parametrize(
    "slip, answer",
    [
        ("rounded", lambda q, k: round(q @ k, 4)),
        ("float32", lambda q, k: np.float32(q @ k)),
        ("a little added", lambda q, k: q @ k / (1 + 1e-8)),
    ],
)
def test_what_is_nearly_right_gets_a_true_diagnosis(slip, answer):
    assert grade("00-warm-up", answer).slip == slip


def test_rows_divided_by_their_length_are_told_and_shown_by_numbers():
    def norm(x):
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    result = grade("02-project", lambda X, *W: tuple(norm(X @ w) for w in W))
    assert result.slip == "length 1" and "nan" not in result.message
    result = grade("05-weighted-sum", lambda weights, V: norm(weights) @ V)
    assert result.slip == "weights made to have length 1"
    result = grade("05-weighted-sum", lambda weights, V: norm(weights) @ V + 1)  # no slip that is known
    assert result.slip is None and "nan" not in result.message


def test_an_epsilon_is_not_called_rounding():
    def guarded(scores):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / (powers.sum(axis=-1, keepdims=True) + 1e-8)

    result = grade("04-softmax", guarded)
    assert result.slip == "a little added" and "added" in result.message and "round" not in result.message


def test_a_slip_keeps_its_name_when_it_is_written_otherwise():
    def by_einsum(X, W_q, W_k, W_v):
        Q, K, V = X @ W_q, X @ W_k, X @ W_v
        turned = K.T
        letters = "abcde"[: Q.ndim - 2]
        alpha = np.einsum(f"{letters}ij,{letters}jk->{letters}ik", Q, turned) / np.sqrt(Q.shape[-1])
        return softmax(alpha) @ V

    def matmul(X, W_q, W_k, W_v):
        return softmax(np.matmul(X @ W_q, (X @ W_k).T) / W_q.shape[1] ** 0.5) @ (X @ W_v)

    assert grade("06-row-form", matmul).slip == "K.T on a stack"
    unscaled = grade(
        "06-row-form", lambda X, q, k, v: softmax(np.einsum("...id,...jd", X @ q, X @ k)) @ (X @ v)
    )
    assert unscaled.slip == "not scaled"
    result = grade(
        "06-row-form", by_einsum
    )  # broadcasts less than matmul does: the same slip or none, no other
    assert result.slip in (None, "K.T on a stack")


def test_what_only_resembles_a_slip_is_not_given_its_name():
    def one_feature_more(X, W_q, W_k, W_v):
        Q, K, V = X @ W_q, X @ W_k, X @ W_v
        alpha = Q @ K.T / (K.shape[1] + 1) ** 0.5
        return Q, K, V, alpha, softmax(alpha), softmax(alpha) @ V

    assert grade("05-attention", one_feature_more).slip is None

    def bare(scores, mask=None, temperature=1.0):
        powers = np.exp((scores if mask is None else np.where(mask, scores, -np.inf)) / temperature)
        total = powers.sum(axis=-1, keepdims=True)
        return powers / np.where(total == 0, 1, total)

    assert grade("04-temperature", bare).slip == "nothing subtracted"


def test_a_call_is_shown_on_which_the_difference_is_seen():
    def faintly(scores):
        return softmax(scores) + (1e-3 if scores.shape[-1] < 3 else 0.5)

    message = grade("04-softmax", faintly).message
    assert "0.001" not in message.splitlines()[0]
    got, want = (part.split("]")[0] for part in message.split("gives\n")[1].split("should give\n"))
    assert abs(float(got.split("[")[-1].split()[0]) - float(want.split("[")[-1].split()[0])) > 0.4


def test_differences_that_are_cut_off_are_not_called_a_little_added():
    def clipped(scores):
        powers = np.exp(np.maximum(scores - scores.max(axis=-1, keepdims=True), -20))
        return powers / powers.sum(axis=-1, keepdims=True)

    result = grade("04-softmax", clipped)
    assert not result.passed and result.slip is None


def test_whole_numbers_that_cannot_hold_inf_are_told_so():
    def whole(scores, mask):
        scores = scores.copy()
        scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
        return softmax(scores)

    message = grade("04-masked-softmax", whole).message
    assert "OverflowError: an array of whole numbers cannot hold inf" in message


def never(*inputs):
    while True:
        pass


def catching(*inputs):
    while True:
        try:
            time.sleep(0.01)
        except:  # noqa: E722
            pass


def sleeping(*inputs):
    time.sleep(60)


def slow(q, k):
    time.sleep(0.05)
    return q @ k


@pytest.mark.parametrize("function", [never, catching, sleeping, slow])
def test_a_function_that_does_not_end_is_stopped(function, monkeypatch):
    monkeypatch.setattr(checks, "SECONDS", 0.15)
    start = time.monotonic()
    result = grade("00-warm-up", function)
    assert not result.passed and time.monotonic() - start < 5
    after = result.message.splitlines()[0]
    assert after == "Your function has not ended after 0.15 s, on this call:" or function is slow
    assert (
        after.startswith("Your function has not ended after 0.15 s")
        and function is not slow
        or "calls" in after
    )
    assert f"{function.__name__}(" in result.message
    assert grade("00-warm-up", lambda q, k: q @ k).passed  # and the alarm is off
    time.sleep(0.2)


def test_it_is_stopped_on_other_threads_and_without_alarms_too(monkeypatch):
    monkeypatch.setattr(checks, "SECONDS", 0.15)
    results = []
    thread = threading.Thread(target=lambda: results.append(grade("00-warm-up", never)))
    thread.start()
    thread.join(5)
    assert "has not ended after 0.15 s" in results[0].message
    monkeypatch.delattr(checks.signal, "setitimer")
    assert "has not ended after 0.15 s" in grade("00-warm-up", never).message
    assert grade("00-warm-up", lambda q, k: q @ k).passed


def test_an_alarm_that_was_set_before_stays():
    import signal

    rang = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        assert grade("00-warm-up", lambda q, k: q @ k).passed
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
        time.sleep(0.3)
        assert rang
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_interrupt_ends_the_check_at_once():
    calls = []

    def interrupted(q, k):
        calls.append(1)
        raise KeyboardInterrupt

    assert "was interrupted" in grade("00-warm-up", interrupted).message and len(calls) == 1


@pytest.mark.parametrize("what", ["exp", "allclose", "array_equal", "errstate", "round", "array"])
def test_a_replaced_function_of_numpy_is_said_in_one_line(what, monkeypatch):
    monkeypatch.setattr(np, what, None)
    message = grade("03-scores", lambda Q, K: Q @ K.T).message
    monkeypatch.undo()
    assert message == f"np.{what} has been replaced in this session: restart the kernel."
    assert grade("03-scores", lambda Q, K: Q @ K.T).passed


def test_replacing_numpy_inside_the_function_is_noticed_too(monkeypatch):
    monkeypatch.setattr(np, "isnan", np.isnan)

    def sly(q, k):
        np.isnan = lambda x: np.array(True)
        return np.nan

    assert "np.isnan has been replaced" in grade("00-warm-up", sly).message


def test_settings_of_the_learner_do_not_matter():
    options, errors = np.get_printoptions(), np.geterr()
    try:
        plain = grade("04-softmax", lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True))
        np.set_printoptions(precision=1, threshold=2, linewidth=20, suppress=True)
        np.seterr(all="raise")
        assert grade("04-softmax", lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)) == plain
        assert grade("04-softmax", softmax).passed
        assert np.geterr()["over"] == "raise"
    finally:
        np.set_printoptions(**options)
        np.seterr(**errors)


def test_a_check_says_the_same_every_time():
    def off(Q, K):
        return scores(Q, K) + (len(Q) == 3)

    assert grade("03-scaled", off) == grade("03-scaled", off)


def test_an_unknown_exercise_is_answered_with_a_near_one():
    assert "02-project" in grade("02-projekt", lambda: 1).message
    assert "02-project" in grade("something else entirely", lambda: 1).message
    assert not grade(None, lambda: 1).passed
    assert not grade(["02-project"], lambda: 1).passed


def test_passed_is_one_line():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        check("04-softmax", softmax)
    assert out.getvalue().startswith("04-softmax: passed. ") and out.getvalue().count("\n") == 1


def test_a_wrong_stage_is_named():
    def negated(X, *matrices):
        Q, K, V, alpha, *_ = self_attention(X, *matrices)
        return Q, K, V, alpha, softmax(-alpha), softmax(-alpha) @ V

    said = grade("05-attention", negated).message
    assert said.startswith("Stage 5, weights: The shape is right")
    assert said.count("\nStage 5, weights:\n[[") == 2


def no_keepdims(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1)


def asks_the_mask(scores, mask=None, temperature=1.0):
    if mask:
        scores = np.where(mask, scores, -np.inf)
    return softmax(scores / temperature)


def divides_in_place(Q, K):
    alpha = Q @ K.T
    alpha /= np.sqrt(Q.shape[-1])
    return alpha


def leaves_windows_short(X, radius):
    return np.array([X[max(0, i - radius) : i + radius + 1] for i in range(len(X))])


def largest_of_none(takes, needs):
    done = []
    for own, row in zip(takes, needs):
        done.append(own + max(done[j] for j in np.flatnonzero(row)))
    return done


@pytest.mark.parametrize(
    "name, function, line, words",
    [
        ("04-softmax", no_keepdims, "powers / powers.sum(axis=-1)", "could not be broadcast"),
        ("04-temperature", asks_the_mask, "if mask:", "ask for one True or False"),
        ("03-scaled", divides_in_place, "alpha /= np.sqrt", "keep whole numbers whole"),
        ("01-window", leaves_windows_short, "np.array([", "parts of different shapes"),
        ("08-done", largest_of_none, "max(done[j]", "nothing to take the largest of"),
    ],
)
def test_a_call_that_stops_is_shown_before_one_that_is_wrong(name, function, line, words):
    message = grade(name, function).message
    assert line in message and words in message and "truth value" not in message


def test_a_slip_is_known_also_where_a_division_by_nearly_0_makes_numbers_without_sense():
    def after_the_product(weights, V):
        return weights @ V / weights.sum(axis=1, keepdims=True)

    def token_by_token(weights, V):
        return np.array([sum(w * v for w, v in zip(row, V)) / sum(row) for row in weights])

    for function in (after_the_product, token_by_token):
        assert grade("05-weighted-sum", function).slip == "weights made to sum to 1"


def test_windows_of_different_lengths_in_a_list_are_told():
    def short_at_the_edges(X, radius):
        return [X[max(0, i - radius) : i + radius + 1] for i in range(len(X))]

    assert grade("01-window", short_at_the_edges).slip == "parts of different shapes"


def test_a_temperature_that_cancels_is_not_called_unused():
    def cancels(scores, mask=None, temperature=1.0):
        weights = softmax(scores, mask=mask) / temperature
        total = weights.sum(axis=-1, keepdims=True)
        return weights / np.where(total == 0, 1, total)

    assert grade("04-temperature", cancels).slip == "temperature without effect"
