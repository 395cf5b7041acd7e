# SPDX-License-Identifier: MIT
"""Makes two outputs of one command comparable: what a machine's speed decides becomes '#', counts stay.

Both the documented and the real output go through here. A rule that hides too much would let a page say anything, so
each is as narrow as the format it is about; run_document_test.py holds both sides of each.
"""
import re
from dataclasses import dataclass

TIME = re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)? ?(?:ns|us|ms|s|min)\b")
# In this order. Times, shares, factors, moments, names of runs and machines.
RULES = [
    # Text that bench and the report line print only above some size. It is about time, so it may be present or missing.
    (re.compile(r" \(about [\d.]+ (?:ns|us|ms|s) of it added by measuring\)"), ""),
    (re.compile(r", [\d.]+(?:x| %) (?:faster|slower)"), ""),
    (re.compile(r", (\d[\d.]* (?:ns|us|ms|s)) waiting"), ""),
    # In bench compare: the interval of a change, those of the medians, and p. The number of samples and the verdict
    # stay.
    (re.compile(r" \[[+-]?\d+(?:\.\d+)?x?\.\.[+-]?\d+(?:\.\d+)?(?:x| %)\]"), ""),
    (re.compile(r"\+-\d+(?:\.\d+)? % -> \+-\d+(?:\.\d+)? %, "), ""),
    (re.compile(r"(, |\()p(?:=[01]\.\d+|<0\.0001)(?=, )"), r"\1p"),
    # A loop: its range of times, how many calls a calibrated pass has, and whether they agreed.
    (re.compile(r"\[[\d.]+ (?:ns|us|ms|s)\.\.[\d.]+ (?:ns|us|ms|s)\]"), "[#]"),
    (re.compile(r"\bpasses of \d+ calls?: (?:stable|UNSTABLE, \d+ % apart)"), "passes of # calls: #"),
    (re.compile(r"\bn=(\d+) of \d+ calls?"), r"n=\1 of # calls"),
    # The cost of counting is not printed if other work on the machine hides it.
    (re.compile(r"(?:\d+ ns added per call while counting|what counting adds to a call is not measurable: the machine is busy)"),
     "# added per call while counting"),
    (re.compile(r"; (?:measuring added about [\d.]+ % of OLD's and [\d.]+ % of NEW's \(estimated\)"
                r"|what measuring added was not estimated for all of it)$"), "; what measuring added: #"),
    # Which libc is here.
    (re.compile(r"\b\d+ of \d+ call sites of libc patched(?:, the rest trapped: .*)?$"), "# of # call sites of libc patched"),
    # Between the file and the backend: moment, host, kernel, the commit where there is one, build type.
    (re.compile(r"^run \S+ of (\S+), .*?(?=backend )"), r"run # of \1, "),
    (re.compile(r"\brun [\w.-]+-\d+-\d+\b(?:, commit [0-9a-f]+)?"), "run #"),
    # The text of bench compare after the files OLD and NEW: run, label, commit, time.
    (re.compile(r"^(OLD|NEW)  (\S+): .*"), r"\1 \2"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), "#"),
    (re.compile(r"\bkernel \d+\.\d+\S* \S+, user id \d+"), "kernel #, user id #"),
    (TIME, "#"),
    (re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+)? ?%"), "#"),
    (re.compile(r"(?<![\w.])\d+(?:\.\d+)?x\b"), "#"),
]
# In bench's tables times and shares have no unit beside them, but always a point; counts there have none.
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")
# `[64, 128)   365636 |@@@@   |`: where a latency falls is the machine's business.
HISTOGRAM_LINE = re.compile(r"^\s*\[\d+[KMGT]?, \d+[KMGT]?\)\s+\d+ \|[@ ]*\|")
# Column of a table that is count divided by time, and of integers.
RATE = "calls/s"
# A documented line that stands for any number of lines.
ANY = "..."


@dataclass(frozen=True)
class Line:
    """A line as it is compared, and the raw lines it stands for."""

    text: str
    first: int
    last: int


def apply_rules(line: str) -> str:
    for pattern, replacement in RULES:
        line = pattern.sub(replacement, line)
    return re.sub(r"\s+", " ", line).strip()


def hide_rates(lines: list[str]) -> list[tuple[int, str]]:
    """Hides the calls/s column of bench's tables and sorts their rows (bench orders by time): (raw index, line)."""
    out: list[tuple[int, str]] = []
    table: list[tuple[str, int, str]] = []  # what a row is about, then the row
    end: int | None = None

    def close() -> None:
        out.extend((index, line) for _, index, line in sorted(table))
        table.clear()

    for index, line in enumerate(lines):
        if RATE in line.split():
            close()
            end = line.index(RATE) + len(RATE)
        elif end is not None and re.match(r"^\s+\d+\.\d\s+(?:\d+\.\d|[\d.]+ (?:ns|us|ms|s))\s", line):
            number = re.search(r"\d[\d.]*$", line[:end])
            row = line[: number.start()] + "#" + line[end:] if number else line
            table.append((line[end:].strip(), index, DECIMAL.sub("#", TIME.sub("#", row))))
            continue
        else:
            close()
            end = None
        out.append((index, line))
    close()
    return out


def normalise(lines: list[str], masks: list[str]) -> list[Line]:
    """Lines as they are compared. `...` stays. A line that a mask covers whole disappears."""
    out: list[Line] = []
    for index, line in hide_rates(lines):
        for mask in masks:
            line = re.sub(mask, "#", line)
        if masks and line.strip() == "#":
            continue
        is_histogram = HISTOGRAM_LINE.match(line)
        text = "[a histogram]" if is_histogram else apply_rules(line)
        if is_histogram and out and out[-1].text == text:
            out[-1] = Line(text, out[-1].first, index)
            continue
        out.append(Line(text, index, index))
    while out and not out[-1].text:
        out.pop()
    return out


def match(expected: list[str], actual: list[str]) -> list[int | None] | None:
    """For each expected line the index of the actual line it stands for (None for `...`), or None without a match."""
    # can[e][a]: expected[e:] matches actual[a:].
    can = [[False] * (len(actual) + 1) for _ in range(len(expected) + 1)]
    can[len(expected)][len(actual)] = True
    for e in range(len(expected) - 1, -1, -1):
        for a in range(len(actual), -1, -1):
            if expected[e] == ANY:
                can[e][a] = can[e + 1][a] or (a < len(actual) and can[e][a + 1])
            else:
                can[e][a] = a < len(actual) and expected[e] == actual[a] and can[e + 1][a + 1]
    if not can[0][0]:
        return None
    found: list[int | None] = []
    a = 0
    for e, line in enumerate(expected):
        if line == ANY:
            while not can[e + 1][a]:
                a += 1
            found.append(None)
        else:
            found.append(a)
            a += 1
    return found


def renew(expected: list[str], actual: list[str], masks: list[str]) -> list[str]:
    """The real output in the shape of the documented one: its `...` stay where they still fit."""
    if ANY not in expected:
        return actual
    wanted, real = normalise(expected, masks), normalise(actual, masks)
    found = match([line.text for line in wanted], [line.text for line in real])
    if found is None:
        return actual
    out: list[str] = []
    segment: list[int] = []
    begins_at_start = found[0] is not None

    def close(is_last: bool) -> None:
        if not segment:
            return
        first = 0 if not out and begins_at_start else min(real[i].first for i in segment)
        last = len(actual) if is_last else max(real[i].last for i in segment) + 1
        out.extend(actual[first:last])
        segment.clear()

    for index in found:
        if index is None:
            close(False)
            out.append(ANY)
        else:
            segment.append(index)
    close(True)
    return out
