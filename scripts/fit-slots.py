#!/usr/bin/env python3
"""Fit models/reader/slots.json: the weights of the reader's, the recognizers' and the templates' evidence for a slot's value.

    cargo build --locked --example slot-evidence
    venv/bin/python scripts/fit-slots.py               # from modules that the reader was not trained on
    venv/bin/python scripts/fit-slots.py --without named literal    # the effect of these: figures only
    venv/bin/python scripts/fit-slots.py --keep free said rules     # keep these parts of the file
    venv/bin/python scripts/fit-slots.py --add listed joined --keep found said rules unread     # all other weights stay

The modules of models/reader/data that the reader was not trained on are cut down at random (scripts/decision/modules.py);
every third keeps the values in its exemplars. The service records the evidence for every candidate. Three logistic
regressions (for recognizers' finds, for free text, and for free text in a template that matches word for word) are
fitted to whether a candidate's words are the marked ones. Three more are fitted for utterances without a reader, with all
modules of languages that it does not read. The bar is the one at which most utterances have all their slots right. The
confidence of another rule is its share of right values. Figures, and the bar, are for held-out
modules.
"""

import argparse
import importlib.util
import itertools
import json
import os
import random
import re
import subprocess
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import reader
from sklearn.linear_model import LogisticRegression

COMMAND = "scripts/fit-slots.py"
# Languages that the reader does not read.
UNREAD = ("ja",)
# Below the last one, more slots get wrong values than right ones are gained.
# Without a reader, frames alone hardly ever make free text likely, but there is no other evidence: chosen on the shipped
# Japanese dialogues.
LEAST_UNREAD = 0.08
BARS = (0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15)
# Steps of Newton's method, far more than it needs.
STEPS = 30


def modules_script():
    spec = importlib.util.spec_from_file_location("modules", reader.ROOT / "scripts" / "decision" / "modules.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def marked(row):
    """The row as a line of marks.jsonl, or None if it asks for several functions."""
    if len(row.functions) != 1:
        return None
    spans = defaultdict(list)
    for _, slot, start, end in row.spans():
        spans[slot].append([start, end])
    return {"utterance": row.text, "function": row.functions[0], "asked": row.asked, "spans": spans}


def write_modules(data, names, work, variants):
    """Folders of modules, each with marks.jsonl of all that its exemplars do not show, and some exemplars with other values."""
    script, folders = modules_script(), []
    for name in names:
        schema, rows, language = script.load(data / name)
        module = reader.read_module(data / name)
        lines = {row.text: marked(row) for row in module.rows}
        for number in range(variants):
            folder = work / f"{name}-{number}"
            parts = script.cut(schema, rows, [], language, not number, False, random.Random(f"slots {name} {number}"))
            if number % 3 == 1:
                show_values(parts[1], rows, script)
            script.write(folder, language, parts)
            kept = {function["function"]["name"] for function in parts[0]}
            shown = {exemplar["template"] for of in parts[1].values() for exemplar in of}
            left = [row for row in rows if not shown & script.templates(row)]
            said = [lines.get(script.plain(row["text"])) for row in left]
            said = [line for line in said if line and line["function"] in kept]
            said += with_other_values(parts[1], rows, script, random.Random(f"values {name} {number}"))
            (folder / "marks.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in said))
            folders.append(folder)
    return folders


def with_other_values(exemplars, rows, script, rng):
    """Lines that say some of the module's own exemplars, each slot with a value that was said for it elsewhere."""
    values = defaultdict(list)
    for row in rows:
        for function, slot, words in script.marks(row):
            values[function, slot].append(words)
    lines = []
    for function, own in exemplars.items():
        for exemplar in rng.sample(own, min(len(own), script.NEAR)):
            pieces, text, spans = re.split(r"<([^<>]+)>", exemplar["template"]), "", defaultdict(list)
            for at, piece in enumerate(pieces):
                words = rng.choice(values[function, piece] or [piece]) if at % 2 else piece
                if at % 2:
                    spans[piece].append([len(text), len(text) + len(words)])
                text += words
            lines.append({"utterance": text, "function": function, "asked": [], "spans": spans})
    return lines


def show_values(exemplars, rows, script):
    """Adds to each template the utterance that it was made from."""
    said = {template: script.plain(row["text"]) for row in rows for template in script.templates(row)}
    for exemplar in itertools.chain(*exemplars.values()):
        exemplar["utterance"] = said[exemplar["template"]]


def marks_of(folders):
    """{(module, case): {slot: spans that are right}}"""
    found, script = {}, modules_script()
    for folder in folders:
        for case, line in enumerate(map(json.loads, (folder / "marks.jsonl").read_text(encoding="utf-8").splitlines())):
            found[folder.name, case] = {
                slot: set().union(*(script.accepted_spans(line["utterance"], *mark) for mark in marks))
                for slot, marks in line["spans"].items()
            }
    return found


def told(binary, options, folders):
    """The lines that the service prints for the modules in these folders, by one process for each core."""
    count = min(len(folders), os.cpu_count() or 1)
    environment = {**os.environ, "RUST_LOG": "error"}
    part = lambda at: [binary, *options, *folders[at::count]]
    run = lambda at: subprocess.run(part(at), check=True, stdout=subprocess.PIPE, env=environment).stdout
    with ThreadPoolExecutor(count) as pool:
        for noted in pool.map(run, range(count)):
            yield from map(json.loads, noted.decode().splitlines())


def evidence_of(binary, options, folders):
    """(names, candidates, free text in templates that match word for word, {case: slots that are marked}, {rule: whether
    each of its other fillings is right}); a candidate is a line of the service and its `values`."""
    marks = marks_of(folders)
    names, found, said, marked_slots, rules = None, [], [], defaultdict(set), defaultdict(list)
    for line in told(binary, options, folders):
        line["case"] = line["module"], line["case"]
        marked_slots[line["case"]] |= {line["slot"]} if line.get("right") or "missed" in line else set()
        if "rule" in line:
            spans = marks[line["case"]].get(line["slot"], ())
            right = line["filled"] or tuple(line["span"]) in spans
            if line["said"]:
                said.append({**line, "right": right, "evidence": line["said"]})
            else:
                rules[line["rule"]].append(right)
        if "evidence" in line:
            line["right"] |= tuple(line["span"]) in marks[line["case"]].get(line["slot"], ())
            names = names or list(line["evidence"])
            found.append(line)
    for line in found + said:
        line["values"] = [line["evidence"][name] for name in names]
        line["module"] = line["module"].rsplit("-", 1)[0]
    return names, found, said, marked_slots, rules


def best_set(candidates, bar):
    """The likeliest compatible candidates of an utterance."""
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


def fit_beside(rows, known, added):
    """The weights of the evidence at the indices `added`, by Newton's method; the model `known` stays as it is."""
    values, right = np.array([row["values"] for row in rows]), np.array([float(row["right"]) for row in rows])
    weights, bias = known
    other, own = values @ np.where(np.isin(np.arange(len(weights)), added), 0, weights) + bias, values[:, added]
    found = np.zeros(len(added))
    for _ in range(STEPS):
        said = 1 / (1 + np.exp(-(other + own @ found)))
        curve = (own * (said * (1 - said))[:, None]).T @ own + np.eye(len(added))
        found -= np.linalg.solve(curve, own.T @ (said - right) + found)
    weights = weights.copy()
    weights[added] = found
    return weights, bias


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


def fit_part(binary, options, folders, left_out=(), known=None, added=()):
    """The regressions and the bar, as the file has them. Only the evidence `added` is fitted, beside `known`, if it is given."""
    names, rows, said_rows, marked_slots, rules = evidence_of(binary, options, folders)
    for row in rows + said_rows:
        row["values"] = [0.0 if name in left_out else value for name, value in zip(names, row["values"])]
    made = {"least": None, "least_free": None}
    free = [row["evidence"]["is_mention"] == 0 for row in rows]
    parts = {
        "found": [row for row, one in zip(rows, free) if not one],
        "free": [row for row, one in zip(rows, free) if one],
        "said": said_rows,
    }
    places = [names.index(name) for name in added]
    for title, own in parts.items():
        stays = known and (np.array([known[title]["weights"].get(name, 0.0) for name in names]), known[title]["bias"])
        fitted = (lambda rows: fit_beside(rows, stays, places)) if known else fit
        if known:
            report("before", probabilities(stays, own), np.array([row["right"] for row in own]))
        said, right = np.zeros(len(own)), np.array([row["right"] for row in own])
        for module in {row["module"] for row in own}:
            inside = np.array([row["module"] == module for row in own])
            model = fitted([row for row, one in zip(own, inside) if not one])
            said[inside] = probabilities(model, [row for row, one in zip(own, inside) if one])
        for row, value in zip(own, said):
            row["said"] = float(value)
        report(title, said, right)
        weights, bias = fitted(own)
        kept = {name: round(float(weight), 4) for name, weight in zip(names, weights) if abs(weight) > 1e-4}
        made[title] = {"bias": round(bias, 4), "weights": kept}
    made["least"] = choose_bar(rows, marked_slots)
    made["least_free"] = LEAST_UNREAD if "--unread" in options else made["least"]
    # One more of each, so that a rule that hardly ever applied is not certain.
    shares = {rule: (sum(right) + 1) / (len(right) + 2) for rule, right in sorted(rules.items())}
    for rule, share in shares.items():
        print(f"{rule}: {len(rules[rule])} fillings, {100 * share:.0f} % right")
    return made, {rule: round(share, 2) for rule, share in shares.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=reader.ROOT / "models" / "reader" / "data")
    parser.add_argument("--binary", type=Path, default=reader.ROOT / "target" / "debug" / "examples" / "slot-evidence")
    parser.add_argument("--work", type=Path, default=reader.ROOT / "target" / "slots")
    parser.add_argument("--variants", type=int, default=3)
    parser.add_argument("--without", nargs="*", default=[], help="evidence to leave out: figures only, no file")
    parser.add_argument("--add", nargs="*", default=[], help="fit only the weights of this evidence, beside the others of the file")
    parser.add_argument("--keep", nargs="*", default=[], choices=("found", "free", "said", "rules", "unread"), help="parts to keep")
    parser.add_argument("--out", type=Path, default=reader.ROOT / "models" / "reader" / "slots.json")
    arguments = parser.parse_args()
    is_unread = lambda name: name.startswith(tuple(f"{language}_" for language in UNREAD))
    others = [path.name for path in sorted(arguments.data.iterdir()) if is_unread(path.name)]
    names = sorted({*reader.UNSEEN, *others})
    folders = write_modules(arguments.data, names, arguments.work, arguments.variants)
    are_read = [folder for folder in folders if not is_unread(folder.name)]
    known = json.loads(arguments.out.read_text(encoding="utf-8")) if arguments.keep or arguments.add else {}
    fitted = lambda options, folders, judge: fit_part(
        arguments.binary, options, folders, arguments.without, known[judge] if arguments.add else None, arguments.add
    )
    read, rules = fitted([], are_read, "read")
    if arguments.without:
        return
    keeps_unread = "unread" in arguments.keep
    unread = known["unread"] if keeps_unread else fitted(["--unread"], folders, "unread")[0]
    given = [f"--{name} {' '.join(parts)}" for name, parts in (("add", arguments.add), ("keep", arguments.keep)) if parts]
    command = " ".join([COMMAND, *given])
    made = {"command": command, "read": read, "unread": unread, "rules": rules}
    for part in set(arguments.keep) - {"unread"}:
        kept = [(made, known)] if part == "rules" else [(made[judge], known[judge]) for judge in ("read", "unread")]
        for own, before in kept:
            own[part] = before[part]
    arguments.out.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(made, indent=2))


if __name__ == "__main__":
    main()
