#!/usr/bin/env python3
"""Fits what an utterance does beside an open form (`beside` of the decision model) on the output of `uptake eval --features`
for cases with a state.

usage: fit-beside.py MODEL FILE... [--judge FILE...] [--penalty N]

Each FILE is one module, or one variant of it (MODULE.N.jsonl): variants of a module are never split. The weights are
from multinomial logistic regression over the effects that are possible for an utterance. Needs numpy and scipy.
"""
import argparse
import collections
import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

FOLDS = 6
DEEDS = ["tells", "declines", "elsewhere", "nothing"]
# The model's names for the effects of a turn in the written conversations. Turns that agree, deny or give up have no further
# effect on the form. A reply is one of the corpus, without a conversation around it.
DOES = {"answer": "tells", "add": "tells", "correct": "tells", "reply": "tells", "decline": "declines",
        "request": "elsewhere", "aside": "nothing", "thanks": "nothing", "yes": "nothing", "no": "nothing",
        "cancel": "nothing"}  # fmt: skip
# Weight of such a reply beside a turn of a conversation.
ALONE = 0.3
# Estimated shares of what people do beside an open form. The written conversations contain many hard turns, so
# their turns are reweighted to these shares.
SHARES = {"tells": 0.78, "declines": 0.06, "elsewhere": 0.07, "nothing": 0.09}
# Each feature is clipped between these percentiles.
SEEN = (0.5, 99.5)


def load(paths):
    rows, names = [], None
    for path in paths:
        for line in Path(path).read_text().splitlines():
            found = json.loads(line)
            if isinstance(found.get("beside"), list):
                names = found["beside"]
            elif "beside" in found and found["kind"] in DOES:
                deed = DOES[found["kind"]]
                # Naming the same function again gives values for the form.
                if deed == "elsewhere" and found["expected"] == [found["open"]]:
                    continue
                rows.append((Path(path).stem.split(".")[0], deed, found))
    return names, rows


class Beside:
    def __init__(self, rows, penalty):
        values, possible, right, weight = numbers(rows)
        self.low, self.high = np.percentile(values, SEEN, axis=0)
        values = np.clip(values, self.low, self.high)
        self.mean, deviation = values.mean(0), values.std(0)
        self.deviation = np.where(deviation < 1e-6, 1e9, deviation)
        values = (values - self.mean) / self.deviation
        count, shape = len(values), (len(DEEDS), values.shape[1] + 1)
        able = possible[np.arange(count), right]

        def loss(flat):
            w = flat.reshape(shape)
            odds = np.where(possible, values @ w[:, 1:].T + w[:, 0], -1e9)
            odds -= odds.max(1, keepdims=True)
            p = np.exp(odds)
            p /= p.sum(1, keepdims=True)
            taken = weight * able
            cost = -(taken * np.log(np.maximum(p[np.arange(count), right], 1e-12))).sum()
            p[np.arange(count), right] -= 1
            p *= taken[:, None]
            slope = np.concatenate([p.sum(0)[:, None], p.T @ values], axis=1)
            slope[:, 1:] += penalty * w[:, 1:]
            return cost + penalty / 2 * (w[:, 1:] ** 2).sum(), slope.ravel()

        found = minimize(loss, np.zeros(np.prod(shape)), jac=True, method="L-BFGS-B", options={"maxiter": 2000})
        self.weights = found.x.reshape(shape)

    def __call__(self, rows):
        values, possible, right, _ = numbers(rows)
        values = (np.clip(values, self.low, self.high) - self.mean) / self.deviation
        odds = np.where(possible, values @ self.weights[:, 1:].T + self.weights[:, 0], -1e9)
        p = np.exp(odds - odds.max(1, keepdims=True))
        return p / p.sum(1, keepdims=True), right

    def written(self, names):
        found = {}
        for deed, (bias, *scaled) in zip(DEEDS, self.weights):
            weights = np.array(scaled) / self.deviation
            terms = {
                name: [round(float(number), 5) for number in numbers]
                for name, *numbers in zip(names, weights, self.low, self.high)
                if abs(numbers[0]) > 1e-7
            }
            found[deed] = {"bias": round(float(bias - weights @ self.mean), 5), "weights": terms}
        return found


def numbers(rows):
    values = np.array([row["values"] for _, _, row in rows])
    possible = np.array([[row["beside"][deed] for deed in DEEDS] for _, _, row in rows])
    right = np.array([DEEDS.index(deed) for _, deed, _ in rows])
    # An utterance counts once, in however many variants of its module it occurs.
    times = collections.Counter((module, row["utterance"]) for module, _, row in rows)
    counts = [ALONE if row["kind"] == "reply" else 1.0 for _, _, row in rows]
    weight = np.array([count / times[module, row["utterance"]] for count, (module, _, row) in zip(counts, rows)])
    share = np.bincount(right, weight, len(DEEDS)) / weight.sum()
    weight *= np.array([SHARES[deed] for deed in DEEDS])[right] / np.maximum(share, 1e-6)[right]
    return values, possible, right, weight


def report(name, p, right):
    best = p.argmax(1)
    each = [(best[right == at] == at).mean() for at in range(len(DEEDS))]
    natural = sum(SHARES[deed] * share for deed, share in zip(DEEDS, each))
    print(f"{name}: {len(p)} turns, {100 * (best == right).mean():.1f} % right; at the shares of life {100 * natural:.1f} %")
    for at, deed in enumerate(DEEDS):
        own = right == at
        taken = ", ".join(f"{other} {100 * (best[own] == to).mean():.1f}" for to, other in enumerate(DEEDS))
        precision = (right[best == at] == at).mean() if (best == at).any() else float("nan")
        print(f"  {deed:10} {own.sum():5}: taken for {taken}; precision {100 * precision:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--judge", type=Path, nargs="*", default=[])
    parser.add_argument("--without", nargs="*", default=[], help="features to leave out, for an ablation")
    parser.add_argument("--penalty", type=float, default=3.0)
    parser.add_argument("--dry", action="store_true", help="write nothing")
    options = parser.parse_args()
    names, rows = load(options.files)
    for _, _, row in rows:
        for name in options.without:
            row["values"][names.index(name)] = 0.0
    modules = sorted({module for module, _, _ in rows})
    held, right = [], []
    for fold in range(FOLDS):
        out = set(modules[fold::FOLDS])
        model = Beside([row for row in rows if row[0] not in out], options.penalty)
        found = model([row for row in rows if row[0] in out])
        held.append(found[0])
        right.append(found[1])
    report("held-out modules", np.vstack(held), np.concatenate(right))
    model = Beside(rows, options.penalty)
    if options.judge:
        report("judged", *model(load(options.judge)[1]))
    if not options.dry:
        written = json.loads(options.model.read_text())
        written["beside"] = model.written(names)
        options.model.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
