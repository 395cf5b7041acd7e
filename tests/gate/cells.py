# SPDX-License-Identifier: MIT
"""Cells, (program, test, syscall), of a run's CSV: reads their counts, and adds calls to one, as a mutation does."""
import csv

COUNTED = ("test", "suite", "environment")


class Run:
    """The rows of one CSV."""

    def __init__(self, path, program=None):
        with open(path, newline="", encoding="utf-8") as lines:
            reader = csv.DictReader(lines)
            self.columns = reader.fieldnames
            self.rows = [row for row in reader if program in (None, row["program"])]

    def write(self, path):
        with open(path, "w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)

    def tests(self):
        """(program, test) of each test that passed. A test that ran several times is left out."""
        seen = {}
        for row in self.rows:
            if row["record"] == "test" and row["kind"] == "test" and row["origin"] == "syscost":
                key = (row["program"], row["test"])
                seen[key] = row["outcome"] == "passed" and key not in seen
        return {key for key, is_one in seen.items() if is_one}

    def counts(self):
        """({(program, window, syscall): calls}, the volatile keys of these). A window is a test or a set-up."""
        cells, volatile = {}, set()
        for row in self.rows:
            if row["record"] == "syscall" and row["kind"] in COUNTED and row["origin"] == "syscost":
                key = (row["program"], window_of(row), named(row))
                cells[key] = cells.get(key, 0) + int(row["calls"] or row["entries"])
                if "volatile" in row["class"].split(";"):
                    volatile.add(key)
        return cells, volatile

    def add(self, program, test, syscall, more):
        """`more` calls that succeed, in the first repetition of the test."""
        whole = next(row for row in self.rows if row["record"] == "test" and row["kind"] == "test"
                     and (row["program"], row["test"]) == (program, test))
        same = [row for row in self.rows if row["record"] == "syscall" and row["kind"] == "test"
                and (row["program"], row["test"], row["repetition"], row["window"]) ==
                (program, test, whole["repetition"], whole["window"])]
        row = next((one for one in same if named(one) == syscall), None)
        for column in ("total_entries", "total_calls"):
            if whole[column] != "":
                whole[column] = str(int(whole[column]) + more)
        if row is None:
            row = self.new_row(whole, syscall)
        for column in ("entries", "calls", "latency_count"):
            if row[column] != "":
                row[column] = str(int(row[column]) + more)
        if row["histogram"]:
            first, _, rest = row["histogram"].partition(" ")
            bucket, count = first.split(":")
            row["histogram"] = f"{bucket}:{int(count) + more}" + (f" {rest}" if rest else "")
        elif row["latency_count"]:
            row["histogram"] = f"480:{row['latency_count']}"
            for column in ("latency_sum_ns", "latency_min_ns", "latency_max_ns", "p50_ns", "p75_ns", "p90_ns", "p95_ns", "p99_ns"):
                row[column] = "480"

    def new_row(self, whole, syscall):
        """A row of a syscall that the test does not make, right after the test's own row."""
        kept = self.columns[:self.columns.index("record")]
        row = {column: whole[column] if column in kept else "" for column in self.columns}
        row.update(record="syscall", syscall=syscall, origin="syscost", end="end")
        for column in self.columns[self.columns.index("entries"):self.columns.index("errors") + 1] + ["latency_count"]:
            row[column] = "0" if column == "entries" or whole["total_calls"] != "" else ""
        self.rows.insert(self.rows.index(whole) + 1, row)
        return row


def window_of(row):
    """As `bench` names it."""
    if row["kind"] == "test":
        return row["test"]
    return f"{row['kind']} {row['test']}".strip() + f", {row['window']}"


def named(row):
    return f"{row['syscall']} {row['detail']}".strip()
