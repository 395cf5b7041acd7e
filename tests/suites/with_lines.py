# SPDX-License-Identifier: MIT
"""Rows of runs with the lines of calls (--syscost_where), added up over the lines, and of runs without."""
import collections
import csv

FIGURES = ("calls", "errors", "restarts", "denied")


class CallRows:
    """How often each window made each syscall, as several runs of one way counted it."""

    def __init__(self):
        self.runs = []
        self.sites = collections.Counter()  # calls by what the last run says of their lines

    def add(self, file):
        rows = collections.defaultdict(collections.Counter)
        self.sites = collections.Counter()
        with open(file, newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                if row["record"] != "syscall":
                    continue
                figures = rows[row["program"], row["kind"], row["test"], row["window"], row["syscall"]]
                for name in FIGURES:
                    figures[name] += int(row[name] or 0)
                for errno in row["errnos"].split():
                    name, count = errno.rsplit(":", 1)
                    figures[name] += int(count)
                self.sites[kind_of(row["detail"])] += int(row["calls"] or 0)
        self.runs.append({row: tuple(sorted((+figures).items())) for row, figures in rows.items()})

    def of(self, row):
        return {run.get(row) for run in self.runs}

    def windows(self):
        return {row for run in self.runs for row in run}


def kind_of(detail):
    """Of a row's line: whether there is one, and how much it says."""
    if not detail:
        return "without a site"
    if detail.startswith("at unknown"):
        return "unknown"
    place = detail.removeprefix("at ").split(" ")[0]
    return "with a line" if place.rpartition(":")[2].isdigit() else "with a function or file"


def difference(without, with_lines, row):
    def text(rows):
        return "; ".join(sorted({" ".join(f"{name}={count}" for name, count in figures or ()) or "no row" for figures in rows.of(row)}))
    return f"without lines {text(without)}, with lines {text(with_lines)}"
