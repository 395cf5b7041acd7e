# SPDX-License-Identifier: MIT
"""Reads lines of `strace -f -ttt -T`: `4711 1767261600.123456 close(3) = 0 <0.000001>`."""
import re

LINE = re.compile(r"^(?P<thread>\d+)\s+(?P<time>\d+\.\d+) (?P<name>\w+)\((?P<arguments>.*)\)\s+= (?P<result>.*?)"
                  r"( <(?P<took>\d+\.\d+)>)?$")
OPENING, CLOSING = "([{", ")]}"


def split_arguments(text):
    """At the commas that are outside of brackets and strings."""
    arguments, depth, in_string, start = [], 0, False, 0
    i = 0
    while i < len(text):
        c = text[i]
        if in_string:
            if c == "\\":
                i += 1
            elif c == '"':
                in_string = False
        elif c == '"':
            in_string = True
        elif c in OPENING:
            depth += 1
        elif c in CLOSING:
            depth -= 1
        elif c == "," and depth == 0:
            arguments.append(text[start:i].strip())
            start = i + 1
        i += 1
    last = text[start:].strip()
    return arguments + [last] if last else arguments


class Call:
    def __init__(self, line):
        found = LINE.match(line)
        if found is None:
            raise SystemExit(f"not a line of strace: {line}")
        self.line = line
        self.thread = int(found["thread"])
        self.name = found["name"]
        self.arguments = split_arguments(found["arguments"])
        # `3 (at src/log.cc:17 Log::batch+3)`: where a call came from.
        self.result, _, site = found["result"].partition(" (at ")
        self.site = "at " + site[:-1] if site else None


def between_markers(lines):
    """The calls between close(-77001) and close(-77002); lines of signals and ends are left out."""
    calls = [Call(line) for line in lines if re.match(r"\d+\s+\d+\.\d+ \w+\(", line) and "unfinished ..." not in line]
    first, last = ([i for i, call in enumerate(calls) if call.name == "close" and call.arguments == [marker]]
                   for marker in ("-77001", "-77002"))
    if len(first) != 1 or len(last) != 1:
        raise SystemExit("the calls close(-77001) and close(-77002) are not there once each")
    return calls[first[0] + 1:last[0]]
