"""langchain-openai: `ChatOpenAI` with `bind_tools` and `with_structured_output`."""

from typing import Literal

import openai
from langchain_core.exceptions import (
    ModelAPIError, ModelInvalidRequestError, ModelNotFoundError, ModelRateLimitError,
)  # fmt: skip
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

import talk
from harness import (
    ALONE, HASTY, NARROW, URL, await_model_server, calls, case, crowded, equal, model_server, raises, run, script, without,
)  # fmt: skip


@tool
def book_flight(city: str) -> str:
    """Book a flight to a city"""
    return f"booked to {city}"


@tool
def rent_car(days: int) -> str:
    """Rent a car for some days"""
    return f"rented for {days} days"


class set_light(BaseModel):
    """Switch the light in a room on or off"""

    room: str = Field(description="The room")
    state: Literal["on", "off"] = Field(description="On or off")


TOOLS = [book_flight, rent_car]


def connect(model="home", url=URL, **options):
    return ChatOpenAI(model=model, base_url=f"{url}/v1", api_key="unused", **{"max_retries": 0, **options})


def made(message):
    assert not message.invalid_tool_calls, f"invalid: {message.invalid_tool_calls}"
    return [(call["name"], call["args"]) for call in message.tool_calls]


def expect_calls(message, expected, finish="tool_calls"):
    equal(made(message), expected)
    equal(message.content, "")
    equal(message.response_metadata["finish_reason"], finish)
    assert all(call["id"] for call in message.tool_calls), "a call without an id"


def expect_no_call(message):
    equal((made(message), message.response_metadata["finish_reason"]), ([], "stop"))


def expect_text(message):
    expect_no_call(message)
    assert message.content, "there is nothing to show to the person"
    return message.content


def streamed(model, text):
    """The sum of the chunks, as the documentation puts them together."""
    total = None
    for chunk in model.stream(text):
        total = chunk if total is None else total + chunk
    return total


without("models", "`ChatOpenAI` does not list models")


@case("call")
def call():
    expect_calls(connect().invoke(talk.CALL), [talk.CALLED])


@case("own-tools")
def own_tools():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    message = connect("uptake").bind_tools(TOOLS).invoke(talk.OWN)
    expect_calls(message, [talk.OWN_CALLED])
    equal(book_flight.invoke(message.tool_calls[0]).content, "booked to Paris")


@case("no-arguments")
def no_arguments():
    expect_calls(connect().invoke(talk.NO_ARGUMENTS), [("list_devices", {})])


@case("no-call")
def no_call():
    expect_no_call(connect().invoke(talk.NO_CALL))
    expect_no_call(connect("uptake").bind_tools(TOOLS).invoke(talk.NO_CALL))


@case("question")
def question():
    equal(expect_text(connect().invoke(talk.ASKS)), talk.QUESTION)


@case("answer")
def answer():
    conversation = [HumanMessage(talk.ASKS), connect().invoke(talk.ASKS), HumanMessage(talk.ANSWER)]
    expect_calls(connect().invoke(conversation), [talk.ANSWERED])


@case("tool-result")
def tool_result():
    message = connect().invoke(talk.CALL)
    result = ToolMessage('{"done": true}', tool_call_id=message.tool_calls[0]["id"])
    conversation = [HumanMessage(talk.CALL), message, result]
    expect_no_call(connect().invoke(conversation))
    conversation.append(HumanMessage(talk.NEXT))
    expect_calls(connect().invoke(conversation), [talk.NEXT_CALLED])


@case("parallel")
def parallel():
    expect_calls(connect().invoke(talk.PARALLEL), talk.PARALLEL_CALLED)


@case("one-call")
def one_call():
    message = connect().bind_tools([set_light], parallel_tool_calls=False).invoke(talk.CALL)
    equal(len(made(message)), 1)
    assert len(made(connect().invoke(talk.PARALLEL, parallel_tool_calls=False))) <= 1


@case("choice-none")
def choice_none():
    expect_no_call(connect("uptake").bind_tools(TOOLS, tool_choice="none").invoke(talk.OWN))


@case("choice-required")
def choice_required():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    expect_calls(connect("uptake").bind_tools(TOOLS, tool_choice="any").invoke(talk.OWN), [talk.OWN_CALLED])


@case("choice-named")
def choice_named():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    model = connect("uptake").bind_tools(TOOLS, tool_choice="book_flight")
    expect_calls(model.invoke(talk.OWN), [talk.OWN_CALLED], finish="stop")


@case("structured")
def structured():
    for method in ("json_schema", "function_calling"):
        script(calls("set_light", room="kitchen", state="on"))
        model = connect("uptake").with_structured_output(set_light, method=method)
        equal(model.invoke(talk.CALL), set_light(room="kitchen", state="on"))


@case("stream-call")
def stream_call():
    expect_calls(streamed(connect(), talk.CALL), [talk.CALLED])


@case("stream-parallel")
def stream_parallel():
    expect_calls(streamed(connect(), talk.PARALLEL), talk.PARALLEL_CALLED)


@case("stream-usage")
def stream_usage():
    usage = streamed(connect(stream_usage=True), talk.CALL).usage_metadata
    assert usage, "there is no usage"
    equal(usage["total_tokens"], usage["input_tokens"] + usage["output_tokens"])


@case("stream-question")
def stream_question():
    equal(expect_text(streamed(connect(), talk.ASKS)), talk.QUESTION)


@case("stream-structured")
def stream_structured():
    script(calls("set_light", room="kitchen", state="on"))
    *_, last = connect("uptake").with_structured_output(set_light).stream(talk.CALL)
    equal(last, set_light(room="kitchen", state="on"))


@case("stream-cut")
def stream_cut():
    script({"cut": True, "delay": 0.8})
    seen = []
    try:
        for chunk in connect("remote").stream(talk.REMOTE):
            seen += chunk.tool_call_chunks
    except openai.APIError as error:
        equal((seen, error.code), ([], "model_server_failed"))
        return
    raise AssertionError("nothing was raised")


@case("left")
def left():
    script({**calls("send_parcel", city="Oslo"), "delay": 15})
    stream = connect("remote").stream(talk.REMOTE)
    equal(next(stream).tool_call_chunks, [])
    stream.close()
    await_model_server("left")


def refused(kind, status, code, text, model):
    """Each is of a class of LangChain's, and of openai's, whose members these are."""
    with raises(kind, openai.APIStatusError, status_code=status, code=code):
        model.invoke(text)


@case("error-400")
def error_400():
    refused(ModelInvalidRequestError, 400, "string_above_max_length", talk.TOO_LONG, connect())
    with raises(ModelInvalidRequestError, param="n"):
        connect(n=2).invoke(talk.CALL)


@case("error-404")
def error_404():
    refused(ModelNotFoundError, 404, "model_not_found", talk.CALL, connect("nowhere"))


@case("error-413")
def error_413():
    refused(openai.APIStatusError, 413, "body_too_large", talk.TOO_LARGE, connect())


@case("error-422")
def error_422():
    refused(openai.UnprocessableEntityError, 422, "module_refused", talk.CALL, connect("broken"))


@case("error-429")
def error_429():
    with crowded(0.3):
        refused(ModelRateLimitError, 429, "too_many_requests", talk.CALL, connect(url=NARROW))


@case("error-502")
def error_502():
    script({"status": 500})
    refused(ModelAPIError, 502, "model_server_failed", talk.REMOTE, connect("remote"))


@case("error-503")
def error_503():
    refused(ModelAPIError, 503, "no_model_server", talk.REMOTE, connect("remote", ALONE))


@case("error-504")
def error_504():
    script({"say": "too late", "delay": 2})
    refused(ModelAPIError, 504, "model_server_timeout", talk.REMOTE, connect("remote", HASTY))


@case("retry-429")
def retry_429():
    with crowded(0.5):
        message = connect(url=NARROW, max_retries=2).invoke(talk.CALL)
    expect_calls(message, [talk.CALLED])


@case("retry-503")
def retry_503():
    script({"say": "too late", "delay": 10}, calls("send_parcel", city="Oslo"))
    expect_calls(connect("remote", NARROW, max_retries=2).invoke(talk.REMOTE), [talk.REMOTE_CALLED])


@case("no-retry")
def no_retry():
    script({"status": 500})
    refused(ModelAPIError, 502, "model_server_failed", talk.REMOTE, connect("remote", max_retries=2))
    equal(model_server()["served"], 1)


@case("legacy")
def legacy():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    functions = [tool["function"] for tool in talk.TOOLS]
    message = connect("uptake").bind(functions=functions).invoke(talk.OWN)
    equal(message.additional_kwargs["function_call"]["name"], talk.OWN_CALLED[0])
    equal(message.response_metadata["finish_reason"], "function_call")


run()
