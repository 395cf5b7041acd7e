# SPDX-License-Identifier: MIT
"""every_case_test.py BACKEND BENCH LISTS PROGRAM PAGE [kinds]: the oracle on every case of the conformance suite.

PROGRAM is conformance_not_linked. PAGE is docs/conformance.md, which says which cases cannot hold on a backend, or in a program
that is not linked with syscost; a test of the suite compares it with the cases. With `kinds` bytes are compared by kind of file, too.
"""
import collections
import os
import pathlib
import re
import sys
import tempfile

import oracle

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from rights import UNDER_A_FILTER  # pylint: disable=wrong-import-position

SKIPPED = 77
BACKENDS = ("ebpf", "dispatch", "dispatch-trap", "seccomp")
# It sees no results, so it has no bytes.
WITHOUT_BYTES = {"seccomp"}
# A container engine's filter answers calls of these cases before the kernel does, or may have.
ANSWERED_BY_A_FILTER = {"invalid_number", "unmapped_addresses", "blocked_at_arm"}


def cases(page, backend):
    """Name -> why it cannot hold, or an empty text."""
    text = page.read_text(encoding="utf-8")
    found = dict.fromkeys(re.findall(r"\d+ `(\w+)`[,.]", text), "")
    for name, columns, why in re.findall(r"(?m)^\| \d+ `(\w+)`[^|]* \| ([^|]+) \| (.+) \|$", text):
        if {backend, "not linked"} & set(columns.split(", ")):
            found[name] = why
    return found


def planted_faults(folder):
    """The oracle finds a byte more, a descriptor less and a higher peak in the rows: else its silence says nothing."""
    rows = folder / "rows.csv"
    text = rows.read_text(encoding="utf-8")
    header, *lines = text.splitlines()
    names = header.split(",")
    planted = {}
    for i, line in enumerate(lines):
        row = dict(zip(names, line.split(",")))
        for column, change in (("bytes", {"bytes": 1}), ("total_bytes_written", {"total_bytes_written": 1}),
                               ("descriptors_left", {"descriptors_left": -1, "left_open": ""}), ("peak_mapped_bytes", {"peak_mapped_bytes": 4096})):
            if row["kind"] == "test" and row[column] not in ("", "0") or column == "peak_mapped_bytes" and row[column]:
                other = {**row, **{name: str(int(row[name]) + by) if by else "" for name, by in change.items()}}
                planted[column] = "\n".join([header, *lines[:i], ",".join(other.values()), *lines[i + 1:]]) + "\n"
    for column in ("bytes", "total_bytes_written", "descriptors_left", "peak_mapped_bytes"):
        rows.write_text(planted.get(column, text), encoding="utf-8")
        if not oracle.compare(folder).faults:
            yield f"a wrong {column} was planted, and the oracle does not find it"


def main():
    backend, bench, lists, program, page, *kinds = sys.argv[1:]
    flags = ["--detail=file"] if kinds else []
    if oracle.missing():
        oracle.skip(oracle.missing())
    by_kind = collections.Counter()
    faults, counts, windows, lowers, leaving = [], {"compared": 0, "cannot hold": 0, "not here": 0}, 0, 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, cannot in cases(pathlib.Path(page), backend).items():
            if cannot:
                counts["cannot hold"] += 1
                continue
            if UNDER_A_FILTER and name in ANSWERED_BY_A_FILTER:
                counts["not here"] += 1
                continue
            status = oracle.observe(folder, bench, lists, backend, [program, name], backend not in WITHOUT_BYTES, flags)
            if status == SKIPPED:
                counts["not here"] += 1
                continue
            if not (folder / "rows.csv").exists() and counts["compared"] == 0:
                oracle.skip(f"{backend} does not work here: {oracle.said(folder)[-500:]}")
            if status != 0:
                faults.append(f"{name}: exit status {status}: {oracle.said(folder)[-1000:]}")
                continue
            done = oracle.compare(folder, bool(kinds))
            by_kind += done.kinds
            faults += [f"{name}: {fault}" for fault in done.faults]
            if done.of_lists == 0:
                faults.append(f"{name}: no window has lists")
            counts["compared"] += 1
            windows, lowers, leaving = windows + done.of_lists, lowers + done.lower_bounds, leaving + done.leaving
            if name == "write_x1024" and backend not in WITHOUT_BYTES:
                faults += planted_faults(folder)
    print("\n".join(faults))
    print(f"{backend}: {counts['compared']} cases with {windows} windows compared ({lowers} of them lower bounds), {leaving} windows leave something; "
          f"{counts['cannot hold']} cases cannot hold, {counts['not here']} cannot run here; {len(faults)} faults")
    if kinds:
        print("bytes by kind: " + ", ".join(f"{count} {kind or 'no file'}" for kind, count in by_kind.most_common()))
    return 1 if faults or counts["compared"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
