#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completions_test.py BENCH SHARE: bash, zsh and fish complete what bench takes: each option of each --help, and no other.

Each shell that is installed is asked; bash always is. zsh's own machinery needs a terminal, so its functions are asked with a
stand-in for _arguments, which prints what it was given.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import bench_help

SHARE = Path(sys.argv.pop()).resolve()
BENCH = sys.argv.pop()
COMMANDS = bench_help.commands_of(BENCH)
BASH, ZSH, FISH = (SHARE / name for name in (
    "bash-completion/completions/bench", "zsh/site-functions/_bench", "fish/vendor_completions.d/bench.fish"))

# The line up to the cursor (words as readline splits them), and what must be offered.
WORDS = [
    (["bench", "comp"], {"compare"}),
    (["bench", "baseline", "u"], {"update"}),
    (["bench", "compare", "--format", "j"], {"json", "junit"}),
    (["bench", "summary", "--format", ""], {"text", "md", "csv", "json"}),
    (["bench", "hist", "--sort", "k"], {"kernel"}),
    (["bench", "ab", "--color", "a"], {"auto", "always"}),
]
LISTS = [
    (["bench", "compare", "--gate", "counts,c"], {"counts,counts", "counts,cpu"}),
    (["bench", "confirm", "--allow", "missing,f"], {"missing,failed"}),
]
FILES = [
    (["bench", "summary", "r"], {"rows.csv"}),
    (["bench", "compare", "rows.csv", "r"], {"rows.csv"}),
    (["bench", "check", "rows.csv", "--baseline", "r"], {"rows.csv"}),
    (["bench", "baseline", "update", "--output", "r"], {"rows.csv"}),
]


def shell_lines(script: str, *command: str, folder: str = "/") -> list[str]:
    done = subprocess.run([*command], input=script, capture_output=True, text=True, check=False, cwd=folder, timeout=30,
                          env={"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8"})
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{command[0]} ended with {done.returncode}: {done.stderr or done.stdout}")
    return done.stdout.splitlines()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(self.folder.cleanup)
        (Path(self.folder.name) / "rows.csv").touch()

    def check(self, complete, cases):
        for words, expected in cases:
            with self.subTest(" ".join(words)):
                self.assertEqual(complete(words), expected)

    def check_options(self, complete):
        self.assertGreater(len(COMMANDS), 10)
        for path, options in COMMANDS.items():
            with self.subTest(path):
                self.assertGreater(len(options), 0)
                offered = complete(["bench", *path, "-"]) | complete(["bench", *path, "--"])
                self.assertEqual({word for word in offered if word.startswith("-")}, options)


class Bash(Case):
    def complete(self, words: list[str]) -> set[str]:
        quoted = " ".join(f"'{word}'" for word in words)
        script = f"""source '{BASH}'
COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
_bench
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        return {line for line in shell_lines(script, "bash", "--norc", folder=self.folder.name) if line}

    def test_its_script_is_one(self):
        shell_lines("", "bash", "-n", str(BASH))

    def test_offers_the_options_of_each_command(self):
        self.check_options(self.complete)

    def test_offers_words_and_files(self):
        self.check(self.complete, WORDS + LISTS + FILES)
        self.check(self.complete, [(["bench", "compare", "--format", "=", "s"], {"sarif"}),
                                   (["bench", "compare", "--format", "="], {"text", "md", "csv", "json", "junit", "sarif", "github"})])

    def test_offers_nothing_where_a_value_is_yours(self):
        self.check(self.complete, [(["bench", "compare", "--tolerate", "r"], set())])

    def test_behind_two_hyphens_stands_another_command(self):
        self.assertIn("printf", self.complete(["bench", "ab", "--", "prin"]))
        self.check(self.complete, [(["bench", "ab", "--", "printf", "r"], {"rows.csv"}),
                                   (["bench", "check", "rows.csv", "--confirm", "2", "--", "cat", "r"], {"rows.csv"})])


@unittest.skipUnless(shutil.which("fish"), "fish is missing: apt-get install fish")
class Fish(Case):
    def complete(self, words: list[str]) -> set[str]:
        script = f"source '{FISH}'\ncomplete -C '{' '.join(words)}'\n"
        return {line.split("\t")[0] for line in shell_lines(script, "fish", "--no-config", folder=self.folder.name)}

    def test_its_script_is_one(self):
        shell_lines("", "fish", "-n", str(FISH))

    def test_offers_the_options_of_each_command(self):
        self.check_options(self.complete)

    def test_offers_words_and_files(self):
        self.check(self.complete, WORDS + LISTS + FILES)


@unittest.skipUnless(shutil.which("zsh"), "zsh is missing: apt-get install zsh")
class Zsh(Case):
    def specs(self, *path: str) -> list[str]:
        """What the function of a command gives to _arguments."""
        script = f"""_arguments() {{ print -rl -- "$@" }}
_describe() {{ }}
words=(bench) CURRENT=1
functions[load]=$(<'{ZSH}')
load >/dev/null
_bench{"".join("_" + word for word in path)}
"""
        return shell_lines(script, "zsh", "-f", folder=self.folder.name)

    def test_its_script_is_one(self):
        shell_lines("", "zsh", "-n", str(ZSH))

    def test_offers_the_options_of_each_command(self):
        for path, options in COMMANDS.items():
            if path == ("hist",):  # another word for show
                continue
            with self.subTest(path):
                specs = [re.sub(r"^\([^)]*\)|^\*", "", spec) for spec in self.specs(*path)]
                named = {spec.split("[")[0].rstrip("=") for spec in specs if spec.startswith("-") and "[" in spec}
                self.assertEqual(named, options)

    def test_offers_words_and_files(self):
        specs = self.specs("compare")
        self.assertTrue(any(spec.startswith("(--color)--color=[") and spec.endswith(":WORD:(always auto never)") for spec in specs))
        self.assertIn(":OLD:_files", specs)


if __name__ == "__main__":
    unittest.main(verbosity=2)
