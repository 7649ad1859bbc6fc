#!/usr/bin/env python3
"""Train the encoder and the reader's two heads together.

    python3 -m venv venv && venv/bin/pip install -r scripts/requirements-train.txt
    venv/bin/python scripts/base_encoder.py target/base
    venv/bin/python scripts/train-reader.py --base target/base --out target/trained              # 16,000 steps
    venv/bin/python scripts/train-reader.py --base target/base --out target/trained --minutes 9  # as many as fit
    venv/bin/python scripts/train-reader.py --base target/base --out /tmp/trained --smoke        # half a minute

It writes `weights.safetensors` (16 bits, the trained parameters), `options.json` and `log.jsonl` into the folder, and `state.pt`, from which
the same command continues after an interruption. On CUDA it computes in 16-bit floats. No network is needed. Batch N of a seed is
always the same, and so are its dropout and noise; with --minutes, the rate depends on the clock, and on CUDA, sums on their order.

The losses: whether each span of words is the value of a slot; whether the utterance is about a question's function;
that an utterance is nearer to others of its function, and to the description of its function, than to those of others;
what an utterance does, alone and beside an open form. scripts/measure-training.py measures the weights,
scripts/export-reader.py makes the files that the service loads.
"""

import argparse
import json
import os
import random
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import questions
import reader
import torch
from reader import WIDTH
from reader_head import Asked, Network, sentence_vectors
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

CONTRAST_SCALE = 20.0  # of cosines in the sentence losses
DESCRIBED_AGE = 200  # least number of steps that the vector of a description is kept: nothing is learned through it
OTHERS = 256  # vectors of other modules in the sentence loss
LOSSES = ("spans", "about", "contrast", "described", "acts", "effects")


class Labels:
    """The sentence vectors of label texts, each at most `age` steps old; with age 0 they are learned, too."""

    def __init__(self, network, asked, age, blur, device):
        self.network, self.age, self.blur, self.device = network, age, blur, device
        tokenizer = asked.tokenizer
        self.ids = [tokenizer.encode(text).ids[: reader.MAX_TOKENS] for text in asked.texts]
        self.vectors = torch.zeros(len(self.ids), WIDTH, device=device)
        self.made = np.full(len(self.ids), -1, np.int64)

    def _read(self, numbers):
        made = []
        for start in range(0, len(numbers), 256):
            rows = [self.ids[number] for number in numbers[start : start + 256]]
            ids = torch.from_numpy(questions.padded(rows, 1)).to(self.device)
            mask = torch.from_numpy(questions.padded([[1] * len(row) for row in rows], 0)).to(self.device)
            states = self.network.encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()
            made.append(sentence_vectors(states, mask.float()))
        return torch.cat(made)

    @torch.no_grad()
    def _refresh(self, numbers, age, step):
        """Computes older ones again, without dropout, since they are used for long."""
        stale = numbers[(self.made[numbers] < 0) | (self.made[numbers] + age < step)]
        if len(stale):
            self.network.encoder.eval()
            self.vectors[torch.from_numpy(stale).to(self.device)] = self._read(stale)
            self.network.encoder.train()
            self.made[stale] = step

    def of(self, labels, described, step):
        """Vectors [batch, labels, WIDTH]; those of the descriptions are brought up to date, too."""
        wanted = np.array(sorted({int(number) for number in labels.ravel()} - {-1}, key=lambda number: len(self.ids[number])))
        self._refresh(described.numpy(), max(self.age, DESCRIBED_AGE), step)
        place = labels.clamp(min=0).to(self.device)
        if self.age:
            self._refresh(wanted, self.age, step)
            found = self.vectors[place]
        else:
            at = torch.from_numpy(wanted).to(self.device)
            order = torch.zeros(len(self.ids), dtype=torch.long, device=self.device)
            order[at] = torch.arange(len(at), device=self.device)
            found = self._read(wanted)[order[place]]
        # With a little noise: the head should learn the meanings of labels, not the labels themselves.
        return functional.normalize(found + torch.randn_like(found) * (self.blur / WIDTH**0.5), dim=2)


class Memory:
    """The last vector of each utterance, and the losses that move those of one function together, and to the function's
    description."""

    def __init__(self, asked, device):
        functions = torch.tensor(asked.functions, device=device)
        self.function, self.device = functions, device
        self.module = torch.tensor([asked.place[item.row.module] for item in asked.items], device=device)
        self.vectors = torch.zeros(len(functions), WIDTH, device=device)
        self.known = torch.zeros(len(functions), dtype=torch.bool, device=device)
        self.texts, self.text_module, self.text_function = torch.from_numpy(asked.described).to(device).T

    def losses(self, meta, vectors, labels):
        """(contrast, the same with descriptions) of a batch; remembers its vectors."""
        kept = meta[:, 2] >= 0
        at, module, function = meta[kept, :3].T
        vectors = vectors[kept]
        zero = vectors.sum() * 0
        if not len(at):
            return zero, zero
        self.vectors[at], self.known[at] = vectors.detach(), True
        known = self.known & (self.function >= 0)
        others = torch.rand(len(known), device=self.device) < OTHERS / known.sum()
        near = known & ((self.module == module[:, None]) | others)
        near[torch.arange(len(at), device=self.device), at] = False
        contrast = nearness(vectors, self.vectors, near, self.function == function[:, None])
        told = labels.vectors[self.texts]
        known = told.abs().sum(1) > 0
        others = torch.rand(len(known), device=self.device) < OTHERS / 4 / known.sum().clamp(min=1)
        near = known & ((self.text_module == module[:, None]) | others)
        return contrast, nearness(vectors, told, near, self.text_function == function[:, None])


def nearness(vectors, others, near, alike):
    """A loss: how much of the nearness is to similar rows; only for rows that have any."""
    # The scale magnifies the last digits.
    with torch.autocast(vectors.device.type, enabled=False):
        scores = (CONTRAST_SCALE * vectors.float() @ others.T).masked_fill(~near, -1e4)
    alike = alike & near
    rows = alike.any(1)
    loss = torch.logsumexp(scores, 1) - torch.logsumexp(scores.masked_fill(~alike, -1e4), 1)
    return loss[rows].sum() / rows.sum().clamp(min=1)


def span_loss(scores, spans, batch):
    targets = torch.zeros_like(scores, dtype=torch.float32)
    targets[tuple(batch["targets"].T)] = 1
    weight = (spans[:, None] & (batch["counts"] & (batch["labels"] >= 0))[:, :, None, None]).float()
    each = functional.binary_cross_entropy_with_logits(scores.float(), targets, reduction="none")
    return (each * weight).sum() / len(targets)


def told(scores, wanted):
    """Cross-entropy of the known ones."""
    kept = wanted >= 0
    return functional.cross_entropy(scores[kept].float(), wanted[kept]) if kept.any() else scores.sum() * 0


def losses(network, batch, of_labels, labels, memory):
    asked = Asked(network, batch, of_labels)
    scores, spans, is_about = asked.form.head(*asked.inputs)
    acts, effects = asked.form.deeds(asked.vectors)
    meta, about, zero = batch["meta"], batch["about"], asked.vectors.sum() * 0
    sure = about >= 0
    # Sentence vectors are those of the words alone.
    contrast, described = (zero, zero) if batch["joint"] else memory.losses(meta, asked.vectors, labels)
    return {
        "spans": span_loss(scores, spans, batch),
        "about": functional.binary_cross_entropy_with_logits(is_about[sure].float(), about[sure].float())
        if sure.any() else zero,
        "contrast": contrast,
        "described": described,
        "acts": told(acts, meta[:, 3]),
        "effects": told(effects, meta[:, 4]),
    }  # fmt: skip


def share_done(options, step, seconds):
    """The finished share of the training: of its steps, or of its minutes if those end sooner."""
    return max(step / options.steps, seconds / 60 / options.minutes if options.minutes else 0.0)


def train(network, asked, options, device):
    labels, memory = Labels(network, asked, options.label_age, options.blur, device), Memory(asked, device)
    network.encoder.embeddings.requires_grad_(False)
    network.encoder.embeddings.token_type_embeddings.requires_grad_(not options.fixed_layers)
    network.encoder.encoder.layer[: options.fixed_layers].requires_grad_(False)
    tuned = [value for value in network.encoder.parameters() if value.requires_grad]
    rates = [options.encoder_rate, options.head_rate]
    optimizer = torch.optim.AdamW(
        [{"params": tuned, "lr": rates[0]}, {"params": network.forms.parameters(), "lr": rates[1]}],
        weight_decay=0.01, fused=device.type == "cuda",
    )  # fmt: skip
    step, before, path = 0, 0.0, options.out / "state.pt"
    if path.exists():
        state = torch.load(path, map_location=device)
        network.load_state_dict(state["network"], strict=False), optimizer.load_state_dict(state["optimizer"])
        step, before, labels.vectors, labels.made = state["step"], state["seconds"], state["labels"], state["made"].cpu().numpy()
        memory.vectors, memory.known = state["memory"], state["known"]
        print(f"goes on after step {step}, {before:.0f} s", flush=True)
    started = saved = time.monotonic()
    seconds = lambda: before + time.monotonic() - started

    def save():
        state = {"network": network.trained(), "optimizer": optimizer.state_dict(), "step": step, "seconds": seconds(),
                 "labels": labels.vectors, "made": torch.from_numpy(labels.made), "memory": memory.vectors, "known": memory.known}  # fmt: skip
        torch.save(state, path.with_suffix(".partial"))
        os.replace(path.with_suffix(".partial"), path)

    loader = torch.utils.data.DataLoader(
        asked, batch_size=None, sampler=range(step, options.steps), num_workers=options.workers,
        prefetch_factor=8 if options.workers else None, pin_memory=device.type == "cuda",
    )  # fmt: skip
    has_bf16 = device.type == "cuda" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    weights, sums, seen = vars(options), {}, {}
    network.train()
    with (options.out / "log.jsonl").open("a", encoding="utf-8") as log:
        for batch in loader:
            if share_done(options, step, seconds()) >= 1:
                break
            torch.manual_seed(options.seed * 1_000_003 + step)
            numbers = batch["labels"], batch["described"]
            batch = {name: one.to(device, non_blocking=True) if torch.is_tensor(one) else one for name, one in batch.items()}
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=has_bf16):
                of_labels = None if batch["joint"] else labels.of(*numbers, step)
                parts = losses(network, batch, of_labels, labels, memory)
            loss = sum(weights[name] * part for name, part in parts.items())
            share = share_done(options, step, seconds())
            for group, rate in zip(optimizer.param_groups, rates):
                group["lr"] = rate * min((step + 1) / options.warm, max(0.02, 1 - share))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*tuned, *network.forms.parameters()], 1.0)
            optimizer.step()
            step += 1
            form = "joint" if batch["joint"] else "late"
            for name, part in parts.items():
                sums[f"{form}_{name}"] = sums.get(f"{form}_{name}", 0) + part.detach()
            seen[form] = seen.get(form, 0) + 1
            if step % options.report == 0 or step == options.steps:
                means = {name: round(float(of) / seen[name.split("_")[0]], 4) for name, of in sums.items()}
                log.write(json.dumps({"step": step, "seconds": round(seconds()), **means}) + "\n"), log.flush()
                told_of = "  ".join(f"{name} {of:.3f}" for name, of in means.items())
                print(f"{step}/{options.steps}  {seconds():.0f} s  {told_of}", flush=True)
                sums, seen = {}, {}
            if time.monotonic() - saved > 60 * options.save:
                save()
                saved = time.monotonic()
    save()
    print(f"{step} steps in {seconds():.0f} s", flush=True)
    return network.eval()


def options_of():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--base", type=Path, required=True, help="the encoder to begin with: a folder of base_encoder.py, or a BERT of transformers"
    )
    parser.add_argument("--out", type=Path, required=True, help="where weights, log and state are kept")
    parser.add_argument("--data", type=Path, default=reader.ROOT / "models" / "reader" / "data")
    parser.add_argument("--sgd", type=Path, help="also train on Schema-Guided Dialogue: a folder with schemas.json and turns.jsonl")
    parser.add_argument("--sgd-share", type=float, default=0.2, help="of its turns")
    parser.add_argument("--start", type=Path, help="weights to begin with: weights.safetensors of a training, or models/")
    parser.add_argument("--fixed-layers", type=int, default=0, help="this many layers of the encoder, from the first, stay as they are")
    parser.add_argument("--steps", type=int, default=16_000)
    parser.add_argument("--minutes", type=float, help="end after this time, all runs together")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--encoder-rate", type=float, default=1e-4)
    parser.add_argument("--head-rate", type=float, default=5e-4)
    parser.add_argument("--warm", type=int, default=100, help="steps in which the rates rise")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--blur", type=float, default=0.3, help="length of the noise that is added to the vectors of labels")
    parser.add_argument("--joint", type=float, default=0.5, help="share of batches with labels and words in one pass")
    parser.add_argument("--situation", type=float, default=0.5, help="share of answers and later turns that are read with their situation")
    parser.add_argument(
        "--label-age", type=int,
        help="steps that a label's vector is kept; 0: computed, and learned, with each batch [0 on CUDA, else 1000]",
    )  # fmt: skip
    for name, weight in zip(LOSSES, (1.0, 1.0, 1.0, 0.5, 0.3, 0.3)):
        parser.add_argument(f"--{name}", type=float, default=weight, help="weight of this loss")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--workers", type=int, help="processes that prepare batches [one less than the threads on CUDA, else 1]")
    parser.add_argument("--report", type=int, default=50, help="steps between two lines of the log")
    parser.add_argument("--save", type=float, default=5.0, help="minutes between two states")
    parser.add_argument("--smoke", action="store_true", help="two modules and a few steps")
    options = parser.parse_args()
    is_cuda = options.device.startswith("cuda")
    options.label_age = (0 if is_cuda else 1000) if options.label_age is None else options.label_age
    options.workers = (max(1, options.threads - 1) if is_cuda else 1) if options.workers is None else options.workers
    if options.smoke:
        options.steps, options.report, options.warm, options.batch = 4, 2, 2, 4
    return options


def questions_of(options):
    modules, _, _ = reader.split(reader.read_corpus(options.data))
    if options.smoke:
        modules = [module for module in modules if (options.data / module.name / "turns.jsonl").exists()][:2]
    items = [item for module in modules for item in questions.items_of(module)]
    items += [item for module in modules for item in questions.turns_of(module, options.data / module.name / "turns.jsonl")]
    if options.sgd:
        others, said = questions.dialogues_of(options.sgd, options.sgd_share / (100 if options.smoke else 1), options.seed)
        modules, items = modules + others, items + said
    print(f"{len(modules)} modules, {len(items)} utterances to learn from", flush=True)
    return questions.Questions(options.base, modules, items, options)


def main():
    options = options_of()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    random.seed(options.seed), np.random.seed(options.seed), torch.manual_seed(options.seed)
    device = torch.device(options.device)
    asked = questions_of(options)
    network = Network(options.base, options.dropout)
    if options.start:
        network.read(options.start)
    network = train(network.to(device), asked, options, device)
    weights = {name: value.half().contiguous().cpu() for name, value in network.trained().items()}
    save_file(weights, str(options.out / "weights.safetensors"))
    kept = {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
    (options.out / "options.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"written: {options.out / 'weights.safetensors'}")


if __name__ == "__main__":
    main()
