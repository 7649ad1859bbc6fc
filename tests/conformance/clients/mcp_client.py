"""The Model Context Protocol's own client, with a server of `uptake mcp` for each case: over `stdio` or `http`."""

import asyncio
import contextlib
import json
import os
import sys

from mcp import Client, StdioServerParameters

import talk
from harness import await_model_server, calls, case, equal, run, script, without

OVER = sys.argv.pop(1)
BINARY = os.environ["BINARY"]


@contextlib.asynccontextmanager
async def connected(kind="service"):
    """A client with a server of this kind; see `serve` in run.py."""
    arguments = ["--config", os.environ[f"CONFIGURATION_OF_{kind.upper()}"], "mcp"]
    if OVER == "stdio":
        async with Client(StdioServerParameters(command=BINARY, args=arguments)) as client:
            yield client
        return
    server = await asyncio.create_subprocess_exec(
        BINARY, *arguments, "--http", "127.0.0.1:0", stderr=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL
    )
    try:
        async with Client(await address(server.stderr)) as client:
            yield client
    finally:
        server.terminate()
        await server.communicate()


async def address(log):
    async for line in log:
        message = json.loads(line).get("message", "")
        if message.startswith("listening on "):
            return message.removeprefix("listening on ")
    raise AssertionError("the server ended before it listened")


async def understand(client, utterance, module="home", **more):
    return await client.call_tool("understand", {"module": module, "utterance": utterance, **more})


def made(result):
    assert not result.is_error, words(result)
    return [(call["name"], call["arguments"]) for call in result.structured_content["calls"]]


def words(result):
    return "".join(block.text for block in result.content)


async def refused(kind, utterance, module, words_of_it, **more):
    """An error that the calling model reads."""
    async with connected(kind) as client:
        result = await understand(client, utterance, module, **more)
    assert result.is_error, f"no error: {words(result)}"
    assert words_of_it in words(result), words(result)


ONE_CALL = "each call stands alone"
NOT_OPENAI = "the protocol has no such thing"
NO_STREAM = "results of tools come in one piece"


@case("models")
async def models():
    async with connected() as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"understand", "find_functions", "list_modules"} <= names, f"there are {names}"
        modules = (await client.call_tool("list_modules", {})).structured_content["modules"]
        assert {"home", "remote"} <= {module["name"] for module in modules}, f"there are {modules}"


@case("call")
async def call():
    async with connected() as client:
        found = await client.call_tool("find_functions", {"module": "home", "request": talk.CALL})
        equal(found.structured_content["tools"][0]["function"]["name"], talk.CALLED[0])
        equal(made(await understand(client, talk.CALL)), [talk.CALLED])


without("own-tools", "a server offers its modules")


@case("no-arguments")
async def no_arguments():
    async with connected() as client:
        equal(made(await understand(client, talk.NO_ARGUMENTS)), [("list_devices", {})])


@case("no-call")
async def no_call():
    async with connected() as client:
        result = await understand(client, talk.NO_CALL)
        equal(made(result), [])
        assert words(result).startswith("no_match"), words(result)


@case("question")
async def question():
    async with connected() as client:
        result = await understand(client, talk.ASKS)
        equal(made(result), [])
        assert talk.QUESTION in words(result), words(result)


without("answer", ONE_CALL)
without("tool-result", ONE_CALL)


@case("parallel")
async def parallel():
    async with connected() as client:
        equal(made(await understand(client, talk.PARALLEL)), talk.PARALLEL_CALLED)


without("one-call", NOT_OPENAI)
without("choice-none", NOT_OPENAI)
without("choice-required", NOT_OPENAI)


@case("choice-named")
async def choice_named():
    async with connected() as client:
        equal(made(await understand(client, talk.CALL, functions=["set_light"])), [talk.CALLED])
        equal(made(await understand(client, talk.CALL, functions=["list_devices"])), [])


@case("structured")
async def structured():
    # The client itself holds the result against the tool's schema once it has listed the tools.
    async with connected() as client:
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "understand"]
        assert tool.output_schema, "the tool has no schema of its result"
        equal((await understand(client, talk.CALL)).structured_content["calls"][0]["arguments"], talk.CALLED[1])


without("stream-call", NO_STREAM)
without("stream-parallel", NO_STREAM)
without("stream-usage", NO_STREAM)
without("stream-question", NO_STREAM)
without("stream-structured", NO_STREAM)
without("stream-cut", NO_STREAM)


@case("left")
async def left():
    script({**calls("send_parcel", city="Oslo"), "delay": 15})
    async with connected() as client:
        asking = asyncio.create_task(understand(client, talk.REMOTE, "remote"))
        await asyncio.to_thread(await_model_server, "served")
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking
        await asyncio.to_thread(await_model_server, "left")
        equal(made(await understand(client, talk.CALL)), [talk.CALLED])


@case("error-400")
async def error_400():
    await refused("service", " ", "home", "`utterance` is empty")
    await refused("service", talk.TOO_LONG, "home", "9000 characters")
    await refused("service", talk.CALL, "home", "functions", functions=5)


@case("error-404")
async def error_404():
    await refused("service", talk.CALL, "nowhere", "there is no module `nowhere`")


without("error-413", "a message that is too long is dropped, or ends the connection")


@case("error-422")
async def error_422():
    await refused("service", talk.CALL, "broken", "cannot be used until its author mends")


@case("error-429")
async def error_429():
    async with connected("narrow") as client:
        # A server that just started answers slowly at first, and the turn that makes it busy has its time.
        await understand(client, talk.CALL)
        script({**calls("send_parcel", city="Oslo"), "delay": 1.1})
        other = asyncio.create_task(understand(client, talk.REMOTE, "remote"))
        await asyncio.to_thread(await_model_server, "served")
        result = await understand(client, talk.CALL)
        # What becomes of it is not of interest here.
        with contextlib.suppress(Exception):
            await other
    assert result.is_error and "try again" in words(result), words(result)


@case("error-502")
async def error_502():
    script({"status": 500})
    await refused("service", talk.REMOTE, "remote", "the model server failed")


@case("error-503")
async def error_503():
    await refused("alone", talk.REMOTE, "remote", "needs a model server, and none is configured")


@case("error-504")
async def error_504():
    script({"say": "too late", "delay": 2})
    await refused("hasty", talk.REMOTE, "remote", "did not answer in time")


without("retry-429", "it does not try again by itself")
without("retry-503", "it does not try again by itself")
without("no-retry", "it does not try again by itself")
without("legacy", NOT_OPENAI)

run()
