#!/usr/bin/env python3
"""Fit models/reader/acts.json, turns.json and consents.json: what an utterance does, by its sentence vector and its words:
alone, beside an open form, and as the reply to a confirmation.

    venv/bin/python scripts/acts.py                   # from all modules of models/reader/data
    venv/bin/python scripts/acts.py --only turns      # one of the three
    venv/bin/python scripts/acts.py --folds DIR       # also one folder for each held-out part of the modules
    venv/bin/python scripts/acts.py --folds DIR --folds-only

Multinomial logistic regression; n-grams of words are hashed into places. With --folds, each folder has
the reader with acts that were fitted without a sixth of the modules, and a file `modules` that names these. So models that are
fitted on top of the acts (scripts/decision) see acts as good as on a new module.
"""

import argparse
import functools
import json
import re
import shutil
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import reader
from joblib import Parallel, delayed
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

ACTS = ("request", "question", "other", "reply", "decline")
ACT_OF_KIND = {
    "status-question": "question", "out-of-scope": "other", "reply": "reply", "decline": "decline",
    "plain": "request", "terse": "request", "chatty": "request", "free-text": "request", "typo": "request",
    "indirect": "request", "multi": "request", "correction": "request", "negation": "request", "opening": "request",
}  # fmt: skip
# From this share of questions on, a function answers questions: "is anybody on call?" is a request and a question.
ANSWERS = 0.3
# What a turn of a written conversation does to the open form, by the names in turns.jsonl. Turns that agree, deny
# or give up have no further effect on it.
EFFECTS = ("tells", "declines", "elsewhere", "nothing")
EFFECT_OF = {
    "answer": "tells", "add": "tells", "correct": "tells", "decline": "declines", "request": "elsewhere",
    "aside": "nothing", "thanks": "nothing", "yes": "nothing", "no": "nothing", "cancel": "nothing",
}  # fmt: skip
# Whether the reply to a confirmation agrees, and says nothing else.
CONSENTS = ("else", "consents")
# A word is one of those who agree if at least this share of the replies that hold it agree.
SAID_BY = 0.3
# How much is meant: "yes, all of it" is nearly "yes, all of it is right", so these words are none of consent.
AMOUNTS = set(
    "less more all everything everyone both half double rest few some only "
    "weniger mehr alle alles beide beides halb hälfte rest nur etwas "
    "menos más todo toda todos todas ambos ambas mitad doble resto solo sólo algo "
    "moins plus tout toute tous toutes deux moitié double reste seulement "
    "全 部 半 倍 残 減 増 少 多 両"
    .split()
)  # fmt: skip
# How strongly the weights follow the data: the inverse of the penalty.
OF_ACTS, OF_TURNS, OF_CONSENTS = 30, 3, 30
PARTS = 6
# Places of n-grams; a weight is written as a whole number of up to 127 times the scale.
WIDTH, MOST = 1 << 14, 127
READ = 1000
MARKED = re.compile(r"\[([^\[\]]+)\]\([^()]+\)")
TOKENS = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W\d_\u3040-\u30ff\u4e00-\u9fff]+|\d+|[^\w\s]")


def is_asked(row):
    return row.text.rstrip().endswith(("?", "？"))


def answering(rows):
    """The functions that answer questions."""
    said, asked = Counter(), Counter()
    for row in rows:
        if len(row.functions) == 1 and ACT_OF_KIND.get(row.kind) == "request":
            said[row.functions[0]] += 1
            asked[row.functions[0]] += is_asked(row)
    return {function for function in said if asked[function] >= ANSWERS * said[function]}


def act_of(row, answering):
    """What an utterance does; None if its kind does not say so."""
    if len(row.functions) == 1 and row.functions[0] in answering and ACT_OF_KIND.get(row.kind) == "request":
        return "question" if is_asked(row) else None
    if row.kind in ("near-miss", "opening") and not row.functions:
        return "question" if is_asked(row) else "other"
    return "request" if row.kind == "near-miss" else ACT_OF_KIND.get(row.kind)


@functools.cache
def place(ngram):
    """FNV-1a in 32 bits, as in src/embed/acts/ngrams.rs."""
    found = 0x811C9DC5
    for byte in ngram.encode():
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    return found % WIDTH


def ngrams(text):
    words = ["0" if word[0].isdigit() else word for word in TOKENS.findall(text[:READ].lower())]
    if not words:
        return []
    run = f" {' '.join(words)} "
    found = [f"w:{word}" for word in words] + [f"b:{one}_{next_}" for one, next_ in zip(words, words[1:])]
    found += ["^" + "_".join(words[:length]) for length in range(1, min(3, len(words)) + 1)] + ["$" + words[-1]]
    return found + [f"c:{run[at : at + length]}" for length in (3, 4) for at in range(len(run) - length + 1)]


def places(texts):
    """A row for each text: the shares of the places, as a vector of length 1."""
    ends, columns, values = [0], [], []
    for text in texts:
        counts = Counter(map(place, ngrams(text)))
        length = np.sqrt(sum(count * count for count in counts.values()))
        columns += counts.keys()
        values += [count / length for count in counts.values()]
        ends.append(len(columns))
    return csr_matrix((values, columns, ends), shape=(len(texts), WIDTH))


def said(data):
    """(module, text, turn) of the turns of all written conversations."""
    for path in sorted(data.glob("*/turns.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            for turn in json.loads(line)["turns"]:
                yield path.parent.name, MARKED.sub(r"\1", turn["user"]), turn


def turns(data):
    """(module, text, effect) of the turns that have an effect on an open form."""
    return [(name, text, EFFECT_OF[turn["does"]]) for name, text, turn in said(data) if turn["does"] in EFFECT_OF]


def replies(data):
    """(module or action, text, values that were read out, consents or else) of the replies to confirmations: those of the
    conversations, and those of consents.jsonl."""
    for name, text, turn in said(data):
        if "confirms" in (turn.get("assistant") or {}):
            yield name, text, [], CONSENTS[turn["does"] == "yes"]
    for line in (data / "consents.jsonl").read_text(encoding="utf-8").splitlines():
        reply = json.loads(line)
        yield reply["question"], reply["text"], reply["values"], CONSENTS[reply["consent"]]


def explained():
    """The words that agree or say nothing by the lists of the language packs."""
    found = set()
    for path in (reader.ROOT / "src" / "language").glob("*/replies.toml"):
        pack = tomllib.loads(path.read_text(encoding="utf-8"))
        for phrase in [*pack["glue"], *pack["words"].get("yes", []), *pack["words"].get("weak_yes", [])]:
            found.update(TOKENS.findall(phrase.lower()))
    return found


def words_of_consent(replies):
    """The words of those who agree, without numbers and what was read out. No reply that says something else has these words
    alone, beside those that are explained: the one that is said least by those who agree is left out."""
    agrees, all_, others = Counter(), Counter(), []
    for _, text, values, does in replies:
        text = text.lower()
        for value in sorted(values, key=len, reverse=True):
            text = text.replace(value.lower(), " ")
        said = {word for word in TOKENS.findall(text) if not word[0].isdigit()}
        all_.update(said)
        if does == "consents":
            agrees.update(said)
        elif not any(character.isdigit() for character in text):
            others.append(said)
    share = {word: agrees[word] / all_[word] for word in agrees}
    words, known = {word for word in share.keys() - AMOUNTS if share[word] >= SAID_BY}, explained()
    for said in others:
        telling = {word for word in said - known if word[0].isalpha()}
        if telling and telling <= words:
            words.remove(min(sorted(telling), key=share.__getitem__))
    return sorted(words)


def fit(vectors, shares, wanted, names, strength):
    inputs = hstack([csr_matrix(vectors), shares]).tocsr()
    fitted = LogisticRegression(C=strength, max_iter=500).fit(inputs, wanted)
    of_vector, of_places = np.split(fitted.coef_, [vectors.shape[1]], axis=1)
    if len(names) == 2:  # one row, for the second against the first
        of_vector, of_places = (np.vstack([0 * of, of]) for of in (of_vector, of_places))
        fitted.intercept_ = np.array([0, *fitted.intercept_])
    scale = float(np.abs(of_places).max() / MOST)
    round_ = lambda values: [round(float(value), 5) for value in values]
    return {
        "acts": list(names),
        "weights": [round_(row) for row in of_vector],
        "biases": round_(fitted.intercept_),
        "ngrams": {"scale": round(scale, 6), "weights": [[round(weight / scale) for weight in row] for row in of_places]},
    }


def write(acts, path):
    path.write_text(json.dumps(acts, separators=(",", ":")) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=reader.ROOT / "models" / "reader" / "data")
    parser.add_argument("--encoder", type=Path, default=reader.ROOT / "models" / "uptake-encoder")
    parser.add_argument("--reader", type=Path, default=reader.ROOT / "models" / "reader")
    parser.add_argument("--folds", type=Path)
    parser.add_argument("--folds-only", action="store_true", help="keep the files of --reader")
    parser.add_argument("--only", choices=["acts", "turns", "consents"], help="keep the other files as they are")
    parser.add_argument("--processes", type=int, help="[one for each core]")
    arguments = parser.parse_args()
    modules = reader.read_corpus(arguments.data)
    rows_of = {}
    if arguments.only in (None, "acts"):
        rows = []
        for name, module in sorted(modules.items()):
            functions = answering(module.rows)
            acts = [(name, row.text, act_of(row, functions)) for row in module.rows]
            rows += [one for one in acts if one[2]]
        rows_of["acts.json"] = (ACTS, OF_ACTS, rows)
    if arguments.only in (None, "turns"):
        rows_of["turns.json"] = (EFFECTS, OF_TURNS, turns(arguments.data))
    if arguments.only in (None, "consents"):
        agreed = list(replies(arguments.data))
        rows_of["consents.json"] = (CONSENTS, OF_CONSENTS, [(of, text, does) for of, text, _, does in agreed])
    parts = [] if arguments.folds is None else [set(sorted(modules)[part::PARTS]) for part in range(PARTS)]
    for part, left_out in enumerate(parts):
        folder = arguments.folds / str(part)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("head.onnx", "acts.json", "turns.json", "consents.json"):
            shutil.copyfile(arguments.reader / name, folder / name)
        (folder / "modules").write_text("\n".join(sorted(left_out)) + "\n")
    texts = [text for *_, rows in rows_of.values() for _, text, _ in rows]
    vector_of, jobs = reader.read_all(arguments.encoder, texts, arguments.processes), []
    for file, (names, strength, rows) in rows_of.items():
        vectors = np.stack([vector_of[text] for _, text, _ in rows])
        shares = places([text for _, text, _ in rows])
        wanted = np.array([names.index(act) for *_, act in rows])
        for part, left_out in enumerate(parts):
            kept = np.array([name not in left_out for name, *_ in rows])
            jobs.append((arguments.folds / str(part) / file, vectors[kept], shares[kept], wanted[kept], names, strength))
        if not arguments.folds_only:
            jobs.append((arguments.reader / file, vectors, shares, wanted, names, strength))
    fitted = Parallel(arguments.processes or -1)(delayed(fit)(*job) for _, *job in jobs)
    for (path, *_), acts in zip(jobs, fitted):
        write({"odds": acts, "words": words_of_consent(agreed)} if path.name == "consents.json" else acts, path)


if __name__ == "__main__":
    main()
