# SPDX-License-Identifier: MIT
"""What a Markdown page asks to be run.

A page is read as its reader sees it: fenced blocks in order, each with the directives that stand in HTML comments
above it. Anything that looks like a command but stands where nothing would run it is a fault of the page, because a
documented command that was never run is how documents go wrong. tests/docs/README.md describes the syntax.
"""
import re
from dataclasses import dataclass, field

# Languages a fence may name, and what happens to the block.
RUN = "console"
LISTED = {"sh": "changes the machine or needs what a test has not"}
WRITTEN = {"cpp", "cmake"}
QUIET = {"text", "python", "sql", "json", "csv", "c", "xml", "diff", "yaml", ""}

FENCE = re.compile(r"^( {0,3})```\s*(\S*)\s*$")
DIRECTIVE = re.compile(r"^<!--\s*([a-z-]+)(?::\s*(.*?))?\s*-->\s*$")
DIRECTIVES = {"exit", "needs", "mask", "file", "fragment", "run"}
NEEDS = {"bpftrace", "counting", "nothing", "results"}
# A line of an indented block that a reader would type.
LOOKS_TYPED = re.compile(r"^(?: {4}|\t)\s*(\$ |\./|(bench|cmake|ctest|docker|g\+\+|git|sudo|apt-get|build/\S+) |SYSCOST_\w+=\S+ )")


class Fault(Exception):
    """A page that cannot be tested as it stands."""


@dataclass
class Command:
    line: int  # 1-based, of the `$`
    text: str
    expected: list[str] = field(default_factory=list)
    first: int = 0  # index into the page's lines: the expected output is lines[first:last]
    last: int = 0


@dataclass
class Block:
    language: str
    line: int
    body: list[str]
    directives: dict[str, list[str]]
    commands: list[Command] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return int(self.directives.get("exit", ["0"])[-1])

    @property
    def needs(self) -> str:
        return self.directives.get("needs", ["counting"])[-1]


@dataclass
class Hidden:
    """A command the reader does not see: <!-- run: ... -->."""

    line: int
    text: str
    needs: str


def read_directives(line: str, number: int) -> tuple[str, str] | None:
    match = DIRECTIVE.match(line)
    if not match:
        return None
    name, value = match.group(1), match.group(2) or ""
    if name not in DIRECTIVES:
        raise Fault(f"line {number}: no directive '{name}'; there are: {', '.join(sorted(DIRECTIVES))}")
    if name == "exit" and not value.isdigit():
        raise Fault(f"line {number}: 'exit' wants a number, not '{value}'")
    if name == "needs" and value not in NEEDS:
        raise Fault(f"line {number}: 'needs' wants one of {', '.join(sorted(NEEDS))}, not '{value}'")
    if name in ("mask", "file", "run") and not value:
        raise Fault(f"line {number}: '{name}' wants a value")
    if name == "mask":
        try:
            re.compile(value)
        except re.error as error:
            raise Fault(f"line {number}: mask '{value}' is no regular expression: {error}") from error
    return name, value


def read_commands(block: Block, body_start: int) -> list[Command]:
    """Splits a console block at its `$ ` lines; a command that ends in a backslash goes on in the next line."""
    commands: list[Command] = []
    index = 0
    while index < len(block.body):
        line = block.body[index]
        if line.startswith("$ "):
            command = Command(line=body_start + index + 1, text=line[2:])
            while command.text.endswith("\\") and index + 1 < len(block.body):
                index += 1
                command.text = command.text[:-1] + re.sub(r"^>\s?", "", block.body[index])
            command.first = command.last = body_start + index + 1
            commands.append(command)
        elif not commands:
            raise Fault(f"line {body_start + index + 1}: a console block begins with a line '$ command'")
        else:
            commands[-1].expected.append(line)
            commands[-1].last = body_start + index + 1
        index += 1
    if not commands:
        raise Fault(f"line {block.line}: a console block without a command")
    return commands


def parse(text: str) -> list[Block | Hidden]:
    """The page's blocks and hidden commands in order. Raises Fault."""
    lines = text.splitlines()
    parts: list[Block | Hidden] = []
    pending: dict[str, list[str]] = {}
    needs = "nothing"  # of the console block above
    index = 0
    previous = ""
    while index < len(lines):
        line = lines[index]
        fence = FENCE.match(line)
        if fence:
            end = index + 1
            while end < len(lines) and lines[end].strip() != "```":
                end += 1
            if end == len(lines):
                raise Fault(f"line {index + 1}: this block has no end")
            block = Block(fence.group(2), index + 1, lines[index + 1 : end], pending)
            check_language(block)
            if block.language == RUN:
                block.commands = read_commands(block, index + 1)
                needs = block.needs
            parts.append(block)
            pending, index, previous = {}, end + 1, ""
            continue
        directive = read_directives(line, index + 1)
        if directive and directive[0] == "run":
            # It uses what the block above it left, which is missing where that block is skipped.
            parts.append(Hidden(index + 1, directive[1], pending.pop("needs", [needs])[-1]))
        elif directive:
            pending.setdefault(directive[0], []).append(directive[1])
        elif line.strip():
            if pending:
                raise Fault(f"line {index + 1}: the directive above it belongs to no block: {', '.join(pending)}")
            is_block_start = not previous.strip() or previous.startswith("    ")
            if is_block_start and LOOKS_TYPED.match(line):
                raise Fault(f"line {index + 1}: nothing runs a command in an indented block; use ```console or ```sh")
        previous = line
        index += 1
    if pending:
        raise Fault(f"the last directive belongs to no block: {', '.join(pending)}")
    return parts


def check_language(block: Block) -> None:
    known = {RUN, *LISTED, *WRITTEN, *QUIET}
    if block.language not in known:
        raise Fault(f"line {block.line}: nothing runs a block of '{block.language}'; use console for what is run, sh for"
                    f" what is only listed, or one of {', '.join(sorted(known - {''}))}")
    if block.language in QUIET and any(line.startswith("$ ") for line in block.body):
        raise Fault(f"line {block.line}: a command in a block that nothing runs; begin it with ```console")
    if block.language in WRITTEN and not {"file", "fragment"} & block.directives.keys():
        raise Fault(f"line {block.line}: say what compiles this: <!-- file: NAME --> or <!-- fragment -->")
