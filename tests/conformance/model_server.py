"""A model server that does what it was told, for cases that need a model or a fault.

    POST /script    {"replies": [...]}: what it answers from now on, in turn, the last one for ever
    GET  /state     {"served": requests since then, "left": those whose client left before the answer, "bodies": [...]}
    POST /v1/chat/completions

A reply is one of these, each with an optional "delay" in seconds before it:

    {"calls": [{"name": ..., "arguments": {...}}]}    in the form in which the request wants it
    {"say": "text"}
    {"status": 500, "headers": {...}}                 an error of that status
    {"cut": true}                                     half of an answer, then the connection ends
"""

import json
import select
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: The reply until something is scripted: an unexpected question is not understood.
UNSCRIPTED = [{"say": "I do not know."}]


class Script:
    """What is to be answered, and what was asked; shared by all connections."""

    def __init__(self):
        self._lock = threading.Lock()
        self.start(UNSCRIPTED)

    def start(self, replies):
        with self._lock:
            self._replies, self._served, self._left, self._bodies = list(replies), 0, 0, []

    def next(self, body):
        with self._lock:
            reply = self._replies[min(self._served, len(self._replies) - 1)]
            self._served += 1
            self._bodies.append(body)
            return reply

    def note_left(self):
        with self._lock:
            self._left += 1

    def state(self):
        with self._lock:
            return {"served": self._served, "left": self._left, "bodies": list(self._bodies)}


def message(reply, body):
    """The assistant's message, in the form that the request asks for: tool calls, or JSON of its schema."""
    if "say" in reply:
        return {"role": "assistant", "content": reply["say"]}
    calls = reply["calls"]
    if body.get("tools"):
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{index}",
                    "type": "function",
                    "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
                }
                for index, call in enumerate(calls)
            ],
        }
    name = body.get("response_format", {}).get("json_schema", {}).get("name")
    if name == "calls":
        content = {"call": {"function": calls[0]["name"], "arguments": calls[0]["arguments"]}}
    else:
        content = calls[0]["arguments"]
    return {"role": "assistant", "content": json.dumps(content)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script = None

    def log_message(self, *_):
        """The services' logs tell enough."""

    def do_GET(self):
        if self.path == "/state":
            self._answer(200, self.script.state())
        else:
            self._answer(404, {"error": {"message": "no such route", "type": "not_found_error"}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if self.path == "/script":
            self.script.start(body["replies"])
            self._answer(200, {})
        elif self.path == "/v1/chat/completions":
            self._complete(self.script.next(body), body)
        else:
            self._answer(404, {"error": {"message": "no such route", "type": "not_found_error"}})

    def _complete(self, reply, body):
        if self._left_within(reply.get("delay", 0)):
            self.script.note_left()
            self.close_connection = True
            return
        if "status" in reply:
            error = {"error": {"message": "as scripted", "type": "server_error", "code": None, "param": None}}
            self._answer(reply["status"], error, reply.get("headers", {}))
            return
        if reply.get("cut"):
            self._cut()
            return
        said = message(reply, body)
        self._answer(
            200,
            {
                "id": "chatcmpl-scripted",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": body.get("model", "scripted"),
                "choices": [
                    {"index": 0, "message": said, "finish_reason": "tool_calls" if "tool_calls" in said else "stop"}
                ],
                "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            },
        )

    def _left_within(self, seconds):
        """Waits, and tells whether the client closed its connection meanwhile."""
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0:
            readable, _, _ = select.select([self.connection], [], [], rest)
            if readable:
                try:
                    if not self.connection.recv(1, socket.MSG_PEEK):
                        return True
                except OSError:
                    return True
                time.sleep(0.01)
        return False

    def _cut(self):
        whole = b'{"id": "chatcmpl-scripted", "object": "chat.completion", "choices": [{"index": 0, "message": '
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(2 * len(whole)))
        self.end_headers()
        self.wfile.write(whole)
        self.wfile.flush()
        self.close_connection = True

    def _answer(self, status, body, headers=None):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:
            self.close_connection = True


class ModelServer:
    """On a free port of this machine, until `close`."""

    def __init__(self):
        handler = type("ScriptedHandler", (Handler,), {"script": Script()})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
