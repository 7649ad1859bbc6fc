#!/usr/bin/env python3
"""Write models/reader/values.json: typical free-text values, to fill templates of modules without values.

    venv/bin/python scripts/typical-values.py          # from the training modules in models/reader/data

For each slot of the training modules with enough values, a few are kept, under the slot's label for the reader.
"""

import argparse
import json
import random
from pathlib import Path

import reader

LEAST, KEPT, MOST_SLOTS, LONGEST = 4, 4, 320, 60


def typical(modules):
    """[{"label", "values"}], the same number from each module."""
    chance, found = random.Random(1), {}
    for module in modules:
        slots = [slot for listed in module.slots.values() for slot in listed.values() if slot.kind in ("text", "list")]
        for slot in slots:
            values = sorted({value for value in slot.values if len(value) <= LONGEST})
            if len(values) >= LEAST:
                found.setdefault(module.name, {})[slot.texts[0]] = chance.sample(values, KEPT)
    share = max(1, MOST_SLOTS // max(1, len(found)))
    kept = {}
    for slots in found.values():
        kept.update(chance.sample(sorted(slots.items()), min(share, len(slots))))
    return [{"label": label, "values": values} for label, values in sorted(kept.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=reader.ROOT / "models" / "reader" / "data")
    parser.add_argument("--out", type=Path, default=reader.ROOT / "models" / "reader" / "values.json")
    arguments = parser.parse_args()
    train, _, _ = reader.split(reader.read_corpus(arguments.data))
    lines = ",\n".join(json.dumps(slot, ensure_ascii=False) for slot in typical(train))
    arguments.out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
