#!/usr/bin/env python3
"""Make the files that the service loads from the weights that scripts/train-reader.py left.

    venv/bin/python scripts/export-reader.py --base target/base --weights target/trained/weights.safetensors
    venv/bin/python scripts/export-reader.py --base target/base --weights ... --out target/models --head-epochs 0

Round the encoder to 8 bits (a word table in 4 bits stays so); let the late head go on learning, on the states that this
encoder gives in ONNX Runtime; scale the scores of both heads so that they are probabilities on modules that were not trained
on; write models/uptake-encoder and models/reader (`head.onnx`, `joint.onnx`, `vectors.json`). Utterances are read by one
process for each core. What is fitted on top of these files comes next: scripts/fit-all.
"""

import argparse
import json
import os
import random
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import questions
import reader
import torch
from reader import MOST_TOKENS, ROOT, WIDTH
from reader_head import FORMS, Network, head_graph, make_script
from safetensors.numpy import load_file
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.nn import functional

BATCH = 48
FILES = {"late": "head.onnx", "joint": "joint.onnx"}
WORD_EXAMPLES = (
    "Put Never Let Me Go on hold, please.", "check out release/2.8 of AB-1093/2 (now)",
    "l'école d'Anna, Anna's school", "mail mara.okafor@kauri.nz re: #ops-lima",
    "https://shop.tulipane.it/checkout every 30s", "10月5日に東京へ3名で", "$1,250.50 or 20€ — 50% off?",
    "  don't\tstop ", "カレー2つ", "C++ & R&D at 10:30-11:15", "",
    "नमस्ते दुनिया", "co-op… “quoted”",
)  # fmt: skip


def graph_weights(base, network):
    """The encoder's tensors as numpy, with the word table as the base has it."""
    weights = {
        name.removeprefix("encoder."): value.detach().float().numpy()
        for name, value in network.state_dict().items()
        if name.startswith("encoder.")
    }
    packed = Path(base) / "base.safetensors"
    if packed.exists():
        found = load_file(str(packed))
        weights |= {name: found[name] for name in found if name.startswith("embeddings.word_embeddings.")}
    # What is longer is cut.
    name = "embeddings.position_embeddings.weight"
    return weights | {name: weights[name][: MOST_TOKENS]}


class Read:
    """What the 8-bit encoder makes of texts, read by many processes."""

    def __init__(self, folder, processes):
        self.folder, self.processes, self.found = folder, processes, {}

    def prepare(self, texts):
        self.found |= reader.read_all(self.folder, texts, self.processes, wants_states=True)

    def states(self, text):
        return self.found[text][0].astype(np.float32)

    def vector(self, text):
        return self.found[text][1]


def drawn_batch(asked, rows, read, chance):
    """A batch of questions for the late head, on states that are there."""
    made = []
    for at, row, spans in rows:
        item = asked.items[at]
        borders = reader.words(row.text)
        made.append((at, item, row, "", borders, *asked.question(row, spans, chance)))
    batch = asked.arrays(made, False)
    states = [read.states(row.text) for _, row, _ in rows]
    words = torch.zeros(len(rows), max(1, *map(len, states)), WIDTH)
    for place, one in zip(words, states):
        place[: len(one)] = torch.from_numpy(one)
    word_mask = torch.arange(words.shape[1]) < torch.tensor([len(one) for one in states])[:, None]
    labels = torch.from_numpy(batch["labels"])
    vectors = torch.zeros(*labels.shape, WIDTH)
    for b, numbers in enumerate(batch["labels"]):
        for label, number in enumerate(numbers):
            if number >= 0:
                vectors[b, label] = torch.from_numpy(read.vector(asked.texts[number]))
    return {name: torch.from_numpy(one) if isinstance(one, np.ndarray) else one for name, one in batch.items()}, words, word_mask, vectors


def train_head(head, asked, read, arguments):
    """Go on with the late head alone, on the states that the 8-bit encoder gives."""
    from importlib import import_module

    trainer = import_module("train-reader")
    chance = random.Random(f"head {arguments.seed}")
    said = [(at, row) for at, item in enumerate(asked.items) for row in (item.row, asked.varied(item.row, chance))]
    read.prepare([*asked.texts, *(row.text for _, row in said)])
    rows = [(at, row, reader.word_spans(row.spans(), reader.words(row.text))) for at, row in said if reader.words(row.text)]
    print(f"{len(rows)} utterances read by the 8-bit encoder", flush=True)
    steps = max(2, int(len(rows) * arguments.head_epochs / BATCH))
    optimizer = torch.optim.AdamW(head.parameters(), lr=arguments.rate, weight_decay=0.01)
    done, started, total = 0, time.monotonic(), 0.0
    head.train()
    while done < steps:
        chance.shuffle(rows)
        ordered = [sorted(rows[i : i + BATCH * 20], key=lambda row: len(row[1].text)) for i in range(0, len(rows), BATCH * 20)]
        parts = [part[i : i + BATCH] for part in ordered for i in range(0, len(part), BATCH)]
        chance.shuffle(parts)
        for part in parts[: steps - done]:
            batch, words, word_mask, vectors = drawn_batch(asked, part, read, chance)
            noise = torch.randn_like(vectors) * (arguments.blur / WIDTH**0.5)
            there = batch["labels"] >= 0
            scores, spans, about = head(words, word_mask, functional.normalize(vectors + noise, dim=2), there, batch["kinds"])
            loss = trainer.span_loss(scores, spans, batch)
            sure = batch["about"] >= 0
            if sure.any():
                loss = loss + functional.binary_cross_entropy_with_logits(about[sure], batch["about"][sure].float())
            for group in optimizer.param_groups:
                group["lr"] = arguments.rate * min((done + 1) / 50, max(0.02, 1 - done / steps))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            optimizer.step()
            done, total = done + 1, total + loss.item()
            if done % 50 == 0:
                print(f"head {done}/{steps}  loss {total / 50:.3f}  {time.monotonic() - started:.0f} s", flush=True)
                total = 0.0
    return head.eval()


def readings_of(form, graph, asked, folder):
    """For each utterance with one function: (reading, targets [labels, spans])."""
    head, encoder = reader.Head(graph), reader.Encoder(folder)
    for item in asked.items:
        row = item.row
        if len(row.functions) != 1:
            continue
        reading, slots = read_one(form, head, encoder, asked.modules[row.module], row)
        if reading is None:
            continue
        yield reading, reader.targets_of(row, reading, slots)


def read_one(form, head, encoder, module, row):
    """(reading, slots) of an utterance and its function, by the files."""
    function = row.functions[0]
    texts, kinds, slots = reader.question(module.labels[function], module.slots[function].values(), row.asked)
    if form == "late":
        _, states, _ = encoder.read(row.text)
        vectors = [encoder.vector(text) for text in texts]
    else:
        states, vectors = encoder.read_with(row.text, texts)
    return (head.read(states, vectors, kinds), slots) if len(states) else (None, slots)


def calibrate(form, head, asked, folder, make):
    """Scale the head's outputs so that sigmoid(score) is a probability on modules that it was not trained on."""
    scores, right = [], []
    for reading, targets in readings_of(form, head_graph(head, make), asked, folder):
        found = reading.scores()[1:]
        kept = found > -6
        scores.append(found[kept]), right.append(targets[1:][kept])
    scores, right = np.concatenate(scores), np.concatenate(right)
    fitted = LogisticRegression(C=1e4).fit(scores[:, None], right)
    scale, shift = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
    with torch.no_grad():
        for layer in (head.slot, head.bias):
            layer.weight.mul_(scale), layer.bias.mul_(scale)
        head.bias.bias.add_(shift)
    print(f"{form}: scores x {scale:.3f} {shift:+.3f}, from {len(scores)} spans of the development modules", flush=True)


def parity(form, modules, encoder, head):
    """A few utterances with all that the service must compute alike."""
    found = []
    wanted = [row for module in modules for row in module.rows if len(row.functions) == 1 and len(row.spans()) >= 2]
    for row in random.Random(5).sample(wanted, 5):
        module = next(module for module in modules if module.name == row.module)
        function = row.functions[0]
        texts, kinds, _ = reader.question(module.labels[function], module.slots[function].values(), row.asked)
        borders, states, vector = encoder.read(row.text)
        reading, _ = read_one(form, head, encoder, module, row)
        scores, pairs = reading.scores(), reading.pairs()
        best = np.argsort(-scores[1:].max(0))[:8]
        found.append({
            "text": row.text, "words": borders, "labels": texts, "kinds": kinds,
            "vector": [round(float(value), 5) for value in vector[:8]],
            "state_of_first_word": [round(float(value), 4) for value in states[0][:8]],
            "scores": [{"first": int(pairs[0][i]), "last": int(pairs[1][i]),
                        "of_labels": [round(float(value), 3) for value in scores[:, i]]} for i in sorted(best)],
        })  # fmt: skip
    return found


def write_vectors(path, tests):
    parts = [
        f'"{name}": [\n' + ",\n".join(json.dumps(one, ensure_ascii=False) for one in of) + "\n]" for name, of in tests.items()
    ]
    path.write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, required=True, help="what the training began with")
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=ROOT / "models" / "reader" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "models", help="where uptake-encoder and reader are written")
    parser.add_argument("--head-epochs", type=float, default=1.0, help="of the late head on the 8-bit states")
    parser.add_argument("--rate", type=float, default=4e-4)
    parser.add_argument("--blur", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--smoke", action="store_true", help="two modules")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.processes), torch.manual_seed(arguments.seed)
    train, development, _ = reader.split(reader.read_corpus(arguments.data))
    if arguments.smoke:
        train, development = train[:2], development[:2]
        for module in train + development:
            module.rows = module.rows[:30]
    make, network = make_script(), Network(arguments.base).read(arguments.weights)
    weights = graph_weights(arguments.base, network)
    folder, out = arguments.out / "uptake-encoder", arguments.out / "reader"
    folder.mkdir(parents=True, exist_ok=True), out.mkdir(parents=True, exist_ok=True)
    graph = make.build(weights, make.CHOSEN, "uptake-encoder")
    (folder / "model.onnx").write_bytes(graph)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json"):
        shutil.copyfile(arguments.base / name, folder / name)
    make.check(graph, make.CHOSEN, weights, reader.Encoder(folder).tokenizer)
    print(f"written: {folder}, {len(graph) / 1e6:.1f} MB", flush=True)
    options = SimpleNamespace(batch=BATCH, seed=arguments.seed, steps=0)
    ask = lambda modules: questions.Questions(folder, modules, [item for m in modules for item in questions.items_of(m)], options)
    tests = {"words": [{"text": text, "words": reader.words(text)} for text in WORD_EXAMPLES]}
    for form in FORMS:
        head = network.forms[form].head
        if form == "late" and arguments.head_epochs:
            head = train_head(head, ask(train), Read(folder, arguments.processes), arguments)
        calibrate(form, head, ask(development), folder, make)
        path = out / FILES[form]
        path.write_bytes(head_graph(head, make))
        tests["readings" if form == "late" else form] = parity(form, development, reader.Encoder(folder), reader.Head(path))
        print(f"written: {path}, {path.stat().st_size / 1e6:.1f} MB", flush=True)
    write_vectors(out / "vectors.json", tests)


if __name__ == "__main__":
    main()
