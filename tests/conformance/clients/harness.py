"""What the client programs in Python share: cases, the model server's script, and what they say at the end.

A program registers a function for each case and a reason for each case that its client has no means for, and ends with
`run()`. Each case prints one line of JSON: {"case", "result", "why", "seconds"}.
"""

import asyncio
import contextlib
import inspect
import json
import os
import signal
import sys
import threading
import time
import traceback
import urllib.request
from pathlib import Path

URL = os.environ["URL_OF_SERVICE"]
#: A service that gives up on its model server after half a second.
HASTY = os.environ["URL_OF_HASTY"]
#: A service that takes one turn at a time, and none for longer than 1.2 s.
NARROW = os.environ["URL_OF_NARROW"]
#: A service without a model server.
ALONE = os.environ["URL_OF_ALONE"]
MODEL_SERVER = os.environ["MODEL_SERVER_URL"]

#: Seconds that one case may take.
LIMIT = 20

_cases = {}

#: One event loop for all cases, as in a service: clients keep connections, which belong to their loop.
_loop = asyncio.new_event_loop()


def case(name):
    """Registers what it decorates, a function or a coroutine function, as this case."""

    def register(function):
        assert name not in _cases, f"{name} is there twice"
        _cases[name] = function
        return function

    return register


def without(name, why):
    """The client has no means for this case."""
    assert name not in _cases, f"{name} is there twice"
    _cases[name] = why


def script(*replies):
    """What the model server answers from now on; see model_server.py."""
    _post(f"{MODEL_SERVER}/script", {"replies": replies})


def calls(name, **arguments):
    """A reply of the model server."""
    return {"calls": [{"name": name, "arguments": arguments}]}


def model_server():
    """{"served", "left", "bodies"} since the script began."""
    with urllib.request.urlopen(f"{MODEL_SERVER}/state", timeout=5) as answer:
        return json.load(answer)


def await_model_server(what, count=1):
    """Until the model server has counted so many `what`."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if model_server()[what] >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"the model server counts {model_server()[what]} {what}, not {count}")


@contextlib.contextmanager
def crowded(seconds):
    """The narrow service is busy for so long with somebody else's turn, at least while the block runs."""
    script({**calls("send_parcel", city="Oslo"), "delay": seconds})
    body = {"model": "remote", "messages": [{"role": "user", "content": "send a parcel to Oslo"}]}

    def ask():
        # Its result does not matter here.
        with contextlib.suppress(OSError):
            _post(f"{NARROW}/v1/chat/completions", body)

    other = threading.Thread(target=ask)
    other.start()
    try:
        await_model_server("served")
        yield
    finally:
        other.join()


@contextlib.contextmanager
def raises(*kinds, **expected):
    """The block raises what is of all of these classes, and has these members."""
    try:
        yield
    except Exception as error:
        for kind in kinds:
            assert isinstance(error, kind), f"{type(error).__module__}.{type(error).__name__}: {error}"
        for name, value in expected.items():
            found = getattr(error, name, None)
            assert found == value, f"{name} is {found!r}, not {value!r}"
        return
    raise AssertionError(f"nothing was raised, {kinds[0].__name__} was expected")


def equal(found, expected):
    assert found == expected, f"{found!r}, not {expected!r}"


def run():
    """Runs each case, or those that the command line names, and prints what came of it."""
    named = sys.argv[1:]
    for name, action in _cases.items():
        if named and name not in named:
            continue
        if isinstance(action, str):
            _tell(name, "without", action, 0)
            continue
        start = time.monotonic()
        try:
            script({"say": "I do not know."})
            _limited(action)
            _tell(name, "passed", None, time.monotonic() - start)
        except Exception as error:
            _tell(name, "failed", _words(error), time.monotonic() - start)


def _limited(action):
    def out_of_time(*_):
        raise AssertionError(f"not done after {LIMIT} s")

    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(LIMIT)
    try:
        if inspect.iscoroutinefunction(action):
            _loop.run_until_complete(action())
        else:
            action()
    finally:
        signal.alarm(0)


def _words(error):
    here = Path(__file__).parent
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == here]
    place = next((frame for frame in reversed(frames) if Path(frame.filename).name != "harness.py"), None)
    words = f"{type(error).__name__}: {error}" if not isinstance(error, AssertionError) else str(error)
    if place is None:
        return words
    return f"{Path(place.filename).name}:{place.lineno}: {words or place.line}"


def _tell(name, result, why, seconds):
    print(json.dumps({"case": name, "result": result, "why": why, "seconds": round(seconds, 3)}), flush=True)


def _post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        answer.read()
