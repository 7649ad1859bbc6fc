"""Runs libraries for agents against the executable that was built: each has a task done by its own loop, start to end.

    run.py --binary FILE --into DIR [--node DIR] [LIBRARY...]

Those that this Python has are run, and with --node those of JavaScript that the directory has.

Prints a table: a cell is right if the loop ended by itself with the right words, and the tool ran as often as it should.
Ends with 1 if a cell is red. Every request is answered locally, so that nothing depends on a model.
"""

import argparse
import asyncio
import contextlib
import importlib.metadata
import inspect
import io
import json
import os
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from services import Service, only_this_machine  # noqa: E402

HERE = Path(__file__).resolve().parent.parent

#: What the tools did, in order.
RAN = []

ON = "turn on the light in the kitchen"
DARK = "The light in the kitchen is on now."


def set_light(room: str, state: str) -> str:
    """Switch the light in a room on or off

    Args:
        room: The room
        state: On or off
    """
    RAN.append(("set_light", room, state))
    return DARK


def list_devices() -> str:
    """List all devices of the house"""
    RAN.append(("list_devices",))
    return json.dumps({"devices": ["lamp", "heater"], "count": 2})


def book_flight(city: str) -> str:
    """Book a flight to a city

    Args:
        city: Where to fly
    """
    RAN.append(("book_flight", city))
    return f"Booked to {city}."


TOOLS = [set_light, list_devices]


def report():
    """What a task is to end with, where it ends with an object."""
    from pydantic import BaseModel

    class Report(BaseModel):
        devices: list[str]
        count: int

    return Report


class Smolagents:
    package = "smolagents"

    def __init__(self, url):
        self.url = url

    def run(self, model, tools, text, streamed=False):
        from smolagents import OpenAIServerModel, ToolCallingAgent, tool

        server = OpenAIServerModel(model_id=model, api_base=f"{self.url}/v1", api_key="none")
        agent = ToolCallingAgent(tools=[tool(one) for one in tools], model=server, max_steps=4, stream_outputs=streamed)
        agent.logger.level = -1
        return str(agent.run(text))


class OpenAIAgents:
    package = "openai-agents"

    def __init__(self, url):
        self.url = url

    def agent(self, model, tools, name="Agent", **more):
        from agents import Agent, OpenAIChatCompletionsModel, function_tool, set_tracing_disabled
        from openai import AsyncOpenAI

        set_tracing_disabled(True)
        client = AsyncOpenAI(base_url=f"{self.url}/v1", api_key="none", max_retries=0)
        server = OpenAIChatCompletionsModel(model=model, openai_client=client)
        return Agent(name=name, instructions="Help.", model=server, tools=[function_tool(one) for one in tools], **more)

    def run(self, model, tools, text, streamed=False, **more):
        from agents import Runner

        agent = self.agent(model, tools, **more)
        if not streamed:
            return str(asyncio.run(Runner.run(agent, text, max_turns=4)).final_output)

        async def stream():
            result = Runner.run_streamed(agent, text, max_turns=4)
            async for _ in result.stream_events():
                pass
            return str(result.final_output)

        return asyncio.run(stream())

    def structured(self, tools, text):
        from agents import Runner

        agent = self.agent("uptake", tools, output_type=report())
        return asyncio.run(Runner.run(agent, text, max_turns=4)).final_output.model_dump()

    def hand_off(self, text):
        from agents import Runner

        lights = self.agent("uptake", TOOLS, name="Lights")
        lights.handoff_description = "Switches the light in a room, and lists devices"
        triage = self.agent("uptake", [], name="Triage", handoffs=[lights])
        return str(asyncio.run(Runner.run(triage, text, max_turns=6)).final_output)


class PydanticAI:
    package = "pydantic-ai-slim"

    def __init__(self, url):
        self.url = url

    def run(self, model, tools, text, streamed=False):
        from pydantic_ai import Agent
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        server = OpenAIChatModel(model, provider=OpenAIProvider(base_url=f"{self.url}/v1", api_key="none"))
        agent = Agent(server, tools=tools)
        if not streamed:
            return str(agent.run_sync(text).output)

        async def stream():
            async with agent.run_stream(text) as result:
                return str(await result.get_output())

        return asyncio.run(stream())


    def structured(self, tools, text):
        from pydantic_ai import Agent
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        server = OpenAIChatModel("uptake", provider=OpenAIProvider(base_url=f"{self.url}/v1", api_key="none"))
        return Agent(server, tools=tools, output_type=report()).run_sync(text).output.model_dump()


class LangChain:
    package = "langchain"

    def __init__(self, url):
        self.url = url

    def run(self, model, tools, text, streamed=False):
        from langchain.agents import create_agent
        from langchain_openai import ChatOpenAI

        server = ChatOpenAI(model=model, base_url=f"{self.url}/v1", api_key="none", max_retries=0, streaming=streamed)
        agent = create_agent(server, list(tools))
        answer = agent.invoke({"messages": [("user", text)]}, {"recursion_limit": 10})
        return str(answer["messages"][-1].content)


class Haystack:
    package = "haystack-ai"

    def __init__(self, url):
        self.url = url

    def run(self, model, tools, text, streamed=False):
        from haystack.components.agents import Agent
        from haystack.components.generators.chat import OpenAIChatGenerator
        from haystack.dataclasses import ChatMessage
        from haystack.tools import create_tool_from_function
        from haystack.utils import Secret

        server = OpenAIChatGenerator(Secret.from_token("none"), model=model, api_base_url=f"{self.url}/v1", max_retries=0)
        made = [create_tool_from_function(one) for one in tools]
        listener = (lambda _: None) if streamed else None
        agent = Agent(chat_generator=server, tools=made, max_agent_steps=4, streaming_callback=listener)
        return str(agent.run(messages=[ChatMessage.from_user(text)])["messages"][-1].text)


class LlamaIndex:
    package = "llama-index-core"

    def __init__(self, url):
        self.url = url

    def run(self, model, tools, text, streamed=False):
        from llama_index.core.agent.workflow import FunctionAgent
        from llama_index.llms.openai_like import OpenAILike

        kind = {"is_chat_model": True, "is_function_calling_model": True}
        server = OpenAILike(model=model, api_base=f"{self.url}/v1", api_key="none", max_retries=0, **kind)
        agent = FunctionAgent(tools=list(tools), llm=server, streaming=streamed)

        async def run():
            return str(await agent.run(text, max_iterations=4))

        return asyncio.run(run())


class Agno:
    package = "agno"

    def __init__(self, url):
        self.url = url

    def run(self, model, tools, text, streamed=False):
        from agno.agent import Agent
        from agno.models.openai.like import OpenAILike

        server = OpenAILike(id=model, base_url=f"{self.url}/v1", api_key="none", max_retries=0)
        agent = Agent(model=server, tools=list(tools), tool_call_limit=4, telemetry=False)
        if not streamed:
            return str(agent.run(text).content)
        return "".join(str(event.content) for event in agent.run(text, stream=True) if getattr(event, "content", None))


class Strands:
    """It always streams."""

    package = "strands-agents"

    def __init__(self, url):
        self.url = url

    def run(self, model, tools, text, streamed=False):
        from strands import Agent, tool
        from strands.models.openai import OpenAIModel

        server = OpenAIModel(client_args={"api_key": "none", "base_url": f"{self.url}/v1"}, model_id=model)
        agent = Agent(model=server, tools=[tool(one) for one in tools], callback_handler=None)
        return str(agent(text))


class ADK:
    package = "google-adk"

    def __init__(self, url):
        self.url = url

    def run(self, model, tools, text, streamed=False):
        from google.adk.agents import Agent
        from google.adk.agents.run_config import RunConfig, StreamingMode
        from google.adk.models.lite_llm import LiteLlm
        from google.adk.runners import InMemoryRunner
        from google.genai import types

        server = LiteLlm(model=f"openai/{model}", api_base=f"{self.url}/v1", api_key="none", max_retries=0)
        runner = InMemoryRunner(Agent(name="helper", model=server, tools=list(tools)), app_name="helper")
        config = RunConfig(streaming_mode=StreamingMode.SSE if streamed else StreamingMode.NONE, max_llm_calls=4)
        said = types.Content(role="user", parts=[types.Part(text=text)])

        async def run():
            session = await runner.session_service.create_session(app_name="helper", user_id="u")
            words = ""
            async for event in runner.run_async(user_id="u", session_id=session.id, new_message=said, run_config=config):
                if event.is_final_response() and event.content:
                    words = "".join(part.text or "" for part in event.content.parts or [])
            return words

        return asyncio.run(run())


class CrewAI:
    package = "crewai"

    def __init__(self, url):
        self.url = url

    def run(self, model, tools, text, streamed=False):
        from crewai import Agent, LLM, Crew, Task
        from crewai.tools import tool

        server = LLM(model=f"openai/{model}", base_url=f"{self.url}/v1", api_key="none", stream=streamed)
        made = [tool(one.__name__)(one) for one in tools]
        parts = {"role": "helper", "goal": "help", "backstory": "helps"}
        agent = Agent(**parts, llm=server, tools=made, max_iter=4, max_retry_limit=0, verbose=False)
        task = Task(description=text, expected_output="the result", agent=agent)
        return str(Crew(agents=[agent], tasks=[task], verbose=False).kickoff())


class Node:
    """A library in JavaScript: its loop runs in `agents.mjs`."""

    directory = None

    def __init__(self, url):
        self.url = url

    def run(self, model, tools, text, streamed=False):
        fails = "broken" in inspect.getsource(tools[0])
        names = [one.__name__ for one in tools]
        task = {"model": model, "text": text, "tools": names, "streamed": streamed, "fails": fails}
        # Node looks for packages beside the program.
        program = shutil.copy(HERE / "agents/agents.mjs", self.directory)
        command = ["node", program, self.package, f"{self.url}/v1", json.dumps(task)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert ended.returncode == 0, ended.stderr[-500:]
        answer = json.loads(ended.stdout.strip().splitlines()[-1])
        RAN.extend(tuple(one) for one in answer["ran"])
        return answer["answer"]

    @classmethod
    def version(cls):
        package = cls.directory / "node_modules" / cls.package / "package.json"
        return json.loads(package.read_text())["version"] if package.is_file() else None


class OpenAIAgentsNode(Node):
    package = "@openai/agents"


class Mastra(Node):
    package = "@mastra/core"


LIBRARIES = [
    Smolagents,
    OpenAIAgents,
    PydanticAI,
    LangChain,
    Haystack,
    LlamaIndex,
    Agno,
    Strands,
    ADK,
    CrewAI,
    OpenAIAgentsNode,
    Mastra,
]


def version_of(library):
    """Which version is here, `None` if none is."""
    if issubclass(library, Node):
        return library.version() if Node.directory else None
    try:
        return importlib.metadata.version(library.package)
    except importlib.metadata.PackageNotFoundError:
        return None


def expect(answer, words, ran):
    assert words in answer, f"it ends with {answer!r}"
    assert RAN == ran, f"the tools ran {RAN}"


def own_tools(library):
    """A tool of the request, whose result is a text."""
    expect(library.run("uptake", [list_devices, book_flight], "list all devices of the house"), "Devices lamp", [("list_devices",)])


def of_a_module(library):
    expect(library.run("home", TOOLS, ON), DARK, [("set_light", "kitchen", "on")])


def streamed(library):
    expect(library.run("home", TOOLS, ON, streamed=True), DARK, [("set_light", "kitchen", "on")])


def plain_text(library):
    """A text that nothing says how to find: it is found, or asked for, and never made up."""
    answer = library.run("uptake", [book_flight], "book a flight to Paris")
    assert answer.strip(), "it ends without a word"
    assert RAN in ([], [("book_flight", "Paris")]), f"the tools ran {RAN}"


def small_talk(library):
    expect(library.run("home", TOOLS, "hello"), "Hello", [])


def out_of_scope(library):
    expect(library.run("uptake", TOOLS, "sing me an aria"), "I can't help with that", [])


def failure(library):
    def set_light(room: str, state: str) -> str:
        """Switch the light in a room on or off

        Args:
            room: The room
            state: On or off
        """
        RAN.append(("set_light", room, state))
        return "Error: the lamp is broken"

    expect(library.run("home", [set_light], ON), "the lamp is broken", [("set_light", "kitchen", "on")])


def hand_off(library):
    if not hasattr(library, "hand_off"):
        return "-"
    expect(library.hand_off("list all devices of the house"), "Devices lamp", [("list_devices",)])
    return None


def structured(library):
    if not hasattr(library, "structured"):
        return "-"
    found = library.structured([list_devices, book_flight], "list all devices of the house")
    assert found == {"devices": ["lamp", "heater"], "count": 2}, f"it ends with {found}"
    assert RAN == [("list_devices",)], f"the tools ran {RAN}"
    return None


CASES = [
    ("tool of the request", own_tools),
    ("tool of a module", of_a_module),
    ("the same, streamed", streamed),
    ("plain `city: str`: asked or called", plain_text),
    ("small talk", small_talk),
    ("out of scope", out_of_scope),
    ("a tool that fails", failure),
    ("handoff to another agent", hand_off),
    ("an object at the end, beside tools", structured),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--into", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--node", type=lambda path: Path(path).resolve(), help="with `node_modules`")
    parser.add_argument("library", nargs="*", help="only these, by the beginning of a package's name")
    options = parser.parse_args()
    only_this_machine()
    Node.directory = options.node
    # Keeps the libraries from sending data to their makers and from downloading any.
    os.environ |= {"OTEL_SDK_DISABLED": "true", "CREWAI_DISABLE_TELEMETRY": "true", "HAYSTACK_TELEMETRY_ENABLED": "False"}
    os.environ |= {"OPENAI_API_KEY": "none", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "MASTRA_TELEMETRY_DISABLED": "1"}
    shutil.rmtree(options.into, ignore_errors=True)
    options.into.mkdir(parents=True)
    wanted = tuple(options.library)
    libraries = [one for one in LIBRARIES if version_of(one) and (not wanted or one.package.startswith(wanted))]
    if not libraries:
        return 0
    # A debug build on a busy machine is slow, and speed is not tested here.
    settings = {"modules": {"ad_hoc_ms": 60_000}, "http": {"timeout_ms": 60_000}}
    service = Service(options.binary, options.into, "agents", HERE / "modules", settings)
    cells, red = {}, []
    try:
        for kind in libraries:
            for title, case in CASES:
                RAN.clear()
                try:
                    # Some libraries print what they do.
                    with contextlib.redirect_stdout(io.StringIO()):
                        cells[title, kind] = case(kind(service.url)) or "✓"
                except Exception as problem:  # noqa: BLE001 what a library raises is the finding
                    cells[title, kind] = "✗"
                    red.append(f"{kind.package}, {title}: {type(problem).__name__}: {problem}"[:600])
                    with (options.into / "problems.log").open("a") as log:
                        traceback.print_exc(file=log)
    finally:
        service.close()
    heads = [f"{kind.package} {version_of(kind)}" for kind in libraries]
    print("| | " + " | ".join(heads) + " |\n|---|" + "---|" * len(heads))
    for title, _ in CASES:
        print(f"| {title} | " + " | ".join(cells[title, kind] for kind in libraries) + " |")
    for line in red:
        print(f"\n✗ {line}")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
