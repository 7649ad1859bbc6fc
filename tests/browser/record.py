"""A proxy that hands requests on as they are, and keeps what was asked and answered."""

import http.client
import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Headers that say something about the client; the others belong to the connection.
KEPT = ("content-type", "accept", "x-openwebui-chat-id", "x-stainless-retry-count", "idempotency-key")


class Recorder:
    """Listens on a free port; `exchanges` are requests with their answers, in the order in which they came."""

    def __init__(self, target):
        self.exchanges = []
        target = urllib.parse.urlsplit(target)
        recorder, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass_on(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                exchange = {
                    "method": self.command,
                    "path": self.path,
                    "headers": {name: self.headers[name] for name in KEPT if name in self.headers},
                    "body": json.loads(body) if body else None,
                }
                with lock:
                    recorder.exchanges.append(exchange)
                connection = http.client.HTTPConnection(target.hostname, target.port, timeout=120)
                headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
                exchange["status"] = answer.status
                text = content.decode(errors="replace")
                exchange["said"], exchange["decided_by"] = said(text), decided_by(text)
                self.send_response(answer.status)
                self.send_header("content-type", answer.headers.get("content-type", "application/json"))
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                connection.close()

            do_GET = do_POST = do_OPTIONS = _pass_on

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()


def said(text):
    """The words of a chat completion, streamed or not; nothing where there are none."""
    if text.startswith("data:"):
        chunks = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
        deltas = [json.loads(chunk).get("choices", []) for chunk in chunks]
        return "".join(choices[0]["delta"].get("content") or "" for choices in deltas if choices)
    try:
        return json.loads(text)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError):
        return None


def decided_by(text):
    """Who decided about it: `local`, a model server's strategy, or `front`."""
    objects = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")] or [text]
    for one in reversed(objects):
        try:
            return json.loads(one)["uptake"]["decided_by"]
        except (ValueError, KeyError, TypeError):
            continue
    return None
