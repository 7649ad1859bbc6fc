#!/usr/bin/env python3
"""Makes modules with cases from the written corpus, each cut down at random, to fit the decision model on.

usage: modules.py CORPUS OUT [--variants N] [--bare N] [--seed N] [--only MODULE...]

A folder of CORPUS has schema.json and utterances.jsonl, with values marked in the text (see models/reader/DATA.md).
OUT/MODULE.N is a module as `uptake eval` reads it: fewer functions, two to ten exemplars each, made from utterances whose
values become slots, with or without descriptions, lists and patterns for some of the slots. The other utterances are
cases; those for functions that were left out and for other modules are out of scope. OUT/MODULE.bareN has only
the described functions, like an agent's tools.
"""
import argparse
import collections
import itertools
import json
import random
import re
from pathlib import Path

MARK = re.compile(r"\[([^\[\]]+)\]\(([!-]?)([^()]+)\)")
# How often an author writes one of the choices into a template instead of a mark.
LITERAL = 0.2
SHOWN = ["plain", "terse", "chatty", "free-text"]
ARTICLES = {
    "en": ["a", "an", "the", "my", "our", "some", "that", "this"],
    "de": ["der", "die", "das", "den", "dem", "ein", "eine", "einen", "mein", "meine", "meinen"],
    "es": ["el", "la", "los", "las", "un", "una", "mi", "mis"],
    "fr": ["le", "la", "les", "un", "une", "mon", "ma", "mes"],
    "ja": [],
}
TYPES = {
    "text": {"type": "string"},
    "enum": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "money": {"type": "number"},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "datetime": {"type": "string", "format": "date-time"},
    "duration": {"type": "string", "format": "duration"},
    "email": {"type": "string", "format": "email"},
    "phone": {"type": "string"},
    "list": {"type": "array", "items": {"type": "string"}},
}
BUILT_IN = {"money": "money", "phone": "phone", "datetime": "datetime", "duration": "duration"}
# Phrases before, within and after a sentence that say nothing about what people want.
AROUND = {
    "en": (
        ["hi,", "hello,", "okay,", "sorry,", "hey,", "good morning,"],
        ["just", "quickly", "actually", "unfortunately"],
        ["please", "thanks", "right now", "if possible", "thank you"],
    ),
    "de": (
        ["hallo,", "guten Tag,", "hi,", "entschuldigung,"],
        ["leider", "mal", "bitte", "gerade", "kurz", "einfach"],
        ["bitte", "danke", "wenn möglich", "vielen Dank"],
    ),
    "es": (
        ["hola,", "buenas,", "buenos días,", "perdona,"],
        ["lamentablemente", "rápido", "simplemente"],
        ["por favor", "gracias", "si puede ser", "ahora mismo"],
    ),
    "fr": (
        ["bonjour,", "salut,", "excusez-moi,"],
        ["malheureusement", "juste", "simplement", "vite"],
        ["s'il vous plaît", "merci", "si possible", "tout de suite"],
    ),
    "ja": (["すみません、", "こんにちは、", "恐れ入りますが、"], [], ["。お願いします", "。よろしくお願いします"]),
}
# Exemplars per function that are said almost as written, and cases of a module made from them.
NEAR, MOST_NEAR = 2, 24
IDENTIFIER = re.compile(r"[A-Za-z]{0,4}[-#/]?\d{2,}[-\dA-Za-z]*")


def load(folder):
    schema = json.loads((folder / "schema.json").read_text())
    rows = [json.loads(line) for line in (folder / "utterances.jsonl").read_text().splitlines() if line.strip()]
    for row in rows:
        functions = row["function"]
        row["functions"] = functions if isinstance(functions, list) else [functions] if functions else []
    language = folder.name[:2] if folder.name[2:3] == "_" and folder.name[:2] in ARTICLES else "en"
    return schema, rows, language


def plain(text):
    return MARK.sub(lambda mark: mark[1], text)


def marks(row):
    """Function, slot and words of each value that counts."""
    for words, sign, name in MARK.findall(row["text"]):
        function, _, slot = name.rpartition(".") if len(row["functions"]) > 1 else ("", "", name)
        if not sign:
            yield function or (row["functions"] or [None])[0], slot, words


def template(row, literal=()):
    """The template as an author writes it; values of the `literal` slots stay as they are said."""
    return MARK.sub(lambda mark: mark[1] if mark[3] in literal else f"<{mark[3]}>", row["text"])


def templates(row):
    """Every template that an author may make of the utterance."""
    names = {mark[2] for mark in MARK.findall(row["text"])}
    subsets = itertools.chain.from_iterable(itertools.combinations(sorted(names), size) for size in range(len(names) + 1))
    return {template(row, subset) for subset in subsets}


def accepted(words, kind, language):
    """Every value that is right for these words."""
    options = [words] + [f"{article} {words}" for article in ARTICLES[language]]
    head, _, rest = words.partition(" ")
    if rest and head.lower() in ARTICLES[language]:
        options.append(rest)
    if kind == "boolean":
        options.append(not re.match(r"(?i)(no|not|without|kein|ohne|nicht|sin|sans|pas)\b", words))
    return options


def accepted_spans(text, start, end):
    """The spans that are right if this one is marked: an article before the words may be included or not."""
    articles = {article for known in ARTICLES.values() for article in known}
    first, _, rest = text[start:end].partition(" ")
    before = text[:start].rstrip(" ").rpartition(" ")[2]
    spans = {(start, end)}
    if rest and first.lower() in articles:
        spans.add((end - len(rest), end))
    if before.lower() in articles and text[start - 1] == " ":
        spans.add((start - 1 - len(before), end))
    return spans


def arguments(row, kinds, language):
    """By function, as cases write them."""
    found = collections.defaultdict(dict)
    for function, slot, words in marks(row):
        kind = kinds.get((function, slot))
        if kind == "list":
            found[function].setdefault(slot, []).append(words)
        elif kind is not None:
            found[function].setdefault(slot, []).extend(accepted(words, kind, language))
    return found


def schema_of(function, rng, described):
    properties, required = {}, []
    for name, slot in function["slots"].items():
        made = json.loads(json.dumps(TYPES.get(slot["type"], {"type": "string"})))
        if slot.get("enum"):
            (made["items"] if made["type"] == "array" else made)["enum"] = slot["enum"]
        if described and slot.get("description"):
            made["description"] = slot["description"]
        properties[name] = made
        if slot.get("required"):
            required.append(name)
    parameters = {"type": "object", "properties": properties, "required": required}
    made = {"name": function["name"], "parameters": parameters}
    if described:
        made["description"] = function["description"]
    return {"type": "function", "function": made}


def recognizers(functions, rows, rng):
    """Lists and patterns as an author would write for some of the slots: they do not cover all values of the cases."""
    said = collections.defaultdict(list)
    for row in rows:
        for function, slot, words in marks(row):
            said[function, slot].append(words)
    defined, bound = {}, {}
    for function in functions:
        for name, slot in function["slots"].items():
            words, place = said[function["name"], name], f"{function['name']}.{name}"
            if slot["type"] in BUILT_IN:
                bound[place] = BUILT_IN[slot["type"]]
            if slot["type"] not in ("text", "list") or slot.get("enum") or len(words) < 4:
                continue
            codes = [one for one in words if IDENTIFIER.fullmatch(one)]
            if len(codes) >= 0.7 * len(words):
                if rng.random() < 0.7:
                    lengths = sorted(sum(c.isdigit() for c in re.match(r"\D*\d+", one)[0]) for one in codes)
                    low, high = lengths[len(lengths) // 10], lengths[-1]
                    head = "(?:[A-Za-z]{1,4}[-#/]?)?" if any(one[0].isalpha() for one in codes) else ""
                    tail = "(?:[-/][A-Za-z0-9]+)*" if any(re.search(r"\d[-/]", one) for one in codes) else ""
                    pattern = rf"\b(?P<value>{head}\d{{{max(1, low)},{max(low, high)}}}{tail})\b"
                    defined[place] = {"rec_type": "pattern", "patterns": [pattern]}
                    bound[place] = place
            else:
                known = sorted({one.lower() for one in words})
                if len(known) <= 0.6 * len(words) and rng.random() < 0.8 or rng.random() < 0.15:
                    keep = [one for one in known if rng.random() < 0.9] or known[:1]
                    defined[place] = {"rec_type": "list", "instances": [{"label": one} for one in keep]}
                    bound[place] = place
    return {"recognizers": defined, "slots": bound}


def share(rows, count, rng):
    rows = list(rows)
    rng.shuffle(rows)
    return rows[: max(0, int(count))]


def cut(schema, rows, foreign, language, is_whole, is_bare, rng):
    """One variant: (schema, exemplars, recognizers, cases)."""
    kept = list(schema)
    if not is_whole:
        kept = rng.sample(kept, max(min(4, len(kept)), int(len(kept) * rng.uniform(0.4, 1.0))))
        kept.sort(key=schema.index)
    names = {function["name"] for function in kept}
    kinds = {(f["name"], name): slot["type"] for f in kept for name, slot in f["slots"].items()}
    described = is_bare or rng.random() < 0.85
    usual = rng.choice([2, 4, 5, 6, 6, 7, 8, 10])
    shown = SHOWN + ["opening"] * (rng.random() < 0.5)
    exemplars, used = {}, set()
    for function in kept:
        own = [row for row in rows if row["functions"] == [function["name"]] and row["kind"] in shown]
        own = [row for row in own if "](!" not in row["text"]]
        rng.shuffle(own)
        own.sort(key=lambda row: row["kind"] in ("chatty", "free-text") and rng.random() < 0.7)
        count = 0 if is_bare or rng.random() < 0.04 else min(max(1, usual + rng.randint(-2, 2)), max(1, int(0.7 * len(own))))
        chosen = own[:count]
        used.update(id(row) for row in chosen)
        if chosen:
            choices = [name for name, slot in function["slots"].items() if slot.get("enum")]
            spoken = [[name for name in choices if rng.random() < LITERAL] for _ in chosen]
            made = [template(row, literal) for row, literal in zip(chosen, spoken)]
            exemplars[function["name"]] = [{"template": one} for one in made]
    left = [row for row in rows if id(row) not in used and row["kind"] not in ("reply", "decline")]
    inside = [row for row in left if row["functions"] and set(row["functions"]) <= names]
    nothing = [row for row in left if not row["functions"]]
    removed = [row for row in left if row["functions"] and not set(row["functions"]) & names]
    declined = [row for row in rows if row["kind"] == "decline" and not row["functions"]]
    cases = share(inside, 110, rng) + share(nothing, 18, rng)
    cases += share(removed, 4, rng) + share(declined, 1, rng) + share(foreign, 6, rng) + share(small_talk(language), 5, rng)
    written = []
    for row in cases:
        functions = [name for name in row["functions"] if name in names]
        found = arguments(row, kinds, language)
        expected = [{"name": name, "arguments": found.get(name, {})} for name in functions]
        line = {"utterance": plain(row["text"]), "kind": row["kind"]}
        if len(expected) > 1:
            line["functions"] = expected
        else:
            line["function"] = functions[0] if functions else None
            if functions:
                line["arguments"] = expected[0]["arguments"]
        written.append(line)
    written += near(exemplars, rows, kinds, language, random.Random(f"near {len(kept)} {usual}"))
    made = [schema_of(function, rng, described) for function in kept]
    known = {"recognizers": {}, "slots": {}} if is_bare else recognizers(kept, rows, rng)
    return made, exemplars, known, written


def near(exemplars, rows, kinds, language, rng):
    """Cases that repeat the module's own exemplars, with other values and small changes."""
    said = collections.defaultdict(list)
    for row in rows:
        for function, slot, words in marks(row):
            said[function, slot].append(words)
    cases = []
    for function, own in exemplars.items():
        for exemplar in rng.sample(own, min(len(own), NEAR)):
            found = collections.defaultdict(list)

            def fill(mark):
                words, kind = rng.choice(said[function, mark[1]] or [mark[1]]), kinds.get((function, mark[1]))
                found[mark[1]] += [words] if kind == "list" else accepted(words, kind, language)
                return words

            text = re.sub(r"<([^<>]+)>", fill, changed_a_little(exemplar["template"], language, rng))
            cases.append({"utterance": text, "kind": "near", "function": function, "arguments": found})
    return share(cases, MOST_NEAR, rng)


def changed_a_little(text, language, rng):
    """The template, or the same with a greeting, a word or thanks more, without punctuation, with a typo, without an article."""
    before, inside, behind = AROUND[language]
    words, space = text.split(" "), "" if language == "ja" else " "
    way = rng.choice(["same", "before", "inside", "behind", "bare", "typo", "without article"])
    if way == "before":
        return rng.choice(before) + space + text[:1].lower() + text[1:]
    if way == "behind":
        return text.rstrip(" .!?。？") + space + rng.choice(behind)
    if way == "bare":
        return re.sub(r"[.,!?。、？]", "", text).lower()
    if way == "inside" and inside and len(words) > 3:
        words.insert(rng.randint(2, min(4, len(words) - 1)), rng.choice(inside))
    long = [at for at, word in enumerate(words) if len(word) > 4 and "<" not in word]
    if way == "typo" and space and long:
        at = rng.choice(long)
        one = rng.randint(1, len(words[at]) - 3)
        words[at] = words[at][:one] + words[at][one + 1] + words[at][one] + words[at][one + 2 :]
    articles = [at for at, word in enumerate(words) if word.lower() in ARTICLES[language]]
    if way == "without article" and articles:
        del words[rng.choice(articles)]
    return " ".join(words)


def small_talk(language):
    """Remarks that go with any request."""
    said = json.loads((Path(__file__).parent / "smalltalk.json").read_text())[language]
    return [{"text": text, "functions": [], "kind": "small-talk"} for text in said]


def alone(rows):
    """Values of other modules without other words: they ask for nothing."""
    values = {words for row in rows for _, _, words in marks(row)}
    return [{"text": words, "functions": [], "kind": "value"} for words in sorted(values)]


def turns(folder, module, schema, names, rows):
    """Utterances beside an open form, as cases with a state: turns of the written conversations, and the corpus's
    replies."""
    path = folder / "turns.jsonl"
    lists = {(f["name"], name) for f in schema for name, slot in f["slots"].items() if slot["type"] == "list"}
    cases = []
    for line in path.read_text().splitlines() if path.exists() else []:
        dialogue = json.loads(line)
        if all(name in names for turn in dialogue["turns"] for name in opened(turn)):
            cases += turns_of(dialogue, module, lists)
    for row in rows:
        if row["kind"] in ("reply", "decline") and len(row["functions"]) == 1 and row["functions"][0] in names:
            cases.append(reply_of(row, module, lists))
    return cases


def reply_of(row, module, lists):
    [function] = row["functions"]
    pointers = [pointer(function, slot, lists, "-") for slot in row.get("asked", [])]
    expects = {"kind": "slots", "function": function, "pointers": pointers}
    state = {"format": 1, "module": module, "turn": 1, "forms": [new_form(function, 1)], "expects": expects}
    kind = "decline" if row["kind"] == "decline" else "reply"
    return {"utterance": plain(row["text"]), "kind": kind, "state": state, "function": function}


def opened(turn):
    """The functions that a turn is about."""
    function = turn.get("function")
    return function if isinstance(function, list) else [function] if function else []


def turns_of(dialogue, module, lists):
    forms, lines, cases, last = [], [], [], None
    for number, turn in enumerate(dialogue["turns"]):
        kind, about = next(iter(turn.get("assistant", {"lost": None}).items()))
        function = about["function"] if kind == "asks" else about
        expects = None
        if kind in ("asks", "confirms"):
            # Requests in between are finished.
            open_before = [form for form in forms if form["function"] == function]
            forms = forms[: forms.index(open_before[-1]) + 1] if open_before else [*forms, new_form(function, number)]
            pointers = [pointer(function, slot, lists, "-") for slot in about["slots"]] if kind == "asks" else []
            if kind == "asks":
                expects = {"kind": "slots", "function": function, "pointers": pointers}
                said = "What is the " + " and the ".join(slot.replace("_", " ") for slot in about["slots"]) + "?"
            else:
                expects = {"kind": "yes", "function": function}
                forms[-1]["confirmation"] = "asked"
                said = "Is that right?"
            lines.append({"who": "assistant", "text": said})
        elif kind == "did":
            last = next((form for form in forms if form["function"] == function), last)
            forms = []
        else:
            forms = []
        text = plain(turn["user"])
        if forms:
            state = {"format": 1, "module": module, "turn": number, "forms": json.loads(json.dumps(forms)), "lines": lines[-12:]}
            if expects:
                state["expects"] = expects
            about_open = {"utterance": text, "kind": turn["does"], "state": state}
            functions = opened(turn)
            if len(functions) > 1:
                about_open["functions"] = functions
            else:
                about_open["function"] = functions[0] if functions else None
            cases.append(about_open)
        lines = [*lines, {"who": "person", "text": text}]
        forms = after(turn, forms, number + 1, lists)
    return cases


def new_form(function, number):
    return {"function": function, "opened": number, "confidence": 1.0, "slots": []}


def pointer(function, slot, lists, item):
    return f"/{slot}/{item}" if (function, slot) in lists else f"/{slot}"


def after(turn, forms, number, lists):
    """The open forms after a turn."""
    functions, does = opened(turn), turn["does"]
    if does == "cancel":
        return [form for form in forms if form["function"] not in functions]
    for function in functions:
        if not any(form["function"] == function for form in forms):
            forms = [*forms, new_form(function, number)]
    for words, sign, name in MARK.findall(turn["user"]):
        named, _, slot = name.rpartition(".") if len(functions) > 1 else (functions[0], "", name)
        form = next(form for form in forms if form["function"] == named)
        of_slot = [value for value in form["slots"] if value["pointer"].split("/")[1] == slot]
        if sign:
            form["slots"] = [value for value in form["slots"] if value not in of_slot or value["text"] != words]
            continue
        if (named, slot) not in lists:
            form["slots"] = [value for value in form["slots"] if value not in of_slot]
        place = pointer(named, slot, lists, len(of_slot))
        value = {"pointer": place, "value": words, "text": words, "from": "said", "turn": number, "confidence": 1.0}
        form["slots"] = [*form["slots"], value]
    return forms


def write(place, language, parts, spoken=()):
    """Writes a variant as a module with its cases: the output of cut(), and turns of conversations if there are any."""
    place.mkdir(parents=True, exist_ok=True)
    schema, exemplars, known, cases = parts
    for name, value in [("schema.json", schema), ("exemplars.json", exemplars), ("recognizers.json", known)]:
        (place / name).write_text(json.dumps(value, ensure_ascii=False, indent=1))
    (place / "module.toml").write_text(f'language = "{language}"\n')
    for name, lines in [("cases.jsonl", cases), ("turns.jsonl", spoken)]:
        (place / name).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--variants", type=int, default=4)
    parser.add_argument("--bare", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="modules to cut; the others supply out-of-scope utterances")
    options = parser.parse_args()
    folders = sorted(path.parent for path in options.corpus.glob("*/schema.json"))
    modules = {folder.name: load(folder) for folder in folders}
    for name, (schema, rows, language) in modules.items():
        if options.only and name not in options.only:
            continue
        others = [theirs for other, (_, theirs, spoken) in modules.items() if other != name and spoken == language]
        foreign = [dict(row, functions=[]) for theirs in others for row in theirs if row["kind"] in SHOWN]
        values = alone([row for theirs in others for row in theirs])
        foreign += random.Random(name).sample(values, min(len(values), len(foreign) // 2))
        for number in range(options.variants):
            rng = random.Random(f"{options.seed} {name} {number}")
            place = options.out / f"{name}.{number}"
            parts = cut(schema, rows, foreign, language, not number, False, rng)
            names = {tool["function"]["name"] for tool in parts[0]}
            write(place, language, parts, turns(options.corpus / name, place.name, schema, names, rows))
        for number in range(options.bare):
            rng = random.Random(f"{options.seed} {name} bare {number}")
            parts = cut(schema, rows, foreign, language, not number, True, rng)
            write(options.out / f"{name}.bare{number}", language, parts)


if __name__ == "__main__":
    main()
