#!/usr/bin/env python3
"""Fits the decision model on the output of `uptake eval --features`, and judges it on modules that it was not fitted on.

usage: fit.py MODEL FILE... [--judge FILE...] [--without NAME...] [--only ranking|described]

Each FILE is one module, or one variant of it (MODULE.N.jsonl): variants of a module are never split. The weights are
from logistic regression with a squared penalty; thresholds are chosen on held-out modules. Needs numpy, scipy, scikit-learn.
"""
import argparse
import collections
import json
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

FOLDS = 6
# Features without slots, for candidates that only retrieval has examined.
SCOPE = """share lead entropy vectors ngrams vectors_none ngrams_none vectors_relative ngrams_relative own_accuracy
unlearned fused above_usual nearest pooled centroid described words described_words functions exemplars negative length
unspaced""".split()
# The same with retrieval's score alone, for utterances on which the other features say little: beside an open question, and
# in modules without exemplars. It depends on the encoder's vectors like the rest. It is fitted on modules with
# exemplars, as if half of the utterances were in scope: on modules without, the score separates hardly anything.
SCORE = ["above_usual"]
# Features that differ between modules more than the corpus shows: its modules have four to some twenty functions, and a weight for
# their number, or for values that fall as it grows, would mislead where there are a hundred.
LEFT_OUT = ["functions", "exemplars", "vectors", "ngrams", "vectors_none", "ngrams_none", "entropy"]
# From `sure` on, this share of the calls is right on held-out modules; a higher share leaves hardly any call there.
# Slots that must be asked for say nothing about what a person wants: "where's my parcel?". In the corpus, nearly everyone
# who asks for something gives a value.
OF_SLOTS = set("""required missing optional lowest_slot all_slots recognized free free_share invalid complete unseen""".split())
PRECISION = 0.85
# Each feature is clipped between these percentiles.
SEEN = (0.5, 99.5)
# Estimated shares for a carefully written module: utterances in its scope, and whole answers that are right.
# The corpus is harder (cut down at random, values marked to the letter), so its cases are reweighted to these
# shares.
IN_SCOPE = 0.85
# The same for a module that only describes its functions: mostly an agent's tools, which get mostly fitting requests.
IN_SCOPE_OF_TOOLS = 0.9
# The same for the question whether anything is meant, or a function, of modules of either kind: strangers' out-of-scope utterances
# are nearer to a module's business than those of the corpus, and with the shares above the odds were three times too high on each of
# 25 modules by strangers.
MEANT = 0.65
# Weight of such a module in the ranking, compared with one with exemplars.
OF_RANKING = 0.1
# Weight of an opening without a value ("I'd like to send some money"): the corpus has as many as utterances of
# any other kind, and little separates them from remarks.
OPENING = 0.4
RIGHT = 0.5
# The same where functions are only described: without exemplars, more is left to guess.
RIGHT_OF_TOOLS = 0.3
# Penalty of the ranking's weights. With little, two kinds of evidence that agree get weights of opposite signs, and an
# utterance in which they differ (one word: "the card") is ranked by the difference. With this, every weight is positive,
# for 0.4 points of functions ranked right on held-out modules.
PENALTY_OF_RANKING = 300.0
# How strongly weights follow the data there (the inverse of the penalty): tools differ more from each other than modules do.
PENALTY_OF_TOOLS = 0.01


def load(paths):
    data = []
    for path in paths:
        lines = path.read_text().splitlines()
        names = json.loads(lines[0])
        module = path.stem.rsplit(".", 1)[0]
        for line in lines[1:]:
            row = json.loads(line)
            # Utterances beside an open form are for fit-beside.py.
            if "beside" in row:
                continue
            data.append({**row, "module": module, "variant": path.stem, "names": names})
    return data


def leave_out(data, left_out):
    """Leaves these features out of the ranking and of the rest: the figures then show their effect."""
    for row in data:
        for kind, ones in (("ranking", row["candidates"]), ("features", row["alternatives"])):
            places = [row["names"][kind].index(name) for name in left_out if name in row["names"][kind]]
            for one in ones:
                for place in places:
                    one["values"][place] = 0.0
    return data


def weights_of(data, shares=(IN_SCOPE, IN_SCOPE_OF_TOOLS)):
    """The weight of each row: every variant counts the same, with the share in scope set, with exemplars and without."""
    share = [OPENING if row["kind"] == "opening" else 1.0 for row in data]
    groups = [(row["variant"], bool(row["expected"])) for row in data]
    sums = collections.Counter()
    for group, part in zip(groups, share):
        sums[group] += part
    in_scope = [shares[is_unlearned(row)] for row in data]
    return [(p if group[1] else 1 - p) * part / sums[group] for p, group, part in zip(in_scope, groups, share)]


def is_unlearned(row):
    """Whether the module has no exemplars to learn from."""
    at = row["names"]["features"].index("unlearned")
    return any(alternative["values"][at] > 0 for alternative in row["alternatives"])


def balanced(labels, weight, right=RIGHT):
    """The weights with which right answers have this share."""
    share = (labels * weight).sum() / weight.sum()
    return weight * np.where(labels > 0, right / share, (1 - right) / (1 - share))


def fit_ranking(rows, penalty=PENALTY_OF_RANKING):
    """A softmax over the candidates of each utterance, by Newton-like steps."""
    names = rows[0]["names"]["ranking"]
    groups = []
    for row, own in zip(rows, weights_of(rows)):
        right = [c["is_right"] for c in row["candidates"]]
        if len(row["expected"]) == 1 and sum(right) == 1 and len(right) > 1:
            values = np.array([c["values"] for c in row["candidates"]])
            groups.append((values, right.index(True), own * (OF_RANKING if is_unlearned(row) else 1.0)))
    scale = np.std(np.vstack([g[0] - g[0].mean(0) for g in groups]), axis=0) + 1e-9
    total = sum(g[2] for g in groups)
    sizes = [len(g[0]) for g in groups]
    starts = np.cumsum([0] + sizes)
    values = np.vstack([g[0] for g in groups]) / scale
    chosen = starts[:-1] + np.array([g[1] for g in groups])
    share = np.array([g[2] for g in groups]) / total
    owner = np.repeat(np.arange(len(groups)), sizes)

    def objective(w):
        odds = values @ w
        top = np.maximum.reduceat(odds, starts[:-1])
        e = np.exp(odds - top[owner])
        sums = np.add.reduceat(e, starts[:-1])
        p = e / sums[owner]
        loss = (share * (top + np.log(sums) - odds[chosen])).sum()
        expected = (values * (p * share[owner])[:, None]).sum(0)
        slope = expected - (values[chosen] * share[:, None]).sum(0)
        held_back = penalty / len(groups)
        return loss + held_back * (w @ w), slope + 2 * held_back * w

    found = minimize(objective, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return {name: weight for name, weight, spread in zip(names, found.x / scale, scale) if spread > 1e-8}


def ranked_right(rows, ranking):
    """The share of utterances with one request whose function is ranked first."""
    right = []
    for row in rows:
        if len(row["expected"]) == 1 and row["candidates"]:
            right.append(row["candidates"][int(shares(row, ranking).argmax())]["is_right"])
    return float(np.mean(right)) if right else 0.0


def fit_ranking_alone(path, rows, judged):
    """Puts a new ranking into the model, and keeps everything else."""
    modules = sorted({row["module"] for row in rows})
    held = []
    for fold in range(FOLDS):
        out = set(modules[fold::FOLDS])
        ranking = fit_ranking([row for row in rows if row["module"] not in out])
        held.append(ranked_right([row for row in rows if row["module"] in out], ranking))
    print(f"held-out modules: {100 * np.mean(held):.1f} % ranked right")
    ranking = fit_ranking(rows)
    for file in judged:
        print(f"{file.stem}: {100 * ranked_right(load([file]), ranking):.1f} % ranked right")
    model = json.loads(path.read_text())
    model["ranking"] = {name: round(float(weight), 5) for name, weight in ranking.items()}
    path.write_text(json.dumps(model, indent=1) + "\n")


def fit_described_alone(path, rows, judged, bar):
    """Fits anew how likely a whole answer is to be right where functions are only described, and leaves everything else."""
    model = json.loads(path.read_text())
    rows = [row for row in rows if is_unlearned(row)]
    rerank(rows, model["ranking"])
    names = rows[0]["names"]["features"]
    known = {
        "ranking": model["ranking"],
        "scope": Logistic.read(model["scope"], SCOPE),
        "learned": Judge.read(model["learned"], names),
        "described": Judge.read(model["described"], names),
    }
    in_scope, modules, held = model["thresholds"]["in_scope"], sorted({row["module"] for row in rows}), []
    for fold in range(FOLDS):
        out = set(modules[fold::FOLDS])
        known["described"].whole = fit_whole([row for row in rows if row["module"] not in out], PENALTY_OF_TOOLS)
        held.append(decide([row for row in rows if row["module"] in out], known))
    report("held-out modules that only describe their functions", np.vstack(held), bar, in_scope)
    known["described"].whole = fit_whole(rows, PENALTY_OF_TOOLS)
    for file in judged:
        report(file.stem, decide(load([file]), known), bar, in_scope)
    model["described"]["whole"] = known["described"].whole.written()
    model["thresholds"]["described"] = bar
    path.write_text(json.dumps(model, indent=1) + "\n")


def shares(row, ranking):
    names = row["names"]["ranking"]
    weight = np.array([ranking.get(name, 0.0) for name in names])
    odds = np.array([np.dot(weight, c["values"]) for c in row["candidates"]])
    p = np.exp(odds - odds.max()) if len(odds) else odds
    return p / p.sum() if len(p) else p


def rerank(rows, ranking):
    """The features that follow from the ranking, computed with these weights."""
    for row in rows:
        p = shares(row, ranking)
        row["shares"] = p
        at = {name: index for index, name in enumerate(row["names"]["features"])}
        order = {c["function"]: index for index, c in enumerate(row["candidates"])}
        for alternative in row["alternatives"]:
            index = order.get(alternative["function"])
            if index is None:
                continue
            others = np.delete(p, index)
            values = alternative["values"]
            values[at["share"]] = float(np.log(max(p[index], 1e-5)))
            values[at["lead"]] = values[at["share"]] - float(np.log(max(others.max(), 1e-5) if len(others) else 1e-5))
            values[at["entropy"]] = float(-(p * np.log(np.maximum(p, 1e-5))).sum())
            alternative["rank"] = float(p[index])


class Logistic:
    """Logistic regression on features clipped to the observed range: a module may have nine required slots where ours had three."""

    def __init__(self, values, right, weight, names, penalty):
        self.names = names
        self.low, self.high = np.percentile(values, SEEN, axis=0)
        values = np.clip(values, self.low, self.high)
        self.mean, self.deviation = values.mean(0), values.std(0) + 1e-6
        self.deviation[values.std(0) < 1e-6] = 1e9
        self.deviation[[name in LEFT_OUT for name in names]] = 1e9
        model = LogisticRegression(C=penalty, max_iter=3000)
        model.fit((values - self.mean) / self.deviation, right, sample_weight=weight / weight.mean())
        self.weights = model.coef_[0] / self.deviation
        self.bias = float(model.intercept_[0] - self.weights @ self.mean)

    def __call__(self, values):
        return 1.0 / (1.0 + np.exp(-(np.clip(values, self.low, self.high) @ self.weights + self.bias)))

    @classmethod
    def read(cls, written, names):
        """One that was written before."""
        self = cls.__new__(cls)
        parts = [written["weights"].get(name, (0.0, 0.0, 0.0)) for name in names]
        self.names, self.bias = names, written["bias"]
        self.weights, self.low, self.high = (np.array(part) for part in zip(*parts))
        return self

    def written(self):
        kept = {
            name: [round(float(number), 5) for number in numbers]
            for name, *numbers in zip(self.names, self.weights, self.low, self.high)
            if abs(numbers[0]) > 1e-7
        }
        return {"bias": round(self.bias, 5), "weights": kept}


def table(rows, label, names=None, only_best=False, shares=(IN_SCOPE, IN_SCOPE_OF_TOOLS)):
    """Alternatives as numbers: values, labels, weights, and the row of each."""
    weight, out = weights_of(rows, shares), ([], [], [], [])
    for index, row in enumerate(rows):
        if row["segments"] != 1:
            continue
        alternatives = row["alternatives"]
        if only_best and alternatives:
            alternatives = [max(alternatives, key=lambda one: one.get("rank", 0))]
        for alternative in alternatives:
            out[0].append(alternative["values"])
            out[1].append(label(row, alternative))
            out[2].append(weight[index])
            out[3].append((index, alternative))
    values = np.array(out[0])
    if names:
        places = [rows[0]["names"]["features"].index(name) for name in names]
        values = values[:, places]
    return values, np.array(out[1], float), np.array(out[2]), out[3]


def meant(row, alternative):
    return alternative["is_function_right"]


def right(row, alternative):
    return alternative["is_wholly_right"]


def in_scope(row, alternative):
    return bool(row["expected"])


def is_of_slots(names):
    return [name in OF_SLOTS for name in names]


def fit_whole(rows, penalty):
    """The probability that a whole answer is right."""
    names = rows[0]["names"]["features"]
    values, labels, weight, _ = table(rows, right, only_best=True)
    apart = values[:, names.index("unlearned")] > 0
    for part, share in ((apart, RIGHT_OF_TOOLS), (~apart, RIGHT)):
        if part.any():
            weight[part] = balanced(labels[part], weight[part], share)
    return Logistic(values, labels, weight, names, penalty)


PARTS_OF_JUDGE = ("anything", "function", "whole")


class Judge:
    """The probabilities that anything is meant, that a function is, and that a whole answer is right."""

    def __init__(self, rows, penalty, is_described):
        names = rows[0]["names"]["features"]
        values, labels, weight, _ = table(rows, meant, shares=(MEANT, MEANT))
        values[:, is_of_slots(names)] = 0.0
        self.function = Logistic(values, labels, weight, names, penalty)
        values, labels, weight, _ = table(rows, in_scope, only_best=True, shares=(MEANT, MEANT))
        if is_described:
            # In a module without exemplars, an utterance that fills no slot may as well be a request.
            values[:, is_of_slots(names)] = 0.0
        self.anything = Logistic(values, labels, weight, names, penalty)
        # Of functions that are only described, by them alone: it is their values that are wrong, and nothing that is
        # shown elsewhere tells which.
        if is_described:
            self.whole = fit_whole([row for row in rows if is_unlearned(row)], PENALTY_OF_TOOLS)
        else:
            self.whole = fit_whole(rows, penalty)

    @classmethod
    def read(cls, written, names):
        """One that was written before."""
        self = cls.__new__(cls)
        for name in PARTS_OF_JUDGE:
            setattr(self, name, Logistic.read(written[name], names))
        return self

    def written(self):
        return {name: getattr(self, name).written() for name in PARTS_OF_JUDGE}


def train(rows, penalty):
    ranking = fit_ranking(rows)
    rerank(rows, ranking)
    values, labels, weight, _ = table(rows, in_scope, SCOPE, only_best=True)
    scope = Logistic(values, labels, weight, SCOPE, penalty)
    shown = [row for row in rows if not is_unlearned(row)]
    values, labels, weight, _ = table(shown, in_scope, SCORE, only_best=True, shares=(RIGHT, RIGHT))
    score = Logistic(values, labels, weight, SCORE, penalty)
    # There are too few modules that only describe their functions to learn from them alone.
    learned = Judge(shown, penalty, False)
    return {"ranking": ranking, "scope": scope, "score": score, "learned": learned, "described": Judge(rows, penalty, True)}


def calibration_error(p, y, bins=10):
    where = np.minimum((p * bins).astype(int), bins - 1)
    return sum(abs(p[where == b].sum() - y[where == b].sum()) for b in range(bins)) / len(p)


def decide(rows, model):
    """For each case: whether it is in scope; the probability that anything is meant, whether the best function is right; the
    probability of the whole answer, whether it is right, whether it is a call; the probability of being in scope by retrieval;
    whether the ranking alone is right; whether the module only describes its functions."""
    rerank(rows, model["ranking"])
    places = [rows[0]["names"]["features"].index(name) for name in SCOPE]
    out = []
    for row in rows:
        if row["segments"] != 1 or not row["alternatives"]:
            continue
        judge = model["described" if is_unlearned(row) else "learned"]
        values = np.array([one["values"] for one in row["alternatives"]])
        p = judge.function(values)
        best = int(p.argmax())
        one = row["alternatives"][best]
        first = max(row["alternatives"], key=lambda one: one.get("rank", 0))
        values_of_first = np.array([first["values"]])
        reach = model["scope"](values_of_first[:, places])[0]
        meant = judge.anything(values_of_first)[0]
        answer = (judge.whole(values[best : best + 1])[0], one["is_wholly_right"], one["is_call"])
        function_right = one["is_function_right"]
        ranked = first["is_function_right"]
        out.append((bool(row["expected"]), meant, function_right, *answer, reach, ranked, is_unlearned(row)))
    return np.array(out, float)


def bar(found, precision):
    """The lowest probability from which calls are right often enough, with a margin for chance."""
    calls = found[found[:, 5] > 0]
    order = np.argsort(-calls[:, 3])
    p, y = calls[order, 3], calls[order, 4]
    weight = balanced(found[:, 4], np.ones(len(found)))[found[:, 5] > 0][order]
    share = np.cumsum(y * weight) / np.cumsum(weight)
    enough = np.arange(len(y)) >= 20
    good = np.where((share >= precision) & enough)[0]
    # If no bar is high enough, the nearest one.
    return float(p[good[-1] if len(good) else np.argmax(np.where(enough, share, 0.0))])


def scope_bar(found):
    """The bar with the best sum of right functions in scope and, at half weight, out-of-scope recall."""
    inside, outside = found[found[:, 0] > 0], found[found[:, 0] == 0]
    best = (0.0, 0.5)
    for t in np.arange(0.05, 0.95, 0.01):
        kept = ((inside[:, 1] >= t) & (inside[:, 2] > 0)).mean()
        best = max(best, (kept + (outside[:, 1] < t).mean() / 2, float(t)))
    return best[1]


def report(name, found, sure, scope):
    inside, outside = found[found[:, 0] > 0], found[found[:, 0] == 0]
    p, y = found[:, 3], found[:, 4]
    text = f"{name}: {len(found)} cases"
    text += f"; function {100 * inside[:, 2].mean():.1f} % (by rank {100 * inside[:, 7].mean():.1f} %)"
    text += f"; whole: right {100 * y.mean():.1f} %, AUROC {100 * roc_auc_score(y, p):.1f}"
    text += f", ECE {100 * calibration_error(p, y):.1f}"
    if len(outside):
        kept = (inside[:, 1] >= scope) & (inside[:, 2] > 0)
        text += f"; scope: AUROC {100 * roc_auc_score(found[:, 0], found[:, 1]):.1f}"
        text += f" (retrieval {100 * roc_auc_score(found[:, 0], found[:, 6]):.1f})"
        text += f", {100 * kept.mean():.1f} % at recall {100 * (outside[:, 1] < scope).mean():.1f} %"
    calls = (found[:, 5] > 0) & (found[:, 1] >= scope)
    for t in (sure, 0.9, 0.8, 0.75, 0.7, 0.6, 0.5):
        made = calls & (p >= t)
        text += f"; at {t:.2f} {made.sum()} calls, {100 * y[made].mean() if made.any() else 0:.1f} % right"
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--judge", type=Path, nargs="*", default=[])
    parser.add_argument("--without", nargs="*", default=[], help="features to leave out, for an ablation")
    parser.add_argument("--only", choices=["ranking", "described"], help="fit one part, and keep the rest of MODEL")
    parser.add_argument("--penalty", type=float, default=0.1)
    parser.add_argument("--sure", type=float, help="set the threshold instead of choosing it")
    parser.add_argument("--described", type=float, default=0.9, help="the same where functions are only described")
    parser.add_argument("--in-scope", type=float, help="set the threshold instead of choosing it")
    options = parser.parse_args()
    rows = leave_out(load(options.files), options.without)
    if options.only == "ranking":
        fit_ranking_alone(options.model, rows, options.judge)
        return
    if options.only == "described":
        fit_described_alone(options.model, rows, options.judge, options.described)
        return
    modules = sorted({row["module"] for row in rows})
    held = []
    for fold in range(FOLDS):
        out = set(modules[fold::FOLDS])
        model = train([row for row in rows if row["module"] not in out], options.penalty)
        held.append(decide([row for row in rows if row["module"] in out], model))
    held = np.vstack(held)
    taught = held[held[:, 8] == 0]
    sure, scope = bar(taught, PRECISION), scope_bar(taught)
    print(f"sure {sure:.3f}, at 95 % {bar(taught, 0.95):.3f}, at 90 % {bar(taught, 0.9):.3f}; in scope {scope:.2f}")
    sure, scope = options.sure or sure, options.in_scope or scope
    report("held-out modules", taught, sure, scope)
    report("held-out modules that only describe their functions", held[held[:, 8] > 0], sure, scope)
    model = train(rows, options.penalty)
    for path in options.judge:
        judged = leave_out(load([path]), options.without)
        report(path.stem, decide(judged, model), sure, scope)
    if options.judge:
        report("all judged", np.vstack([decide(leave_out(load([path]), options.without), model) for path in options.judge]), sure, scope)
    # Keep the part that fit-beside.py fits.
    known = json.loads(options.model.read_text()) if options.model.exists() else {}
    print(f"score: {model['score'].written()}; before: {known.get('score')}")
    written = {
        "command": "scripts/decision/run",
        "ranking": {name: round(float(w), 5) for name, w in model["ranking"].items()},
        **{name: model[name].written() for name in ("scope", "score", "learned", "described")},
        "thresholds": {"sure": round(sure, 3), "described": options.described, "in_scope": round(scope, 3)},
        **{name: known[name] for name in ("beside",) if name in known},
    }
    options.model.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
