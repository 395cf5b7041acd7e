#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names that one folder may define only once: check_names.py SOURCE

Most builds compile several files as one, because their headers are then read once. So two files of a folder must not define the same
constant, enumerator or type in an unnamed namespace, nor functions of one name with equally many parameters: those may compile, and a call
may take the other file's. Tests are in the namespaces of what they test, and names of one namespace are not those of another.
"""
import os
import re
import sys

# Compiled file by file in any case: their CMakeLists.txt say so.
ALONE = re.compile(r"plugin/src/core/count\.cc|.*/stub/")
TREES = ("plugin/src", "bench_tool/src")
TESTS = ("tests/unit", "tests/gpu_stamps", "tests/simulation")
# At the margin of the file, as clang-format leaves what stands in a namespace.
CONSTANT = re.compile(r"^(?:inline )?const(?:expr|init)? .*?\b(k[A-Z]\w*)\s*(?:\[|=|\{)")
TYPE = re.compile(r"^(?:struct|class|enum class|enum|union) (\w+)\b[^;]*\{")
# Its enumerators are names of the namespace.
UNSCOPED_ENUM = re.compile(r"^enum (?!class )[^{;]*\{(.*?)\}", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"^(?! )[\w:<>,&*\[\] ]+?[ &*](\w+)\(([^;]*?)\)(?: noexcept| const)* \{")
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)


def unnamed(text):
    """The text of unnamed namespaces, without what follows their end."""
    return "\n".join(re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.MULTILINE | re.DOTALL))


def names(text):
    found = set()
    for enumerators in UNSCOPED_ENUM.findall(unnamed(text)):
        found.update(re.findall(r"\b(k[A-Z]\w*) *(?:=|,|$)", re.sub(r" *//.*", "", enumerators), re.MULTILINE))
    for line in re.sub(r",\n\s+", ", ", unnamed(text)).split("\n"):
        match = CONSTANT.match(line) or TYPE.match(line)
        if match:
            found.add(match[1])
            continue
        match = FUNCTION.match(line)
        if match:
            found.add(f"{match[1]} with {len([part for part in match[2].split(', ') if part])} parameters")
    return found


def main():
    faults = []
    layers = {}
    for tree in TREES + TESTS:
        for folder, _, files in sorted(os.walk(os.path.join(sys.argv[1], tree))):
            # Rooms of extras add their files to those of a layer.
            layer = re.search(r"plugin/src/extras/\w+/(\w+)$", folder)
            first = layers.setdefault(layer[1], {}) if layer else {}
            for name in sorted(files):
                path = os.path.join(folder, name)
                if not name.endswith(".cc") or ALONE.match(os.path.relpath(path, sys.argv[1])):
                    continue
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                space = NAMESPACE.search(text) if tree in TESTS else None
                for defined in sorted(names(text)):
                    key = (space and space[1], defined)
                    if key in first:
                        faults.append(f"{os.path.relpath(path, sys.argv[1])}: {defined} is defined in {first[key]}, too: "
                                      "give one of them a name that says more")
                    first.setdefault(key, name)
    for fault in faults:
        print(f"check_names: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
