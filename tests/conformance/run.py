"""Runs real clients against the executable that was built, and prints what came of it as a table.

    run.py --binary FILE --environments DIR --into DIR [--markdown FILE] [CLIENT [CASE...]]

The environments are python/ and node/ of the directory; services and their logs go into the other. Ends with 1 if a cell
is red, and with 2 if there is no table because a service did not start.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import documentation
from cases import CASES
from model_server import ModelServer
from services import DidNotStart, Service, configuration, only_this_machine
from table import FAILED, Column, plain, red, together

HERE = Path(__file__).resolve().parent

#: (name in the table, package whose version is shown, its environment, program with its arguments)
CLIENTS = [
    ("openai-python", "openai", "python", ["openai_python.py", "sync"]),
    ("openai-python (async)", "openai", "python", ["openai_python.py", "async"]),
    ("langchain-openai", "langchain-openai", "python", ["langchain.py"]),
    ("litellm", "litellm", "python", ["lite_llm.py"]),
    ("instructor", "instructor", "python", ["instructor_client.py"]),
    ("openai-node", "openai", "node", ["openai_node.mjs"]),
    ("AI SDK", "ai", "node", ["ai_sdk.mjs", "chat"]),
    ("openai-python responses", "openai", "python", ["responses_python.py", "openai"]),
    ("openai-node responses", "openai", "node", ["responses_node.mjs"]),
    ("AI SDK `openai()`", "@ai-sdk/openai", "node", ["ai_sdk.mjs", "responses"]),
    ("litellm responses", "litellm", "python", ["responses_python.py", "litellm"]),
    ("mcp (stdio)", "mcp", "python", ["mcp_client.py", "stdio"]),
    ("mcp (HTTP)", "mcp", "python", ["mcp_client.py", "http"]),
]

#: Seconds that all cases of one client may take.
LIMIT = 180


def main():
    options = arguments()
    only_this_machine()
    # So that `timeout` leaves no service behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    shutil.rmtree(options.into, ignore_errors=True)
    options.into.mkdir(parents=True)
    start, opened = time.monotonic(), []
    try:
        environment = serve(options, opened)
        columns = [ask(client, options, environment) for client in chosen(options.client)]
    except DidNotStart as problem:
        print(f"conformance: {problem}", file=sys.stderr)
        return 2
    finally:
        for service in reversed(opened):
            service.close()
    cases = [(case, title) for case, title in CASES if not options.case or case in options.case]
    print(plain(cases, columns))
    failures = red(columns)
    for (client, why), names in together(failures).items():
        print(f"\n✗ {client}: {', '.join(names)}\n  {why}")
    passed = sum(1 for column in columns for result, *_ in column.cells.values() if result == "passed")
    print(f"\n{passed} passed, {len(failures)} failed, in {time.monotonic() - start:.0f} s; logs in {options.into}")
    if options.write:
        for page in documentation.write(cases, columns):
            print(f"wrote {page}")
    return 1 if failures else 0


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--environments", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--into", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--write", action="store_true", help="put the table into the pages that show it")
    parser.add_argument("client", nargs="?", help="only this one, by the name of its program")
    parser.add_argument("case", nargs="*", help="only these")
    options = parser.parse_args()
    if not chosen(options.client):
        parser.error(f"no client's program begins with `{options.client}`")
    for case in options.case:
        if case not in dict(CASES):
            parser.error(f"there is no case `{case}`; cases.py lists them")
    return options


def chosen(name):
    """All of them if there is no name."""
    return [client for client in CLIENTS if not name or " ".join(client[3]).startswith(name)]


def serve(options, opened):
    """Starts everything, and returns the variables that tell the clients where it is."""
    model_server = ModelServer()
    opened.append(model_server)
    # Failures must show at once: no retries, no breaker, and no requests except those of turns.
    llm = {"base_url": model_server.url, "retries": 0, "probe": False}
    breaker = {"llm.breaker": {"failures": 0}}
    kinds = {
        "service": {"llm": llm, **breaker},
        "hasty": {"llm": {**llm, "timeout_ms": 500}, **breaker},
        "narrow": {"http": {"max_in_flight": 1, "max_queued": 0, "timeout_ms": 1200}, "llm": llm, **breaker},
        "alone": {},
    }
    environment = {**os.environ, "MODEL_SERVER_URL": model_server.url, "BINARY": str(options.binary)}
    for kind, settings in kinds.items():
        opened.append(Service(options.binary, options.into, kind, HERE / "modules", settings))
        environment[f"URL_OF_{kind.upper()}"] = opened[-1].url
        # Clients of the Model Context Protocol start servers of their own.
        file = configuration(options.into, f"mcp-{kind}", HERE / "modules", settings)
        environment[f"CONFIGURATION_OF_{kind.upper()}"] = str(file)
    return environment


def ask(client, options, environment):
    """Runs one client's program, and reads what it says of each case."""
    name, package, kind, program = client
    home = options.environments / kind
    if kind == "python":
        command = [str(home / "bin/python"), str(HERE / "clients" / program[0])]
    else:
        # Node looks for packages beside the file that imports them.
        for file in [*(HERE / "clients").glob("*.mjs"), HERE / "clients/talk.json"]:
            shutil.copy(file, home)
        command = ["node", str(home / program[0])]
    log = options.into / f"{'-'.join(program)}.log"
    said, end = run_to_the_end([*command, *program[1:], *options.case], environment, log)
    cells = {}
    for line in said.splitlines():
        try:
            told = json.loads(line)
            cells[told["case"]] = (told["result"], told["why"], told["seconds"])
        except (ValueError, KeyError, TypeError):
            end += f"; it printed {line!r}"
    wanted = [case for case, _ in CASES if not options.case or case in options.case]
    # A missing case differs from one that a client cannot do.
    for case in [case for case in wanted if case not in cells]:
        cells[case] = (FAILED, f"it says nothing of this; {end}; see {log}", 0)
    for case in [case for case in cells if case not in wanted]:
        cells[wanted[0]] = (FAILED, f"there is no case `{case}`", 0)
        del cells[case]
    return Column(name, version(home, kind, package), cells)


def run_to_the_end(command, environment, log):
    """What the program prints, and how it ended; nothing that it started outlives it."""
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    try:
        said, _ = process.communicate(timeout=LIMIT)
        return said, f"the program ended with {process.returncode}"
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
        return said.decode(errors="replace"), f"the program was not done after {LIMIT} s"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def version(home, kind, package):
    if kind == "node":
        return json.loads((home / "node_modules" / package / "package.json").read_text())["version"]
    code = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    return subprocess.run(
        [str(home / "bin/python"), "-c", code, package], check=True, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
