"""Code that training and measuring the reader share: the corpus, words, label texts, scores, and adaptation.

The reader is a small network on the states that the sentence encoder computes anyway. It says which words fill which
slot of a function. models/reader/README.md describes its form; the service follows the same rules in Rust.
"""

import json
import multiprocessing
import os
import random
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnxruntime
import regex
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 384  # of a state of the encoder
SPAN_WORDS = 24  # the longest value, in words
MAX_TOKENS = 256
MAX_LABELS = 24
# In the joint form: most tokens of the utterance, of a label, and in total. A </s> ends each.
JOINT_TOKENS, LABEL_TOKENS, MOST_TOKENS, END = 160, 24, 512, 2
SLOT, ASKED, FUNCTION, WORD = range(4)  # kinds of inputs of the head

# Modules that are never used in training. "last" is for the figures of a release only.
DEVELOPMENT = ("bookstore", "car_rental", "de_onlineshop", "dentist", "fleet", "fr_garagiste", "pizza", "support_desk")
LAST = ("cinema", "complaints", "documents", "es_taller", "hostel", "ja_ryokan", "pharmacy", "university")
# The decision model is fitted on these and those above: there its evidence is as good as on modules of strangers.
JUDGE = (
    "brewery", "chess_club", "de_theater", "dns_registrar", "es_notaria", "food_bank", "fr_encheres", "funeral_home",
    "genealogy_archive", "ja_drone", "newsletter", "observatory", "on_call", "pest_control", "riding_school",
    "waste_collection",
)  # fmt: skip
# Assistants: slots for short words side by side, without lists, and functions in pairs, to look for something and
# to have it done.
ASSISTANTS = (
    "de_sprachassistent", "events_box", "house_hunt", "intercity_coach", "news_radio", "reading_circle", "recipe_box",
    "ride_and_room", "sky_watch", "sound_desk", "table_finder", "tv_remote",
)  # fmt: skip
# Half of the functions of these answer questions, or fix what people only describe as broken.
ANSWERING = (
    "campus_it", "credit_union", "de_hausverwaltung", "de_schwimmbad_kasse", "es_ayuntamiento_citas", "es_telefonia",
    "flights", "fr_banque_aide", "fr_transport", "home_voice", "ja_denki", "ja_suidou", "kitchen_helper", "market_info",
    "match_day", "payroll_bot", "swim_hall", "telecom_care", "tenants", "transit_desk",
)  # fmt: skip

# A word is a character of Chinese or Japanese script, or letters and digits that marks may join, or another character.
# The regex crate of Rust reads the same pattern, without the flag (?V1).
ALONE = r"[\p{Han}\p{Hiragana}\p{Katakana}ーｰ]"
JOINED = r"[[\p{L}\p{M}\p{N}_]--[\p{Han}\p{Hiragana}\p{Katakana}ーｰ]]+"
MARKS = r"[./\\\-@:+#&%=?~*]+"
WORDS = regex.compile(rf"(?V1){ALONE}|{JOINED}(?:{MARKS}{JOINED})*|\P{{White_Space}}")
# Modules in none of these lists are trained on (models/reader/DATA.md).
UNSEEN = DEVELOPMENT + LAST + JUDGE + ANSWERING + ASSISTANTS
MARK = re.compile(r"\[([^\[\]]+)\]\(([^()]+)\)")


def words(text):
    """[(start, end)] of the words of a text, in characters."""
    return [match.span() for match in WORDS.finditer(text)]


def plain_name(name):
    """An identifier as words: `pickup_date`, `pickup-date` and `pickupDate` are "pickup date"."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[_\-.\s]+", " ", name).strip().lower()


def label_text(name, description="", values=()):
    """The label text of a slot or of a function: "name words: description (value, value)"."""
    text = plain_name(name)
    if description:
        text += ": " + description
    if values:
        text += " (" + ", ".join(str(value) for value in values[:8]) + ")"
    return text


@dataclass
class Slot:
    name: str
    texts: list  # label texts; the first is the full one
    kind: str  # text, number, date ...
    values: list = field(default_factory=list)  # values said for it, for swaps


@dataclass
class Row:
    """An utterance: pieces of text, each with (function, slot) or None. Values that are taken back have no mark."""

    module: str
    functions: list
    kind: str
    asked: list
    pieces: list

    @property
    def text(self):
        return "".join(text for text, _ in self.pieces)

    def spans(self):
        """[(function, slot, start, end)] in characters."""
        found, position = [], 0
        for text, mark in self.pieces:
            if mark:
                found.append((*mark, position, position + len(text)))
            position += len(text)
        return found


@dataclass
class Module:
    name: str
    labels: dict  # function -> label texts, the first is the full one
    slots: dict  # function -> {name: Slot}
    rows: list
    descriptions: dict = field(default_factory=dict)  # function -> its description


def texts_of(name, description, values=()):
    full = label_text(name, description, values)
    return list(dict.fromkeys([full, label_text(name, description), label_text(name, values=values), label_text(name)]))


def read_row(module, line):
    record = json.loads(line)
    named = record.get("function")
    several = isinstance(named, list)
    functions = named if several else [named] if named else []
    pieces, position = [], 0
    for match in MARK.finditer(record["text"]):
        pieces.append((record["text"][position : match.start()], None))
        value, slot = match.groups()
        mark = None
        if slot[0] not in "!-":
            mark = tuple(slot.split(".", 1)) if several else (functions[0], slot)
            if mark[1][0] in "!-":
                mark = None
        pieces.append((value, mark))
        position = match.end()
    pieces.append((record["text"][position:], None))
    return Row(module, functions, record.get("kind", ""), record.get("asked", []), [p for p in pieces if p[0]])


def read_module(folder):
    folder = Path(folder)
    labels, slots, descriptions = {}, {}, {}
    for function in json.loads((folder / "schema.json").read_text(encoding="utf-8")):
        labels[function["name"]] = texts_of(function["name"], function.get("description", ""))
        if function.get("description"):
            descriptions[function["name"]] = function["description"]
        slots[function["name"]] = {
            name: Slot(
                name, texts_of(name, slot.get("description", ""), slot.get("enum", ())), slot.get("type", "text")
            )
            for name, slot in function["slots"].items()
        }
    lines = (folder / "utterances.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [read_row(folder.name, line) for line in lines if line.strip()]
    for row in rows:
        for text, mark in row.pieces:
            if mark:
                slots[mark[0]][mark[1]].values.append(text)
    return Module(folder.name, labels, slots, rows, descriptions)


def read_corpus(folder):
    """{name: Module} of every module in a folder."""
    return {path.parent.name: read_module(path.parent) for path in sorted(Path(folder).glob("*/utterances.jsonl"))}


def split(corpus):
    """(train, development, last) of a corpus, by module."""
    train = [module for name, module in corpus.items() if name not in UNSEEN]
    return train, [corpus[name] for name in DEVELOPMENT], [corpus[name] for name in LAST]


def word_spans(marked, borders):
    """Marks in characters as [(function, slot, first, last)] in words; marks that touch no word are left out."""
    found = []
    for function, slot, start, end in marked:
        inside = [i for i, (left, right) in enumerate(borders) if left < end and right > start]
        if inside and inside[-1] - inside[0] < SPAN_WORDS:
            found.append((function, slot, inside[0], inside[-1]))
    return found


def open_session(path, threads=1):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(
        path if isinstance(path, bytes) else str(path), options, providers=["CPUExecutionProvider"]
    )


def pooling(offsets, borders):
    """[words, tokens]: each word is the mean of the tokens that overlap it; a word without a token is zero."""
    weights = np.zeros((len(borders), len(offsets)), np.float32)
    for token, (start, end) in enumerate(offsets):
        if start < end:
            for word, (left, right) in enumerate(borders):
                if start < right and left < end:
                    weights[word, token] = 1
    return weights / np.maximum(weights.sum(1, keepdims=True), 1)


class Encoder:
    """The encoder as the service runs it: 8-bit ONNX, one text at a time."""

    def __init__(self, folder, model=None):
        self.tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.no_padding()
        self.session = open_session(model or Path(folder) / "model.onnx")
        self.vectors = {}

    def states(self, text):
        """(offsets in characters, states [tokens, 384])."""
        encoding = self.tokenizer.encode(text)
        ids = np.array([encoding.ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return encoding.offsets, self.session.run(None, feed)[0][0]

    def vector(self, text):
        """The sentence vector, of length 1."""
        if text not in self.vectors:
            mean = self.states(text)[1].mean(0)
            self.vectors[text] = (mean / np.linalg.norm(mean)).astype(np.float32)
        return self.vectors[text]

    def read_with(self, text, labels):
        """(states of the words, vectors of the labels), read in one pass: the labels stand behind the utterance, as tokens of
        the second type."""
        encoding = self.tokenizer.encode(text)
        most = min(len(encoding.ids), JOINT_TOKENS)
        ids, offsets = [*encoding.ids[: most - 1], END], [*encoding.offsets[: most - 1], (0, 0)]
        ends = [len(ids)]
        for label in labels:
            behind = self.tokenizer.encode(label, add_special_tokens=False).ids[:LABEL_TOKENS]
            ids += [*behind, END][: MOST_TOKENS - len(ids)]
            ends.append(len(ids))
        ids = np.array([ids], np.int64)
        kinds = (np.arange(ids.shape[1])[None] >= ends[0]).astype(np.int64)
        states = self.session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": kinds})[0][0]
        means = np.stack([states[a:b].mean(0) if a < b else np.zeros(WIDTH, np.float32) for a, b in zip(ends, ends[1:])])
        vectors = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
        return pooling(offsets, words(text)) @ states[: len(offsets)], vectors

    def read(self, text):
        """(borders of the words, their states, the sentence vector)."""
        borders = words(text)
        offsets, states = self.states(text)
        mean = states.mean(0)
        return borders, pooling(offsets, borders) @ states, mean / np.linalg.norm(mean)


def _open(folder):
    global opened
    opened = Encoder(folder)


def _read(text):
    _, states, vector = opened.read(text)
    return states.astype(np.float16), vector.astype(np.float32)


def _vector(text):
    return opened.vector(text)


def read_all(folder, texts, processes=None, wants_states=False):
    """{text: (states of its words, sentence vector)}, or {text: sentence vector}, by one process for each core."""
    wanted = list(dict.fromkeys(texts))
    # A fork would inherit the locks of the threads that the libraries have started.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes or os.cpu_count(), context, _open, (folder,)) as pool:
        return dict(zip(wanted, pool.map(_read if wants_states else _vector, wanted, chunksize=64)))


@dataclass
class Reading:
    """The head's outputs for one utterance and the slots of one function."""

    starts: np.ndarray  # [words, k]
    ends: np.ndarray  # [words, k]
    widths: np.ndarray  # [SPAN_WORDS, k]
    slots: np.ndarray  # [labels, k]
    biases: np.ndarray  # [labels]

    def pairs(self):
        """(first, last) of every span."""
        count = len(self.starts)
        first = np.repeat(np.arange(count), [min(SPAN_WORDS, count - i) for i in range(count)])
        offset = np.concatenate([np.arange(min(SPAN_WORDS, count - i)) for i in range(count)]) if count else first
        return first, first + offset

    def features(self):
        """[spans, k]: max(0, start of the first word + end of the last one + width)."""
        first, last = self.pairs()
        return np.maximum(0, self.starts[first] + self.ends[last] + self.widths[last - first])

    def scores(self, corrections=None):
        """[labels, spans]; `corrections` [labels, k + 1] come from adapt()."""
        slots, biases = self.slots, self.biases
        if corrections is not None:
            slots, biases = slots + corrections[:, :-1], biases + corrections[:, -1]
        return slots @ self.features().T + biases[:, None]


class Head:
    def __init__(self, path):
        self.session = open_session(path)

    def read(self, states, labels, kinds):
        """`states` [words, 384], `labels` [m, 384], `kinds` [m] of SLOT, ASKED and FUNCTION."""
        feed = {
            "words": states[None].astype(np.float32),
            "labels": np.asarray(labels, np.float32)[None],
            "kinds": np.asarray(kinds, np.int64)[None],
        }
        starts, ends, widths, slots, biases = self.session.run(["starts", "ends", "widths", "slots", "biases"], feed)
        return Reading(starts[0], ends[0], widths, slots[0], biases[0])


def decode(scores, pairs, kinds, threshold=0.0):
    """Spans of a reading, best first: [(label, first, last, score)]. No two overlap; only a list takes several."""
    label, span = np.nonzero(scores > threshold)
    order = np.argsort(-scores[label, span], kind="stable")
    taken, filled, found = set(), set(), []
    for index in order:
        which, first, last = label[index], pairs[0][span[index]], pairs[1][span[index]]
        inside = range(first, last + 1)
        if (which in filled and kinds[which] != "list") or any(word in taken for word in inside):
            continue
        filled.add(which)
        taken.update(inside)
        found.append((int(which), int(first), int(last), float(scores[which, span[index]])))
    return found


ADAPT_STEPS, ADAPT_RATE, ADAPT_DECAY, ADAPT_FLOOR = 60, 0.05, 0.5, -8.0


def adapt(readings, targets, labels):
    """Corrections [labels, k + 1] to the slots' output vectors, from a module's own exemplars.

    `readings` come from one function's exemplars, all with the same labels; `targets` [labels, spans] are 1 where a
    span fills a slot. Each slot is a logistic regression on the features of spans: Adam on the sum of the cross-entropy
    and of ADAPT_DECAY * |correction|^2. Spans that score below ADAPT_FLOOR and fill nothing are left out.
    """
    width = readings[0].starts.shape[1]
    corrections = np.zeros((labels, width + 1), np.float32)
    features = [reading.features() for reading in readings]
    for slot in range(labels):
        rows, base, wanted = [], [], []
        for reading, feature, target in zip(readings, features, targets):
            score = feature @ reading.slots[slot] + reading.biases[slot]
            kept = (score > ADAPT_FLOOR) | (target[slot] > 0)
            rows.append(feature[kept]), base.append(score[kept]), wanted.append(target[slot][kept])
        rows, base, wanted = np.concatenate(rows), np.concatenate(base), np.concatenate(wanted)
        if not len(rows):
            continue
        rows = np.concatenate([rows, np.ones((len(rows), 1), np.float32)], 1)
        correction, first, second = np.zeros((3, width + 1), np.float32)
        for step in range(1, ADAPT_STEPS + 1):
            error = 1 / (1 + np.exp(-np.clip(base + rows @ correction, -30, 30))) - wanted
            gradient = rows.T @ error + 2 * ADAPT_DECAY * correction
            first = 0.9 * first + 0.1 * gradient
            second = 0.99 * second + 0.01 * gradient**2
            scaled = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
            correction = correction - ADAPT_RATE * scaled
        corrections[slot] = correction
    return corrections


def question(function_texts, slots, asked=(), choose=lambda texts: texts[0]):
    """(label texts, kinds of input, slots) of one function: its own label first, then its slots."""
    listed = list(slots)[: MAX_LABELS - 1]
    texts = [choose(function_texts)] + [choose(slot.texts) for slot in listed]
    kinds = [FUNCTION] + [ASKED if slot.name in asked else SLOT for slot in listed]
    return texts, kinds, listed


def augment(row, slots_of, chance=random):
    """The row with values of the same slot swapped in, or without punctuation."""
    pieces = row.pieces
    if chance.random() < 0.4:
        pieces = [
            (chance.choice(slots_of(row.module)[mark[0]][mark[1]].values), mark)
            if mark and chance.random() < 0.5
            else (text, mark)
            for text, mark in pieces
        ]
    if chance.random() < 0.2:
        pieces = [(text if mark else re.sub(r"[,.!?;]", "", text), mark) for text, mark in pieces]
        pieces = [piece for piece in pieces if piece[0]]
    return row if pieces is row.pieces else Row(row.module, row.functions, row.kind, row.asked, pieces)


def targets_of(row, reading, slots):
    """Which spans of a reading fill which of its slots: [slots + 1, spans], the first row for the function."""
    first, last = reading.pairs()
    targets = np.zeros((len(slots) + 1, len(first)), np.float32)
    for _, name, left, right in word_spans(row.spans(), words(row.text)):
        for index, slot in enumerate(slots, 1):
            if slot.name == name:
                targets[index, (first == left) & (last == right)] = 1
    return targets
