"""Checks of the exercises: run the learner's function, name the slip, show the failing call, never break."""

import contextlib
import copy
import ctypes
import difflib
import functools
import io
import linecache
import os
import re
import signal
import sys
import textwrap
import threading
import traceback
import warnings
from typing import NamedTuple

import numpy as np

from course_lib.exercises import EXERCISES
from course_lib.exercises.compare import Problem, alike, both, difference, faint, kind, same, wrong_part
from course_lib.exercises.exercise import Measured
from course_lib.exercises.nearly import nearly
from course_lib.predictions import record

SECONDS = 10
NUMPY = {name: thing for name, thing in vars(np).items() if callable(thing)}  # as it was before any lesson
NOT_LEARNERS = tuple(os.path.dirname(module.__file__) for module in (np, os)) + (os.path.dirname(__file__),)

NOTHING = Problem("None", "Your function returns None")


class Result(NamedTuple):
    """What a check found: passed or not, the name of the slip if it is a known one, and what to say."""

    passed: bool
    slip: str | None
    message: str


class Tried(NamedTuple):
    """One call, and what came of it."""

    call: tuple
    got: object
    want: object
    printed: str


class Late(BaseException):
    """The time is over."""


def check(exercise, function):
    """Print what grade finds, for the learner.  exercise: an id such as "04-softmax"."""
    result = grade(exercise, function)
    if result.passed:
        record("checks", exercise)
    slip = f" ({result.slip})" if result.slip else ""
    print(f"{exercise}: {'passed' if result.passed else 'not yet'}{slip}. {result.message}")


def grade(exercise, function):
    """Compare a learner's function with the reference on probes and on drawn calls.  ->  Result

    Raises nothing, whatever the function does. An unknown exercise and a function that is none are answered.
    """
    if not isinstance(exercise, str) or exercise not in EXERCISES:
        near = difflib.get_close_matches(str(exercise), EXERCISES, n=1) or sorted(EXERCISES)
        return _not_yet(f"There is no exercise of this name; there is {', '.join(near)}.")
    calls, written = [], functools.partial(_written, function)
    try:
        with _limit(), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = _grade(function, EXERCISES[exercise], calls)
    except (Late, KeyboardInterrupt) as stop:
        why = f"has not ended after {SECONDS} s" if isinstance(stop, Late) else "was interrupted"
        why += f" and {len(calls) - 1} calls" * (len(calls) > 1)
        result = _not_yet("\n".join([f"Your function {why}, on this call:", *map(written, calls[-1:])]))
    except BaseException as error:  # a result so odd that comparing it fails
        result = _not_yet(f"What your function returns cannot be compared: {_named(error)}")
    replaced = [f"np.{name}" for name, thing in NUMPY.items() if getattr(np, name, None) is not thing]
    if replaced:
        return _not_yet(f"{', '.join(replaced[:3])} has been replaced in this session: restart the kernel.")
    return result


def _not_yet(message, slip=None):
    return Result(False, slip, message)


@contextlib.contextmanager
def _limit():
    """Late is raised here when the time is over: by an alarm where there is one, else by a second thread."""
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():

        def late(_, frame):
            sys.settrace(next_line)
            frame.f_trace = next_line
            raise Late

        # Where Late was caught, as a bare except does, the next line raises it.
        def next_line(frame, event, _):
            if event == "line":
                raise Late

        handler, tracer = signal.signal(signal.SIGALRM, late), sys.gettrace()
        timer = signal.setitimer(signal.ITIMER_REAL, SECONDS, 1)
        try:
            yield
        finally:
            sys.settrace(tracer)
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)
    else:
        stop = ctypes.c_ulong(threading.get_ident()), ctypes.py_object(Late)
        watch = threading.Timer(SECONDS, ctypes.pythonapi.PyThreadState_SetAsyncExc, stop)
        watch.daemon = True
        watch.start()
        try:
            yield
        finally:
            watch.cancel()
            watch.join()


def _grade(function, exercise, calls):
    """The Result. Every call is put into calls before it is made, to be shown where one does not end."""
    if not callable(function):
        return _not_yet(f"Give the function itself, without brackets: this is {kind(function)}.")
    tried = []
    for number, call in enumerate(exercise.calls):
        calls.append(call)
        given = copy.deepcopy(call)
        got, printed = _run(function, given)
        tried.append(Tried(call, got, _comes(exercise.reference, exercise, number), printed))
        if not all(map(np.array_equal, _flat(given), _flat(call))):
            text = "Your function writes into what it is given: `a += b` does, `a = a + b` makes a new array."
            return _not_yet(f"{text}\n{_written(function, call)}", "changes its input")
    failing = [one for one in tried if not same(one.got, one.want)]
    if not failing:
        return Result(True, None, "Equal to the reference on every input tried.")
    first = [one for one in failing if any(one.call is probe for probe in exercise.probes)]
    for one in [one for one in first if not isinstance(one.got, Problem)][:1]:
        for slip in exercise.slips:
            if all(alike(each.got, _comes(slip.wrong, exercise, i)) for i, each in enumerate(tried)):
                hint = slip.hint.format_map(Measured(*wrong_part(one.got, one.want)[1:]))
                return _not_yet(f"{hint}\n{_shown(function, one)}", slip.name)
    stopped = [one for one in failing if isinstance(one.got, Problem) and one.got is not NOTHING]
    seen = stopped or [one for one in failing if not faint(one.got, one.want)] or failing
    small = sorted(seen, key=lambda one: sum(map(np.size, one.call)))[:12]
    smallest = min(small, key=lambda one: len(_written(function, one.call)))
    if all(one.got is NOTHING for one in tried):
        printed = f"\nIt printed:\n{smallest.printed.rstrip()}" if smallest.printed.strip() else ""
        return _not_yet(f"{smallest.got.text}: write your lines and return what they make.{printed}")
    known = {word for one in tried if isinstance(one.want, set) for word in one.want}
    text = difference(smallest.got, smallest.want, known)
    if smallest.got is NOTHING:
        text += " here, and something elsewhere: does each branch return?"
    slip, text = nearly([(one.got, one.want) for one in tried]) or (None, text)
    return _not_yet(f"{text}\n{_shown(function, smallest)}", slip)


@functools.cache
def _comes(function, exercise, number):
    """What the reference, or a slip, gives on one of the calls: made once."""
    return _run(function, copy.deepcopy(exercise.calls[number]))[0]


FOLD = textwrap.TextWrapper(108, "    ", "        ", break_long_words=False, break_on_hyphens=False)


def _written(function, call):
    """The call as text that can be pasted and run."""
    *places, named = call if isinstance(call[-1], dict) else (*call, {})
    given = [_value(each) for each in places] + [f"{key}={_value(each)}" for key, each in named.items()]
    name = getattr(function, "__name__", None)
    name = name if type(name) is str and name.isidentifier() else "your_function"
    line = f"{name}({', '.join(given)})"
    return line if len(line) <= 100 else "\n".join([f"{name}(", *(FOLD.fill(f"{e},") for e in given), ")"])


def _value(given):
    return f"np.array({given.tolist()})" if isinstance(given, np.ndarray) else repr(given)


def _shown(function, one):
    """The call, what it gave, what it should give, and what it printed."""
    got, want = both(one.got, one.want)
    lines = [_written(function, one.call)]
    lines += ["gives", got] if got else []
    lines += ["and should give" if got else "should give", want] if want else []
    lines += ["It printed:", one.printed.rstrip()] if one.printed.strip() else []
    return "\n".join(lines)


def _run(function, call):
    """The function's result on these arguments, or the Problem it has; and what it printed."""
    *places, named = call if isinstance(call[-1], dict) else (*call, {})
    with contextlib.redirect_stdout(Printed()) as out, contextlib.redirect_stderr(out):
        try:
            result = function(*places, **named)
            result = result.copy() if type(result) is np.ndarray else result  # it may be written to again
        except (Late, KeyboardInterrupt):
            raise
        except BaseException as error:
            result = Problem(type(error).__name__, _stopped(error))
    if result is None or result is ...:
        result = NOTHING
    return result, out.getvalue()


class Printed(io.StringIO):
    """What a function prints, as far as it is worth showing."""

    def write(self, text):
        return super().write(text[: max(0, 400 - self.tell())])


def _stopped(error):
    """One line on an error, with the line of the learner's own code where it stopped."""
    at, steps = "", [(f.f_code.co_filename, number) for f, number in traceback.walk_tb(error.__traceback__)]
    for file, number in [one for one in steps if not one[0].startswith((*NOT_LEARNERS, "<frozen"))][-1:]:
        line = _cut(linecache.getline(file, number))
        at = f" in line {number}" + f", `{line}`," * bool(line)
    return f"Your function stopped{at} with {_named(error)}"


_EMPTY = "here is nothing to take the largest of"
IN_WORDS = {  # how a message begins, and what it means
    "cannot convert float infinity to integer": "an array of whole numbers cannot hold inf",
    "The truth value of an array": "`if`, `or`, `and`, `not` ask for one True or False; an array has several",
    "setting an array element with a sequence": "parts of different shapes do not make one array",
    "Cannot cast ufunc": "`/=` and its kind keep whole numbers whole; `a = a / b` makes a new array",
    "max() arg is an empty": _EMPTY,
    "max() iterable argument is empty": _EMPTY,
    "zero-size array to reduction operation max": _EMPTY,
}


def _named(error):
    text = _cut(error)
    if sizes := re.search(r"size (\d+) is different from (\d+)", text):
        text = f"a product of shapes that do not fit, size {sizes[2]} meets size {sizes[1]}"
    text = next((said for begun, said in IN_WORDS.items() if text.startswith(begun)), text)
    return f"{_cut(type(error).__name__)}: {text}"


def _cut(thing, most=160):
    """A text of one line and of a sane length, also of what refuses to be shown."""
    try:
        text = " ".join(str(thing)[: 2 * most].split())
    except Exception:
        return "it cannot be shown"
    return text if len(text) <= most else text[:most] + " ..."


def _flat(call):
    return [*call[:-1], *call[-1].values()] if isinstance(call[-1], dict) else call
