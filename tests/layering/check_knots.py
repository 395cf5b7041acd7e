# SPDX-License-Identifier: MIT
"""check_knots.py SOURCE [--update]: the core names an extra only in the files that knots.txt lists.

An extra reaches the core through a hook (docs/architecture.md, "Where an extra hooks in"). Where a file of the core still
names one, deleting that extra means changing this file. The list may only become shorter: a file that is not in it may
name no extra, and a file that names none any more must leave it (--update writes it anew)."""
import os
import re
import sys

CORE = re.compile(r"^(plugin/src/(core|csv|os|backends/(ebpf|dispatch|seccomp|common)|adapters/gtest)/|plugin/src/session/([^/]+$|windows/|options/|run/|backends/)"
                  r"|bench_tool/src/(csv|model|stats|render)/)")
GENERATED = re.compile(r"/generated/|\.inc$")
EXTRAS = {
    "faults": r"\bFaultInjector|\bFaultRule|\binject|_injected\b|\bForbid",
    "crash": r"PowerCut|FileRecorder|\bfile_log\b",
    "where": r"StackSource|CallSites|\bcall_stacks?\b|\bcall_sites\b|WhereRequest",
    "trace": r"CallTrace|\bcall_trace\b|TraceRequest|untraced|trace_lost",
    "scheduler": r"Scheduler|\bscheduler",
    "leaks": r"\bLeaks\b|\bleaks\b|LeftOpen|\bmapped_peak\b|MappedPeak",
    "gpu": r"\b[Gg]pu|cupti|CUPTI",
    "profilers": r"WindowTools|bpftrace|\bprofilers?\b",
    "children": r"ChildTables|ChildReader|read_children",
    "commands": r"\bis_command\b|command_memory|command_counts|program_counts",
}
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def knots(source):
    for folder, _, names in sorted(os.walk(os.path.join(source))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), source)
            if not CORE.match(path) or GENERATED.search(path) or not name.endswith((".cc", ".h", ".c")): continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                code = COMMENT.sub(lambda found: found.group(1) or "", file.read())
            for extra, pattern in EXTRAS.items():
                if re.search(pattern, code) and not re.search(pattern, name.partition(".")[0]):
                    yield f"{extra} {path}"


def main():
    source = sys.argv[1]
    path = os.path.join(source, "tests", "layering", "knots.txt")
    found = sorted(knots(source))
    if sys.argv[2:] == ["--update"]:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{knot}\n" for knot in found)
        return
    with open(path, encoding="utf-8") as file:
        listed = file.read().splitlines()
    faults = [f"{knot.partition(' ')[2]} names the extra \"{knot.partition(' ')[0]}\": let the extra reach the core through a hook "
              "(docs/architecture.md, Where an extra hooks in)" for knot in found if knot not in listed]
    faults += [f"knots.txt: {knot} is a knot no more: check_knots.py . --update" for knot in listed if knot not in found]
    for fault in faults:
        print(f"check_knots: {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
