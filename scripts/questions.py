"""What the reader is trained on: utterances of the corpus with a question each, as arrays.

A question is one function with its slots, some left out, some of other modules added, and now and then a function that the
utterance does not mean. It is asked in one of two forms:

- late: the encoder reads the utterance alone; labels are sentence vectors, which the trainer looks up by their number;
- joint: the encoder reads the utterance and behind it, as a second type of token, the labels.

In either, the situation may stand behind the utterance: what the assistant just did, in plain labels. Batch N of a seed is
always the same, so that any process can make it, and a training that was cut off goes on where it was.
"""

import json
import random
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import acts
import numpy as np
import reader
from reader import END, JOINT_TOKENS, LABEL_TOKENS, MOST_TOKENS, SLOT, Module, Row, Slot
from tokenizers import Tokenizer

UTTERANCE, BEHIND = 0, 1  # types of tokens
SITUATION_TOKENS = 48
# How often: another function is asked for than the one that is meant; a text is written in small letters, or as speech
# recognition writes it.
ANOTHER, SMALL, SPOKEN = 0.25, 0.1, 0.1
# What people say while they think, by language; speech recognition writes it down.
PAUSES = {
    "en": ("uh", "um", "er", "you know"), "de": ("äh", "ähm", "also", "hm"), "es": ("eh", "este", "pues", "em"),
    "fr": ("euh", "ben", "hein", "alors"), "ja": ("えっと", "あの", "えー"),
}  # fmt: skip


@dataclass
class Item:
    row: Row
    situation: str = ""
    act: int = -1
    effect: int = -1
    alone: bool = False  # its words alone tell its function
    about: bool = True  # whether it is about its function can be told, at least with its situation


def language_of(name):
    return name[:2] if name[:3] in ("de_", "es_", "fr_", "ja_") else "en"


def situation_of(assistant):
    """What the assistant just did, as plain labels: "asks order print: document, copies"."""
    for does in ("asks", "confirms", "did"):
        of = (assistant or {}).get(does)
        if of:
            function, slots = (of["function"], of["slots"]) if does == "asks" else (of, [])
            return f"{does} {reader.plain_name(function)}" + (
                ": " + ", ".join(map(reader.plain_name, slots)) if slots else ""
            )
    return "lost" if assistant and "lost" in assistant else ""


def items_of(module):
    answering = acts.answering(module.rows)
    for row in module.rows:
        act = acts.act_of(row, answering)
        answers = row.kind in ("reply", "decline")
        situation = situation_of({"asks": {"function": row.functions[0], "slots": row.asked}}) if answers and row.functions else ""
        yield Item(row, situation, acts.ACTS.index(act) if act else -1, -1, len(row.functions) == 1 and not answers)


def turns_of(module, path):
    """The turns of a module's written conversations."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        for turn in json.loads(line)["turns"]:
            assistant = turn.get("assistant") or {}
            asked = assistant.get("asks", {}).get("slots", [])
            record = {"text": turn["user"], "function": turn.get("function"), "kind": turn["does"], "asked": asked}
            row = reader.read_row(module.name, json.dumps(record))
            known = all(mark is None or mark[1] in module.slots.get(mark[0], ()) for _, mark in row.pieces)
            if not known or not all(function in module.slots for function in row.functions):
                continue
            effect = acts.EFFECTS.index(acts.EFFECT_OF[turn["does"]]) if turn["does"] in acts.EFFECT_OF else -1
            opens = turn["does"] == "request"
            yield Item(row, situation_of(assistant), -1, effect, opens and len(row.functions) == 1, opens or bool(row.functions))


def dialogues_of(folder, share, seed):
    """(modules, items) of Schema-Guided Dialogue in a folder: `schemas.json` and `turns.jsonl`; a share of the turns."""
    modules, items = {}, []
    for name, service in json.loads((folder / "schemas.json").read_text(encoding="utf-8")).items():
        slots = {
            slot: Slot(slot, reader.texts_of(slot, of["description"][0], of["values"] if of["categorical"] else ()), "text")
            for slot, of in service["slots"].items()
        }
        intents = service["intents"]
        labels = {intent: reader.texts_of(intent, of["description"][0]) for intent, of in intents.items()}
        own = {intent: {slot: slots[slot] for slot in [*of["required"], *of["optional"]]} for intent, of in intents.items()}
        modules[name] = Module(name, labels, own, [], {intent: of["description"][0] for intent, of in intents.items()})
    chance = random.Random(seed)
    with (folder / "turns.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            if chance.random() >= share:
                continue
            turn = json.loads(line)
            module, intent, text = modules[turn["service"]], turn["active_intent"], turn["utterance"]
            slots = module.slots.get(intent)
            spans = [tuple(span) for span in turn["spans"]]
            for slot, surfaces, _ in turn["other_values"]:
                places = [text.lower().find(surface.lower()) for surface in surfaces]
                place = next(((at, at + len(s)) for at, s in zip(places, surfaces) if at >= 0), None)
                spans.append((slot, *place) if place else (slot, -1, -1))
            spans.sort(key=lambda span: span[1])
            clear = all(a[2] <= b[1] for a, b in zip(spans, spans[1:]))
            # What is marked for no slot of the intent, or was said in other words, would be taught as nothing.
            if slots is None or not clear or any(slot not in slots or start < 0 for slot, start, _ in spans):
                continue
            pieces, position = [], 0
            for slot, start, end in spans:
                pieces += [(text[position:start], None), (text[start:end], (intent, slot))]
                slots[slot].values.append(text[start:end])
                position = end
            pieces.append((text[position:], None))
            asked = [slot for slot in turn["asked"] if slot in slots]
            row = Row(module.name, [intent], "dialogue", asked, [piece for piece in pieces if piece[0]])
            situation = situation_of({"asks": {"function": intent, "slots": asked}}) if asked else ""
            items.append(Item(row, situation, -1, -1, turn["intent_stated"] == intent, bool(turn["intent_stated"])))
    return list(modules.values()), items


def small(pieces, chance):
    return [(text.lower(), mark) for text, mark in pieces]


def spoken(pieces, chance, language):
    """As speech recognition writes it: small letters, no marks between words, and what people say while they think."""
    made = []
    for text, mark in pieces:
        text = re.sub(r"[,.!?;:…()\"“”«»¿¡。、！？]+(?=\s|$)|(?<![^\s])[(\"“«¿¡]+", "", text.lower())
        if not mark and chance.random() < 0.3:
            gaps = [match.end() for match in re.finditer(r"\s+", text)] or ([0] if language == "ja" else [])
            if gaps:
                at = chance.choice(gaps)
                pause = chance.choice(PAUSES[language])
                text = text[:at] + pause + ("" if language == "ja" else " ") + text[at:]
        made.append((text, mark))
    return made


class Questions:
    """Batches by their number, as a data set for torch's DataLoader."""

    def __init__(self, base, modules, items, options):
        self.options = options
        self.tokenizer = Tokenizer.from_file(str(Path(base) / "tokenizer.json"))
        self.tokenizer.no_padding(), self.tokenizer.no_truncation()
        self.modules = {module.name: module for module in modules}
        self.place = {name: place for place, name in enumerate(sorted(self.modules))}
        self.items = items
        self.lengths = [len(item.row.text) for item in items]
        self.pool = [slot for module in modules for slots in module.slots.values() for slot in slots.values()]
        functions = {}
        self.functions = [
            functions.setdefault((item.row.module, item.row.functions[0]), len(functions)) if item.alone else -1 for item in items
        ]
        texts = {text for module in modules for of in module.labels.values() for text in of}
        texts |= {text for slot in self.pool for text in slot.texts}
        described = [(m.name, text, functions.get((m.name, name), -2)) for m in modules for name, text in m.descriptions.items()]
        self.texts = sorted(texts | {text for _, text, _ in described})
        self.number = {text: number for number, text in enumerate(self.texts)}
        # Functions that describe themselves: number of the text, of the module, of the function.
        self.described = np.array([(self.number[t], self.place[name], of) for name, t, of in described]).reshape(-1, 3)
        self.described_by = defaultdict(list)
        for name, text, _ in described:
            self.described_by[name].append(self.number[text])
        self.ids, self.plans = {}, {}
        self.steps_of_epoch = -(-len(items) // options.batch)

    def __len__(self):
        return self.options.steps

    def label_ids(self, text):
        if text not in self.ids:
            self.ids[text] = self.tokenizer.encode(text, add_special_tokens=False).ids[:LABEL_TOKENS]
        return self.ids[text]

    def plan(self, epoch):
        """The batches of an epoch: shuffled, each of items of about the same length."""
        if epoch not in self.plans:
            chance, size = random.Random(f"epoch {self.options.seed} {epoch}"), self.options.batch
            order = list(range(len(self.items)))
            chance.shuffle(order)
            batches = []
            for start in range(0, len(order), size * 20):
                part = sorted(order[start : start + size * 20], key=self.lengths.__getitem__)
                batches += [part[i : i + size] for i in range(0, len(part), size)]
            chance.shuffle(batches)
            self.plans = {epoch: batches}
        return self.plans[epoch]

    def varied(self, row, chance):
        """The row as somebody else would say or write it."""
        slots_of = lambda name: self.modules[name].slots
        row = reader.augment(row, slots_of, chance)
        way = chance.random()
        if way < SMALL:
            row = replace(row, pieces=small(row.pieces, chance))
        elif way < SMALL + SPOKEN:
            row = replace(row, pieces=[p for p in spoken(row.pieces, chance, language_of(row.module)) if p[0]])
        return row

    def question(self, row, spans, chance):
        """(function, label texts, kinds, targets [(label, first, last)], labels that do not count)."""
        module = self.modules[row.module]
        function = chance.choice(row.functions or list(module.slots))
        if chance.random() < ANOTHER:
            function = chance.choice(list(module.slots))
        own = [span for span in spans if span[0] == function]
        # Another function's slot of the same name may well be filled by these words: nobody marked it.
        unsure = {span[1] for span in spans if span[0] != function}
        named = {span[1] for span in own}
        slots = [slot for slot in module.slots[function].values() if slot.name in named or chance.random() < 0.85]
        slots += chance.choices(self.pool, k=chance.choice((0, 1, 2, 3)))
        chance.shuffle(slots)
        choose = lambda texts: texts[0] if chance.random() < 0.6 else chance.choice(texts)
        texts, kinds, slots = reader.question(module.labels[function], slots, row.asked, choose)
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
        return function, texts, kinds, targets, ignored

    def __getitem__(self, step):
        options = self.options
        chance = random.Random(f"step {options.seed} {step}")
        is_joint = chance.random() < options.joint
        batch = self.plan(step // self.steps_of_epoch)[step % self.steps_of_epoch]
        asked = []
        for at in batch:
            item = self.items[at]
            row = self.varied(item.row, chance)
            situation = item.situation if chance.random() < options.situation else ""
            borders = reader.words(row.text)
            asked.append((at, item, row, situation, borders, *self.question(row, reader.word_spans(row.spans(), borders), chance)))
        return self.arrays(asked, is_joint)

    def arrays(self, asked, is_joint):
        """The batch of [(place of the item, item, row, situation, borders, function, texts, kinds, targets, ignored)]."""
        size = len(asked)
        rows, types, pooled, pools, labels, targets = [], [], [], [], [], []
        kinds, counts = [], []
        about = np.full(size, -1, np.int64)
        meta = np.full((size, 5), -1, np.int64)  # item, module, function if it is told alone, act, effect
        for b, (at, item, row, situation, borders, function, texts, kind, wanted, ignored) in enumerate(asked):
            encoding = self.tokenizer.encode(row.text)
            ids, offsets = list(encoding.ids), encoding.offsets
            most = JOINT_TOKENS if is_joint else reader.MAX_TOKENS
            if len(ids) > most:
                ids, offsets = ids[: most - 1] + [END], [*offsets[: most - 1], (0, 0)]
            pooled += [(b, word, token) for word, token in overlaps(offsets, borders)]
            kind_of = [UTTERANCE] * len(ids)
            if situation:
                behind = self.tokenizer.encode(situation, add_special_tokens=False).ids[:SITUATION_TOKENS] + [END]
                ids += behind
                kind_of += [BEHIND] * len(behind)
            if is_joint:
                for label, text in enumerate(texts):
                    behind = [*self.label_ids(text), END][: MOST_TOKENS - len(ids)]
                    pools.append((b, label, len(ids), len(ids) + len(behind)))
                    ids += behind
                    kind_of += [BEHIND] * len(behind)
            rows.append(ids), types.append(kind_of)
            labels.append([self.number[text] for text in texts])
            kinds.append(kind), counts.append([label not in ignored for label in range(len(kind))])
            targets += [(b, label, first, last - first) for label, first, last in wanted]
            if item.about and (item.alone or situation or not row.functions):
                about[b] = function in row.functions
            meta[b] = at, self.place[row.module], -1 if situation or at < 0 else self.functions[at], item.act, item.effect
        described = {text for *_, row, _, _, _, _, _, _, _ in asked for text in self.described_by[row.module]}
        return {
            "joint": is_joint,
            "ids": padded(rows, 1), "types": padded(types, UTTERANCE), "mask": padded([[1] * len(row) for row in rows], 0),
            "words": np.array([len(borders) for *_, borders, _, _, _, _, _ in asked], np.int64),
            "pooled": np.array(pooled, np.int64).reshape(-1, 3), "pools": np.array(pools, np.int64).reshape(-1, 4),
            "labels": padded(labels, -1), "kinds": padded(kinds, 0), "counts": padded(counts, 0).astype(bool),
            "targets": np.array(targets, np.int64).reshape(-1, 4), "about": about, "meta": meta,
            "described": np.array(sorted(described), np.int64),
        }  # fmt: skip


def overlaps(offsets, borders):
    """(word, token) of each token that overlaps a word."""
    word = 0
    for token, (start, end) in enumerate(offsets):
        if start < end:
            while word < len(borders) and borders[word][1] <= start:
                word += 1
            at = word
            while at < len(borders) and borders[at][0] < end:
                yield at, token
                at += 1


def padded(rows, filler):
    made = np.full((len(rows), max(map(len, rows))), filler, np.int64)
    for row, values in zip(made, rows):
        row[: len(values)] = values
    return made
