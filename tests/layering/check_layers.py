#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which folder of the plugin's sources may include which: check_layers.py SOURCE [--print]

Reads the #include lines of plugin/src. An include that the table below does not allow is a fault: either it goes the
wrong way, or docs/architecture.md and the table have to say that it is right. A line of the table that nothing uses is
a fault, too, and so is a way round in the table: folders that include each other are one folder. --print writes the
table with the number of includes.
"""
import os
import re
import sys

# A folder, and the folders that it may include from besides itself.
ALLOWED = {
    "os": [],
    "core": ["core/tables", "os"],
    "csv": ["core", "os"],
    "late": ["core"],
    "adapters/benchmark": ["late"],
    "adapters/bodies": ["agent/find", "late"],
    "adapters/catch2": ["adapters/bodies", "agent/find", "late"],
    "adapters/doctest": ["adapters/bodies", "agent/find", "late"],
    "adapters/gtest": ["late"],
    "agent": ["adapters/bodies", "adapters/catch2", "adapters/doctest", "agent/common", "agent/exec", "agent/find"],
    "agent/common": [],
    "agent/exec": ["agent/common", "agent/find"],
    "agent/find": ["agent/common"],
    "agent/gtest": ["adapters/gtest", "agent", "agent/find"],
    "agent/run": ["agent/common", "agent/find", "session", "session/options"],
    "backends/common": ["core"],
    "backends/dispatch/stub": [],
    "backends/dispatch": ["backends/common", "backends/dispatch/stub", "core", "os"],
    "backends/ebpf": ["backends/common", "backends/ebpf/helper", "core", "os"],
    "backends/ebpf/helper": ["backends/ebpf", "core", "os"],
    "backends/seccomp": ["backends/common", "core", "os"],
    "profilers": ["os"],
    "profilers/agent": ["os"],
    "profilers/bpftrace": ["core", "os", "profilers", "profilers/agent"],
    "profilers/perf": ["os", "profilers", "profilers/agent"],
    "gpu/cupti": ["os", "profilers"],
    "gpu/ioctl": ["core"],
    "gpu_stamps": ["os", "profilers", "session", "session/tools"],
    # The rooms of session, from the lowest to the one that knows all others: there is no way round.
    "session/process": ["os"],
    "session/options": ["core", "os", "session/process"],
    "session/run": ["csv", "os", "session/options"],
    "session/doctor": ["backends/dispatch", "backends/ebpf", "backends/seccomp", "core", "gpu/ioctl", "os",
                       "session/options"],
    "session/windows": ["core", "csv", "os", "session/options", "session/process"],
    "session/tools": ["core", "csv", "gpu/cupti", "os", "profilers", "session/options", "session/process",
                      "session/run", "session/windows"],
    "session/loops": ["csv", "os", "session/process", "session/tools", "session/windows"],
    "session": ["os", "session/doctor", "session/loops", "session/options", "session/process", "session/run",
                "session/tools", "session/windows"],
    "session/two_process": ["core", "os", "session", "session/doctor", "session/options", "session/process",
                            "session/run", "session/tools", "session/windows"],
}
# Two halves of one protocol, in two processes: the only folders that include each other.
MUTUAL = ("backends/ebpf", "backends/ebpf/helper")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def includes(root):
    """(from, to) folders -> the includes, `a.cc: b/c.h`."""
    found = {}
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if not name.endswith((".h", ".cc")):
                continue
            source = os.path.relpath(os.path.join(folder, name), root)
            with open(os.path.join(root, source), encoding="utf-8") as file:
                text = file.read()
            for target in INCLUDE.findall(text):
                edge = (os.path.dirname(source), os.path.dirname(target))
                if edge[0] != edge[1] and os.path.exists(os.path.join(root, target)):
                    found.setdefault(edge, []).append(f"{source}: {target}")
    return found


def ways_round():
    """Folders of the table from which a way leads back to themselves, with that way."""
    def way_to(goal, folder, seen):
        for other in ALLOWED.get(folder, []):
            if (folder in MUTUAL and other in MUTUAL) or other in seen:
                continue
            rest = [other] if other == goal else way_to(goal, other, seen | {other})
            if rest:
                return [folder] + rest
        return []
    return [way for way in (way_to(folder, folder, frozenset()) for folder in ALLOWED) if way]


def main():
    root = os.path.join(sys.argv[1], "plugin/src")
    found = includes(root)
    faults = [f"{line}: {edge[0]} must not know {edge[1]}"
              for edge, lines in found.items() for line in lines if edge[1] not in ALLOWED.get(edge[0], [])]
    faults += [f"{folder} includes nothing of {other} any more: take that out of check_layers.py"
               for folder, others in ALLOWED.items() for other in others
               if (folder, other) not in found and os.path.isdir(os.path.join(root, other))]
    faults += ["a way round: " + " -> ".join(way) for way in ways_round()]
    if "--print" in sys.argv:
        for edge, lines in sorted(found.items()):
            print(f"{edge[0]} -> {edge[1]}: {len(lines)}")
    for fault in faults:
        print(f"check_layers: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
