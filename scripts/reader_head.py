"""The reader's network: in torch, to train it, and as the ONNX graph that the service runs.

Both are built of the layers of the sentence encoder (BERT's), so that the graph uses the parts of its script.
"""

import importlib.util

import numpy as np
import torch
from reader import ROOT, SPAN_WORDS, WIDTH, WORD
from torch import nn
from torch.nn import functional
from transformers.models.bert.modeling_bert import BertEncoder

BUNDLED = ROOT / "models" / "all-MiniLM-L6-v2"
OUTPUT = 128  # width of a span's and of a slot's output vector
LAYERS = 2
AS_PUBLISHED = "embeddings."  # what of the encoder is never trained
LABEL_SCALE = 20.0  # unit vectors become about as large as states


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

    def forward(self, words, word_mask, labels, label_mask, kinds):
        """Scores [batch, labels, words, SPAN_WORDS] of the spans, and which of them are there."""
        count = labels.shape[1]
        scaled = labels * LABEL_SCALE
        joined = torch.cat([self.of_label(scaled) + self.kind[kinds], self.of_word(words) + self.kind[WORD]], 1)
        mask = torch.cat([label_mask, word_mask], 1)
        seen = self.layers(self.norm(joined), attention_mask=(~mask)[:, None, None, :] * -1e4).last_hidden_state
        of_labels, of_words = seen[:, :count], seen[:, count:]
        start, end = self.start(of_words), self.end(of_words)
        length = words.shape[1]
        last = torch.arange(length)[:, None] + torch.arange(SPAN_WORDS)[None]
        there = (last < length)[None] & word_mask[:, :, None] & word_mask[:, last.clamp(max=length - 1)]
        spans = functional.relu(start[:, :, None] + end[:, last.clamp(max=length - 1)] + self.width)
        hidden = functional.gelu(self.hidden(torch.cat([of_labels, scaled], 2)))
        scores = torch.einsum("bnwk,bmk->bmnw", spans, self.slot(hidden)) + self.bias(hidden)[:, :, None]
        return scores, there


def make_script():
    """The script that writes the encoder's graph; the head uses its parts."""
    spec = importlib.util.spec_from_file_location("make", BUNDLED / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    return make


def load_shipped(path, network):
    """Gives `network` the weights of a file that `head_graph` or the encoder's script made, as its 8 bits have them."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    matrices = {}
    for node in graph.node:
        if node.op_type == "MatMulNBits":
            codes, scales = constants[node.input[1]].astype(np.float32), constants[node.input[2]]
            rows, blocks, width = codes.shape
            matrices[node.input[1]] = ((codes - 128) * scales.reshape(rows, blocks, 1)).reshape(rows, blocks * width)
        elif node.op_type == "MatMul" and node.input[1] in constants:
            matrices[node.input[1]] = constants[node.input[1]].T
    found = {}
    for name, known in network.state_dict().items():
        if name.startswith(AS_PUBLISHED):
            found[name] = known
            continue
        owner, _, part = name.rpartition(".")
        if ".attention.self." in name:
            together, _, which = owner.rpartition(".")
            own = matrices[together] if part == "weight" else constants[f"{together}.bias"]
            at = WIDTH * ("query", "key", "value").index(which)
            value = own[at : at + WIDTH]
        else:
            value = matrices[owner] if part == "weight" and owner in matrices else constants[name]
        found[name] = torch.from_numpy(np.array(value, dtype=np.float32))
        assert found[name].shape == known.shape, name
    network.load_state_dict(found)
    return network


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
