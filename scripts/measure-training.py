#!/usr/bin/env python3
"""Measure the weights that scripts/train-reader.py left, on modules that it did not see.

    venv/bin/python scripts/measure-training.py --base target/base --weights target/trained/weights.safetensors
    venv/bin/python scripts/measure-training.py --base target/base --weights ... --modules DIR...  # with cases.jsonl
    venv/bin/python scripts/measure-training.py --base target/base --weights ... --smoke           # a minute

By language, over the modules of the corpus that no training sees, or over modules as Uptake reads them:

- values, the function given, by the late and by the joint head, without and with exemplars of the module's own (--exemplars of each
  function): best F1 over all bars, and F1, precision and recall at 0.5. In the corpus a value is right when its words are the marked
  ones; all slots count. In modules with cases, free text counts, and a value is right when it reads as the case's;
- about: how well the utterance's own function is told from another of its module (AUROC);
- function: accuracy by the sentence vectors alone, regression on exemplars and descriptions;
- acts, effects: what an utterance does, alone and beside an open form with its situation, by the trained heads (accuracy).

The weights are as they were trained, not rounded to 8 bits. With --last, the modules for the figures of a release are among them.
"""

import argparse
import importlib
import json
import os
import random
from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import questions
import reader
import torch
from reader_head import FORMS, Asked, Network, sentence_vectors
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

measure = importlib.import_module("measure-reader")
BARS = (0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


class Measured:
    """Readings and vectors by the network."""

    def __init__(self, network, asked, device, batch=64):
        self.network, self.asked, self.device, self.batch, self.vectors = network, asked, device, batch, {}

    @torch.no_grad()
    def vectors_of(self, texts):
        wanted = sorted({text for text in texts if text not in self.vectors}, key=len)
        for start in range(0, len(wanted), 256):
            part = wanted[start : start + 256]
            rows = [self.asked.tokenizer.encode(text).ids[: reader.MAX_TOKENS] for text in part]
            ids = torch.from_numpy(questions.padded(rows, 1)).to(self.device)
            mask = torch.from_numpy(questions.padded([[1] * len(row) for row in rows], 0)).to(self.device)
            states = self.network.encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()
            self.vectors |= zip(part, sentence_vectors(states, mask.float()).cpu().numpy())
        return np.stack([self.vectors[text] for text in texts])

    @torch.no_grad()
    def read(self, wanted, is_joint):
        """(reading, acts, effects) of each (item, row, situation, function, slots), in their order; the rows of a reading
        are the function and its slots."""
        found = [None] * len(wanted)
        order = sorted(range(len(wanted)), key=lambda at: len(wanted[at][1].text))
        for start in range(0, len(order), self.batch):
            part, made = order[start : start + self.batch], []
            for at in part:
                item, row, situation, labels, slots = wanted[at]
                texts, kinds, _ = reader.question(labels, slots, row.asked)
                made.append((-1, item, row, situation, reader.words(row.text), None, texts, kinds, [], {0}))
            batch = self.asked.arrays(made, is_joint)
            vectors = None
            if not is_joint:
                width = batch["kinds"].shape[1]
                vectors = np.stack([np.pad(self.vectors_of(one[6]), ((0, width - len(one[6])), (0, 0))) for one in made])
                vectors = torch.from_numpy(vectors).to(self.device)
            batch = {name: torch.from_numpy(one).to(self.device) if isinstance(one, np.ndarray) else one for name, one in batch.items()}
            asked = Asked(self.network, batch, vectors)
            starts, ends, slots, biases = (one.cpu().numpy() for one in asked.form.head.vectors(*asked.inputs))
            acts, effects = (one.cpu().numpy() for one in asked.form.deeds(asked.vectors))
            widths = asked.form.head.width.cpu().numpy()
            for b, (at, one) in enumerate(zip(part, made)):
                words, labels = len(one[4]), len(one[6])
                reading = reader.Reading(starts[b, :words], ends[b, :words], widths, slots[b, :labels], biases[b, :labels])
                found[at] = reading, acts[b], effects[b]
        return found


def count(into, reading, corrections, slots, wanted):
    found = measure.answers(reading, slots, corrections, min(BARS))
    for bar in BARS:
        got = {(slots[label - 1].name, first, last) for label, first, last, score in found if score > measure.logit(bar)}
        into[bar] += Counter(right=len(got & wanted), wrong=len(got - wanted), missed=len(wanted - got))


def f1(counts):
    return 200 * counts["right"] / max(1, 2 * counts["right"] + counts["wrong"] + counts["missed"])


def values_of(running, module, options):
    """{(form, way): {bar: counts}}, and [(form, score, is its function)], over a part of a module's utterances."""
    by_function = defaultdict(list)
    for row in module.rows:
        if len(row.functions) == 1 and reader.words(row.text):
            by_function[row.functions[0]].append(row)
    counts, about = defaultdict(lambda: defaultdict(Counter)), []
    for form in FORMS:
        chance_of = random.Random(module.name)
        for function, rows in sorted(by_function.items()):
            rows = chance_of.sample(rows, min(len(rows), options.exemplars + options.rows))
            exemplars = [row for row in rows if row.kind not in ("reply", "decline")][: min(options.exemplars, len(rows) // 2)]
            rest = [row for row in rows if not any(row is one for one in exemplars)]
            slots = list(module.slots[function].values())[: reader.MAX_LABELS - 1]
            other = chance_of.choice([name for name in module.slots if name != function] or [function])
            ask = lambda row, of: (questions.Item(row), row, "", module.labels[of], list(module.slots[of].values()))
            read = [one[0] for one in running.read([ask(row, function) for row in exemplars + rest], form == "joint")]
            shown, said = read[: len(exemplars)], read[len(exemplars) :]
            corrections = None
            if shown and slots:
                corrections = reader.adapt(shown, [reader.targets_of(*one, slots) for one in zip(exemplars, shown)], len(slots) + 1)
            for row, reading in zip(rest, said):
                wanted = {(name, a, b) for _, name, a, b in reader.word_spans(row.spans(), reader.words(row.text))}
                count(counts[form, "zero-shot"], reading, None, slots, wanted)
                count(counts[form, "adapted"], reading, corrections, slots, wanted)
            clear = [(row, reading) for row, reading in zip(rest, said) if row.kind not in ("reply", "decline")]
            wrong = running.read([ask(row, other) for row, _ in clear], form == "joint") if other != function else []
            about += [(form, float(reading.biases[0]), True) for _, reading in clear]
            about += [(form, float(one[0].biases[0]), False) for one in wrong]
    return counts, about


def function_accuracy(running, module, options):
    """(right, all) of functions by regression on sentence vectors."""
    chance, known, said = random.Random(module.name), [], []
    for function in module.slots:
        rows = [row for row in module.rows if row.functions == [function] and row.kind not in ("reply", "decline")]
        rows = chance.sample(rows, min(len(rows), options.exemplars + options.rows))
        shown = min(options.exemplars, len(rows) // 2)
        known += [(row.text, function) for row in rows[:shown]] + [(module.labels[function][0], function)]
        said += [(row.text, function) for row in rows[shown:]]
    if len(module.slots) < 2 or not said:
        return 0, 0
    vectors = running.vectors_of([text for text, _ in known])
    middle = vectors.mean(0)
    fitted = LogisticRegression(C=30, max_iter=400).fit(vectors - middle, [function for _, function in known])
    told = fitted.predict(running.vectors_of([text for text, _ in said]) - middle)
    return int((told == np.array([function for _, function in said])).sum()), len(said)


def deeds_of(running, module, folder, options):
    """{(form, what): (right, all)} of acts and effects by the trained heads."""
    items = [item for item in questions.items_of(module) if item.act >= 0]
    items = random.Random(module.name).sample(items, min(len(items), 2 * options.rows))
    turns = [item for item in questions.turns_of(module, folder / "turns.jsonl") if item.effect >= 0]
    turns = random.Random(module.name).sample(turns, min(len(turns), 2 * options.rows))
    found, first = {}, next(iter(module.slots))
    for form in FORMS:
        for what, of, part in (("acts", items, 1), ("effects", turns, 2)):
            ask = [(item, item.row, item.situation if part == 2 else "", module.labels[(item.row.functions or [first])[0]],
                    list(module.slots[(item.row.functions or [first])[0]].values())) for item in of]  # fmt: skip
            read = running.read(ask, form == "joint")
            wanted = [item.act if part == 1 else item.effect for item in of]
            found[form, what] = sum(int(one[part].argmax() == own) for one, own in zip(read, wanted)), len(of)
    return found


def report(title, counts, about, functions, deeds):
    made = {}
    for (form, way), by_bar in sorted(counts.items()):
        bar = max(by_bar, key=lambda bar: f1(by_bar[bar]))
        half = by_bar[0.5]
        p, r = (100 * half["right"] / max(1, half["right"] + half[other]) for other in ("wrong", "missed"))
        made[f"{form} {way}"] = round(f1(by_bar[bar]), 1)
        print(f"{title:8} {form:5} {way:9}  best F1 {f1(by_bar[bar]):5.1f} at {bar}   at 0.5: F1 {f1(half):5.1f} P {p:5.1f} R {r:5.1f}   "
              f"({half['right'] + half['missed']} values)")  # fmt: skip
    for form in FORMS:
        pairs = [(score, right) for one, score, right in about if one == form]
        if len({right for _, right in pairs}) > 1:
            made[f"about {form}"] = round(100 * roc_auc_score([right for _, right in pairs], [score for score, _ in pairs]), 1)
    made["functions"] = round(100 * functions[0] / max(1, functions[1]), 1)
    for (form, what), (right, of) in sorted(deeds.items()):
        made[f"{what} {form}"] = round(100 * right / max(1, of), 1)
    print(f"{title:8} " + "  ".join(f"{name} {value}" for name, value in made.items() if "shot" not in name and "adapted" not in name), flush=True)
    return made


def cases_of(running, folder, corpus):
    """{(form, way): {bar: counts}} of a module with cases, and (right, all) of functions."""
    counts, functions = defaultdict(lambda: defaultdict(Counter)), measure.read_functions(folder)
    for form in FORMS:
        own = OneByOne(running, form)
        for (way, bar), found in measure.measure_module(own, folder, corpus).items():
            counts[form, way][bar] += found
    fillings, chance, known = measure.Fillings(folder, own, corpus), random.Random(3), []
    listed = json.loads((folder / "exemplars.json").read_text(encoding="utf-8"))
    for name, (texts, slots, _) in functions.items():
        known.append((texts[0], name))
        shown = [said for one in listed.get(name, []) for said, _, _ in measure.said_exemplars(one, slots, fillings, chance)]
        known += [(said, name) for said in shown]
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    cases = [(case["utterance"], case["function"]) for case in cases if isinstance(case.get("function"), str)]
    cases = [(text, function) for text, function in cases if function in functions]
    vectors = running.vectors_of([text for text, _ in known])
    fitted = LogisticRegression(C=30, max_iter=400).fit(vectors - vectors.mean(0), [name for _, name in known])
    told = fitted.predict(running.vectors_of([text for text, _ in cases]) - vectors.mean(0))
    return counts, (int((told == np.array([name for _, name in cases])).sum()), len(cases))


class OneByOne(measure.Reader):
    """The network where scripts/measure-reader.py expects the files."""

    def __init__(self, running, form):
        self.running, self.form, self.encoder = running, form, self

    def vector(self, text):
        return self.running.vectors_of([text])[0]

    def read(self, text, function_texts, slots, asked=()):
        row = reader.Row(next(iter(self.running.asked.modules)), [], "", list(asked), [(text, None)] if text else [])
        _, _, slots = reader.question(function_texts, slots, asked)
        reading = self.running.read([(questions.Item(row), row, "", function_texts, slots)], self.form == "joint")[0][0]
        return reader.words(text), reading, slots


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=reader.ROOT / "models" / "reader" / "data")
    parser.add_argument("--modules", type=Path, nargs="+", default=[], help="modules as Uptake reads them, with cases.jsonl")
    parser.add_argument("--last", action="store_true")
    parser.add_argument("--rows", type=int, default=8, help="utterances of each function that are measured")
    parser.add_argument("--exemplars", type=int, default=8, help="of each function")
    parser.add_argument("--every", type=int, default=1, help="of so many modules of the corpus, one")
    parser.add_argument("--out", type=Path, help="the figures as JSON")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--smoke", action="store_true", help="two modules")
    options = parser.parse_args()
    if options.smoke:
        options.rows = options.exemplars = 2
    torch.set_num_threads(options.threads)
    corpus = reader.read_corpus(options.data)
    names = [name for name in reader.UNSEEN if options.last or name not in reader.LAST][:: options.every]
    modules = [corpus[name] for name in names][: 2 if options.smoke else None]
    device = torch.device(options.device)
    network = Network(options.base).read(options.weights).to(device)
    asked = questions.Questions(options.base, list(corpus.values()), [], SimpleNamespace(batch=1, seed=1, steps=0))
    running, made = Measured(network, asked, device), {}
    if options.modules:
        known = [module for name, module in corpus.items() if name not in reader.UNSEEN]
        groups = defaultdict(list)
        for folder in options.modules:
            settings = folder / "module.toml"
            text = settings.read_text(encoding="utf-8") if settings.exists() else ""
            is_english = "language" not in text or 'language = "en"' in text
            groups["English" if is_english else "others"].append(cases_of(running, folder, known))
        for title, of in groups.items():
            made[title] = report(title, total([counts for counts, _ in of]), [], np.sum([one for _, one in of], 0), {})
    else:
        groups = defaultdict(list)
        for module in modules:
            counts, about = values_of(running, module, options)
            functions = function_accuracy(running, module, options)
            deeds = deeds_of(running, module, options.data / module.name, options)
            for title in (questions.language_of(module.name), "all"):
                groups[title].append((counts, about, functions, deeds))
        for title, of in sorted(groups.items()):
            deeds = {key: np.sum([one[3][key] for one in of], 0) for key in of[0][3]}
            counts, about = total([one[0] for one in of]), [pair for one in of for pair in one[1]]
            made[title] = report(title, counts, about, np.sum([one[2] for one in of], 0), deeds)
    if options.out:
        options.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def total(several):
    summed = defaultdict(lambda: defaultdict(Counter))
    for counts in several:
        for key, by_bar in counts.items():
            for bar, found in by_bar.items():
                summed[key][bar] += found
    return summed


if __name__ == "__main__":
    main()
