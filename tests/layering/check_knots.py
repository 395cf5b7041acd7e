# SPDX-License-Identifier: MIT
"""check_knots.py SOURCE [--update]: the core names an extra only in the files that knots.txt lists.

An extra reaches the core through a hook (docs/architecture.md, "Where an extra hooks in"). Where a file of the core still
names one, deleting that extra means changing this file. A file that is not in the list may name no
extra, and a file that names none any more must leave it: --update takes it out, and puts none in."""
import os
import re
import sys

CORE = re.compile(r"^(plugin/src/(core|csv|os|backends/(ebpf|dispatch|seccomp|common)|adapters/gtest)/|plugin/src/session/([^/]+$|windows/|options/|run/|backends/)"
                  r"|bench_tool/src/(csv|model|stats|render)/)")
GENERATED = re.compile(r"/generated/|\.inc$")
EXTRAS = {
    "faults": r"\bFaultInjector|\bFaultRule|\binject|_injected\b|\bForbid|\bwants_faults\b|ptions\.forbid\b",
    "crash": r"PowerCut|FileRecorder|\bfile_log\b",
    "where": r"StackSource|CallSites|\bcall_stacks?\b|\bcall_sites\b|WhereRequest|ptions\.where\b",
    "trace": r"CallTrace|\bcall_trace\b|TraceRequest|untraced|trace_lost|ptions\.trace\b",
    "scheduler": r"Scheduler|\bscheduler",
    "leaks": r"\bLeaks\b|\bleaks\b|LeftOpen|\bmapped_peak\b|MappedPeak",
    "gpu": r"\b[Gg]pu|cupti|CUPTI",
    "profilers": r"WindowTools|bpftrace|\bprofilers?\b",
    "children": r"ChildCounts|ptions\.children\b",
    "commands": r"\bis_command\b|command_memory|command_counts|program_counts",
}
# Comments only speak of extras. A quote in a character begins no text.
COMMENT = re.compile(r"""('(?:\\.|[^'\\\n])'|"(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/""", re.DOTALL)
# The rule is tried both ways.
SAMPLES = [
    ("FaultRule rule;", ["faults"]), ("if (options.where.wanted) x();", ["where"]), ("options.children = true;", ["children"]),
    ("// a FaultRule", []), ("/* bpftrace */ int a;", []), ("char c = '\"'; // FaultRule \"", []), ("default_rule = 1;", []),
    ('text = "bpftrace";', ["profilers"]),
]


def extras_in(text):
    code = COMMENT.sub(lambda found: found.group(1) or "", text)
    return [extra for extra, pattern in EXTRAS.items() if re.search(pattern, code)]


def knots(source):
    for tree in ("plugin/src", "bench_tool/src"):
        for folder, _, names in sorted(os.walk(os.path.join(source, tree))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), source)
                if not CORE.match(path) or GENERATED.search(path) or not name.endswith((".cc", ".h", ".c")):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield from (f"{extra} {path}" for extra in extras_in(file.read()))


def main():
    source = sys.argv[1]
    path = os.path.join(source, "tests", "layering", "knots.txt")
    found = sorted(knots(source))
    with open(path, encoding="utf-8") as file:
        listed = file.read().splitlines()
    if sys.argv[2:] == ["--update"]:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{knot}\n" for knot in listed if knot in found)
        return
    faults = [f"the sample {text} has {extras_in(text)}, not {extras}" for text, extras in SAMPLES if extras_in(text) != extras]
    faults += [f"{knot.partition(' ')[2]} names the extra \"{knot.partition(' ')[0]}\": let the extra reach the core through a hook "
              "(docs/architecture.md, Where an extra hooks in)" for knot in found if knot not in listed]
    faults += [f"knots.txt: {knot} is a knot no more: check_knots.py . --update" for knot in listed if knot not in found]
    for fault in faults:
        print(f"check_knots: {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
