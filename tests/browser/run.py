"""Runs chat frontends, and the inspector, in a real browser before the service that was built: a person talks, and a call is made and
told.

The frontend's requests go through a recorder, so that tests can send them again without any of this."""

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Error as PageError
from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(ROOT / "tests/conformance"))

from inspector import inspector  # noqa: E402
from record import Recorder  # noqa: E402
from services import Service, only_this_machine  # noqa: E402
from talk import FRONT, ORDER, QUESTION  # noqa: E402

#: Seconds that a frontend may take to start, and that one answer may take to appear on the page.
START = 480
ANSWER = 60


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--chromium", default="/usr/bin/chromium")
    arguments.add_argument("--llama-server", type=Path, help="stands behind `open-webui-front`")
    arguments.add_argument("--environments", type=Path, required=True)
    arguments.add_argument("--into", type=Path, required=True)
    arguments.add_argument("frontends", nargs="*")
    given = arguments.parse_args()
    only_this_machine()
    given.into.mkdir(parents=True, exist_ok=True)
    faults = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        for name in given.frontends or FRONTENDS:
            try:
                with Backend(given, has_model=name.endswith("-front")) as backend:
                    try:
                        FRONTENDS[name](given, backend, browser)
                    finally:
                        backend.keep(name)
                print(f"{name}: as expected")
            except AssertionError as fault:
                for index, page in enumerate(page for context in browser.contexts for page in context.pages):
                    page.screenshot(path=given.into / f"fault-{index}.png")
                    page.close()
                faults.append(name)
                print(f"{name}: {fault}")
        browser.close()
    sys.exit(1 if faults else 0)


class Backend:
    """The stand-in for the shop, the service with the module that acts, and a recorder before it; behind it a model server, if it
    is to have one."""

    def __init__(self, given, has_model=False):
        self.given = given
        self.has_model = has_model

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            # With this module alone, the service is ready soon.
            modules = self.given.into / "modules"
            shutil.copytree(ROOT / "modules/shoes", modules / "shoes", dirs_exist_ok=True)
            settings = dict(SETTINGS)
            if self.has_model:
                # That model must not choose functions.
                settings |= {"understand": {"sure": 0.0}, "http.chat": {"front": True}}
                # That model does not always stop by itself.
                settings["llm"] = {"base_url": f"{self.model(stack)}/v1", "max_tokens": 64}
            service = Service(self.given.binary, self.given.into, "uptake", modules, settings)
            stack.callback(service.close)
            start(stack, [self.given.binary, "--modules", str(ROOT / "modules"), "mock", "shoes"])
            self.recorder = Recorder(service.url)
            stack.callback(self.recorder.close)
            self.base_url = f"{self.recorder.url}/v1"
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def model(self, stack):
        """Starts the small model server; its address."""
        port = free_port()
        model = ROOT / "tests/fixtures/llama/model.gguf"
        start(stack, [self.given.llama_server, "--port", str(port), "--threads", "1", "--ctx-size", "4096", "--model", model])
        wait_for(f"http://127.0.0.1:{port}/health")
        return f"http://127.0.0.1:{port}"

    def chat(self):
        """What was asked and answered; what lists models says nothing new."""
        return [exchange for exchange in self.recorder.exchanges if exchange["path"].endswith("/chat/completions")]

    def deciders(self, message):
        """Who answered this message of the person."""
        asked = [one for one in self.chat() if one["body"]["messages"][-1]["content"] == message]
        return [one["decided_by"] for one in asked]

    def keep(self, name):
        """Keeps the exchanges. Tools that come again are written once."""
        kept, tools = self.chat(), None
        for exchange in kept:
            own = exchange["body"].get("tools")
            if own is not None and own == tools:
                exchange["body"]["tools"] = "as before"
            tools = own or tools
        lines = "".join(json.dumps(exchange, ensure_ascii=False) + "\n" for exchange in kept)
        (self.given.into / f"{name}.jsonl").write_text(lines)


SETTINGS = {
    "actions": {"enabled": True, "hosts": ["localhost:3002"], "networks": ["127.0.0.0/8", "::1"]},
    "sessions": {"url": "memory:"},
}


def start(stack, command):
    """Runs a program until the stack is closed."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stack.callback(process.wait)
    stack.callback(process.terminate)


def open_webui(given, backend, browser):
    person_talks(given, backend, browser, ORDER, {6: "shop", 12: "order", 14: "scope"})


def open_webui_front(given, backend, browser):
    person_talks(given, backend, browser, FRONT, {2: "front"})
    for message, expected in FRONT:
        deciders, right = backend.deciders(message), "local" if expected else "front"
        assert deciders == [right], f"{message!r} was answered by {deciders}, not by {right!r}"


def person_talks(given, backend, browser, talk, shots):
    """Open WebUI, with screenshots after some turns."""
    port = free_port()
    environment = {
        **os.environ,
        "DATA_DIR": str(given.into / "open-webui-data"),
        "OPENAI_API_BASE_URL": backend.base_url,
        "OPENAI_API_KEY": "none",
        "DEFAULT_MODELS": "shoes",
        "WEBUI_AUTH": "false",
        "WEBUI_SECRET_KEY": "none",
        "ENABLE_OLLAMA_API": "false",
        "ENABLE_PERSISTENT_CONFIG": "false",
        "ENABLE_FORWARD_USER_INFO_HEADERS": "true",
        "OFFLINE_MODE": "true",
        "ANONYMIZED_TELEMETRY": "false",
    }
    command = [given.environments / "open-webui/bin/open-webui", "serve", "--host", "127.0.0.1", "--port", str(port)]
    with (given.into / "open-webui.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        page = browser.new_page(viewport={"width": 1000, "height": 760})
        page.goto(f"http://127.0.0.1:{port}/?models=shoes", timeout=START * 1000)
        page.locator("#chat-input").wait_for(timeout=START * 1000)
        page.wait_for_timeout(3000)
        for name in ["Okay, Let's Go!", "Close"]:
            button = page.get_by_role("button", name=name)
            # The dialog may close by itself in the meantime.
            with contextlib.suppress(PageError):
                button.first.click(timeout=3000)
        text = ""
        for turn, (message, expected) in enumerate(talk):
            said(page, message)
            answers = page.locator("#response-content-container")
            text = answered(page, answers, text, message, expected or "")
            if turn in shots:
                page.wait_for_timeout(1500)
                page.screenshot(path=given.into / f"open-webui-{shots[turn]}.png")
        # The frontend asks for titles and tags in the background.
        page.wait_for_timeout(5000)
        page.close()
    finally:
        process.terminate()
        process.wait()


def gradio(given, backend, browser):
    port = free_port()
    code = "import sys, gradio; gradio.load_chat(sys.argv[1], model='shoes', token='none').launch(server_port=int(sys.argv[2]))"
    command = [sys.executable, "-c", code, backend.base_url, str(port)]
    environment = {**os.environ, "GRADIO_ANALYTICS_ENABLED": "False"}
    with (given.into / "gradio.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/")
        page = browser.new_page(viewport={"width": 900, "height": 640})
        page.goto(f"http://127.0.0.1:{port}/", timeout=START * 1000)
        box = page.locator("textarea").first
        box.wait_for(timeout=START * 1000)
        text = ""
        for message, expected in QUESTION:
            box.fill(message)
            box.press("Enter")
            text = answered(page, page.locator(".message.bot"), text, message, expected)
        page.wait_for_timeout(1000)
        page.screenshot(path=given.into / "gradio.png")
        page.close()
    finally:
        process.terminate()
        process.wait()


def chainlit(given, backend, browser):
    port = free_port()
    program = given.environments / "chainlit/bin/chainlit"
    command = [program, "run", HERE / "chainlit_app.py", "--headless", "--host", "127.0.0.1", "--port", str(port)]
    # It writes its files into the directory in which it is started.
    directory = given.into / "chainlit"
    directory.mkdir(exist_ok=True)
    environment = {**os.environ, "BASE_URL": backend.base_url, "CHAINLIT_APP_ROOT": str(directory)}
    with (given.into / "chainlit.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=directory, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/")
        page = browser.new_page(viewport={"width": 900, "height": 640})
        page.goto(f"http://127.0.0.1:{port}/", timeout=START * 1000)
        page.locator("#chat-input").wait_for(timeout=START * 1000)
        page.wait_for_timeout(2000)
        text = ""
        for message, expected in QUESTION:
            said(page, message)
            text = answered(page, page.locator(".ai-message"), text, message, expected)
        # The last message stands at the top; those before it are above.
        page.locator(".ai-message").last.hover()
        page.mouse.wheel(0, -2000)
        page.wait_for_timeout(1000)
        page.screenshot(path=given.into / "chainlit.png")
        page.close()
    finally:
        process.terminate()
        process.wait()


FRONTENDS = {
    "open-webui": open_webui,
    "open-webui-front": open_webui_front,
    "gradio": gradio,
    "chainlit": chainlit,
    "inspector": inspector,
}


def said(page, message):
    """Types a message and sends it; the page takes none while it is still busy with the last answer."""
    box = page.locator("#chat-input")
    box.click()
    page.keyboard.type(message)
    for _ in range(ANSWER):
        page.keyboard.press("Enter")
        page.wait_for_timeout(1000)
        if message not in box.inner_text():
            return


def answered(page, answers, before, message, expected):
    """Waits until the answer to this message stands on the page, and gives it. Old ones may be gone from the page by then."""
    end, text = time.monotonic() + ANSWER, ""
    while time.monotonic() < end:
        text = answers.last.inner_text().strip() if answers.count() else ""
        if text and text != before and expected in text:
            page.wait_for_timeout(700)
            return text
        page.wait_for_timeout(200)
    raise AssertionError(f"to {message!r} it says {text!r}, not {expected!r}")


def wait_for(url):
    end = time.monotonic() + START
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"{url} did not answer within {START} s")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


if __name__ == "__main__":
    main()
