"""Results as a table: one line a case, one column a client. Pure."""

from dataclasses import dataclass, field

PASSED, FAILED, WITHOUT = "passed", "failed", "without"
MARKS = {PASSED: "✓", FAILED: "✗", WITHOUT: "-"}


@dataclass
class Column:
    """A client, and what came of each case: {case: (result, why, seconds)}."""

    name: str
    version: str
    cells: dict = field(default_factory=dict)


def red(columns):
    """(client, case, why) of everything that failed."""
    return [
        (column.name, case, why)
        for column in columns
        for case, (result, why, _) in column.cells.items()
        if result == FAILED
    ]


def together(failures):
    """Cases that failed for the same reason: {(client, why): [case]}."""
    found = {}
    for client, case, why in failures:
        found.setdefault((client, why), []).append(case)
    return found


def plain(cases, columns):
    """For a terminal: clients are numbered, so that the table stays narrow."""
    width = max(len(title) for _, title in cases)
    lines = [f"{number:>2}  {column.name} {column.version}" for number, column in enumerate(columns, 1)]
    lines += ["", " " * width + "".join(f"{number:>4}" for number in range(1, len(columns) + 1))]
    for case, title in cases:
        lines.append(f"{title:<{width}}" + "".join(f"{_mark(column, case):>4}" for column in columns))
    return "\n".join(lines)


def markdown(cases, columns):
    """For the documentation."""
    head = " | ".join(f"{column.name} {column.version}" for column in columns)
    lines = [f"| | {head} |", "|---|" + "---|" * len(columns)]
    for case, title in cases:
        lines.append(f"| {title} | " + " | ".join(_mark(column, case) for column in columns) + " |")
    return "\n".join(lines) + "\n"


def footnotes(cases, columns):
    """Why a client has no means for a case, for below the table."""
    lines = ["", "Why a client has no means for a case:", ""]
    lines += [f"- {names} ({why}): {'; '.join(titles)}" for (names, why), titles in reasons(cases, columns).items()]
    return "\n".join(lines) + "\n"


def reasons(cases, columns):
    """Why there is no cell, where there is none: {(clients, why): [title]}, in the order of the table."""
    clients = {}
    for column in columns:
        for case, title in cases:
            result, why, _ = column.cells[case]
            if result == WITHOUT:
                clients.setdefault((title, why), []).append(column.name)
    found = {}
    for (title, why), names in clients.items():
        found.setdefault((", ".join(names), why), []).append(title)
    return found


def _mark(column, case):
    return MARKS[column.cells[case][0]]
