#!/usr/bin/env python3
"""Fits models/reader/answers.json: which words of an answer are the value that was asked for, where it may be any words.

usage: cargo build --locked --example slot-evidence && fit-answers.py [--work DIR] [--without NAME...] [--dry]

The answers are those of the written conversations (`turns.jsonl` in models/reader/data) and the corpus's replies, of modules
that the reader was not trained on, and their values said alone, as people mostly answer. Every run of words that may be
the value competes; the weights are those of a softmax with a squared penalty. Figures are of modules that were left out.
"""
import argparse
import collections
import importlib
import itertools
import json
import random
import sys
from pathlib import Path

import numpy as np
import reader
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parent / "decision"))
script = importlib.import_module("modules")

COMMAND = "scripts/fit-answers.py"
FOLDS = 6
PENALTY = 2e-4
# What an answer counts that is nothing but its value: people say such ones most, and they teach little. And what counts
# that gives no value: another model weighs whether one is told at all (`beside` of the decision model).
ALONE, NOTHING = 0.5, 0.35


# What people do when they are asked: some of it gives no value, or only others.
TURNS = ["answer", "add", "correct", "decline", "aside"]


def spans_of(marked):
    """The text without marks, and the spans of each slot."""
    text, spans, last = "", collections.defaultdict(list), 0
    for mark in script.MARK.finditer(marked):
        text += marked[last : mark.start()]
        if not mark[2]:
            spans[mark[3]].append([len(text), len(text) + len(mark[1])])
        text, last = text + mark[1], mark.end()
    return text + marked[last:], spans


def answers(folder, rows):
    """Marked answers to a question for one slot."""
    path = folder / "turns.jsonl"
    for line in path.read_text().splitlines() if path.exists() else []:
        for turn in json.loads(line)["turns"]:
            asks = turn.get("assistant", {}).get("asks")
            own = script.opened(turn)
            if asks and (own == [asks["function"]] or not own) and turn["does"] in TURNS:
                yield turn["user"], asks["function"], asks["slots"]
    for row in rows:
        if row["kind"] in ("reply", "decline") and len(row["functions"]) == 1:
            yield row["text"], row["functions"][0], row.get("asked", [])


def write_modules(data, work):
    folders = []
    for name in reader.UNSEEN:
        schema, rows, language = script.load(data / name)
        # The reader does not read Japanese.
        if language == "ja":
            continue
        folder = work / name
        parts = script.cut(schema, rows, [], language, True, False, random.Random(f"answers {name}"))
        script.write(folder, language, parts)
        texts = {(f["name"], slot) for f in schema for slot, one in f["slots"].items() if one["type"] == "text"}
        lines = []
        for marked, function, asked in answers(data / name, rows):
            if len(asked) != 1 or (function, asked[0]) not in texts:
                continue
            text, spans = spans_of(marked)
            own = spans.get(asked[0])
            line = {"utterance": text, "function": function, "asked": asked, "spans": {asked[0]: own or []}, "weight": 1.0 if own else NOTHING}
            lines.append(line)
            if own:
                alone = text[own[0][0] : own[0][1]]
                spans = {asked[0]: [[0, len(alone)]]}
                lines.append({**line, "utterance": alone, "spans": spans, "weight": ALONE})
        (folder / "marks.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        folders.append(folder)
    return folders


def evidence_of(binary, folders):
    """Names of the evidence, and of each answer its module, its candidates' values and which of them are right."""
    marks = {folder.name: [json.loads(line) for line in (folder / "marks.jsonl").read_text().splitlines()] for folder in folders}
    found, lines = [], []
    for line in importlib.import_module("fit-slots").told(binary, ["--answers"], folders):
        # Each process says first what it notes.
        if "names" in line:
            names = line["names"]
        else:
            lines.append(line)
    for (module, case), lines in itertools.groupby(lines, key=lambda line: (line["module"], line["case"])):
        lines, mark = list(lines), marks[module][case]
        right = set()
        for spans in mark["spans"].values():
            right |= {span for start, end in spans for span in script.accepted_spans(mark["utterance"], start, end)}
        is_right = np.array([tuple(line["span"]) in right if line["span"] else not right for line in lines])
        values = np.array([line["values"] for line in lines], float)
        found.append({"module": module, "values": values, "right": is_right, "weight": mark["weight"], "mark": mark,
                      "spans": [line["span"] for line in lines]})
    return names, found


def fit(rows):
    """Weights of a softmax over the candidates of each answer of which one is right."""
    rows = [row for row in rows if row["right"].any()]
    values = np.vstack([row["values"] for row in rows])
    scale = values.std(0) + 1e-9
    scale[values.std(0) < 1e-6] = np.inf
    values = values / scale
    right = np.concatenate([row["right"] for row in rows]).astype(float)
    share = np.array([row["weight"] for row in rows])
    share /= share.sum()
    sizes = [len(row["values"]) for row in rows]
    starts = np.cumsum([0] + sizes)[:-1]
    owner = np.repeat(np.arange(len(rows)), sizes)

    def objective(weights):
        odds = values @ weights
        top = np.maximum.reduceat(odds, starts)
        e = np.exp(odds - top[owner])
        sums, sums_right = np.add.reduceat(e, starts), np.add.reduceat(e * right, starts) + 1e-12
        loss = (share * (np.log(sums) - np.log(sums_right))).sum()
        slope = values.T @ (share[owner] * (e / sums[owner] - e * right / sums_right[owner]))
        return loss + PENALTY * (weights @ weights), slope + 2 * PENALTY * weights

    found = minimize(objective, np.zeros(values.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return found.x / scale


def judge(rows, weights):
    """(whether the likeliest is right, its probability) of each."""
    found = []
    for row in rows:
        odds = row["values"] @ weights
        p = np.exp(odds - odds.max())
        best = int(odds.argmax())
        row["chosen"] = row["spans"][best]
        found.append((row["right"][best], p[best] / p.sum()))
    return found


def report(names, rows):
    reads, ruled = names.index("reader"), names.index("ruled")
    for text, is_one in (
        ("in words of their own", lambda row: row["weight"] == 1.0),
        ("the value alone", lambda row: row["weight"] == ALONE),
        ("without the value", lambda row: row["weight"] == NOTHING),
    ):
        some = [row for row in rows if is_one(row)]
        share = 100 * np.mean([row["judged"][0] for row in some])
        read = 100 * np.mean([row["right"][row["values"][:-1, reads].argmax()] for row in some])
        by_rules = 100 * np.mean([row["right"][by_rule(row["values"][:, ruled])] for row in some])
        none = 100 * np.mean([row["chosen"] is None for row in some])
        print(f"{text}: {len(some)}, {share:.1f} % right ({none:.1f} % nothing); by the reader alone {read:.1f} %, by rules alone {by_rules:.1f} %")


def by_rule(is_ruled):
    """The candidate that rules take; the last one, which is none, if they take nothing."""
    return int(is_ruled.argmax()) if is_ruled.any() else len(is_ruled) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=reader.ROOT / "target" / "debug" / "examples" / "slot-evidence")
    parser.add_argument("--data", type=Path, default=reader.ROOT / "models" / "reader" / "data")
    parser.add_argument("--work", type=Path, default=reader.ROOT / "target" / "answers")
    parser.add_argument("--out", type=Path, default=reader.ROOT / "models" / "reader" / "answers.json")
    parser.add_argument("--without", nargs="*", default=[], help="evidence that is left out, for an ablation")
    parser.add_argument("--dry", action="store_true", help="only print the figures")
    options = parser.parse_args()
    names, rows = evidence_of(options.binary, write_modules(options.data, options.work))
    for name in options.without:
        for row in rows:
            row["values"][:, names.index(name)] = 0.0
    modules = sorted({row["module"] for row in rows})
    for fold in range(FOLDS):
        out = set(modules[fold::FOLDS])
        weights = fit([row for row in rows if row["module"] not in out])
        for row in rows:
            if row["module"] in out:
                [row["judged"]] = judge([row], weights)
    report(names, rows)
    told = [row for row in rows if row["weight"] == 1.0]
    p = np.array([row["judged"][1] for row in told])
    right = np.array([row["judged"][0] for row in told])
    for low, high in itertools.pairwise([0.0, 0.2, 0.3, 0.5, 0.7, 0.9, 1.01]):
        inside = (p >= low) & (p < high)
        print(f"  probability from {low:.1f}: {inside.sum()}, {100 * right[inside].mean():.1f} % right")
    if not options.dry:
        weights = dict(zip(names, fit(rows)))
        weights = {name: round(float(weight), 5) for name, weight in weights.items() if abs(weight) > 1e-6}
        options.out.write_text(json.dumps({"command": COMMAND, "weights": weights}, indent=1) + "\n")


if __name__ == "__main__":
    main()
