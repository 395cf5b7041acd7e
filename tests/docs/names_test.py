# SPDX-License-Identifier: MIT
"""Names in pages exist: commands and options of `bench`, flags and variables. No page says that an existing one does not exist.
Flags that messages name exist, too.

names_test.py REPOSITORY BENCH
Commands of `console` blocks run in other tests. This reads what is named in text and in `sh` blocks.
"""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "shell"))
import bench_help  # noqa: E402

PLACEHOLDERS = {"COMMAND", "help"}
DENIED = re.compile(r"\bno (?:command|option|flag|variable)s? `([^`]+)`")
CALL = re.compile(r"(?:^|[\s(])bench (\w[\w-]*)( update)?([^|;&\n]*)")
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
FLAG = re.compile(r"--syscost_[a-z_]+")
VARIABLE = re.compile(r"\bSYSCOST_[A-Z0-9_]*[A-Z0-9]\b")


def code_in(page):
    """The inline code of a page, and the lines of blocks that are not run."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if not line.lstrip().startswith("#")]
    return re.findall(r"`([^`\n]+)`", text) + lines


class Names:
    """`commands`: path of each command of bench and its options; `flags`, `variables`: those that there are."""

    def __init__(self, commands, flags, variables):
        self.commands, self.flags, self.variables = commands, flags, variables
        self.options = set().union(*commands.values())

    def faults_of_calls(self, code):
        for word, update, rest in CALL.findall(code):
            path = (word, update.strip()) if update else (word,)
            if word in PLACEHOLDERS:
                continue
            if path not in self.commands:
                yield f"there is no command: {code}"
                continue
            own = rest.split(" -- ")[0]
            for option in OPTION.findall(re.sub(r"'[^']*'|\"[^\"]*\"", "", own)):
                if option not in self.commands[path]:
                    yield f"bench {' '.join(path)} has no option {option}: {code}"

    def exists(self, name):
        words = name.removeprefix("bench ").split()
        return bool(words) and (tuple(words) in self.commands or words[0] in self.options or words[0] in self.flags
                                or words[0] in self.variables)

    def faults_in(self, page):
        for code in code_in(page):
            yield from self.faults_of_calls(code)
        for flag in FLAG.findall(page):
            if flag not in self.flags and not any(one.startswith(flag) for one in self.flags):
                yield f"there is no flag {flag}"
        for variable in VARIABLE.findall(page):
            if variable not in self.variables:
                yield f"there is no variable {variable}"
        for name in DENIED.findall(page):
            if self.exists(name):
                yield f"there is one: no ... `{name}`"


def names_of(repository, bench):
    table = (repository / "docs/flags.md").read_text(encoding="utf-8")  # docs.flags holds it against the program's table
    flags, variables = set(FLAG.findall(table)), set(VARIABLE.findall(table))
    listed = subprocess.run(["git", "-C", repository, "ls-files", "-z"], capture_output=True, check=False)
    files = [repository / name for name in listed.stdout.decode().split("\0") if name] or list(repository.rglob("*"))
    for path in files:
        if path.suffix in {".md", ".csv"} or "build" in path.parts or not path.is_file():
            continue
        variables |= set(VARIABLE.findall(path.read_text(encoding="utf-8", errors="replace")))
    return Names(bench_help.commands_of(bench), flags, variables)


class Pages(unittest.TestCase):
    def test_name_what_exists(self):
        names = names_of(REPOSITORY, BENCH)
        self.assertGreater(len(names.commands), 15)
        pages = []
        for folder, folders, files in os.walk(REPOSITORY):
            if Path(folder) == REPOSITORY:  # other tests make and remove folders in build/
                folders[:] = [name for name in folders if name not in ("build", ".git")]
            pages += [Path(folder) / name for name in files if name.endswith(".md")]
        pages = [path for path in pages if not
                 str(path.relative_to(REPOSITORY)).startswith(("docs/decisions/", "CHANGELOG.md"))]
        self.assertGreater(len(pages), 30)
        for page in pages:
            with self.subTest(page=str(page.relative_to(REPOSITORY))):
                self.assertEqual(list(names.faults_in(page.read_text(encoding="utf-8"))), [])


class Messages(unittest.TestCase):
    def test_name_flags_that_exist(self):
        flags = set(FLAG.findall((REPOSITORY / "docs/flags.md").read_text(encoding="utf-8")))
        self.assertGreater(len(flags), 15)
        for folder in ("plugin/src", "bench_tool/src"):
            for path in sorted((REPOSITORY / folder).rglob("*.[ch]*")):
                text = re.sub(r"//.*", "", path.read_text(encoding="utf-8", errors="replace"))
                for flag in set(FLAG.findall(text)) - flags:
                    # The beginning of a name, as in completions, ends with an underscore.
                    self.assertTrue(flag.endswith("_"), f"{path}: there is no flag {flag}")


class Reader(unittest.TestCase):
    NAMES = Names({("show",): {"--top"}, ("run",): {"--csv"}, ("baseline", "update"): {"-o"}}, {"--syscost_csv"}, {"SYSCOST_CSV"})

    def faults(self, page):
        return len(list(self.NAMES.faults_in(page)))

    def test_takes_what_exists(self):
        for page in ("`bench show out.csv --top 3`", "`bench run --csv a.csv -- ctest -j8 --output`", "`bench baseline update a -o b`",
                     "`bench COMMAND --help`", "`SYSCOST_CSV=a ./tests --syscost_csv b`", "There is no command `frobnicate`.",
                     "the workbench reads", "```sh\n# bench none\nbench show out.csv\n```"):
            with self.subTest(page):
                self.assertEqual(self.faults(page), 0)

    def test_finds_what_does_not_exist(self):
        for page in ("`bench shown out.csv`", "`bench show out.csv --topp 3`", "`bench baseline out.csv`", "`--syscost_cvs`",
                     "`SYSCOST_CVS`", "There is no command `show`; `bench` says so.", "It has no option `--top`.",
                     "There is no flag `--syscost_csv`.", "```sh\nbench show --csv out.csv\n```"):
            with self.subTest(page):
                self.assertEqual(self.faults(page), 1)


if __name__ == "__main__":
    REPOSITORY, BENCH = Path(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1])
