"""openai-python, as `sync` or `async`: the two are told apart by how they are waited for, and by nothing else."""

import json
import sys
from contextlib import asynccontextmanager
from typing import Literal

import openai
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

import talk
from harness import (
    ALONE, HASTY, NARROW, URL, await_model_server, calls, case, crowded, equal, model_server, raises, run, script,
)  # fmt: skip
from talk import TOOLS, user

ASYNC = sys.argv.pop(1) == "async"


def connect(url=URL, **options):
    kind = AsyncOpenAI if ASYNC else OpenAI
    return kind(base_url=f"{url}/v1", api_key="unused", **{"max_retries": 0, **options})


async def result(value):
    return await value if ASYNC else value


async def pieces(stream):
    if ASYNC:
        async for piece in stream:
            yield piece
    else:
        for piece in stream:
            yield piece


@asynccontextmanager
async def opened(manager):
    if ASYNC:
        async with manager as value:
            yield value
    else:
        with manager as value:
            yield value


client = connect()


async def complete(text, model="home", client=client, **options):
    messages = [user(text)] if isinstance(text, str) else text
    return await result(client.chat.completions.create(model=model, messages=messages, **options))


def made(message):
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]


def expect_calls(completion, expected, finish="tool_calls"):
    choice = completion.choices[0]
    equal(made(choice.message), expected)
    equal(choice.finish_reason, finish)
    equal(choice.message.content, None)


def expect_no_call(completion):
    choice = completion.choices[0]
    equal((choice.message.tool_calls, choice.finish_reason), (None, "stop"))
    return choice


def expect_text(completion):
    choice = expect_no_call(completion)
    assert choice.message.content, "there is nothing to show to the person"
    return choice.message.content


async def streamed(text, model="home", **options):
    """(content, calls, finish reasons, usage) put together from the pieces, by index as the documentation shows."""
    stream = await complete(text, model, stream=True, **options)
    content, building, finish, usage = "", {}, [], []
    async for piece in pieces(stream):
        if piece.usage:
            usage.append(piece.usage)
        for choice in piece.choices:
            content += choice.delta.content or ""
            for part in choice.delta.tool_calls or []:
                call = building.setdefault(part.index, {"id": part.id, "name": "", "arguments": ""})
                call["name"] += part.function.name or ""
                call["arguments"] += part.function.arguments or ""
            if choice.finish_reason:
                finish.append(choice.finish_reason)
    assert all(call["id"] for call in building.values()), "a call without an id"
    return content, [(call["name"], json.loads(call["arguments"])) for call in building.values()], finish, usage


class Light(BaseModel):
    room: str
    state: Literal["on", "off"]


@case("models")
async def models():
    page = await result(client.models.list())
    names = [model.id for model in page.data]
    assert {"home", "remote", "uptake"} <= set(names), f"there are {names}"


@case("call")
async def call():
    completion = await complete(talk.CALL)
    expect_calls(completion, [talk.CALLED])
    assert completion.id and completion.choices[0].message.tool_calls[0].id
    equal(completion.model, "home")


@case("own-tools")
async def own_tools():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    expect_calls(await complete(talk.OWN, "uptake", tools=TOOLS), [talk.OWN_CALLED])


@case("no-arguments")
async def no_arguments():
    expect_calls(await complete(talk.NO_ARGUMENTS), [("list_devices", {})])


@case("no-call")
async def no_call():
    expect_no_call(await complete(talk.NO_CALL))
    expect_no_call(await complete(talk.NO_CALL, "uptake", tools=TOOLS))


@case("question")
async def question():
    equal(expect_text(await complete(talk.ASKS)), talk.QUESTION)


@case("answer")
async def answer():
    question = (await complete(talk.ASKS)).choices[0].message
    expect_calls(await complete([user(talk.ASKS), question, user(talk.ANSWER)]), [talk.ANSWERED])


@case("tool-result")
async def tool_result():
    conversation = [user(talk.CALL)]
    message = (await complete(conversation)).choices[0].message
    conversation.append(message)
    conversation.append({"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": '{"done": true}'})
    expect_no_call(await complete(conversation))
    conversation.append(user(talk.NEXT))
    expect_calls(await complete(conversation), [talk.NEXT_CALLED])


@case("parallel")
async def parallel():
    completion = await complete(talk.PARALLEL)
    expect_calls(completion, talk.PARALLEL_CALLED)
    equal(len({call.id for call in completion.choices[0].message.tool_calls}), 2)


@case("one-call")
async def one_call():
    completion = await complete(talk.PARALLEL, parallel_tool_calls=False)
    assert len(made(completion.choices[0].message)) <= 1, "several calls, though they are forbidden"


@case("choice-none")
async def choice_none():
    expect_no_call(await complete(talk.OWN, "uptake", tools=TOOLS, tool_choice="none"))


@case("choice-required")
async def choice_required():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    expect_calls(await complete(talk.OWN, "uptake", tools=TOOLS, tool_choice="required"), [talk.OWN_CALLED])


@case("choice-named")
async def choice_named():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    named = {"type": "function", "function": {"name": "book_flight"}}
    completion = await complete(talk.OWN, "uptake", tools=TOOLS, tool_choice=named)
    expect_calls(completion, [talk.OWN_CALLED], finish="stop")


@case("structured")
async def structured():
    script(calls("Light", room="kitchen", state="on"))
    parsed = await result(
        client.chat.completions.parse(model="uptake", messages=[user(talk.CALL)], response_format=Light)
    )
    equal(parsed.choices[0].message.parsed, Light(room="kitchen", state="on"))
    equal(parsed.choices[0].finish_reason, "stop")
    tool = openai.pydantic_function_tool(Light, name="set_light")
    called = await result(client.chat.completions.parse(model="home", messages=[user(talk.CALL)], tools=[tool]))
    equal(called.choices[0].message.tool_calls[0].function.parsed_arguments, Light(room="kitchen", state="on"))


@case("stream-call")
async def stream_call():
    content, called, finish, usage = await streamed(talk.CALL)
    equal((content, called, finish, usage), ("", [talk.CALLED], ["tool_calls"], []))


@case("stream-parallel")
async def stream_parallel():
    _, called, finish, _ = await streamed(talk.PARALLEL)
    equal((called, finish), (talk.PARALLEL_CALLED, ["tool_calls"]))
    async with opened(client.chat.completions.stream(model="home", messages=[user(talk.PARALLEL)])) as stream:
        final = await result(stream.get_final_completion())
    expect_calls(final, talk.PARALLEL_CALLED)


@case("stream-usage")
async def stream_usage():
    *_, finish, usage = await streamed(talk.CALL, stream_options={"include_usage": True})
    equal((finish, len(usage)), (["tool_calls"], 1))
    equal(usage[0].total_tokens, usage[0].prompt_tokens + usage[0].completion_tokens)


@case("stream-question")
async def stream_question():
    content, called, finish, _ = await streamed(talk.ASKS)
    equal((content, called, finish), (talk.QUESTION, [], ["stop"]))


@case("stream-structured")
async def stream_structured():
    script(calls("Light", room="kitchen", state="on"))
    manager = client.chat.completions.stream(model="uptake", messages=[user(talk.CALL)], response_format=Light)
    async with opened(manager) as stream:
        final = await result(stream.get_final_completion())
    equal(final.choices[0].message.parsed, Light(room="kitchen", state="on"))


@case("stream-cut")
async def stream_cut():
    script({"cut": True, "delay": 0.8})
    seen = []
    try:
        async for piece in pieces(await complete(talk.REMOTE, "remote", stream=True)):
            seen += [choice for choice in piece.choices if choice.delta.tool_calls or choice.finish_reason]
    except openai.APIError as error:
        equal(seen, [])
        equal(error.code, "model_server_failed")
        return
    raise AssertionError(f"nothing was raised, and the pieces were {seen}")


@case("left")
async def left():
    script({**calls("send_parcel", city="Oslo"), "delay": 15})
    stream = await complete(talk.REMOTE, "remote", stream=True)
    async for piece in pieces(stream):
        equal(piece.choices[0].finish_reason, None)
        break
    await result(stream.close())
    await_model_server("left")


async def refused(kind, status, kind_of_error, code, text, model, client=client):
    with raises(kind, status_code=status, type=kind_of_error, code=code):
        await complete(text, model, client)


@case("error-400")
async def error_400():
    await refused(
        openai.BadRequestError, 400, "invalid_request_error", "string_above_max_length", talk.TOO_LONG, "home"
    )
    with raises(openai.BadRequestError, param="n"):
        await complete(talk.CALL, n=2)


@case("error-404")
async def error_404():
    await refused(openai.NotFoundError, 404, "not_found_error", "model_not_found", talk.CALL, "nowhere")


@case("error-413")
async def error_413():
    # The library has no class for this error.
    await refused(openai.APIStatusError, 413, "invalid_request_error", "body_too_large", talk.TOO_LARGE, "home")


@case("error-422")
async def error_422():
    kind = openai.UnprocessableEntityError
    await refused(kind, 422, "invalid_request_error", "module_refused", talk.CALL, "broken")


@case("error-429")
async def error_429():
    with crowded(0.3):
        try:
            await complete(talk.CALL, client=connect(NARROW))
        except openai.RateLimitError as error:
            equal((error.type, error.response.headers["retry-after"]), ("rate_limit_error", "1"))
            return
    raise AssertionError("nothing was raised")


@case("error-502")
async def error_502():
    script({"status": 500})
    kind = openai.InternalServerError
    await refused(kind, 502, "server_error", "model_server_failed", talk.REMOTE, "remote")


@case("error-503")
async def error_503():
    kind = openai.InternalServerError
    await refused(kind, 503, "server_error", "no_model_server", talk.REMOTE, "remote", connect(ALONE))


@case("error-504")
async def error_504():
    script({"say": "too late", "delay": 2})
    kind = openai.InternalServerError
    await refused(kind, 504, "server_error", "model_server_timeout", talk.REMOTE, "remote", connect(HASTY))


@case("retry-429")
async def retry_429():
    with crowded(0.5):
        completion = await complete(talk.CALL, client=connect(NARROW, max_retries=2))
    expect_calls(completion, [talk.CALLED])


@case("retry-503")
async def retry_503():
    script({"say": "too late", "delay": 10}, calls("send_parcel", city="Oslo"))
    expect_calls(await complete(talk.REMOTE, "remote", connect(NARROW, max_retries=2)), [talk.REMOTE_CALLED])


@case("no-retry")
async def no_retry():
    script({"status": 500})
    with raises(openai.InternalServerError, status_code=502):
        await complete(talk.REMOTE, "remote", connect(max_retries=2))
    equal(model_server()["served"], 1)


@case("legacy")
async def legacy():
    script(calls(talk.OWN_CALLED[0], **talk.OWN_CALLED[1]))
    functions = [tool["function"] for tool in TOOLS]
    completion = await complete(talk.OWN, "uptake", functions=functions, function_call="auto")
    choice = completion.choices[0]
    equal((choice.finish_reason, choice.message.tool_calls), ("function_call", None))
    called = choice.message.function_call
    equal((called.name, json.loads(called.arguments)), talk.OWN_CALLED)
    conversation = [user(talk.OWN), choice.message, {"role": "function", "name": called.name, "content": "booked"}]
    expect_no_call(await complete(conversation, "uptake", functions=functions))


run()
