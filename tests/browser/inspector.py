"""The inspector in a real browser: a wrong answer is seen, mended and right, and its neighbours still are; by keys alone, too.
Texts of others are texts, and nothing but the service is asked."""

import json
import subprocess
from pathlib import Path

from services import Service, configuration

#: A text that would run if the page took it for markup.
EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"

SCHEMA = [
    {
        "name": "set_light",
        "description": f"Switch the light in a room on or off {EVIL}",
        "parameters": {
            "type": "object",
            "required": ["room", "state"],
            "properties": {
                "room": {"type": "string", "enum": ["hall", "kitchen", "living room"]},
                "state": {"type": "string", "enum": ["on", "off"]},
            },
        },
    },
    {
        "name": "set_heating",
        "description": "Set how warm a room is to be",
        "parameters": {
            "type": "object",
            "required": ["room", "degrees"],
            "properties": {
                "room": {"type": "string", "enum": ["hall", "kitchen", "living room"]},
                "degrees": {"type": "integer", "minimum": 5, "maximum": 30},
            },
        },
    },
]

#: In the formatting of its author, which edits must keep.
EXEMPLARS = """{
    "set_light": ["turn <state> the light in the <room>",   "<room> light <state>",
                  "switch the <room> lights <state>"],

    "set_heating": ["make the <room> <degrees> degrees", "heat the <room> to <degrees>", "<room> to <degrees> degrees"]
}
"""

CASES = [
    {"utterance": "turn the kitchen light off", "function": "set_light", "arguments": {"room": "kitchen", "state": "off"}},
    {"utterance": "hall light on", "function": "set_light", "arguments": {"room": "hall", "state": "on"}},
    {"utterance": "heat the living room to 21", "function": "set_heating", "arguments": {"room": "living room", "degrees": 21}},
    {"utterance": f"what is this {EVIL}", "function": None},
]

WRONG = "could I have it bright in the living room"


def inspector(given, _backend, browser):
    modules = given.into / "inspector-modules"
    write(modules / "home", "schema.json", json.dumps(SCHEMA))
    write(modules / "home", "exemplars.json", EXEMPLARS)
    write(modules / "home", "cases.jsonl", "".join(json.dumps(case) + "\n" for case in CASES))
    write(modules / "home", "module.toml", f"description = '''{EVIL}'''  # mine\n")
    write(modules / "0bröken", "schema.json", json.dumps(EVIL))
    settings = {
        "http": {"keys": str(given.into / "inspector-keys.json")},
        "modules": {"history": str(given.into / "inspector-history")},
        "sessions": {"url": "memory:"},
    }
    config = configuration(given.into, "inspector", modules, settings)
    add = [str(given.binary), "--config", str(config), "key", "add", EVIL, "--scope", "predict", "--scope", "inspect", "--scope", "edit"]
    key = next(word for word in subprocess.run(add, check=True, capture_output=True, text=True).stdout.split() if word.startswith("uk_"))
    service = Service(given.binary, given.into, "inspector", modules, settings)
    try:
        page = watched(browser, service.url, viewport={"width": 1280, "height": 900})
        enter(page, service.url, key)
        mended_with_the_mouse(page, modules / "home", given.into)
        mended_by_keys(page, modules / "home")
        texts_are_texts(page, service.url, given.into)
        on_a_phone(browser, service.url, key, given.into)
        assert page.faults == [], page.faults
        framed(browser, service.url)
    finally:
        service.close()


def watched(browser, url, **options):
    """A page that knows of what it must not do."""
    page = browser.new_context(**options).new_page()
    page.faults = []

    def asked(request):
        if not request.url.startswith(f"{url}/"):
            page.faults.append(f"asks {request.url}")
        if "uk_" in request.url:
            page.faults.append(f"a key in {request.url}")

    def told(message):
        # The browser logs every refused request; here the page shows it too.
        if message.type == "error" and "the server responded with a status of" not in message.text:
            page.faults.append(message.text)

    page.on("request", asked)
    page.on("console", told)
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("dialog", lambda dialog: (page.faults.append("a dialog"), dialog.dismiss()))
    return page


def enter(page, url, key):
    page.goto(f"{url}/inspector")
    page.locator("#key").fill("uk_wrong_key")
    page.locator("form.key button.main").click()
    page.locator(".problem").wait_for()
    page.locator("#key").fill(key)
    page.locator("form.key button.main").click()
    page.locator("#utterance").wait_for()
    assert page.context.cookies() == [], "a cookie"
    assert key not in page.evaluate("JSON.stringify({...localStorage})"), "the key outlives the tab"
    page.locator("#module").select_option("home")


def say(page, text):
    turns = page.locator(".turn").count()
    page.locator("#utterance").fill(text)
    page.locator("#send").click()
    page.wait_for_function("count => document.querySelectorAll('.turn').length > count", arg=turns)
    return answer(page)


def answer(page):
    """The last answer, as clients get it."""
    return json.loads(page.locator(".why .json").first.text_content())


def calls(answered):
    made = answered["choices"][0]["message"].get("tool_calls") or []
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in made]


def select(page, words):
    """Selects words of the text, as a mouse does."""
    page.locator("#mend-text").evaluate(
        "(field, words) => { const at = field.value.indexOf(words); field.focus(); field.setSelectionRange(at, at + words.length); }", words
    )


def moved(page, **counts):
    """What else changes, as it is shown before anything is saved."""
    for name, count in counts.items():
        page.locator(f"#{name}").wait_for()
        assert page.locator(f"#{name}").inner_text().split()[-1] == str(count), page.locator(".moves").inner_text()


def mended_with_the_mouse(page, module, into):
    before = (module / "exemplars.json").read_text()
    neighbours = [case for case in CASES if case["function"]]
    for case in neighbours:
        assert say(page, case["utterance"])["uptake"]["calls"][0]["function"] == case["function"], case
    page.locator("#anew").click()
    first = say(page, WRONG)
    assert calls(first) == [], "it is wrong at first"
    page.screenshot(path=into / "inspector-try.png", full_page=True)
    page.locator("#mend").click()
    page.locator("#mend-function").select_option("set_light")
    select(page, "living room")
    page.locator("button.slot", has_text="room").click()
    select(page, "bright")
    page.locator("button.slot", has_text="state").click()
    assert page.locator("#mend-template").inner_text() == "could I have it <state> in the <room>"
    # "bright" is "on": a synonym, which comes first.
    page.locator("#kind-synonym").check()
    page.locator("#synonym-slot").select_option("state")
    page.locator("#synonym-label").select_option("on")
    page.locator("#synonym-said").fill("bright")
    page.locator("#with-case").check()
    page.locator("#mend-case").fill(
        json.dumps({"utterance": WRONG, "function": "set_light", "arguments": {"room": "living room", "state": "on"}})
    )
    page.locator("#try-out").click()
    moved(page, newly_right=1, no_longer_right=0)
    page.screenshot(path=into / "inspector-mend.png", full_page=True)
    page.locator("#save").click()
    page.locator("#saved").wait_for()
    # So that it is sure of the next one who says it so: an exemplar.
    page.locator("#kind-exemplar").check()
    page.locator("#with-case").uncheck()
    page.locator("#try-out").click()
    moved(page, newly_right=0, no_longer_right=0)
    assert (module / "exemplars.json").read_text() == before, "nothing is written before it is saved"
    page.locator("#reason").fill("people say bright")
    page.locator("#save").click()
    page.locator("#undo").wait_for()
    right = answer(page)
    assert calls(right) == [("set_light", {"room": "living room", "state": "on"})], right["uptake"]
    after = (module / "exemplars.json").read_text()
    added = ', "could I have it <state> in the <room>"'
    alone = before.replace('"switch the <room> lights <state>"', '"switch the <room> lights <state>",\n                  "could I have it <state> in the <room>"')
    assert after in (alone, before.replace('lights <state>"', f'lights <state>"{added}')), after
    page.locator("#mend-close").click()
    page.locator("#anew").click()
    for case in neighbours:
        found = say(page, case["utterance"])["uptake"]["calls"][0]
        assert found["function"] == case["function"], case
    # And back.
    page.locator("#anew").click()
    say(page, "put it at 19 in here, I mean the hall")
    page.locator("#mend").click()
    page.locator("#kind-negative").check()
    page.locator("#try-out").click()
    page.locator("#save").click()
    page.locator("#undo").click()
    page.locator("#undo").wait_for(state="detached")
    assert (module / "exemplars.json").read_text() == after, "it was taken back"
    page.locator("#mend-close").click()


def mended_by_keys(page, module):
    """Without a mouse: Shift and arrows select, Alt and a number marks."""
    page.locator("#anew").click()
    page.keyboard.type("I would like 22 degrees by the stove in the kitchen")
    page.keyboard.press("Enter")
    page.locator(".why").wait_for()
    page.locator("#mend").focus()
    page.keyboard.press("Enter")
    page.locator("#mend-function").select_option("set_heating")
    field = page.locator("#mend-text")
    field.focus()
    page.keyboard.press("Control+Home")
    for _ in range(len("I would like ")):
        page.keyboard.press("ArrowRight")
    page.keyboard.down("Shift")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.keyboard.up("Shift")
    page.keyboard.press("Alt+2")
    page.keyboard.press("Control+End")
    page.keyboard.down("Shift")
    for _ in range(len("kitchen")):
        page.keyboard.press("ArrowLeft")
    page.keyboard.up("Shift")
    page.keyboard.press("Alt+1")
    assert page.locator("#mend-template").inner_text() == "I would like <degrees> degrees by the stove in the <room>"
    page.locator("#try-out").focus()
    page.keyboard.press("Enter")
    page.locator("#save").wait_for()
    page.locator("#save").focus()
    page.keyboard.press("Enter")
    page.locator("#undo").wait_for()
    assert calls(answer(page)) == [("set_heating", {"room": "kitchen", "degrees": 22})], answer(page)["uptake"]
    assert "by the stove" in (module / "cases.jsonl").read_text()
    page.locator("#mend-close").click()


def texts_are_texts(page, url, into):
    page.locator("#anew").click()
    answered = say(page, f"hall light {EVIL} on")
    assert EVIL in page.locator(".marked").inner_text() or "<img" in page.locator(".marked").inner_text()
    assert answered["uptake"]["calls"], answered
    page.locator("#part-module").click()
    page.get_by_text("exemplars.json", exact=True).first.click()
    page.locator("#file-text").wait_for()
    page.locator(".versions button").first.click()
    page.locator(".diff").first.wait_for()
    assert EVIL in page.locator(".versions").inner_text(), "the name of a key is shown as it is"
    page.screenshot(path=into / "inspector-module.png", full_page=True)
    page.locator("#part-measure").click()
    page.locator("#since").select_option("1")
    page.locator("#run").click()
    page.locator("#report").wait_for()
    page.screenshot(path=into / "inspector-measure.png", full_page=True)
    # A module that does not load, and a name that no module has, in the address.
    for name in ["0bröken", "<img src=x onerror=alert(1)>", "..%2F..%2Fetc"]:
        page.goto(f"{url}/inspector/#module/{name}")
        page.reload()
        page.locator(".problem").first.wait_for()
    # What cannot be read names no module, and one that serves is shown.
    page.goto(f"{url}/inspector/#module/%E0%A4%A")
    page.reload()
    page.get_by_text("exemplars.json", exact=True).first.wait_for()
    page.wait_for_timeout(300)
    assert page.title() == "Uptake inspector", page.title()
    assert page.locator("img").count() == 1, "an image of somebody's text"


def on_a_phone(browser, url, key, into):
    page = watched(browser, url, viewport={"width": 390, "height": 844}, color_scheme="dark", locale="ja-JP", has_touch=True)
    enter(page, url, key)
    say(page, WRONG)
    page.locator("#mend").click()
    page.locator("#mend-text").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "it is wider than the screen"
    assert page.evaluate("document.documentElement.lang") == "ja"
    page.screenshot(path=into / "inspector-phone.png", full_page=True)
    assert page.faults == [], page.faults
    page.context.close()


def framed(browser, url):
    """A page of somebody else's puts the inspector into a frame."""
    page = browser.new_page()
    page.route("https://evil.example/", lambda route: route.fulfill(content_type="text/html", body=f'<iframe src="{url}/inspector/"></iframe>'))
    page.goto("https://evil.example/")
    page.wait_for_timeout(500)
    frame = page.frames[1]
    assert "inspector" not in frame.url or frame.locator("#app").count() == 0, frame.url
    page.close()


def write(directory: Path, name, text):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_text(text)
