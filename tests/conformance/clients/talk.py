"""What is said to the modules of the conformance run, what is to come of it, and the tools that requests bring along."""

import json
from pathlib import Path

_talk = json.loads(Path(__file__).with_suffix(".json").read_text())


def _called(name_and_arguments):
    return tuple(name_and_arguments)


CALL, CALLED = _talk["CALL"], _called(_talk["CALLED"])
NO_ARGUMENTS = _talk["NO_ARGUMENTS"]
NO_CALL = _talk["NO_CALL"]
ASKS, QUESTION = _talk["ASKS"], _talk["QUESTION"]
ANSWER, ANSWERED = _talk["ANSWER"], _called(_talk["ANSWERED"])
PARALLEL, PARALLEL_CALLED = _talk["PARALLEL"], [_called(call) for call in _talk["PARALLEL_CALLED"]]
NEXT, NEXT_CALLED = _talk["NEXT"], _called(_talk["NEXT_CALLED"])
#: The module `remote` leaves this utterance to the model server.
REMOTE, REMOTE_CALLED = _talk["REMOTE"], _called(_talk["REMOTE_CALLED"])
#: Functions that no module has; if the words alone do not decide, the model server is asked.
OWN, OWN_CALLED, TOOLS = _talk["OWN"], _called(_talk["OWN_CALLED"]), _talk["TOOLS"]
#: Too long for an utterance, and too large for a body.
TOO_LONG, TOO_LARGE = "light " * 1_500, "light " * 200_000


def user(text):
    return {"role": "user", "content": text}
