"""What makes the fuzzing look deeper: half of the requests name modules that exist, say something that means something,
and have their more particular members in a form that the service takes.
"""

import schemathesis

MODULES = ["home", "remote", "broken"]
WORDS = [
    "turn on the light in the kitchen",
    "turn on the light",
    "turn on the kitchen light and set the bedroom to 20 degrees",
    "send a parcel to Oslo",
]

OBJECT = {"type": "object", "properties": {"room": {"type": "string"}, "degrees": {"type": "integer"}}}
FUNCTIONS = [{"name": "set_temperature", "parameters": OBJECT}, {"name": "list_devices"}]
TOOLS = [{"type": "function", "function": function} for function in FUNCTIONS]
NAMED = {"type": "function", "function": {"name": "list_devices"}}

#: Members that are refused in most of the forms that the document allows.
TAKEN = {
    "utterance": WORDS,
    # The others need JSON, which this model server never writes: a 502 would be correct.
    "strategy": ["auto", "local", "tools"],
    "now": ["2026-03-01T09:00:00-08:00[America/Los_Angeles]", "2026-03-01T09:00:00Z"],
    "functions": [["list_devices"]],
    "budget": [{"retries": 0}, {"deadline_ms": 100}, {"tokens": 10_000}],
    "limit": [1, 5],
}
TAKEN_BY_CHAT = {
    "model": [*MODULES, "uptake"],
    "tools": [TOOLS, TOOLS[:1]],
    "tool_choice": ["auto", "none", "required", NAMED],
    "functions": [FUNCTIONS],
    "function_call": ["auto", "none", {"name": "list_devices"}],
    "response_format": [{"type": "text"}, {"type": "json_schema", "json_schema": {"name": "it", "schema": OBJECT}}],
    "logit_bias": [{}],
    "modalities": [["text"]],
    "logprobs": [False],
    "top_logprobs": [0],
    "n": [1],
    "uptake": [{}, {"strategy": "tools"}, {"strategy": "local"}],
}
TAKEN_BY_RESPONSES = {
    "model": [*MODULES, "uptake"],
    "input": [WORDS[0], [{"role": "user", "content": WORDS[1]}]],
    "tools": [[{"type": "function", **function} for function in FUNCTIONS], [{"type": "web_search"}]],
    "tool_choice": ["auto", "none", "required", {"type": "function", "name": "list_devices"}],
    "text": [{"format": {"type": "text"}}, {"format": {"type": "json_schema", "name": "it", "schema": OBJECT}}],
    "previous_response_id": [None],
    "background": [False],
    "top_logprobs": [0],
    "uptake": [{}, {"strategy": "tools"}, {"strategy": "local"}],
}
#: Older forms of other members, which must not occur together with them.
OLDER = ["functions", "function_call"]


def _one_of(choices, value, otherwise):
    """One of them for half of the values; decided by the value, so that a failure can be repeated."""
    number = sum(str(value).encode("utf-8", "surrogatepass"))
    return choices[number // 2 % len(choices)] if number % 2 else otherwise


@schemathesis.hook
def before_call(context, case, kwargs):
    # Requests that are wrong on purpose stay wrong.
    if not case.meta or not case.meta.generation.mode.is_positive:
        return
    for name in ("module", "model"):
        if name in (case.path_parameters or {}):
            case.path_parameters[name] = _one_of(MODULES, case.path_parameters[name], case.path_parameters[name])
    if isinstance(case.body, dict):
        _give_time(case.body)
        _give_time(case.body.get("uptake"))
    if isinstance(case.body, dict) and _one_of([True], case.body, False):
        case.body = _meant(case.body)


def _meant(body):
    if "messages" in body:
        return _chat(_taken(body, TAKEN_BY_CHAT))
    return _taken(body, TAKEN_BY_RESPONSES if "input" in body else TAKEN)


def _give_time(options):
    """In a millisecond no model server answers: a 504 would be true."""
    budget = options.get("budget") if isinstance(options, dict) else None
    if isinstance(budget, dict) and isinstance(budget.get("deadline_ms"), int):
        budget["deadline_ms"] = max(budget["deadline_ms"], 100)


def _taken(body, forms):
    size = len(str(body))
    return {name: forms[name][size % len(forms[name])] if name in forms else value for name, value in body.items()}


def _chat(body):
    """What cannot stand together is taken apart, and the last message says something."""
    size = len(str(body))
    if "tools" in body or "tool_choice" in body or "response_format" in body:
        body = {name: value for name, value in body.items() if name not in OLDER}
    if body.get("response_format", {}).get("type") == "json_schema":
        body = {name: value for name, value in body.items() if name not in ("tools", "tool_choice")}
    before = body["messages"][:-1] if isinstance(body["messages"], list) and size % 2 else []
    return {**body, "messages": [*before, {"role": "user", "content": WORDS[size % len(WORDS)]}]}
