"""litellm: `completion` with the provider `openai`."""

import asyncio
import json
import os
from typing import Literal

# Otherwise it downloads its list of prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from pydantic import BaseModel

import talk
from harness import (
    ALONE, HASTY, NARROW, URL, await_model_server, calls, case, crowded, equal, model_server, raises, run, script,
)  # fmt: skip
from talk import TOOLS, user

litellm.suppress_debug_info = True
litellm.telemetry = False


class Light(BaseModel):
    room: str
    state: Literal["on", "off"]


def complete(text, model="home", url=URL, call=litellm.completion, **options):
    messages = [user(text)] if isinstance(text, str) else text
    connection = {"api_base": f"{url}/v1", "api_key": "unused", "max_retries": 0}
    return call(model=f"openai/{model}", messages=messages, **{**connection, **options})


def made(message):
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]


def expect_calls(completion, expected, finish="tool_calls"):
    choice = completion.choices[0]
    equal(made(choice.message), expected)
    equal(choice.finish_reason, finish)
    assert all(call.id for call in choice.message.tool_calls), "a call without an id"


def expect_no_call(completion):
    choice = completion.choices[0]
    equal((choice.message.tool_calls, choice.finish_reason), (None, "stop"))
    return choice


def expect_text(completion):
    choice = expect_no_call(completion)
    assert choice.message.content, "there is nothing to show to the person"
    return choice.message.content


def streamed(text, **options):
    """The completion that the library's own builder makes of the pieces."""
    return litellm.stream_chunk_builder(list(complete(text, stream=True, **options)))


@case("models")
def models():
    names = litellm.get_valid_models(
        check_provider_endpoint=True, custom_llm_provider="openai", api_base=URL, api_key="unused"
    )
    assert {"home", "remote", "uptake"} <= set(names), f"there are {names}"


@case("call")
def call():
    expect_calls(complete(talk.CALL), [talk.CALLED])


@case("own-tools")
def own_tools():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    expect_calls(complete(talk.OWN, "uptake", tools=TOOLS), [talk.OWN_CALLED])


@case("no-arguments")
def no_arguments():
    expect_calls(complete(talk.NO_ARGUMENTS), [("list_devices", {})])


@case("no-call")
def no_call():
    expect_no_call(complete(talk.NO_CALL))
    expect_no_call(complete(talk.NO_CALL, "uptake", tools=TOOLS))


@case("question")
def question():
    equal(expect_text(complete(talk.ASKS)), talk.QUESTION)


@case("answer")
def answer():
    conversation = [user(talk.ASKS), complete(talk.ASKS).choices[0].message, user(talk.ANSWER)]
    expect_calls(complete(conversation), [talk.ANSWERED])


@case("tool-result")
def tool_result():
    message = complete(talk.CALL).choices[0].message
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": '{"done": true}'}
    conversation = [user(talk.CALL), message, result]
    expect_no_call(complete(conversation))
    conversation.append(user(talk.NEXT))
    expect_calls(complete(conversation), [talk.NEXT_CALLED])


@case("parallel")
def parallel():
    expect_calls(complete(talk.PARALLEL), talk.PARALLEL_CALLED)


@case("one-call")
def one_call():
    assert len(made(complete(talk.PARALLEL, parallel_tool_calls=False).choices[0].message)) <= 1


@case("choice-none")
def choice_none():
    expect_no_call(complete(talk.OWN, "uptake", tools=TOOLS, tool_choice="none"))


@case("choice-required")
def choice_required():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    expect_calls(complete(talk.OWN, "uptake", tools=TOOLS, tool_choice="required"), [talk.OWN_CALLED])


@case("choice-named")
def choice_named():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    named = {"type": "function", "function": {"name": "book_flight"}}
    completion = complete(talk.OWN, "uptake", tools=TOOLS, tool_choice=named)
    equal(made(completion.choices[0].message), [talk.OWN_CALLED])


@case("structured")
def structured():
    script(calls("Light", room="kitchen", state="on"))
    completion = complete(talk.CALL, "uptake", response_format=Light)
    equal(Light.model_validate_json(completion.choices[0].message.content), Light(room="kitchen", state="on"))


@case("stream-call")
def stream_call():
    expect_calls(streamed(talk.CALL), [talk.CALLED])


@case("stream-parallel")
def stream_parallel():
    expect_calls(streamed(talk.PARALLEL), talk.PARALLEL_CALLED)


@case("stream-usage")
def stream_usage():
    pieces = list(complete(talk.CALL, stream=True, stream_options={"include_usage": True}))
    usage = [piece.usage for piece in pieces if getattr(piece, "usage", None)]
    equal(len(usage), 1)
    equal(usage[0].total_tokens, usage[0].prompt_tokens + usage[0].completion_tokens)


@case("stream-question")
def stream_question():
    equal(expect_text(streamed(talk.ASKS)), talk.QUESTION)


@case("stream-structured")
def stream_structured():
    script(calls("Light", room="kitchen", state="on"))
    completion = streamed(talk.CALL, model="uptake", response_format=Light)
    equal(Light.model_validate_json(completion.choices[0].message.content), Light(room="kitchen", state="on"))


@case("stream-cut")
def stream_cut():
    script({"cut": True, "delay": 0.8})
    seen = []
    try:
        for piece in complete(talk.REMOTE, "remote", stream=True):
            seen += piece.choices[0].delta.tool_calls or []
    except (litellm.APIError, litellm.BadGatewayError, litellm.exceptions.MidStreamFallbackError) as error:
        equal(seen, [])
        assert "model server failed" in str(error), str(error)
        return
    raise AssertionError("nothing was raised")


@case("left")
async def left():
    script({**calls("send_parcel", city="Oslo"), "delay": 15})
    stream = await complete(talk.REMOTE, "remote", call=litellm.acompletion, stream=True)
    async for piece in stream:
        equal(piece.choices[0].finish_reason, None)
        break
    # Its synchronous streams cannot be closed.
    await stream.aclose()
    await asyncio.to_thread(await_model_server, "left")


def refused(kind, status, text, model="home", url=URL, **options):
    with raises(kind, status_code=status):
        complete(text, model, url, **options)


@case("error-400")
def error_400():
    refused(litellm.BadRequestError, 400, talk.TOO_LONG)
    refused(litellm.BadRequestError, 400, talk.CALL, n=2)


@case("error-404")
def error_404():
    refused(litellm.NotFoundError, 404, talk.CALL, "nowhere")


@case("error-413")
def error_413():
    # The library has no class for this error: it goes by `type`.
    with raises(litellm.BadRequestError):
        complete(talk.TOO_LARGE)


@case("error-422")
def error_422():
    # No class for this error either.
    with raises(litellm.BadRequestError):
        complete(talk.CALL, "broken")


@case("error-429")
def error_429():
    with crowded(0.3):
        refused(litellm.RateLimitError, 429, talk.CALL, url=NARROW)


@case("error-502")
def error_502():
    script({"status": 500})
    refused(litellm.BadGatewayError, 502, talk.REMOTE, "remote")


@case("error-503")
def error_503():
    refused(litellm.ServiceUnavailableError, 503, talk.REMOTE, "remote", ALONE)


@case("error-504")
def error_504():
    script({"say": "too late", "delay": 2})
    with raises(litellm.Timeout):
        complete(talk.REMOTE, "remote", HASTY)


@case("retry-429")
def retry_429():
    with crowded(0.5):
        completion = complete(talk.CALL, url=NARROW, max_retries=2)
    expect_calls(completion, [talk.CALLED])


@case("retry-503")
def retry_503():
    script({"say": "too late", "delay": 10}, calls("send_parcel", city="Oslo"))
    expect_calls(complete(talk.REMOTE, "remote", NARROW, max_retries=2), [talk.REMOTE_CALLED])


@case("no-retry")
def no_retry():
    script({"status": 500})
    refused(litellm.BadGatewayError, 502, talk.REMOTE, "remote", max_retries=2)
    equal(model_server()["served"], 1)


@case("legacy")
def legacy():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    functions = [tool["function"] for tool in TOOLS]
    choice = complete(talk.OWN, "uptake", functions=functions, function_call="auto").choices[0]
    called = choice.message.function_call
    equal((called.name, json.loads(called.arguments)), talk.OWN_CALLED)


run()
