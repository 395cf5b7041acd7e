# SPDX-License-Identifier: MIT
"""What `bench --help` says: the commands, and the options of each. It is read from what a user sees, not from where the
completions are made."""
import re
import subprocess


def said(bench: str, *words: str) -> str:
    return subprocess.run([bench, *words, "--help"], check=True, capture_output=True, text=True).stdout


def part(text: str, title: str) -> str:
    """The indented lines below a title."""
    found = re.search(rf"^{title}:\n((?:  .*\n)+)", text, re.MULTILINE)
    return found.group(1) if found else ""


def options_of(text: str) -> set[str]:
    names = set()
    for line in part(text, "Options").splitlines():
        if found := re.match(r"  (-[-\w,]+)", line):
            names |= set(found.group(1).split(","))
    return names


def commands_of(bench: str, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], set[str]]:
    """Path of each command, bench itself with it, and its options."""
    text = said(bench, *path)
    found = {path: options_of(text)}
    groups = set(re.findall(r"^([A-Z][\w ]*):$", text, re.MULTILINE)) - {"Options", "Positionals", "Examples"}
    for line in "".join(part(text, group) for group in sorted(groups)).splitlines():
        if names := re.match(r"  (\w+(?:, \w+)*)(?:  |$)", line):
            for name in names.group(1).split(", "):
                found |= commands_of(bench, (*path, name))
    return found
