"""Runs chat frontends in a real browser, before the service that was built: a person talks, and a call is made and told.

The frontend's requests go through a recorder, so that tests can send them again without any of this."""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(ROOT / "tests/conformance"))

from record import Recorder  # noqa: E402
from services import Service, only_this_machine  # noqa: E402
from talk import ORDER, QUESTION  # noqa: E402

#: Seconds for a frontend to start, and for one answer to be on the page.
START = 480
ANSWER = 60


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--chromium", default="/usr/bin/chromium")
    arguments.add_argument("--environments", type=Path, required=True)
    arguments.add_argument("--into", type=Path, required=True)
    arguments.add_argument("frontends", nargs="*", default=["open-webui", "gradio"])
    given = arguments.parse_args()
    only_this_machine()
    given.into.mkdir(parents=True, exist_ok=True)
    faults = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        for name in given.frontends or ["open-webui", "gradio"]:
            try:
                with Backend(given) as backend:
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
    """The stand-in for the shop, the service with the module that acts, and a recorder before it."""

    def __init__(self, given):
        self.given = given
        # Alone, it is ready soon.
        modules = given.into / "modules"
        shutil.copytree(ROOT / "modules/shoes", modules / "shoes", dirs_exist_ok=True)
        self.service = Service(given.binary, given.into, "uptake", modules, SETTINGS)
        self.shop = subprocess.Popen(
            [given.binary, "--modules", str(ROOT / "modules"), "mock", "shoes"], stdout=subprocess.DEVNULL
        )
        self.recorder = Recorder(self.service.url)
        self.base_url = f"{self.recorder.url}/v1"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.recorder.close()
        self.service.close()
        self.shop.terminate()
        self.shop.wait()

    def keep(self, name):
        """The exchanges of the chat; what lists models says nothing new. Tools that come again are written once."""
        kept = [exchange for exchange in self.recorder.exchanges if exchange["path"].endswith("/chat/completions")]
        tools = None
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


def open_webui(given, backend, browser):
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
            if button.count() and button.first.is_visible():
                button.first.click()
        shots, text = {6: "shop", 12: "order", 14: "scope"}, ""
        for turn, (message, expected) in enumerate(ORDER):
            said(page, message)
            answers = page.locator("#response-content-container")
            text = answered(page, answers, text, message, expected)
            if turn in shots:
                page.wait_for_timeout(1500)
                page.screenshot(path=given.into / f"open-webui-{shots[turn]}.png")
        # Titles and tags are asked for behind the chat.
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


FRONTENDS = {"open-webui": open_webui, "gradio": gradio}


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
