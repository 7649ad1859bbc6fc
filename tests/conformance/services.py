"""Services of the executable that was built, each on a free port with a log of its own."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

#: Seconds until a service must be ready; a debug build embeds slowly.
START = 60


class DidNotStart(Exception):
    """Says where its log lies."""


def only_this_machine():
    """Keeps this process and all that it starts from proxies, and from settings of whoever runs it."""
    for name in [name for name in os.environ if name.startswith("UPTAKE_")]:
        del os.environ[name]
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1"


class Service:
    """A service on a free port, stopped by `close`."""

    def __init__(self, binary, directory, name, modules, settings):
        """`settings` are tables of the configuration, {table: {key: value}}."""
        self.name = name
        self.log = Path(directory) / f"{name}.log"
        config = configuration(directory, name, modules, settings)
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(binary), "--config", str(config), "serve"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self.url = self._await_ready()
        except BaseException:
            self.close()
            raise

    def _await_ready(self):
        end = time.monotonic() + START
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise DidNotStart(f"service `{self.name}` ended with {self._process.returncode}; see {self.log}")
            url = self._listens_on()
            if url and _is_ready(url):
                return url
            time.sleep(0.05)
        raise DidNotStart(f"service `{self.name}` was not ready within {START} s; see {self.log}")

    def _listens_on(self):
        for line in self.log.read_text(errors="replace").splitlines():
            try:
                message = json.loads(line)["message"]
            except (ValueError, KeyError, TypeError):
                continue
            if message.startswith("listening on "):
                return message.removeprefix("listening on ")
        return None

    def close(self):
        """Asks it to stop, and does not wait for long."""
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def configuration(directory, name, modules, settings):
    """Writes the settings of a service or of one client's own server, and returns the file."""
    file = Path(directory) / f"{name}.toml"
    tables = {
        "http": {"port": 0},
        # Some clients send no tools but still look at the calls.
        "http.chat": {"calls": "always"},
        "modules": {"root": str(modules), "index": str(Path(directory) / f"index-{name}")},
        "sessions": {"url": f"sqlite:{Path(directory) / f'sessions-{name}.db'}"},
        "telemetry": {"format": "json"},
    }
    for table, values in settings.items():
        tables.setdefault(table, {}).update(values)
    file.write_text("".join(_table(table, values) for table, values in tables.items()))
    return file


def _table(name, values):
    return f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()) + "\n"


def _is_ready(url):
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False
