"""Two builds on every set, case by case: what is no longer right, what is newly right, and whether that is more than chance.

`scripts/quality --gate BASE` runs it. A set falls if fewer cases or dialogues are right, or more calls are wrong, and the
95 % interval of a paired bootstrap (`uptake eval --compare`) does not include 0.
"""

import collections
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "fixtures"
# The sets of the repository. Cases without a schema beside them belong to a module of that name in another set.
SETS = {
    "shipped": ROOT / "modules",
    **{name: FIXTURES / name for name in ("strangers", "values", "unread", "talk", "newcomers", "visitors")},
}
# Their cases stay unread: the page counts them and shows none.
SEALED = ("unread", "talk", "newcomers", "visitors")
# Metrics that must not get worse: the name, and whether more of it is worse.
GUARDED = {"wholly right": False, "wrong calls": True}


def built(base):
    """The executable of `base` and the tree whose modules it reads. A path is an executable that reads the present modules; a
    commit is built once into target/gate and reads its own modules, so that it meets no setting of a later version."""
    if Path(base).is_file():
        return Path(base).resolve(), ROOT
    commit = run("git", "rev-parse", "--verify", f"{base}^{{commit}}").strip()
    place = ROOT / "target" / "gate"
    binary, tree = place / f"uptake-{commit[:12]}", place / "tree"
    run("git", "worktree", "prune")
    if tree.exists():
        run("git", "-C", tree, "checkout", "--quiet", "--force", "--detach", commit)
    else:
        place.mkdir(parents=True, exist_ok=True)
        run("git", "worktree", "add", "--quiet", "--detach", tree, commit)
    if not binary.exists():
        print(f"building {commit[:12]} ...", file=sys.stderr)
        built_in = place / "build"
        subprocess.run(["cargo", "build", "--release", "--locked", "--target-dir", built_in], cwd=tree, check=True)
        shutil.copy2(built_in / "release" / "uptake", binary)
    return binary, tree


def within(tree, directory):
    """The module as it is in a tree; if the tree lacks it, the present one."""
    if not directory.resolve().is_relative_to(ROOT):
        return directory
    other = tree / directory.resolve().relative_to(ROOT)
    return other if other.is_dir() else directory


def run(*command):
    return subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=True).stdout


def sets(more):
    """(name, [(module, its files of cases)]) of every set: those of the repository, and the given ones."""
    own = [(name, sorted(path for path in place.iterdir() if path.is_dir())) for name, place in SETS.items()]
    return [(name, [(module_of(path), files) for path in paths if (files := cases_of(path))]) for name, paths in own + more]


def cases_of(directory):
    return [path for path in sorted(directory.glob("*.jsonl")) if not path.name.startswith("valid")]


def module_of(directory):
    places = [directory, *(place / directory.name for place in SETS.values())]
    return next(path for path in places if any(path.glob("schema*")) or any(path.glob("openapi*")))


def evaluated(run_json, directory, files, moment):
    """One module with one build: its answers with module, kind and language, and its dialogues as answers."""
    named = [argument for path in files for argument in ("--cases", str(path))]
    report = run_json("eval", directory, "--strategy", "local", "--now", moment, "--errors", *named)
    kinds = {}
    for path in files:
        for line in path.read_text().splitlines():
            case = json.loads(line) if line.strip() else {}
            if "utterance" in case:
                kinds.setdefault(case["utterance"], case.get("kind", "-"))
    settings = directory / "module.toml"
    language = (tomllib.loads(settings.read_text()) if settings.exists() else {}).get("language", "en").split("-")[0]
    tags = {"module": directory.name, "language": language}
    instead = {wrong["utterance"]: wrong for wrong in report.get("wrong", [])}
    answers = [answer | tags | {"kind": kinds.get(answer["utterance"], "-"), "instead": instead.get(answer["utterance"])}
               for answer in report["answers"]]
    # The same words in two modules are two cases.
    for answer in answers:
        answer["utterance"] = f"{directory.name}: {answer['utterance']}"
    return answers, dialogues(directory, files, report, tags)


def dialogues(directory, files, report, tags):
    wrong = {Path(one["place"]).name: one for one in report.get("wrong_dialogues", [])}
    found = []
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or "turns" not in json.loads(line):
                continue
            failed = wrong.get(f"{path.name}:{number}")
            right = failed is None
            found.append({"utterance": f"{directory.name}/{path.name}:{number}", "right": right, "function_right": right,
                          "wrong_call": False, "confidence": None, "kind": "dialogue", "instead": failed} | tags)
    return found


def compared(binary, before, after):
    with tempfile.TemporaryDirectory() as place:
        paths = [Path(place) / name for name in ("before.json", "after.json")]
        for path, answers in zip(paths, (before, after)):
            fields = ("utterance", "right", "function_right", "wrong_call", "confidence")
            path.write_text(json.dumps({"answers": [{field: one[field] for field in fields} for one in answers]}))
        return json.loads(run(binary, "eval", "--compare", *paths, "--json"))


def gate(base, now, runner_of, zoned, more):
    """The page, and the sets that fell. `base` is an executable and a tree; `runner_of(binary)` gives a function that runs `uptake
    ... --json` with that build. Both answer the present cases."""
    builds = [(runner_of(base[0]), base[1]), (runner_of(now), ROOT)]
    lines, rows, fallen, changes = [], [], [], []
    for name, modules in sets(more):
        before, after = ([evaluated(run_json, within(tree, path), files, zoned(path)) for path, files in modules]
                         for run_json, tree in builds)
        for kind, part in (("cases", 0), ("dialogues", 1)):
            first, second = ([answer for module in side for answer in module[part]] for side in (before, after))
            if not first:
                continue
            found = compared(now, first, second)
            for metric in found["metrics"]:
                if metric["name"] in GUARDED and (part == 0 or metric["name"] == "wholly right"):
                    rows.append(row(name, kind, found["cases"], metric))
                    if fell(metric):
                        fallen.append(f"{name}, {kind}: {metric['name']}")
            changes.append((name, changed(first, second)))
    lines += ["# The gate", "", f"`{base[0].name}` against `{now.name}`.", "",
              "| set | | | before | now | difference | 95 % of draws | |", "|---|---|---|---|---|---|---|---|", *rows, ""]
    lines += by_class(changes) + listed(changes)
    lines += ["", "Fallen: " + ("; ".join(fallen) if fallen else "none.")]
    return "\n".join(lines) + "\n", fallen


def fell(metric):
    low, high = metric["interval"]
    return low > 0 if GUARDED[metric["name"]] else high < 0


def row(name, kind, cases, metric):
    low, high = (100 * bound for bound in metric["interval"])
    first, second = 100 * metric["first"], 100 * metric["second"]
    verdict = "**fell**" if fell(metric) else "rose" if low > 0 or high < 0 else ""
    return (f"| {name} | {cases} {kind} | {metric['name']} | {first:.1f} | {second:.1f} | {second - first:+.1f} | "
            f"{low:+.1f} to {high:+.1f} | {verdict} |")


def changed(first, second):
    """Cases that only one of the builds has right: (case, newly right). Paired as `eval --compare` pairs them."""
    waiting = collections.defaultdict(collections.deque)
    for one in second:
        waiting[one["utterance"]].append(one)
    pairs = [(one, waiting[one["utterance"]].popleft()) for one in first if waiting[one["utterance"]]]
    return [(after if after["instead"] else before, after["right"]) for before, after in pairs
            if before["right"] != after["right"]]


def by_class(changes):
    counts = collections.defaultdict(lambda: [0, 0])
    for name, cases in changes:
        for case, won in cases:
            for group in (("kind", case["kind"]), ("language", case["language"]), ("module", f"{name}/{case['module']}")):
                counts[group][won] += 1
    lines = ["| by | | no longer right | newly right |", "|---|---|---|---|"]
    return lines + [f"| {by} | {value} | {lost} | {won} |" for (by, value), (lost, won) in sorted(counts.items())] + [""]


def listed(changes):
    lines = []
    for name, cases in changes:
        if name in SEALED or not cases:
            continue
        lines += [f"## {name}", ""]
        for wanted, title in ((False, "No longer right"), (True, "Newly right")):
            shown = [case for case, won in cases if won == wanted]
            if shown:
                lines += [f"{title}:", "", *(f"- {case['utterance']} ({case['kind']}){got(case)}" for case in shown), ""]
    return lines


def got(case):
    """The result instead of the expected one."""
    instead = case.get("instead")
    if not instead:
        return ""
    shown = {key: instead[key] for key in ("turn", "expected", "got", "outcome", "differences") if key in instead}
    return f": `{json.dumps(shown, ensure_ascii=False)[:300]}`"
