"""Makes up requests from /openapi.json for some minutes, and holds every answer against that document.

    run.py --binary FILE --into DIR --minutes NUMBER

Ends with schemathesis' own status: 0 if there was no 5xx and no answer that the document does not tell of.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from model_server import ModelServer
from services import DidNotStart, Service, only_this_machine

#: One check is left out: that everything that fits the document is accepted. No schema can say that a text has words in
#: it, that a name is one of the request's own tools, or that the files of a module are without errors.
LEFT_OUT = "positive_data_acceptance"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--into", type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--minutes", type=int, required=True)
    options = parser.parse_args()
    only_this_machine()
    options.into.mkdir(parents=True, exist_ok=True)
    model_server = ModelServer()
    # It always answers, so that a 502 would be an error of the service.
    settings = {"llm": {"base_url": model_server.url, "probe": False}}
    try:
        service = Service(options.binary, options.into, "fuzzed", HERE.parent / "modules", settings)
    except DidNotStart as problem:
        print(f"conformance: {problem}", file=sys.stderr)
        return 2
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json", "--no-color"),
        *("--max-time", str(options.minutes * 60), "--continue-on-failure", "--generation-database", "none"),
        *("--exclude-checks", LEFT_OUT),
    ]
    print(" ".join(["schemathesis", *command[3:]]), flush=True)
    try:
        environment = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE)}
        return subprocess.run(command, cwd=options.into, env=environment, stdin=subprocess.DEVNULL).returncode
    finally:
        service.close()
        model_server.close()


if __name__ == "__main__":
    sys.exit(main())
