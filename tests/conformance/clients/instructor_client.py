"""instructor over openai-python: an object of a Pydantic class, by tools or by a JSON Schema."""

from collections.abc import Iterable
from typing import Literal

import instructor
import openai
from openai import OpenAI
from pydantic import BaseModel, Field

import talk
from harness import (
    ALONE, HASTY, NARROW, URL, await_model_server, calls, case, crowded, equal, model_server, raises, run, script, without,
)  # fmt: skip
from talk import user


class set_light(BaseModel):
    """Switch the light in a room on or off"""

    room: str = Field(description="The room")
    state: Literal["on", "off"] = Field(description="On or off")


class set_temperature(BaseModel):
    """Heat or cool a room to so many degrees"""

    room: str = Field(description="The room")
    degrees: int = Field(description="Degrees celsius")


class list_devices(BaseModel):
    """List all devices of the house"""


class book_flight(BaseModel):
    """Book a flight to a city"""

    city: str = Field(description="Where to fly")


LIGHT = {"room": "kitchen", "state": "on"}


def connect(url=URL, mode=instructor.Mode.TOOLS, **options):
    client = OpenAI(base_url=f"{url}/v1", api_key="unused", **{"max_retries": 0, **options})
    return instructor.from_openai(client, mode=mode)


def create(text, model="home", response_model=set_light, client=None, **options):
    """`max_retries` is of answers that do not fit, and must stay out of the way here."""
    messages = [user(text)] if isinstance(text, str) else text
    client = client or connect()
    return client.chat.completions.create(
        model=model, messages=messages, response_model=response_model, max_retries=0, **options
    )


ONE_OBJECT = "it reads one object out of each answer"

without("models", "it lists none")


@case("call")
def call():
    equal(create(talk.CALL).model_dump(), LIGHT)


@case("own-tools")
def own_tools():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    equal(create(talk.OWN, "uptake", book_flight).city, "Paris")


@case("no-arguments")
def no_arguments():
    equal(create(talk.NO_ARGUMENTS, response_model=list_devices).model_dump(), {})


@case("no-call")
def no_call():
    completion = create(talk.NO_CALL, response_model=None)
    equal(completion.choices[0].message.tool_calls, None)


without("question", ONE_OBJECT)
without("answer", ONE_OBJECT)
without("tool-result", ONE_OBJECT)


@case("parallel")
def parallel():
    client = connect(mode=instructor.Mode.PARALLEL_TOOLS)
    found = create(talk.PARALLEL, response_model=Iterable[set_light | set_temperature], client=client)
    equal([(type(one).__name__, one.model_dump()) for one in found], talk.PARALLEL_CALLED)


without("one-call", ONE_OBJECT)
without("choice-none", ONE_OBJECT)
without("choice-required", "it always names its tool")


@case("choice-named")
def choice_named():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    found, completion = connect().chat.completions.create_with_completion(
        model="uptake", messages=[user(talk.OWN)], response_model=book_flight, max_retries=0
    )
    equal((found.city, completion.choices[0].finish_reason), ("Paris", "stop"))


@case("structured")
def structured():
    script(calls("set_light", room="kitchen", state="on"))
    equal(create(talk.CALL, "uptake", client=connect(mode=instructor.Mode.JSON_SCHEMA)).model_dump(), LIGHT)


def streamed(mode):
    # The library gives this name to the class whose members are all optional.
    script(calls("Partialset_light", **LIGHT))
    *_, last = connect(mode=mode).chat.completions.create_partial(
        model="uptake", messages=[user(talk.CALL)], response_model=set_light, max_retries=0
    )
    return last.model_dump()


@case("stream-call")
def stream_call():
    equal(streamed(instructor.Mode.TOOLS), LIGHT)


without("stream-parallel", "it streams one object")
without("stream-usage", "it hides the pieces")
without("stream-question", ONE_OBJECT)


@case("stream-structured")
def stream_structured():
    equal(streamed(instructor.Mode.JSON_SCHEMA), LIGHT)


@case("stream-cut")
def stream_cut():
    script({"cut": True, "delay": 0.8})
    seen = []
    try:
        seen += connect().chat.completions.create_partial(
            model="remote", messages=[user(talk.REMOTE)], response_model=book_flight, max_retries=0
        )
    except Exception as error:
        equal((seen, cause(error).code), ([], "model_server_failed"))
        return
    raise AssertionError("nothing was raised")


@case("left")
def left():
    script({**calls("send_parcel", city="Oslo"), "delay": 10})
    try:
        list(
            connect(NARROW, timeout=0.5).chat.completions.create_partial(
                model="remote", messages=[user(talk.REMOTE)], response_model=book_flight, max_retries=0
            )
        )
    except Exception as error:
        equal(type(cause(error)), openai.APITimeoutError)
        await_model_server("left")
        return
    raise AssertionError("nothing was raised")


def cause(error):
    """openai's own exception inside of instructor's."""
    while error is not None and not isinstance(error, openai.OpenAIError):
        error = error.__cause__ or error.__context__
    assert error is not None, "there is no exception of openai's"
    return error


def refused(kind, status, code, text, model="home", client=None):
    try:
        create(text, model, client=client)
    except Exception as error:
        found = cause(error)
        equal((type(found), found.status_code, found.code), (kind, status, code))
        return
    raise AssertionError("nothing was raised")


@case("error-400")
def error_400():
    refused(openai.BadRequestError, 400, "string_above_max_length", talk.TOO_LONG)


@case("error-404")
def error_404():
    refused(openai.NotFoundError, 404, "model_not_found", talk.CALL, "nowhere")


@case("error-413")
def error_413():
    refused(openai.APIStatusError, 413, "body_too_large", talk.TOO_LARGE)


@case("error-422")
def error_422():
    refused(openai.UnprocessableEntityError, 422, "module_refused", talk.CALL, "broken")


@case("error-429")
def error_429():
    with crowded(0.3):
        refused(openai.RateLimitError, 429, "too_many_requests", talk.CALL, client=connect(NARROW))


@case("error-502")
def error_502():
    script({"status": 500})
    refused(openai.InternalServerError, 502, "model_server_failed", talk.REMOTE, "remote")


@case("error-503")
def error_503():
    refused(openai.InternalServerError, 503, "no_model_server", talk.REMOTE, "remote", connect(ALONE))


@case("error-504")
def error_504():
    script({"say": "too late", "delay": 2})
    refused(openai.InternalServerError, 504, "model_server_timeout", talk.REMOTE, "remote", connect(HASTY))


@case("retry-429")
def retry_429():
    with crowded(0.5):
        found = create(talk.CALL, client=connect(NARROW, max_retries=2))
    equal(found.model_dump(), LIGHT)


@case("retry-503")
def retry_503():
    script({"say": "too late", "delay": 10}, calls("book_flight", city="Oslo"))
    client = connect(NARROW, max_retries=2)
    equal(create("book a flight to Oslo", "remote", book_flight, client).city, "Oslo")


@case("no-retry")
def no_retry():
    script({"status": 500})
    client = connect(max_retries=2)
    refused(openai.InternalServerError, 502, "model_server_failed", talk.REMOTE, "remote", client)
    equal(model_server()["served"], 1)


without("legacy", "it knows tools and schemas only")

run()
