#!/usr/bin/env python3
"""Fit models/reader/slots.json: how much the reader, recognizers and templates say about which words fill a slot.

    cargo build --locked --example slot-evidence
    venv/bin/python scripts/fit-slots.py               # from modules that the reader was not trained on

The modules of models/reader/data that the reader was not trained on are cut down at random (scripts/decision/modules.py); the service notes the
evidence for every candidate, and two logistic regressions, for what recognizers found and for free text, are fitted to
whether a candidate's words are the marked ones. The bar is that at which most utterances have all their slots right.
Figures, and the bar, are of modules that were left out of the fit.
"""

import argparse
import functools
import importlib.util
import json
import os
import random
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import reader
from sklearn.linear_model import LogisticRegression

COMMAND = "scripts/fit-slots.py"
# Below the last one, more slots are filled with what was not said than are found.
BARS = (0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15)


def modules_script():
    spec = importlib.util.spec_from_file_location("modules", reader.ROOT / "scripts" / "decision" / "modules.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def marked(row):
    """The row as a line of marks.jsonl, or None where several functions are asked for, or in answer to a question."""
    if len(row.functions) != 1 or row.asked:
        return None
    spans = defaultdict(list)
    for _, slot, start, end in row.spans():
        spans[slot].append([start, end])
    return {"utterance": row.text, "function": row.functions[0], "asked": row.asked, "spans": spans}


def write_modules(data, names, work, variants):
    """Folders of modules, each with marks.jsonl of all that its exemplars do not show."""
    script, folders = modules_script(), []
    for name in names:
        schema, rows, language = script.load(data / name)
        module = reader.read_module(data / name)
        lines = {row.text: marked(row) for row in module.rows}
        for number in range(variants):
            folder = work / f"{name}-{number}"
            parts = script.cut(schema, rows, [], language, number, random.Random(f"slots {name} {number}"))
            script.write(folder, language, parts)
            kept = {function["function"]["name"] for function in parts[0]}
            shown = {exemplar["template"] for of in parts[1].values() for exemplar in of}
            left = [row for row in rows if not shown & script.templates(row)]
            said = [lines.get(script.plain(row["text"])) for row in left]
            said = [line for line in said if line and line["function"] in kept]
            (folder / "marks.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in said))
            folders.append(folder)
    return folders


@functools.cache
def articles():
    return {article for known in modules_script().ARTICLES.values() for article in known}


def accepted(text, start, end):
    """The spans that are right where this one is marked: an article before the words may be left out or taken along."""
    first, _, rest = text[start:end].partition(" ")
    before = text[:start].rstrip(" ").rpartition(" ")[2]
    spans = {(start, end)}
    if rest and first.lower() in articles():
        spans.add((end - len(rest), end))
    if before.lower() in articles() and text[start - 1] == " ":
        spans.add((start - 1 - len(before), end))
    return spans


def marks_of(folders):
    """{(module, case): {slot: spans that are right}}"""
    found = {}
    for folder in folders:
        for case, line in enumerate(map(json.loads, (folder / "marks.jsonl").read_text(encoding="utf-8").splitlines())):
            found[folder.name, case] = {
                slot: set().union(*(accepted(line["utterance"], *mark) for mark in marks))
                for slot, marks in line["spans"].items()
            }
    return found


def evidence_of(binary, folders):
    """(names, candidates, {case: slots that are marked}); a candidate is a line of the service and its `values`."""
    marks = marks_of(folders)
    names, found, marked_slots = None, [], defaultdict(set)
    done = subprocess.run([binary, *folders], check=True, stdout=subprocess.PIPE, env={**os.environ, "RUST_LOG": "error"})
    for line in map(json.loads, done.stdout.decode().splitlines()):
        line["case"] = line["module"], line["case"]
        marked_slots[line["case"]] |= {line["slot"]} if line.get("right") or "missed" in line else set()
        if "evidence" in line:
            line["right"] |= tuple(line["span"]) in marks[line["case"]].get(line["slot"], ())
            names = names or list(line["evidence"])
            line["values"] = [line["evidence"][name] for name in names]
            line["module"] = line["module"].rsplit("-", 1)[0]
            found.append(line)
    return names, found, marked_slots


def best_set(candidates, bar):
    """The likeliest candidates of an utterance that go together."""
    kept = []
    for one in sorted((one for one in candidates if one["said"] >= bar), key=lambda one: -one["said"]):
        apart = all(one["span"][0] >= other["span"][1] or other["span"][0] >= one["span"][1] for other in kept)
        if apart and (one["repeated"] or all(one["slot"] != other["slot"] for other in kept)):
            kept.append(one)
    return kept


def choose_bar(found, marked_slots):
    """The bar at which most utterances that give a value have all their slots right."""
    marked_slots = {case: slots for case, slots in marked_slots.items() if slots}
    by_case, right = defaultdict(list), Counter()
    for one in found:
        by_case[one["case"]].append(one)
    for bar in BARS:
        for case, slots in marked_slots.items():
            kept = best_set(by_case[case], bar)
            right[bar] += all(one["right"] for one in kept) and {one["slot"] for one in kept} == slots
        print(f"bar {bar}: {100 * right[bar] / len(marked_slots):.1f} % of {len(marked_slots)} utterances wholly right")
    return max(BARS, key=lambda bar: right[bar])


def fit(rows):
    values, right = np.array([row["values"] for row in rows]), np.array([row["right"] for row in rows])
    used = values.std(0) > 1e-6
    scale = np.where(used, values.std(0), 1)
    fitted = LogisticRegression(C=1.0, max_iter=2000).fit(values[:, used] / scale[used], right)
    weights = np.zeros(values.shape[1])
    weights[used] = fitted.coef_[0] / scale[used]
    return weights, float(fitted.intercept_[0])


def probabilities(model, rows):
    weights, bias = model
    return 1 / (1 + np.exp(-(np.array([row["values"] for row in rows]) @ weights + bias)))


def report(title, said, right):
    bins = np.minimum((said * 10).astype(int), 9)
    error = sum(abs(said[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in range(10) if (bins == b).any())
    kept = said >= 0.5
    precision, recall = right[kept].mean() if kept.any() else 0, right[kept].sum() / max(1, right.sum())
    print(f"{title:6} {len(said)} candidates, {right.sum()} right: at 0.5 P {100 * precision:.1f} R {100 * recall:.1f}, "
          f"calibration error {100 * error:.1f} %")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=reader.ROOT / "models" / "reader" / "data")
    parser.add_argument("--binary", type=Path, default=reader.ROOT / "target" / "debug" / "examples" / "slot-evidence")
    parser.add_argument("--work", type=Path, default=reader.ROOT / "target" / "slots")
    parser.add_argument("--variants", type=int, default=3)
    parser.add_argument("--out", type=Path, default=reader.ROOT / "models" / "reader" / "slots.json")
    arguments = parser.parse_args()
    folders = write_modules(arguments.data, reader.UNSEEN, arguments.work, arguments.variants)
    names, rows, marked_slots = evidence_of(arguments.binary, folders)
    made = {"command": COMMAND, "least": 0.5}
    for title, free in (("found", False), ("free", True)):
        own = [row for row in rows if (row["evidence"]["is_mention"] == 0) == free]
        said, right = np.zeros(len(own)), np.array([row["right"] for row in own])
        for module in {row["module"] for row in own}:
            inside = np.array([row["module"] == module for row in own])
            model = fit([row for row, one in zip(own, inside) if not one])
            said[inside] = probabilities(model, [row for row, one in zip(own, inside) if one])
        for row, value in zip(own, said):
            row["said"] = float(value)
        report(title, said, right)
        weights, bias = fit(own)
        kept = {name: round(float(weight), 4) for name, weight in zip(names, weights) if abs(weight) > 1e-4}
        made[title] = {"bias": round(bias, 4), "weights": kept}
    made["least"] = choose_bar(rows, marked_slots)
    arguments.out.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(made, indent=2))


if __name__ == "__main__":
    main()
