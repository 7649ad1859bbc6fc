"""The Responses API in Python: openai-python, as `openai`, and litellm's `responses`, as `litellm`. The two are told apart by
how they are called and what they raise, and by nothing else."""

import json
import os
import sys
from typing import Literal

# Otherwise litellm downloads its list of prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import openai
from pydantic import BaseModel

import talk
from harness import (
    ALONE, HASTY, NARROW, URL, await_model_server, calls, case, crowded, equal, model_server, raises, run, script,
    without,
)  # fmt: skip
from talk import user

LITELLM = sys.argv.pop(1) == "litellm"
if LITELLM:
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # For an unknown model, litellm asks for the whole response and makes a stream of it.
    known = {"litellm_provider": "openai", "mode": "responses", "supports_native_streaming": True}
    litellm.register_model({f"openai/{model}": known for model in ("home", "remote", "uptake")})

#: In this API functions lie one level higher.
TOOLS = [{"type": "function", **tool["function"]} for tool in talk.TOOLS]


class Light(BaseModel):
    room: str
    state: Literal["on", "off"]


LIGHT = Light(room="kitchen", state="on")


def connect(url=URL, **options):
    return openai.OpenAI(base_url=f"{url}/v1", api_key="unused", **{"max_retries": 0, **options})


def respond(input, model="home", url=URL, max_retries=0, **options):
    if LITELLM:
        connection = {"api_base": f"{url}/v1", "api_key": "unused", "max_retries": max_retries}
        return litellm.responses(model=f"openai/{model}", input=input, **connection, **options)
    return connect(url, max_retries=max_retries).responses.create(model=model, input=input, **options)


def made(response):
    items = [item for item in response.output if item.type == "function_call"]
    assert all(item.id and item.call_id for item in items), "a call without an id"
    return [(item.name, json.loads(item.arguments)) for item in items]


def expect_calls(response, expected):
    equal((made(response), response.status), (expected, "completed"))


def expect_text(response):
    equal((made(response), response.status), ([], "completed"))
    text = response.output[0].content[0].text
    assert text, "there is nothing to show to the person"
    return text


def output(response, text):
    call = next(item for item in response.output if item.type == "function_call")
    return {"type": "function_call_output", "call_id": call.call_id, "output": text}


def streamed(input, **options):
    """The response at the end, with what the events before it say."""
    events = list(respond(input, stream=True, **options))
    kinds = [str(getattr(event.type, "value", event.type)) for event in events]
    equal(kinds[:2], ["response.created", "response.in_progress"])
    equal(kinds[-1], "response.completed")
    text = "".join(event.delta for event, kind in zip(events, kinds) if kind == "response.output_text.delta")
    return events[-1].response, text


without("models", "it is the same as of chat completions")


@case("call")
def call():
    response = respond(talk.CALL)
    expect_calls(response, [talk.CALLED])
    if not LITELLM:
        equal((response.model, response.output_text), ("home", ""))


@case("own-tools")
def own_tools():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    expect_calls(respond(talk.OWN, "uptake", tools=TOOLS), [talk.OWN_CALLED])


@case("no-arguments")
def no_arguments():
    expect_calls(respond(talk.NO_ARGUMENTS), [("list_devices", {})])


@case("no-call")
def no_call():
    expect_text(respond(talk.NO_CALL))
    expect_text(respond(talk.NO_CALL, "uptake", tools=TOOLS))


@case("question")
def question():
    equal(expect_text(respond(talk.ASKS)), talk.QUESTION)


@case("answer")
def answer():
    question = respond(talk.ASKS)
    expect_calls(respond(talk.ANSWER, previous_response_id=question.id), [talk.ANSWERED])
    said = [user(talk.ASKS), *(item.model_dump() for item in question.output), user(talk.ANSWER)]
    expect_calls(respond(said), [talk.ANSWERED])


@case("tool-result")
def tool_result():
    called = respond(talk.CALL)
    told = respond([output(called, '{"done": true}')], previous_response_id=called.id)
    expect_text(told)
    expect_calls(respond(talk.NEXT, previous_response_id=told.id), [talk.NEXT_CALLED])
    items = [user(talk.CALL), *(item.model_dump() for item in called.output), output(called, '{"done": true}')]
    expect_text(respond(items, store=False))


@case("parallel")
def parallel():
    expect_calls(respond(talk.PARALLEL), talk.PARALLEL_CALLED)


@case("one-call")
def one_call():
    assert len(made(respond(talk.PARALLEL, parallel_tool_calls=False))) <= 1, "several calls, though they are forbidden"


@case("choice-none")
def choice_none():
    expect_text(respond(talk.OWN, "uptake", tools=TOOLS, tool_choice="none"))


@case("choice-required")
def choice_required():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    expect_calls(respond(talk.OWN, "uptake", tools=TOOLS, tool_choice="required"), [talk.OWN_CALLED])


@case("choice-named")
def choice_named():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    named = {"type": "function", "name": "book_flight"}
    expect_calls(respond(talk.OWN, "uptake", tools=TOOLS, tool_choice=named), [talk.OWN_CALLED])


@case("structured")
def structured():
    script(calls("Light", room="kitchen", state="on"))
    if LITELLM:
        response = respond(talk.CALL, "uptake", text_format=Light)
        equal(Light.model_validate_json(expect_text(response)), LIGHT)
    else:
        equal(connect().responses.parse(model="uptake", input=talk.CALL, text_format=Light).output_parsed, LIGHT)


@case("stream-call")
def stream_call():
    response, text = streamed(talk.CALL)
    expect_calls(response, [talk.CALLED])
    equal(text, "")


@case("stream-parallel")
def stream_parallel():
    expect_calls(streamed(talk.PARALLEL)[0], talk.PARALLEL_CALLED)
    if not LITELLM:
        # The library puts the response together from the events, and finds each item at its place.
        with connect().responses.stream(model="home", input=talk.PARALLEL) as stream:
            expect_calls(stream.get_final_response(), talk.PARALLEL_CALLED)


@case("stream-usage")
def stream_usage():
    usage = streamed(talk.CALL)[0].usage
    equal(usage.total_tokens, usage.input_tokens + usage.output_tokens)


@case("stream-question")
def stream_question():
    response, text = streamed(talk.ASKS)
    equal((expect_text(response), text), (talk.QUESTION, talk.QUESTION))
    expect_calls(respond(talk.ANSWER, previous_response_id=response.id), [talk.ANSWERED])


@case("stream-structured")
def stream_structured():
    script(calls("Light", room="kitchen", state="on"))
    if LITELLM:
        _, text = streamed(talk.CALL, model="uptake", text_format=Light)
        equal(Light.model_validate_json(text), LIGHT)
        return
    with connect().responses.stream(model="uptake", input=talk.CALL, text_format=Light) as stream:
        equal(stream.get_final_response().output_parsed, LIGHT)


@case("stream-cut")
def stream_cut():
    script({"cut": True, "delay": 0.8})
    seen = []
    try:
        seen += [event.type for event in respond(talk.REMOTE, "remote", stream=True)]
    except Exception as error:
        assert "model server failed" in str(error), str(error)
        assert not any("function_call" in str(kind) for kind in seen), seen
        return
    raise AssertionError(f"nothing was raised, and the events were {seen}")


@case("left")
def left():
    script({**calls("send_parcel", city="Oslo"), "delay": 15})
    stream = respond(talk.REMOTE, "remote", stream=True)
    for event in stream:
        equal(str(getattr(event.type, "value", event.type)), "response.created")
        break
    (stream.response if LITELLM else stream).close()
    await_model_server("left")


def refused(kind, status, input, model="home", url=URL, **options):
    expected = openai.APIStatusError if not LITELLM else Exception
    with raises(kind or expected, status_code=status):
        respond(input, model, url, **options)


@case("error-400")
def error_400():
    refused(None, 400, talk.TOO_LONG)
    if not LITELLM:
        with raises(openai.BadRequestError, param="input[0].role"):
            respond([{"role": "robot", "content": "hello"}])
        with raises(openai.BadRequestError, code="previous_response_not_found", param="previous_response_id"):
            respond(talk.ANSWER, previous_response_id="resp_unknown")


@case("error-404")
def error_404():
    refused(None, 404, talk.CALL, "nowhere")


@case("error-413")
def error_413():
    # Neither library has a class for this error.
    refused(None, 413, talk.TOO_LARGE)


@case("error-422")
def error_422():
    refused(None, 422, talk.CALL, "broken")


@case("error-429")
def error_429():
    with crowded(0.3):
        refused(litellm.RateLimitError if LITELLM else openai.RateLimitError, 429, talk.CALL, url=NARROW)


@case("error-502")
def error_502():
    script({"status": 500})
    refused(None, 502, talk.REMOTE, "remote")


@case("error-503")
def error_503():
    refused(None, 503, talk.REMOTE, "remote", ALONE)


@case("error-504")
def error_504():
    script({"say": "too late", "delay": 2})
    with raises(litellm.Timeout if LITELLM else openai.InternalServerError):
        respond(talk.REMOTE, "remote", HASTY)


if LITELLM:
    without("retry-429", "`responses` does not try again by itself")
    without("retry-503", "`responses` does not try again by itself")
else:

    @case("retry-429")
    def retry_429():
        with crowded(0.5):
            expect_calls(respond(talk.CALL, url=NARROW, max_retries=2), [talk.CALLED])

    @case("retry-503")
    def retry_503():
        script({"say": "too late", "delay": 10}, calls("send_parcel", city="Oslo"))
        expect_calls(respond(talk.REMOTE, "remote", NARROW, max_retries=2), [talk.REMOTE_CALLED])


@case("no-retry")
def no_retry():
    script({"status": 500})
    refused(None, 502, talk.REMOTE, "remote", max_retries=2)
    equal(model_server()["served"], 1)


without("legacy", "this API has no older form")

run()
