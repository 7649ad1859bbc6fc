#!/usr/bin/env python3
"""Writes the common words of a language: scripts/common-words.py

Counts in how many utterances and turns of models/reader/data each word occurs, typos left out, and writes
src/language/LANGUAGE/common.txt: first frequent words, which a misspelt word may stand for, then an empty line, then other
known words. Each part is sorted, in lines of at most 120 characters. A word is written in its most frequent form
within a sentence.

Words of names, titles and other free-text values are known, but no misspelt word stands for one. A rare word
that differs in one letter from a frequent one is left out as an unmarked typo, unless the English
tokenizer of models/uptake-encoder has it; the tokenizer's words are known as well. If few utterances were counted, too many real
words are unknown, so no misspelt word stands for a frequent one.
"""
import collections
import json
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = re.compile(r"\[([^\[\]]+)\]\([!-]?([^()]+)\)")
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
APOSTROPHES = str.maketrans("", "", "'’")
# The beginning of a sentence.
INNER = re.compile(r"(?:^|[.!?:…¿¡])\W*\w+")
LANGUAGES = ["de", "en", "es", "fr"]
# Utterances with a frequent word, and utterances with a known word: a word that one writer used once may be a typo.
MANY, SEVERAL, FEW = 20, 2, 5
# From this many utterances on, nearly all words of a language are known.
ENOUGH = 10_000
# Shorter words are neither misspelt nor candidates for a misspelt word.
LETTERS = 3
# Values that people say in words of the language.
PLAIN = {"date", "time", "datetime", "duration", "number", "integer", "money", "boolean", "enum"}


def said(folder):
    for line in (folder / "utterances.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["kind"] != "typo":
            yield row["text"]
    turns = folder / "turns.jsonl"
    for line in turns.read_text().splitlines() if turns.exists() else []:
        yield from (turn["user"] for turn in json.loads(line)["turns"])


def words(text):
    return {word for word in WORD.findall(text) if len(word) >= LETTERS}


def edits(word):
    """All strings with one letter added, removed or replaced, or two neighbouring letters swapped."""
    splits = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    letters = "abcdefghijklmnopqrstuvwxyz"
    for left, right in splits:
        yield from (left + letter + right for letter in letters)
        if right:
            yield left + right[1:]
            yield from (left + letter + right[1:] for letter in letters)
        if len(right) > 1:
            yield left + right[1] + right[0] + right[2:]


def main():
    tokenizer = json.loads((ROOT / "models/uptake-encoder/tokenizer.json").read_text())
    known = set(tokenizer["model"]["vocab"])
    counts, outside, capitals = ({language: collections.Counter() for language in LANGUAGES} for _ in range(3))
    utterances = collections.Counter()
    for folder in sorted((ROOT / "models/reader/data").iterdir()):
        prefix = folder.name[:2] if folder.name[2:3] == "_" else "en"
        language = prefix if prefix in LANGUAGES else None if prefix == "ja" else "en"
        if not language or not (folder / "utterances.jsonl").exists():
            continue
        functions = json.loads((folder / "schema.json").read_text())
        plain = {name for f in functions for name, slot in f["slots"].items() if slot["type"] in PLAIN}
        for text in said(folder):
            utterances[language] += 1
            whole = MARK.sub(r"\1", text)
            counts[language].update(words(whole.lower()))
            free = MARK.sub(lambda mark: mark[1] if mark[2].rpartition(".")[2] in plain else "", text)
            outside[language].update(words(free.lower()))
            capitals[language].update(word.lower() for word in words(INNER.sub(" ", free)) if word[0].isupper())
    often = {word for word, times in outside["en"].items() if times >= MANY and len(word) > LETTERS}
    for word, times in list(counts["en"].items()):
        if times < FEW and len(word) > LETTERS and word not in known and not often.isdisjoint(edits(word)):
            del counts["en"][word]
    for language, count in counts.items():
        often = {word for word in count if word.isalpha() and outside[language][word] >= MANY}
        if utterances[language] < ENOUGH:
            often = set()
        seldom = {word.translate(APOSTROPHES) for word, times in count.items() if times >= SEVERAL}
        if language == "en":
            seldom |= {word for word in known if word.isalpha() and word.isascii() and len(word) > LETTERS}
        capital = {word for word in often if capitals[language][word] > outside[language][word] / 2}
        parts = [
            sorted((word.capitalize() if word in capital else word for word in often), key=str.lower),
            sorted(seldom - often),
        ]
        lines = [textwrap.fill(" ".join(part), 120, break_on_hyphens=False) for part in parts]
        (ROOT / "src/language" / language / "common.txt").write_text("\n\n".join(lines) + "\n")
        print(language, *map(len, parts), sorted(capital)[:60])


if __name__ == "__main__":
    main()
