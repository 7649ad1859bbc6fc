"""The reader's network: in torch, to train it, and as the ONNX graph that the service runs.

Both consist of the layers of the sentence encoder (BERT's), so the graph uses the parts of its script.
"""

import importlib.util
import json
from pathlib import Path

import acts
import base_encoder
import numpy as np
import torch
from onnx import load as onnx_load
from onnx.numpy_helper import to_array
from reader import ROOT, SPAN_WORDS, WIDTH, WORD
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel
from transformers.models.bert.modeling_bert import BertEncoder

BUNDLED = ROOT / "models" / "all-MiniLM-L6-v2"
OUTPUT = 128  # width of a span's and of a slot's output vector
LAYERS = 2
FORMS = ("late", "joint")
# Parameters that are never trained: the corpus does not contain most words of the table.
AS_PUBLISHED = ("encoder.embeddings.word_embeddings.", "encoder.embeddings.position_embeddings.")
ACT_SCALE = LABEL_SCALE = 20.0  # unit vectors become about as large as states


class HeadNetwork(nn.Module):
    """Labels and words in one sequence, two layers of the encoder's shape, then the vectors of spans and of slots."""

    def __init__(self, encoder, dropout=0.0):
        super().__init__()
        config = type(encoder.config).from_dict(encoder.config.to_dict())
        config.num_hidden_layers, config._attn_implementation = LAYERS, "eager"
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
        self.layers = BertEncoder(config)
        for own, published in zip(self.layers.layer, encoder.encoder.layer[-LAYERS:]):
            own.load_state_dict(published.state_dict())
        self.of_label, self.of_word = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        for layer in (self.of_label, self.of_word):
            nn.init.eye_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.kind = nn.Parameter(torch.randn(4, WIDTH) * 0.1)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.start, self.end = nn.Linear(WIDTH, OUTPUT), nn.Linear(WIDTH, OUTPUT)
        self.width = nn.Parameter(torch.randn(SPAN_WORDS, OUTPUT) * 0.1)
        self.hidden, self.slot = nn.Linear(2 * WIDTH, WIDTH), nn.Linear(WIDTH, OUTPUT)
        self.bias = nn.Linear(WIDTH, 1)
        nn.init.constant_(self.bias.bias, -4.0)

    def vectors(self, words, word_mask, labels, label_mask, kinds):
        """(starts and ends of the words, slots and biases of the labels) [batch, ...], as the graph gives them."""
        count = labels.shape[1]
        scaled = labels * LABEL_SCALE
        joined = torch.cat([self.of_label(scaled) + self.kind[kinds], self.of_word(words) + self.kind[WORD]], 1)
        mask = torch.cat([label_mask, word_mask], 1)
        seen = self.layers(self.norm(joined), attention_mask=(~mask)[:, None, None, :] * -1e4).last_hidden_state
        of_labels, of_words = seen[:, :count], seen[:, count:]
        hidden = functional.gelu(self.hidden(torch.cat([of_labels, scaled], 2)))
        return self.start(of_words), self.end(of_words), self.slot(hidden), self.bias(hidden)[:, :, 0]

    def forward(self, words, word_mask, labels, label_mask, kinds):
        """(scores [batch, labels, words, SPAN_WORDS] of the spans, which of them are there, whether the utterance is about
        the first label, which is the function's)."""
        start, end, slots, biases = self.vectors(words, word_mask, labels, label_mask, kinds)
        length = words.shape[1]
        last = torch.arange(length, device=words.device)[:, None] + torch.arange(SPAN_WORDS, device=words.device)[None]
        within = last.clamp(max=length - 1)
        there = (last < length)[None] & word_mask[:, :, None] & word_mask[:, within]
        spans = functional.relu(start[:, :, None] + end[:, within] + self.width)
        scores = torch.einsum("bnwk,bmk->bmnw", spans, slots) + biases[:, :, None, None]
        return scores, there, biases[:, 0]


class Form(nn.Module):
    """The heads on the states of one form of a question: the reader's, and that for what the utterance does, by its sentence vector."""

    def __init__(self, encoder, dropout):
        super().__init__()
        self.head = HeadNetwork(encoder, dropout)
        self.acts, self.effects = nn.Linear(WIDTH, len(acts.ACTS)), nn.Linear(WIDTH, len(acts.EFFECTS))

    def deeds(self, vectors):
        """(scores of acts, of effects) of sentence vectors."""
        return self.acts(vectors * ACT_SCALE), self.effects(vectors * ACT_SCALE)


class Network(nn.Module):
    """The encoder and its heads, with labels as vectors ("late"), or in one pass with the words ("joint")."""

    def __init__(self, base, dropout=0.0):
        super().__init__()
        self.encoder = load_encoder(base, dropout)
        self.forms = nn.ModuleDict({form: Form(self.encoder, dropout) for form in FORMS})

    def trained(self):
        """{name: tensor} of the trained parameters; the others are the base's."""
        return {name: value for name, value in self.state_dict().items() if not name.startswith(AS_PUBLISHED)}

    def read(self, path):
        """Loads the weights of a training from a file, or those of the service from a folder like models/."""
        path = Path(path)
        served = path.is_dir()
        found = served_weights(path) if served else {name: value.float() for name, value in load_file(str(path)).items()}
        missing = self.load_state_dict(found, strict=False)
        unserved = ("forms.joint.", "forms.late.acts.", "forms.late.effects.") if served else ()
        assert not missing.unexpected_keys and all(name.startswith(AS_PUBLISHED + unserved) for name in missing.missing_keys)
        return self.eval()


def served_weights(folder):
    """{name: tensor} of encoder and late head from the graphs that the service runs, whose weights have 8 bits."""
    found = {}
    for path, prefix in (("uptake-encoder/model.onnx", "encoder."), ("reader/head.onnx", "forms.late.head.")):
        held = {one.name: to_array(one) for one in onnx_load(str(folder / path)).graph.initializer if one.name != "words"}
        for name, value in held.items():
            if name.endswith(".bias") and f"{name[:-5]}.scale" in held:
                name, bias = name[:-5], value
                codes = held[name].astype(np.float32) - 128
                weight = (codes * held[f"{name}.scale"].reshape(*codes.shape[:2], 1)).reshape(len(bias), -1)
                parts = [f"{name}.{part}" for part in ("query", "key", "value")] if name.endswith(".self") else [name]
                for part, rows, biases in zip(parts, np.split(weight, len(parts)), np.split(bias, len(parts))):
                    found[f"{prefix}{part}.weight"], found[f"{prefix}{part}.bias"] = rows, biases
            elif ".LayerNorm." in name or name in ("norm.weight", "norm.bias", "kind", "width"):
                found[prefix + name] = value
            elif name in ("slot.bias", "bias.bias"):  # kept in 32 bits
                found[f"{prefix}{name[:-5]}.weight"], found[prefix + name] = held[name[:-5]].T, value
            elif name == "kinds":
                found[prefix + "embeddings.token_type_embeddings.weight"] = value
    return {name: torch.from_numpy(np.array(value, np.float32)) for name, value in found.items()}


def load_encoder(base, dropout=0.0):
    """An encoder of a folder: base_encoder.py's, or any BERT in the format of transformers."""
    base = Path(base)
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    config |= {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    encoder = BertModel(BertConfig(**config), add_pooling_layer=False)
    if (base / "base.safetensors").exists():
        weights = {name: torch.from_numpy(value) for name, value in base_encoder.load(base).items()}
    else:
        weights = load_file(str(base / "model.safetensors"))
        known = encoder.state_dict()
        weights = {name: value for name, value in weights.items() if name in known}
    encoder.load_state_dict(weights)
    return encoder


def sentence_vectors(states, mask):
    return functional.normalize((states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True), dim=1)


class Asked:
    """The encoder's outputs for a batch of questions: the inputs of the head, and sentence vectors."""

    def __init__(self, network, batch, label_vectors=None):
        """`label_vectors` [batch, labels, WIDTH] for the late form."""
        size, length = batch["ids"].shape
        self.form = network.forms["joint" if batch["joint"] else "late"]
        states = network.encoder(
            input_ids=batch["ids"], attention_mask=batch["mask"], token_type_ids=batch["types"]
        ).last_hidden_state.float()
        self.vectors = sentence_vectors(states, (batch["mask"] * (batch["types"] == 0)).float())
        weights = states.new_zeros(size, max(1, int(batch["words"].max())), length)
        weights[tuple(batch["pooled"].T)] = 1
        words = weights / weights.sum(2, keepdim=True).clamp(min=1) @ states
        word_mask = torch.arange(words.shape[1], device=words.device) < batch["words"][:, None]
        there = batch["labels"] >= 0
        if batch["joint"]:
            at, label, first, end = batch["pools"].T
            tokens = torch.arange(length, device=words.device)
            weights = states.new_zeros(size, there.shape[1], length)
            weights[at, label] = ((tokens >= first[:, None]) & (tokens < end[:, None])).float() / (end - first)[:, None]
            label_vectors = functional.normalize(weights @ states, dim=2)
        self.inputs = words, word_mask, label_vectors, there, batch["kinds"]


def make_script():
    """The script that writes the encoder's graph; the head uses its parts."""
    spec = importlib.util.spec_from_file_location("make", BUNDLED / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    return make


def head_graph(head, make):
    """The head as ONNX bytes, its large matrices in 8 bits as the encoder's are."""
    from onnx import TensorProto, checker, helper

    weights = {name: value.detach().float().numpy() for name, value in head.state_dict().items()}
    graph, exact = make.Graph("int8-block64"), make.Graph("fp32")
    exact.nodes, exact.constants = graph.nodes, graph.constants
    node, constant = graph.node, graph.constant

    def dense(x, name, kept=graph):
        return kept.linear(x, name, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def norm(name):
        return [constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")]

    scaled = node("Mul", "labels", constant("label_scale", np.float32(LABEL_SCALE)))
    label_kinds = node("Gather", constant("kind", weights["kind"]), "kinds")
    of_labels = node("Add", dense(scaled, "of_label"), label_kinds)
    of_words = node("Add", dense("words", "of_word"), constant("kind_of_word", weights["kind"][WORD]))
    x = node("Concat", of_labels, of_words, axis=1)
    x = node("LayerNormalization", x, *norm("norm"), epsilon=make.EPSILON)
    for layer in range(LAYERS):
        prefix = f"layers.layer.{layer}."
        parts = [prefix + "attention.self." + part for part in ("query", "key", "value")]
        # One product for query, key and value: x is quantised once.
        together = graph.linear(
            x,
            prefix + "attention.self",
            np.concatenate([weights[f"{part}.weight"] for part in parts]),
            np.concatenate([weights[f"{part}.bias"] for part in parts]),
        )
        query, key, value = node("Split", together, outputs=3, axis=-1, num_outputs=3)
        seen = node("MultiHeadAttention", query, key, value, domain=make.CONTRIB, num_heads=make.HEADS)
        seen = dense(seen, prefix + "attention.output.dense")
        x = node(
            "SkipLayerNormalization",
            seen,
            x,
            *norm(prefix + "attention.output.LayerNorm"),
            domain=make.CONTRIB,
            epsilon=make.EPSILON,
        )
        inner = dense(node("Gelu", dense(x, prefix + "intermediate.dense")), prefix + "output.dense")
        x = node(
            "SkipLayerNormalization",
            inner,
            x,
            *norm(prefix + "output.LayerNorm"),
            domain=make.CONTRIB,
            epsilon=make.EPSILON,
        )
    count = node("Shape", "labels", start=1, end=2)
    zero, far, axis = (
        constant("zero", np.array([0])),
        constant("far", np.array([2**31])),
        constant("axis", np.array([1])),
    )
    of_labels, of_words = node("Slice", x, zero, count, axis), node("Slice", x, count, far, axis)
    hidden = node("Gelu", dense(node("Concat", of_labels, scaled, axis=2), "hidden"))
    outputs = {
        "starts": dense(of_words, "start"),
        "ends": dense(of_words, "end"),
        "widths": constant("width", weights["width"]),
        "slots": dense(hidden, "slot", exact),
        "biases": node("Squeeze", dense(hidden, "bias", exact), constant("last_axis", np.array([-1]))),
    }
    for name, value in outputs.items():
        graph.nodes.append(helper.make_node("Identity", [value], [name], name=f"output_{name}"))
    number, kinds = TensorProto.FLOAT, TensorProto.INT64
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "reader",
            [
                helper.make_tensor_value_info("words", number, ["batch", "words", WIDTH]),
                helper.make_tensor_value_info("labels", number, ["batch", "labels", WIDTH]),
                helper.make_tensor_value_info("kinds", kinds, ["batch", "labels"]),
            ],
            [
                helper.make_tensor_value_info("starts", number, ["batch", "words", OUTPUT]),
                helper.make_tensor_value_info("ends", number, ["batch", "words", OUTPUT]),
                helper.make_tensor_value_info("widths", number, [SPAN_WORDS, OUTPUT]),
                helper.make_tensor_value_info("slots", number, ["batch", "labels", OUTPUT]),
                helper.make_tensor_value_info("biases", number, ["batch", "labels"]),
            ],
            list(graph.constants.values()),
        ),
        opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(make.CONTRIB, 1)],
        ir_version=10,
        producer_name="train-reader.py",
    )
    checker.check_model(model)
    return model.SerializeToString(deterministic=True)
