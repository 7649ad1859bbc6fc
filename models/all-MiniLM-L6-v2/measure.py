#!/usr/bin/env python3
"""Measure every form of the model that make.py can build: size, speed, accuracy.

    venv/bin/python measure.py DATA [--forms fp32 int8-block64]

DATA holds the development sets as modules: clinc150-10shot, snips-10shot,
sgd-dev and bfcl-simple-multiple, each with schema.json, exemplars.json and
cases*.jsonl. Prints the tables of README.md. Each form runs in its own process,
so that peak memory is its own; every text is embedded alone, on one thread.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import make
import numpy as np
import snowballstemmer
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
SHORT_TEXT = "please set an alarm for seven tomorrow morning"  # 10 tokens with [CLS] and [SEP]
LONG_TEXT = (
    "I would like to book a table for four people at a quiet Italian restaurant near the central station "
    "next Friday evening at half past seven, and please make sure that there is a vegetarian menu and that "
    "we can sit outside if the weather allows it."
)
BEST = 3  # exemplars averaged per function
EMBEDDING_SHARE = 0.8  # of the hybrid score; the rest is BM25


def read_cases(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def document(function):
    """Name, description, and the names, descriptions and enums of the parameters."""
    parts = [re.sub(r"[_\-.]+", " ", function["name"]), function.get("description", "")]

    def walk(schema):
        for name, inner in schema.get("properties", {}).items():
            parts.append(name.replace("_", " "))
            parts.append(inner.get("description", ""))
            parts.extend(str(value) for value in inner.get("enum", []))
            walk(inner)
        if isinstance(schema.get("items"), dict):
            walk(schema["items"])

    walk(function.get("parameters", {}))
    return " ".join(part for part in parts if part)


class Set:
    """A development set: rows (text, function) to search, and labelled questions."""

    def __init__(self, folder):
        functions = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
        exemplars = json.loads((folder / "exemplars.json").read_text(encoding="utf-8"))
        self.rows = [
            (exemplar.get("utterance", exemplar["template"]), name)
            for name, listed in exemplars.items()
            for exemplar in listed
        ] or [(document(function), function["name"]) for function in functions]
        self.cases = [(case["utterance"], case["function"]) for case in read_cases(folder / "cases.jsonl")]
        outside = folder / "cases_none.jsonl"
        self.outside = [case["utterance"] for case in read_cases(outside)] if outside.exists() else []
        self.names = sorted({name for _, name in self.rows})


class Bm25:
    """Okapi BM25 over stemmed words (k1 1.2, b 0.75)."""

    def __init__(self, texts):
        self.stem = snowballstemmer.stemmer("english").stemWord
        self.postings = defaultdict(list)
        lengths = []
        for row, text in enumerate(texts):
            words = self.words(text)
            lengths.append(len(words))
            for word, count in Counter(words).items():
                self.postings[word].append((row, count))
        self.rows = len(texts)
        self.damping = 1.2 * (0.25 + 0.75 * np.array(lengths) / np.mean(lengths))

    def words(self, text):
        return [self.stem(word) for word in re.findall(r"\w+", text.lower())]

    def scores(self, text):
        """One score per row, divided by the greatest of this query."""
        total = np.zeros(self.rows)
        for word in self.words(text):
            found = self.postings.get(word)
            if found:
                rows, counts = np.array(found).T
                weight = np.log(1 + (self.rows - len(rows) + 0.5) / (len(rows) + 0.5))
                total[rows] += weight * counts * 2.2 / (counts + self.damping[rows])
        return total / max(total.max(), 1e-9)


def by_function(scores, rows, names):
    """Mean of the BEST rows of each function: [queries, functions]."""
    owner = np.array([name for _, name in rows])
    columns = []
    for name in names:
        own = -np.sort(-scores[:, owner == name], axis=1)
        columns.append(own[:, :BEST].mean(axis=1))
    return np.stack(columns, axis=1)


def accuracy_and_recall(scores, cases, names):
    order = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    wanted = np.array([names.index(name) for _, name in cases])[:, None]
    return 100 * (order[:, :1] == wanted).mean(), 100 * (order == wanted).any(axis=1).mean()


def auroc(inside, outside):
    """Chance that a text in scope scores higher than one out of scope, in %."""
    ranks = np.argsort(np.argsort(np.concatenate([inside, outside]))) + 1
    wins = ranks[: len(inside)].sum() - len(inside) * (len(inside) + 1) / 2
    return 100 * wins / (len(inside) * len(outside))


def megabytes(field):
    """VmRSS or VmHWM of this process, in MiB (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+)", status)[1]) / 1024


def latency(running, tokenizer, text, runs):
    """(median, 99th percentile) in ms of one text, tokenizing included."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        make.embed(running, tokenizer, [text])
        times.append(1e3 * (time.perf_counter() - start))
    times = times[runs // 10 :]
    return np.percentile(times, 50), np.percentile(times, 99)


def speed(path, tokenizer):
    before = megabytes("VmRSS")
    start = time.perf_counter()
    running = make.session(str(path))
    load = 1e3 * (time.perf_counter() - start)
    short = latency(running, tokenizer, SHORT_TEXT, 1000)
    long = latency(running, tokenizer, LONG_TEXT, 200)
    make.embed(running, tokenizer, [" ".join([LONG_TEXT] * 8)])  # the longest there is
    return {
        "MB": path.stat().st_size / 1e6,
        "load ms": load,
        "p50 ms": short[0],
        "p99 ms": short[1],
        "50-token p50 ms": long[0],
        "peak MiB": megabytes("VmHWM") - before,
    }


def steadiness(path, tokenizer, texts):
    """Do the same texts give the same vectors again, on two threads, and in a padded batch?"""
    alone = make.embed(make.session(str(path)), tokenizer, texts)
    again = make.embed(make.session(str(path)), tokenizer, texts)
    two = make.embed(make.session(str(path), threads=2), tokenizer, texts)
    batch = make.embed(make.session(str(path)), tokenizer, texts, batch=16)
    return {
        "again": float(np.abs(alone - again).max()),
        "2 threads": float(np.abs(alone - two).max()),
        "batch cosine": float((alone * batch).sum(axis=1).min()),
    }


def accuracy(path, tokenizer, data, vectors_of_fp32):
    running = make.session(str(path))
    result = {}
    cosines = []
    vectors = {}

    def embed(key, texts):
        vectors[key] = make.embed(running, tokenizer, texts)
        if vectors_of_fp32 is not None:
            cosines.append((vectors[key] * vectors_of_fp32[key]).sum(axis=1))
        return vectors[key]

    for folder in ("clinc150-10shot", "snips-10shot", "sgd-dev", "bfcl-simple-multiple"):
        current = Set(data / folder)
        rows = embed(f"{folder} rows", [text for text, _ in current.rows])
        cases = embed(f"{folder} cases", [text for text, _ in current.cases])
        lexical = Bm25([text for text, _ in current.rows])
        scores = cases @ rows.T
        words = np.stack([lexical.scores(text) for text, _ in current.cases])
        hybrid = EMBEDDING_SHARE * scores + (1 - EMBEDDING_SHARE) * words
        pooled = by_function(scores, current.rows, current.names)
        short = folder.split("-")[0]
        result[short] = accuracy_and_recall(pooled, current.cases, current.names)
        result[f"{short} hybrid"] = accuracy_and_recall(
            by_function(hybrid, current.rows, current.names), current.cases, current.names
        )
        if current.outside:
            outside = by_function(embed(f"{folder} none", current.outside) @ rows.T, current.rows, current.names)
            result[f"{short} AUROC"] = auroc(pooled.max(axis=1), outside.max(axis=1))
    if cosines:
        cosines = np.concatenate(cosines)
        result["cosine"] = (cosines.mean(), cosines.min())
    return result, vectors


def measure_one(form, data, work):
    """Runs in a process of its own; leaves fp32's vectors in `work` for the others."""
    path = work / f"{form}.onnx"
    tokenizer = Tokenizer.from_file(str(HERE / "tokenizer.json"))
    result = speed(path, tokenizer)
    result |= steadiness(path, tokenizer, [case["utterance"] for case in read_cases(data / "sgd-dev" / "cases.jsonl")][:320])
    base = work / "fp32.npz"
    scored, vectors = accuracy(path, tokenizer, data, np.load(base) if base.exists() else None)
    if form == "fp32":
        np.savez(base, **vectors)
    print(json.dumps(result | scored, default=float))


def cell(name, value):
    if isinstance(value, list):
        return " / ".join(cell(name, part) for part in value)
    if name in ("again", "2 threads"):
        return f"{value:.1e}" if value else "the same"
    return f"{value:.4f}" if "cosine" in name else f"{value:.2f}"


def main():
    parser = argparse.ArgumentParser(description="Measure the forms of the model.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--forms", nargs="+", choices=make.FORMS, default=make.FORMS)
    parser.add_argument("--one", choices=make.FORMS, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        measure_one(arguments.one, arguments.data, arguments.work)
        return

    # fp32 goes first: the others are compared with its vectors.
    forms = ["fp32", *(form for form in arguments.forms if form != "fp32")]
    with tempfile.TemporaryDirectory() as work:
        weights = make.load_weights()
        for form in forms:
            (Path(work) / f"{form}.onnx").write_bytes(make.build(weights, form))
        del weights
        for form in forms:
            command = [sys.executable, __file__, str(arguments.data), "--one", form, "--work", work]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            print(f"\n{form}")
            for name, value in json.loads(done.stdout).items():
                print(f"  {name:16} {cell(name, value)}", flush=True)


if __name__ == "__main__":
    main()
