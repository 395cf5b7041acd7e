#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/bench.md names each key and column that the golden outputs of bench hold: check_output_keys.py SOURCE

A key with the name of a column of the CSV means what docs/csv-format.md says of it. Names of two sides and of bounds are made of
the name of the number: old_X, new_X, X_sum, X_min, X_max, X_low, X_high.
"""
import json
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1])
# Their keys are names of the run's own: outcomes, errnos, what surrounds it.
FREE = {"outcomes", "errnos", "per_run_errnos", "surroundings"}


def keys_of(value):
    if isinstance(value, list):
        for one in value:
            yield from keys_of(one)
    elif isinstance(value, dict):
        for key, below in value.items():
            yield key
            if key not in FREE:
                yield from keys_of(below)


def keys_of_case(path):
    # Sections, as tests/cli/cli_test.cc describes them.
    sections = re.split(r"^--- (arguments|stdout|stderr|exit code)\n", path.read_text(), flags=re.M)
    text_of = dict(zip(sections[1::2], sections[2::2]))
    words = text_of["arguments"].split()
    output = text_of.get("stdout", "")
    form = words[words.index("--format") + 1] if "--format" in words else "text"
    if form == "json" and output:
        return set(keys_of(json.loads(output)))
    if form == "csv" and output:
        return set(output.split("\n", 1)[0].split(","))
    return set()


def stem_of(key):
    """`wall_ns` of `old_wall_ns`, `block` of `block_low`."""
    return re.sub(r"^(old|new)_|_sum$|_(min|max|low|high)(?=$|_ns$)", "", key)


named = set(re.findall(r"`\"?(\w+)\"?`", (SOURCE / "docs/bench.md").read_text()))
named |= set(re.findall(r"^\| `(\w+)` \|", (SOURCE / "docs/csv-format.md").read_text(), flags=re.M))
named |= {re.sub("^old_", "new_", name) for name in named}
named |= {"n", "median", "min", "max"}  # named together
missing = {}
for case in sorted((SOURCE / "tests/cli/cases").iterdir()):
    for key in keys_of_case(case):
        if not named & {key, stem_of(key)}:
            missing.setdefault(key, case.stem)
for key, case in sorted(missing.items()):
    print(f"docs/bench.md does not name `{key}`, which {case} prints")
sys.exit(1 if missing else 0)
