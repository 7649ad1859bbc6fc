#!/usr/bin/env python3
"""Measure the reader: the values that it finds, its calibration, and how well its encoder's vectors separate functions.

    venv/bin/python scripts/measure-reader.py                          # the development modules of the corpus
    venv/bin/python scripts/measure-reader.py --last                   # the final-test modules, for a release only
    venv/bin/python scripts/measure-reader.py --modules DIR...         # modules as Uptake reads them, with cases.jsonl
    venv/bin/python scripts/measure-reader.py --vectors DIR...         # which function: regression and neighbours
    venv/bin/python scripts/measure-reader.py --encoder DIR --reader DIR ...

The function is given; only the slots are measured. In the corpus a value is right if its words are the marked
ones. In a module it is right if it equals one of the case's values, apart from case and punctuation. "adapted" uses the
module's own exemplars: in the corpus EXEMPLARS utterances of each function (the figures of both rows leave them out),
in a module its templates, filled FILLINGS times.
"""

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import acts as speech_acts
import reader
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

EXEMPLARS = 8
FILLINGS = 4
TYPED = re.compile(r"date|time|day|phone|email")
TEMPLATE = re.compile(r"<([^<>]+)>")
BARS = (0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7)


def line(name, counts):
    found, wanted = counts["right"] + counts["wrong"], counts["right"] + counts["missed"]
    precision, recall = 100 * counts["right"] / max(1, found), 100 * counts["right"] / max(1, wanted)
    f1 = 200 * counts["right"] / max(1, found + wanted)
    print(f"{name:44} P {precision:5.1f}  R {recall:5.1f}  F1 {f1:5.1f}   ({wanted} values)", flush=True)
    return f1


def calibration_error(pairs):
    """Expected calibration error in ten bins, in %."""
    if not pairs:
        return 0.0
    said, right = np.array(pairs).T
    bins = np.minimum((said * 10).astype(int), 9)
    parts = [
        abs(said[bins == b].mean() - right[bins == b].mean()) * (bins == b).sum()
        for b in range(10)
        if (bins == b).any()
    ]
    return 100 * sum(parts) / len(said)


def logit(bar):
    return float(np.log(bar / (1 - bar)))


def sigmoid(score):
    return 1 / (1 + np.exp(-score))


class Reader:
    def __init__(self, encoder, head):
        self.encoder, self.head = reader.Encoder(encoder), reader.Head(Path(head) / "head.onnx")
        acts = json.loads((Path(head) / "acts.json").read_text())
        self.acts, self.act_weights, self.act_biases = acts["acts"], np.array(acts["weights"]), np.array(acts["biases"])
        self.act_places = np.array(acts["ngrams"]["weights"]) * acts["ngrams"]["scale"]

    def read(self, text, function_texts, slots, asked=()):
        """(borders, reading); rows of the reading are the function, then the slots."""
        texts, kinds, slots = reader.question(function_texts, slots, asked)
        borders, states, _ = self.encoder.read(text)
        return borders, self.head.read(states, [self.encoder.vector(label) for label in texts], kinds), slots

    def adapt(self, exemplars, function_texts, slots):
        """Corrections from [(text, [(slot, start, end)], asked)], or None."""
        readings, targets = [], []
        for text, marks, asked in exemplars:
            borders, reading, listed = self.read(text, function_texts, slots, asked)
            if not borders:
                continue
            first, last = reading.pairs()
            target = np.zeros((len(listed) + 1, len(first)), np.float32)
            for _, name, left, right in reader.word_spans([("", *mark) for mark in marks], borders):
                for index, slot in enumerate(listed, 1):
                    if slot.name == name:
                        target[index, (first == left) & (last == right)] = 1
            readings.append(reading), targets.append(target)
        return reader.adapt(readings, targets, len(targets[0])) if readings else None

    def act(self, text):
        scores = self.act_weights @ self.encoder.read(text)[2] + self.act_biases
        scores = scores + self.act_places @ speech_acts.places([text]).toarray()[0]
        exact = np.exp(scores - scores.max())
        return exact / exact.sum()


def answers(reading, slots, corrections, bar):
    scores = reading.scores(corrections)
    scores[0] = -99
    return reader.decode(scores, reading.pairs(), ["function"] + [slot.kind for slot in slots], logit(bar))


def corpus_rows(running, modules):
    """(row, borders, slots, reading, corrections, wanted spans) of every row that is not an exemplar."""
    for module in modules:
        chance = random.Random(module.name)
        by_function = defaultdict(list)
        for row in module.rows:
            if len(row.functions) == 1 and row.kind not in ("reply", "decline"):
                by_function[row.functions[0]].append(row)
        for function, rows in by_function.items():
            slots = list(module.slots[function].values())
            if not slots:
                continue
            chosen = chance.sample(rows, min(EXEMPLARS, len(rows) // 2))
            exemplars = [(row.text, [mark[1:] for mark in row.spans()], row.asked) for row in chosen]
            corrections = running.adapt(exemplars, module.labels[function], slots)
            replies = [row for row in module.rows if row.functions == [function] and row.kind in ("reply", "decline")]
            for row in [row for row in rows if not any(row is one for one in chosen)] + replies:
                borders, reading, listed = running.read(row.text, module.labels[function], slots, row.asked)
                wanted = {(name, first, last) for _, name, first, last in reader.word_spans(row.spans(), borders)}
                yield row, listed, reading, corrections, wanted


def measure_corpus(running, modules, title):
    print(f"\n{title}: {', '.join(module.name for module in modules)}")
    counts, certain = defaultdict(Counter), defaultdict(list)
    for row, slots, reading, corrections, wanted in corpus_rows(running, modules):
        kind_of = {slot.name: slot.kind for slot in slots}
        for way, correction in (("zero-shot", None), ("adapted", corrections)):
            found = answers(reading, slots, correction, min(BARS))
            for bar in BARS:
                got = {
                    (slots[label - 1].name, first, last) for label, first, last, score in found if score > logit(bar)
                }
                for state, spans in (("right", got & wanted), ("wrong", got - wanted), ("missed", wanted - got)):
                    for name, _, _ in spans:
                        parts = {"all slots", "free text" if kind_of[name] in ("text", "list") else "typed"}
                        if bar == 0.5:
                            parts.add("kind " + kind_of[name])
                        for part in parts:
                            counts[way, part, bar][state] += 1
            best = reading.scores(correction)[1:]
            first, last = reading.pairs()
            for index, slot in enumerate(slots):
                top = int(best[index].argmax())
                certain[way].append((sigmoid(best[index, top]), float((slot.name, first[top], last[top]) in wanted)))
    for (way, part, bar), count in sorted(counts.items()):
        line(f"{part}, {way}, bar {bar}", count)
    for way, pairs in certain.items():
        said, right = np.array(pairs).T
        print(f"best span of each slot, {way}: calibration error {calibration_error(pairs):.1f} %, "
              f"AUROC {100 * roc_auc_score(right, said):.1f}, {len(said)} slots")  # fmt: skip


def leaves(schema, path=(), several=False):
    """[(path, schema, several)] of the values in a JSON schema of parameters."""
    for name, inner in schema.get("properties", {}).items():
        kind = inner.get("type")
        if kind == "object":
            yield from leaves(inner, (*path, name), several)
        elif kind == "array" and inner.get("items", {}).get("type") == "object":
            yield from leaves(inner["items"], (*path, name), True)
        elif kind == "array":
            yield (*path, name), {**inner.get("items", {}), "description": inner.get("description", "")}, True
        else:
            yield (*path, name), inner, several


def read_functions(folder):
    """{function: (label texts, [Slot], {slot: whether it is free text})} of a module; a slot's name is its path."""
    found = {}
    for entry in json.loads((folder / "schema.json").read_text(encoding="utf-8")):
        entry = entry.get("function", entry)
        slots, free = [], {}
        for path, schema, several in leaves(entry.get("parameters", {})):
            name = ".".join(path)
            values = schema.get("enum", [])
            texts = reader.texts_of(" ".join(path), schema.get("description", ""), values)
            slots.append(reader.Slot(name, texts, "list" if several else schema.get("type", "string")))
            free[name] = (
                schema.get("type", "string") == "string"
                and not values
                and schema.get("format") not in ("date", "date-time", "time", "duration", "email")
                and not TYPED.search(path[-1])
            )
        found[entry["name"]] = (reader.texts_of(entry["name"], entry.get("description", "")), slots, free)
    return found


def values_at(arguments, path):
    """Every value at a path, all alternatives that a case allows among them, and how many there must be."""
    if not path:
        return [
            value for value in (arguments if isinstance(arguments, list) else [arguments]) if value not in (None, "")
        ]
    if isinstance(arguments, list):
        return [value for one in arguments for value in values_at(one, path)]
    return values_at(arguments.get(path[0]), path[1:]) if isinstance(arguments, dict) else []


def alike(text):
    return " ".join(re.sub(r"[^\w\s@.+'-]", " ", str(text).lower()).split()).strip(". ")


class Fillings:
    """Values for the slots of templates: from the module's own lists, else from similar slots of the corpus."""

    def __init__(self, folder, running, corpus):
        path = folder / "recognizers.json"
        content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.lists = {
            name: [text for one in entry.get("instances", []) for text in one.get("expressions") or [one["label"]]]
            for name, entry in content.get("recognizers", {}).items()
        }
        self.bound = {re.split(r"[.\[\]]+", slot)[-1]: name for slot, name in content.get("slots", {}).items()}
        self.running = running
        slots = [
            slot for module in corpus for listed in module.slots.values() for slot in listed.values() if slot.values
        ]
        self.known = [slot.values for slot in slots]
        self.vectors = np.stack([running.encoder.vector(slot.texts[0]) for slot in slots])

    def values(self, slot):
        leaf = slot.name.split(".")[-1]
        own = self.lists.get(self.bound.get(leaf, leaf))
        if own:
            return own
        near = np.argsort(-self.vectors @ self.running.encoder.vector(slot.texts[0]))[:3]
        return [value for index in near for value in self.known[index]]

    def fill(self, template, slots, chance):
        """(text, [(slot, start, end)]) of a template, or None if it names an unknown slot."""
        text, marks, position = "", [], 0
        for match in TEMPLATE.finditer(template):
            text += template[position : match.start()]
            position = match.end()
            slot = next((slot for slot in slots if slot.name.split(".")[-1] == match[1].split(".")[-1]), None)
            if slot is None:
                return None
            value = chance.choice(self.values(slot))
            marks.append((slot.name, len(text), len(text) + len(value)))
            text += value
        return text + template[position:], marks


def said_exemplars(exemplar, slots, fillings, chance):
    """[(text, marks, asked)] of one exemplar: its own utterance if it has one, else its template, filled."""
    template, utterance = exemplar.get("template", ""), exemplar.get("utterance")
    if utterance:
        names = TEMPLATE.findall(template)
        pattern = "(.+?)".join(re.escape(part) for part in TEMPLATE.split(template)[::2])
        match = re.fullmatch(pattern, utterance)
        return [(utterance, [(name, *match.span(i)) for i, name in enumerate(names, 1)], ())] if match else []
    times = FILLINGS if "<" in template else 1
    return [(*filled, ()) for filled in (fillings.fill(template, slots, chance) for _ in range(times)) if filled]


def module_corrections(running, folder, functions, corpus):
    """{function: corrections} from the module's exemplars."""
    listed = json.loads((folder / "exemplars.json").read_text(encoding="utf-8"))
    fillings, chance, found = Fillings(folder, running, corpus), random.Random(7), {}
    for name, (texts, slots, _) in functions.items():
        said = [one for exemplar in listed.get(name, []) for one in said_exemplars(exemplar, slots, fillings, chance)]
        found[name] = running.adapt(said, texts, slots[: reader.MAX_LABELS - 1]) if said and slots else None
    return found


def measure_module(running, folder, corpus):
    """{(way, bar): counts} over the free-text slots of a module's cases."""
    functions = read_functions(folder)
    corrections = module_corrections(running, folder, functions, corpus)
    counts = defaultdict(Counter)
    for text in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(text)
        if case.get("function") not in functions:
            continue
        texts, slots, free = functions[case["function"]]
        if not any(free.values()):
            continue
        borders, reading, slots = running.read(case["utterance"], texts, slots)
        for way, correction in (("zero-shot", None), ("adapted", corrections[case["function"]])):
            found = answers(reading, slots, correction, min(BARS))
            for bar in BARS:
                got = defaultdict(list)
                for label, first, last, score in found:
                    if score > logit(bar):
                        got[slots[label - 1].name].append(case["utterance"][borders[first][0] : borders[last][1]])
                for slot in slots:
                    if free[slot.name]:
                        wanted = {alike(value) for value in values_at(case.get("arguments", {}), slot.name.split("."))}
                        counts[way, bar] += compare(got[slot.name], wanted, slot.kind == "list")
    for (way, bar), count in sorted(counts.items()):
        if bar == 0.5:
            line(f"{folder.name}, {way}, bar {bar}", count)
    return counts


def compare(got, wanted, several):
    right = sum(alike(text) in wanted for text in got)
    missed = max(0, len(wanted) - right) if several else int(bool(wanted) and not right)
    return Counter(right=right, wrong=len(got) - right, missed=missed)


def measure_modules(running, folders, corpus):
    print("\nfree-text slots of modules; the function is given")

    total = defaultdict(Counter)
    for folder in folders:
        for key, count in measure_module(running, folder, corpus).items():
            total[key] += count
    for (way, bar), count in sorted(total.items()):
        line(f"all, {way}, bar {bar}", count)


def acts_of_corpus(running, modules):
    """Shares and AUROC of the speech acts; here a question is one that no function answers."""
    wanted, said = [], []
    for module in modules:
        for row in module.rows:
            act = {"status-question": "question", "out-of-scope": "other", "reply": "reply", "decline": "decline"}.get(
                row.kind, "request"
            )
            if row.kind == "near-miss" or (act == "question" and row.functions):
                continue
            wanted.append(running.acts.index(act)), said.append(running.act(row.text))
    report_acts(running, np.array(wanted), np.array(said), "development modules")


def acts_of_modules(running, folders):
    wanted, said = [], []
    for folder in folders:
        for text in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines():
            case = json.loads(text)
            if case.get("kind") == "status-question" and case.get("function") is None:
                wanted.append(running.acts.index("question"))
            elif case.get("kind") in (
                "plain",
                "terse",
                "chatty",
                "free-text",
                "typo",
                "indirect",
                "multi",
                "correction",
            ) and case.get("function"):
                wanted.append(running.acts.index("request"))
            else:
                continue
            said.append(running.act(case["utterance"]))
    if len(set(wanted)) > 1:
        report_acts(running, np.array(wanted), np.array(said), "cases of modules")


def report_acts(running, wanted, said, title):
    print(f"\nspeech acts, {title}: {100 * (said.argmax(1) == wanted).mean():.1f} % right of {len(wanted)}")
    requests = wanted == running.acts.index("request")
    for index, act in enumerate(running.acts):
        of_act = wanted == index
        if act == "request" or not of_act.any():
            continue
        both = requests | of_act
        ratio = np.log(said[:, index] + 1e-9) - np.log(said[:, 0] + 1e-9)
        bar = np.quantile(ratio[requests], 0.97)
        area, found = 100 * roc_auc_score(of_act[both], ratio[both]), 100 * (ratio[of_act] > bar).mean()
        print(
            f"  {act} against request: AUROC {area:.1f}, {found:.1f} % of {of_act.sum()} found at 3 % of requests lost"
        )


def measure_vectors(running, folders):
    """Which function, from exemplars to cases: logistic regression, and the mean of the three nearest."""
    print("\nwhich function, by the vectors alone")
    for folder in folders:
        listed = json.loads((folder / "exemplars.json").read_text(encoding="utf-8"))
        pairs = [
            (one.get("utterance") or TEMPLATE.sub(r"\1", one["template"]).replace("_", " "), name)
            for name, of in listed.items()
            for one in of
        ]
        cases = [json.loads(text) for text in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
        cases = [(case["utterance"], case["function"]) for case in cases if isinstance(case.get("function"), str)]
        names = sorted({name for _, name in pairs})
        known = np.stack([running.encoder.vector(text) for text, _ in pairs])
        asked = np.stack([running.encoder.vector(text) for text, _ in cases])
        owner, wanted = np.array([name for _, name in pairs]), np.array([name for _, name in cases])
        fitted = LogisticRegression(C=160, max_iter=300).fit(known, owner)
        near = np.stack([np.sort(asked @ known[owner == name].T, 1)[:, ::-1][:, :3].mean(1) for name in names], 1)
        outside = folder / "cases_none.jsonl"
        text = ""
        if outside.exists():
            none = np.stack(
                [running.encoder.vector(json.loads(one)["utterance"]) for one in outside.read_text().splitlines()]
            )
            far = np.stack([np.sort(none @ known[owner == name].T, 1)[:, ::-1][:, :3].mean(1) for name in names], 1)
            scores = np.concatenate([near.max(1), far.max(1)])
            text = f"  out of scope AUROC {100 * roc_auc_score([1] * len(near) + [0] * len(far), scores):.1f}"
        by_fit = 100 * (fitted.predict(asked) == wanted).mean()
        by_near = 100 * (np.array(names)[near.argmax(1)] == wanted).mean()
        print(f"{folder.name:20} regression {by_fit:.1f}  neighbours {by_near:.1f}{text}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--encoder", type=Path, default=reader.ROOT / "models" / "uptake-encoder")
    parser.add_argument("--reader", type=Path, default=reader.ROOT / "models" / "reader")
    parser.add_argument("--data", type=Path, default=reader.ROOT / "models" / "reader" / "data")
    parser.add_argument("--last", action="store_true")
    parser.add_argument("--modules", type=Path, nargs="+", default=[])
    parser.add_argument("--vectors", type=Path, nargs="+", default=[])
    arguments = parser.parse_args()
    running = Reader(arguments.encoder, arguments.reader)
    train, development, last = reader.split(reader.read_corpus(arguments.data))
    if arguments.last:
        measure_corpus(running, last, "last modules")
    elif not arguments.modules and not arguments.vectors:
        measure_corpus(running, development, "development modules")
        acts_of_corpus(running, development)
    if arguments.modules:
        measure_modules(running, arguments.modules, train)
        acts_of_modules(running, arguments.modules)
    if arguments.vectors:
        measure_vectors(running, arguments.vectors)


if __name__ == "__main__":
    main()
