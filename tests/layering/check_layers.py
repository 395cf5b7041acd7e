#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which folder of the sources may include which: check_layers.py SOURCE [--print]

Reads the #include lines of plugin/src and of bench_tool. An include that the tables below do not allow is a fault: either
it goes the wrong way, or docs/architecture.md and the table have to say that it is right. A line of a table that nothing
uses is a fault, too, and so is a way round in a table: folders that include each other are one folder. A folder of the plugin that
docs/architecture.md does not name is a fault as well. --print writes the tables with the number of includes.
"""
import os
import re
import sys

# A folder of plugin/src, and the folders that it may include from besides itself.
PLUGIN = {
    "libc": [],
    "os": ["libc"],
    "core": ["core/tables", "libc", "os"],
    "csv": ["core", "os"],
    "late": ["core", "libc"],
    "adapters/benchmark": ["adapters/names", "agent/find", "late", "libc"],
    "adapters/bodies": ["adapters/names", "agent/find", "late", "libc"],
    "adapters/catch2": ["adapters/bodies", "adapters/names", "agent/find", "late"],
    "adapters/doctest": ["adapters/bodies", "adapters/names", "agent/find", "late"],
    "adapters/gtest": ["adapters/names", "late", "libc"],
    "adapters/names": [],
    "agent": ["adapters/bodies", "agent/common", "agent/exec", "agent/find", "session"],
    "agent/benchmark": ["adapters/benchmark", "agent", "agent/common", "agent/find", "libc"],
    "agent/common": [],
    "agent/exec": ["agent/common", "agent/find", "os"],
    "agent/find": ["agent/common", "libc"],
    "agent/gtest": ["adapters/gtest", "adapters/names", "agent", "agent/common", "agent/find"],
    "agent/guest": ["agent/common", "agent/find", "os"],
    "agent/inject": ["agent/common", "agent/find", "os"],
    "backends/common": ["core", "libc"],
    "backends/dispatch/stub/common": [],
    "backends/dispatch/stub": ["backends/dispatch/stub/common", "core/tables"],
    "arguments": ["arguments/tables", "core", "os"],
    "backends/dispatch": ["backends/common", "backends/dispatch/stub", "backends/dispatch/stub/common", "core", "libc",
                          "os"],
    "backends/ebpf": ["backends/common", "backends/ebpf/helper", "core", "os"],
    "backends/ebpf/bpf": ["backends/ebpf", "core/tables"],
    "backends/ebpf/helper": ["backends/ebpf", "os"],
    "backends/seccomp": ["backends/common", "core", "libc", "os"],
    "bench_run": ["agent/common", "agent/find", "agent/inject", "csv", "os", "session", "session/options"],
    # The rooms of session, from the lowest to the one that knows all others: there is no way round.
    "session/process": ["os"],
    "session/options": ["core", "os", "session/process"],
    "session/run": ["csv", "libc", "os", "session/options"],
    "session/backends": ["backends/dispatch", "backends/ebpf", "backends/seccomp", "core", "os", "session/options"],
    "session/windows": ["core", "csv", "os", "session/options", "session/process"],
    "session/loops": ["core", "csv", "os", "session/process", "session/windows"],
    "session": ["csv", "os", "session/backends", "session/loops", "session/options", "session/process", "session/run",
                "session/windows"],
    "session/two_process": ["core", "libc", "os", "session", "session/backends", "session/options", "session/process",
                            "session/run", "session/windows"],
    # The rooms of extras. A part of a room may know what the layer it is for may know, and that layer.
    "extras": ["backends/dispatch", "backends/ebpf", "backends/seccomp", "extras/children/ebpf", "extras/crash/dispatch",
               "extras/crash/session", "extras/faults/dispatch", "extras/faults/options", "extras/faults/seccomp",
               "extras/faults/session", "extras/leaks/dispatch", "extras/leaks/ebpf", "extras/leaks/session",
               "extras/profilers/session", "extras/scheduler/ebpf", "extras/scheduler/session", "extras/trace/dispatch",
               "extras/trace/session", "extras/where/core", "extras/where/dispatch", "extras/where/session", "os",
               "session", "session/backends", "session/options"],
    "extras/children/bpf": ["backends/ebpf", "backends/ebpf/bpf"],
    "extras/children/ebpf": ["backends/common", "backends/ebpf", "core", "extras", "extras/children/bpf", "os"],
    "extras/children/options": ["extras", "os"],
    "extras/children/session": ["extras"],
    "extras/commands/session": ["extras", "extras/commands/core", "extras/commands/dispatch", "session"],
    "extras/commands/dispatch": ["backends/common", "backends/dispatch", "core", "extras/commands/core",
                                 "extras/commands/stub", "os"],
    "extras/commands/options": ["session/options"],
    "extras/commands/stub": ["backends/dispatch/stub", "backends/dispatch/stub/common"],
    "extras/crash/core": ["os"],
    "extras/crash/dispatch": ["backends/dispatch", "backends/dispatch/stub", "backends/dispatch/stub/common",
                              "extras/crash/core", "extras/crash/stub", "extras/trace/stub"],
    "extras/crash/session": ["extras/crash/core", "extras/crash/states", "extras/where/core", "extras/where/session",
                             "os", "session", "session/backends", "session/process", "session/windows"],
    "extras/crash/states": ["extras/crash/core", "os"],
    "extras/crash/stub": ["backends/dispatch/stub", "backends/dispatch/stub/common", "extras/trace/stub",
                          "extras/where/stub/common"],
    "extras/faults/core": ["core", "core/tables", "extras/trace/core", "extras/where/core", "os"],
    "extras/faults/dispatch": ["arguments", "backends/dispatch", "backends/dispatch/stub",
                               "core", "extras/faults/core", "extras/faults/stub", "extras/trace/stub", "extras/where/dispatch", "os"],
    "extras/faults/options": ["arguments", "core", "extras", "extras/faults/core", "os"],
    "extras/faults/seccomp": ["arguments", "backends/seccomp", "core", "core/tables", "extras/faults/core", "os"],
    "extras/faults/session": ["arguments", "core", "extras", "extras/faults/core", "extras/faults/options",
                              "extras/faults/seccomp", "extras/where/session", "os", "session", "session/backends",
                              "session/process", "session/windows"],
    "extras/faults/stub": ["backends/dispatch/stub", "backends/dispatch/stub/common", "core/tables", "extras/trace/stub"],
    "extras/gpu/cupti": ["extras/profilers", "os"],
    "extras/gpu/ioctl": ["core"],
    "extras/gpu/session": ["extras", "extras/gpu/ioctl"],
    "extras/gpu/stamps": ["extras/profilers", "extras/profilers/session", "os", "session"],
    "extras/leaks/dispatch": ["backends/dispatch", "backends/dispatch/stub", "backends/dispatch/stub/common",
                              "extras/leaks/core", "extras/trace/stub", "os"],
    "extras/leaks/ebpf": ["backends/ebpf", "extras/leaks/core"],
    "extras/leaks/options": ["extras"],
    "extras/leaks/session": ["extras/leaks/core", "extras/where/core", "extras/where/session", "os", "session",
                             "session/process", "session/windows"],
    "extras/profilers": ["os"],
    "extras/profilers/bpftrace": ["core", "extras/profilers", "extras/profilers/launcher", "os"],
    "extras/profilers/launcher": ["libc", "os"],
    "extras/profilers/options": ["extras", "os"],
    "extras/profilers/perf": ["extras/profilers", "extras/profilers/launcher", "os"],
    "extras/profilers/session": ["core", "csv", "extras/gpu/cupti", "extras/profilers", "os", "session", "session/options",
                                 "session/process", "session/run", "session/windows"],
    "extras/scheduler/bpf": ["backends/ebpf", "backends/ebpf/bpf"],
    "extras/scheduler/core": ["core"],
    "extras/scheduler/ebpf": ["backends/ebpf", "extras", "extras/scheduler/bpf", "extras/scheduler/core", "os"],
    "extras/scheduler/options": ["extras", "os"],
    "extras/scheduler/session": ["core", "extras", "extras/profilers/session", "extras/scheduler/core",
                                 "extras/trace/session", "session", "session/process", "session/windows"],
    "extras/trace/core": ["core"],
    "extras/trace/dispatch": ["arguments", "backends/common", "backends/dispatch", "core", "extras/trace/core",
                              "extras/trace/stub", "os"],
    "extras/trace/options": ["extras", "os"],
    "extras/trace/session": ["arguments", "core", "extras", "extras/gpu/ioctl", "extras/profilers/session",
                             "extras/trace/core", "extras/where/core", "extras/where/session", "extras/where/symbols",
                             "os", "session", "session/process", "session/windows"],
    "extras/trace/stub": ["backends/dispatch/stub", "backends/dispatch/stub/common"],
    "extras/where/core": ["core"],
    "extras/where/dispatch": ["backends/dispatch", "backends/dispatch/stub", "backends/dispatch/stub/common",
                              "extras/where/core", "extras/where/stub", "extras/where/stub/common", "os"],
    "extras/where/options": ["extras", "os"],
    "extras/where/session": ["core", "extras", "extras/where/core", "extras/where/symbols", "os", "session",
                             "session/process", "session/windows"],
    "extras/where/stub": ["backends/dispatch/stub", "backends/dispatch/stub/common", "extras/where/stub/common"],
    "extras/where/stub/common": ["backends/dispatch/stub/common"],
    "extras/where/symbols": ["extras/where/core", "libc", "os"],
    "extras/where/symbols/helper": ["extras/where/symbols", "os"],
}
# What the core still knows of extras. An extra reaches the core through a hook (docs/architecture.md, "Where an extra hooks
# in"), so this table only becomes shorter.
KNOTS = {
    "backends/dispatch/stub": ["extras/commands/stub", "extras/faults/stub", "extras/trace/stub", "extras/where/stub",
                               "extras/where/stub/common"],
    "arguments": ["extras/trace/core"],
    "backends/dispatch": ["extras/trace/stub", "extras/where/stub/common"],
    "backends/ebpf/bpf": ["extras/children/bpf"],
    "backends/seccomp": ["extras/faults/seccomp"],
    "session/options": ["extras"],
    "session": ["extras/commands/options"],
    "session/two_process": ["extras/profilers/session"],
}
# The same for bench_tool/src, from the rows of a CSV to the command line; bench_tool/shell is beside it. The last folder,
# ".", holds main() and bench_main(). "plugin/..." is a folder of plugin/src, "syscost..." one of the public headers.
BENCH = {
    "csv": ["plugin/os", "syscost"],
    "model": ["csv", "plugin/core", "plugin/os", "syscost"],
    "stats": ["csv", "model", "syscost"],
    "judge": ["csv", "model", "stats"],
    "render": ["csv", "model", "plugin/os", "stats"],
    "scale": ["model", "stats", "syscost"],
    "report": ["findings", "model", "render", "stats", "syscost", "trace"],
    "groups": ["model", "stats"],
    "trace": ["csv", "plugin/os"],
    "findings": ["model", "render", "stats", "syscost", "trace"],
    "faults": ["csv", "model", "plugin/agent/common", "plugin/os", "syscost", "trace"],
    "otlp": ["csv", "model", "render", "stats", "syscost", "trace"],
    "budgets": ["csv", "judge", "model", "render", "stats", "syscost"],
    "exports": ["csv", "otlp"],
    "cli": ["csv", "judge", "model", "render", "syscost"],
    "gpu_stamps": ["cli", "commands/shared", "csv", "render", "syscost/gpu"],
    # Commands: each has a folder; `shared` is for several.
    "commands": ["cli"],
    "commands/ab": ["cli", "commands", "commands/compare", "commands/shared", "csv", "model", "render", "stats"],
    "commands/baseline": ["budgets", "cli", "commands", "commands/compare", "commands/shared", "csv", "judge", "model", "plugin/os", "render", "stats"],
    "commands/check": ["budgets", "cli", "commands", "commands/baseline", "commands/compare", "commands/shared", "csv", "judge", "model", "render",
                       "stats"],
    "commands/compare": ["budgets", "cli", "commands", "commands/shared", "csv", "judge", "model", "render", "scale", "stats"],
    "commands/critical_path": ["cli", "commands/shared", "csv", "render", "trace"],
    "commands/doctor": ["cli", "commands", "commands/run", "commands/shared", "csv", "plugin/os"],
    "commands/export": ["cli", "commands", "commands/shared", "csv", "exports", "model", "otlp", "render", "trace"],
    "commands/faults": ["cli", "commands", "commands/run", "commands/shared", "csv", "faults", "model", "plugin/os", "render", "syscost"],
    "commands/findings": ["cli", "commands", "commands/shared", "csv", "findings", "model", "render", "stats"],
    "commands/groups": ["cli", "commands", "commands/shared", "csv", "groups", "model", "render", "stats"],
    "commands/watch": ["cli", "commands", "csv", "model", "render", "stats"],
    "commands/log": ["cli", "commands", "commands/compare", "commands/shared", "csv", "judge", "model", "render", "stats"],
    "commands/report": ["cli", "commands", "commands/compare", "commands/critical_path", "commands/groups", "commands/log", "commands/scale",
                        "commands/shared", "commands/summary", "csv", "findings", "gpu_stamps", "groups", "judge", "model", "render",
                        "report", "scale", "stats", "trace"],
    "commands/run": ["cli", "commands", "commands/watch", "csv", "plugin/os", "plugin/session/options", "render"],
    "commands/runs": ["cli", "commands", "commands/shared", "csv", "model", "render"],
    "commands/scale": ["cli", "commands", "commands/shared", "csv", "model", "render", "scale"],
    "commands/shared": ["cli", "csv", "judge", "model", "plugin/os", "render", "stats", "syscost", "trace"],
    "commands/show": ["cli", "commands", "commands/shared", "commands/where", "csv", "gpu_stamps", "model", "render", "stats", "syscost"],
    "commands/summary": ["cli", "commands", "commands/findings", "commands/shared", "commands/where", "csv", "findings", "groups", "model", "render",
                         "stats", "syscost"],
    "commands/trace": ["cli", "commands", "commands/critical_path", "commands/shared", "csv", "model", "render", "trace"],
    "commands/where": ["cli", "commands/compare", "commands/shared", "csv", "model", "render", "stats", "syscost"],
    ".": ["cli", "commands", "plugin/os", "render"],
    "shell": ["cli", "commands", "plugin/backends/ebpf/helper", "plugin/core", "plugin/session/options"],
}
# Two halves of one protocol, in two processes: the only folders that include each other.
MUTUAL = ("backends/ebpf", "backends/ebpf/helper")
# The lists of extras name each room, and rooms use what a list declares.
LISTS = "extras"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


# For each table: the folders with sources and the prefix of their names in it, and where else an include may lie.
TREES = [
    (PLUGIN, [("plugin/src", "")], []),
    (BENCH, [("bench_tool/src", ""), ("bench_tool/shell", "shell")], [("plugin/src", "plugin"), ("plugin/include", "")]),
]


def includes(source, own, others):
    """(from, to) folders -> the includes, `a.cc: b/c.h`."""
    found = {}
    for root, prefix in own:
        root = os.path.join(source, root)
        for folder, _, names in sorted(os.walk(root)):
            for name in sorted(name for name in names if name.endswith((".h", ".cc"))):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                here = os.path.normpath(os.path.join(prefix, os.path.relpath(folder, root)))
                for target in INCLUDE.findall(text):
                    if target.startswith("../"):  # BPF code: its compiler knows no folder of ours
                        target = os.path.relpath(os.path.join(folder, target), root)
                    there = folder_of(source, target, own + others)
                    if there is None and os.path.exists(os.path.join(folder, target)):
                        there = here
                    if there is not None and there != here:
                        found.setdefault((here, there), []).append(f"{os.path.join(here, name)}: {target}")
    return found


def folder_of(source, target, roots):
    """The name of the folder in which the included file lies; None if it is none of ours."""
    for root, prefix in roots:
        if os.path.exists(os.path.join(source, root, target)):
            return os.path.normpath(os.path.join(prefix, os.path.dirname(target)))
    return None


def ways_round(allowed):
    """Folders of the table from which a way leads back to themselves, with that way."""
    def way_to(goal, folder, seen):
        for other in allowed.get(folder, []):
            if folder == LISTS or (folder in MUTUAL and other in MUTUAL) or other in seen:
                continue
            rest = [other] if other == goal else way_to(goal, other, seen | {other})
            if rest:
                return [folder] + rest
        return []
    return [way for way in (way_to(folder, folder, frozenset()) for folder in allowed) if way]


def faults_of(source, allowed, own, others):
    found = includes(source, own, others)
    known = {folder: targets + (KNOTS.get(folder, []) if allowed is PLUGIN else []) for folder, targets in allowed.items()}
    if "--print" in sys.argv:
        for edge, lines in sorted(found.items()):
            print(f"{edge[0]} -> {edge[1]}: {len(lines)}")
    faults = [f"{line}: {edge[0]} must not know {edge[1]}"
              for edge, lines in found.items() for line in lines if edge[1] not in known.get(edge[0], [])]
    # A folder may be missing, if it may be deleted.
    faults += [f"{folder} includes nothing of {other} any more: take that out of check_layers.py"
               for folder, targets in known.items() for other in targets
               if (folder, other) not in found and exists(source, folder, own) and exists(source, other, own + others)]
    return faults + ["a way round: " + " -> ".join(way) for way in ways_round(allowed)]


def exists(source, folder, roots):
    return any(os.path.isdir(os.path.join(source, root, os.path.relpath(folder, prefix or "."))) for root, prefix in roots
               if not prefix or folder == prefix or folder.startswith(prefix + "/"))


def unnamed(source):
    """The folders of the plugin that the page does not name: by their path, or by the last part of it."""
    with open(os.path.join(source, "docs/architecture.md"), encoding="utf-8") as file:
        page = file.read()
    def names(folder):
        return (f"plugin/src/{folder}", os.path.basename(folder), os.path.basename(folder) + "/")
    return [folder for folder in PLUGIN
            if not any(f"`{name}`" in page for name in names(folder))
            or (folder.startswith("extras/") and f"| `{folder.split('/')[1]}` |" not in page)]


def main():
    faults = [fault for tree in TREES for fault in faults_of(sys.argv[1], *tree)]
    faults += [f"docs/architecture.md does not name the folder {folder}" for folder in unnamed(sys.argv[1])]
    for fault in faults:
        print(f"check_layers: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
