#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completions_test.py BENCH SHARE FLAGS_PAGE: bash, zsh and fish complete what bench takes: each option of each --help, and no
other. They complete what test programs take, too: each flag of the page of flags.

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

FLAGS = set(re.findall(r"^\| `(--syscost_\w+)", Path(sys.argv.pop()).read_text(encoding="utf-8"), re.MULTILINE))
SHARE = Path(sys.argv.pop()).resolve()
BENCH = sys.argv.pop()
COMMANDS = bench_help.commands_of(BENCH)
BASH, ZSH, FISH = (SHARE / name for name in (
    "bash-completion/completions/bench", "zsh/site-functions/_bench", "fish/vendor_completions.d/bench.fish"))
FISH_FUNCTION = SHARE / "fish/vendor_functions.d/complete_syscost_test.fish"
SCRIPTS = ("bench", "syscost_test")  # bash's; zsh's have an underscore before them

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
    (["bench", "ab", "--allow", "missing,f"], {"missing,failed"}),
]
FILES = [
    (["bench", "summary", "r"], {"rows.csv"}),
    (["bench", "compare", "rows.csv", "r"], {"rows.csv"}),
    (["bench", "check", "rows.csv", "--baseline", "r"], {"rows.csv"}),
    (["bench", "baseline", "update", "--output", "r"], {"rows.csv"}),
]
# The same for a program that is linked with syscost.
PROGRAM = "build/my_tests"
OF_PROGRAM = [
    ([PROGRAM, "--syscost_bpf_"], {"--syscost_bpf_path", "--syscost_bpf_sudo"}),
    ([PROGRAM, "--syscost_backend", "disp"], {"dispatch", "dispatch-trap"}),
    ([PROGRAM, "--syscost_bpf", "sys"], {"syscount", "syslat"}),
    ([PROGRAM, "--syscost_profile", "syscalls,p"], {"syscalls,perf"}),
    ([PROGRAM, "--syscost_filter", "%fi"], {"%file"}),
    ([PROGRAM, "--syscost_filter", "%file,getppi"], {"%file,getppid"}),
    ([PROGRAM, "--syscost_csv", "r"], {"rows.csv"}),
    ([PROGRAM, "--syscost_quick", "r"], {"rows.csv"}),
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

    def check_flags(self, complete):
        self.assertGreater(len(FLAGS), 15)
        offered = complete([PROGRAM, "--"])
        self.assertEqual({word for word in offered if word.startswith("-")}, FLAGS)

    def check_options(self, complete):
        self.assertGreater(len(COMMANDS), 10)
        for path, options in COMMANDS.items():
            with self.subTest(path):
                self.assertGreater(len(options), 0)
                offered = complete(["bench", *path, "-"]) | complete(["bench", *path, "--"])
                self.assertEqual({word for word in offered if word.startswith("-")}, options)


class Bash(Case):
    def complete(self, words: list[str], name: str = "bench") -> set[str]:
        quoted = " ".join(f"'{word}'" for word in words)
        script = f"""source '{BASH.with_name(name)}'
COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
_{name}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        return {line for line in shell_lines(script, "bash", "--norc", folder=self.folder.name) if line}

    def test_its_script_is_one(self):
        for name in SCRIPTS:
            shell_lines("", "bash", "-n", str(BASH.with_name(name)))

    def test_offers_the_flags_of_test_programs(self):
        def complete(words):
            return self.complete(words, "syscost_test")
        self.check_flags(complete)
        self.check(complete, OF_PROGRAM + [([PROGRAM, "--syscost_backend", "=", "s"], {"seccomp"}), ([PROGRAM, "--syscost_label", "r"], set())])

    def test_offers_the_options_of_each_command(self):
        self.check_options(self.complete)

    def test_offers_words_and_files(self):
        self.check(self.complete, WORDS + LISTS + FILES)
        self.check(self.complete, [(["bench", "compare", "--format", "=", "s"], {"sarif"}),
                                   (["bench", "compare", "--format", "="], {"text", "md", "csv", "json", "junit", "sarif", "github"})])

    def test_offers_nothing_where_a_value_is_yours(self):
        self.check(self.complete, [(["bench", "compare", "--tolerate", "r"], set())])

    def test_after_two_hyphens_comes_another_command(self):
        self.assertIn("printf", self.complete(["bench", "ab", "--", "prin"]))
        self.check(self.complete, [(["bench", "ab", "--", "printf", "r"], {"rows.csv"}),
                                   (["bench", "check", "rows.csv", "--", "cat", "r"], {"rows.csv"})])


@unittest.skipUnless(shutil.which("fish"), "fish is missing: apt-get install fish")
class Fish(Case):
    def complete(self, words: list[str], start: str = f"source '{FISH}'") -> set[str]:
        script = f"{start}\ncomplete -C '{' '.join(words)}'\n"
        return {line.split("\t")[0] for line in shell_lines(script, "fish", "--no-config", folder=self.folder.name)}

    def test_its_script_is_one(self):
        for file in FISH, FISH_FUNCTION:
            shell_lines("", "fish", "-n", str(file))

    def test_offers_the_flags_of_test_programs(self):
        def complete(words):
            return self.complete(words, f"source '{FISH_FUNCTION}'\ncomplete_syscost_test other_tests my_tests")
        self.check_flags(complete)
        self.check(complete, OF_PROGRAM)

    def test_offers_the_options_of_each_command(self):
        self.check_options(self.complete)

    def test_offers_words_and_files(self):
        self.check(self.complete, WORDS + LISTS + FILES)


@unittest.skipUnless(shutil.which("zsh"), "zsh is missing: apt-get install zsh")
class Zsh(Case):
    def specs(self, *path: str, name: str = "bench") -> list[str]:
        """What the function of a command gives to _arguments."""
        script = f"""_arguments() {{ print -rl -- "$@" }}
_describe() {{ }}
words=({name}) CURRENT=1
functions[load]=$(<'{ZSH.with_name("_" + name)}')
load >/dev/null
_{name}{"".join("_" + word for word in path)}
"""
        return shell_lines(script, "zsh", "-f", folder=self.folder.name)

    def test_its_script_is_one(self):
        for name in SCRIPTS:
            shell_lines("", "zsh", "-n", str(ZSH.with_name("_" + name)))

    @staticmethod
    def names_of(specs: list[str]) -> set[str]:
        bare = [re.sub(r"^\([^)]*\)|^\*", "", spec) for spec in specs]
        return {spec.split("[")[0].rstrip("=") for spec in bare if spec.startswith("-") and "[" in spec}

    def test_offers_the_flags_of_test_programs(self):
        specs = self.specs(name="syscost_test")
        self.assertEqual(self.names_of(specs), FLAGS)
        self.assertTrue(any(spec.endswith(":NAME:(auto ebpf dispatch dispatch-trap seccomp none)") for spec in specs))
        self.assertTrue(any(spec.endswith(r":LIST:_sequence compadd - ioctl file thread\:") for spec in specs))
        self.assertIn("*:FILE:_files", specs)

    def test_binds_to_names_and_patterns_of_test_programs(self):
        script = f"""fpath=('{ZSH.parent}' $fpath)
autoload -Uz compinit; compinit -u -D
compdef _syscost_test my_tests
compdef _syscost_test -P '*_test'
print -r -- $_comps[my_tests] $_postpatcomps[*_test] $+functions[_syscost_test]
"""
        self.assertEqual(shell_lines(script, "zsh", "-f", folder=self.folder.name), ["_syscost_test _syscost_test 1"])

    def test_offers_the_options_of_each_command(self):
        for path, options in COMMANDS.items():
            if path == ("hist",):  # another word for show
                continue
            with self.subTest(path):
                self.assertEqual(self.names_of(self.specs(*path)), options)

    def test_offers_words_and_files(self):
        specs = self.specs("compare")
        self.assertTrue(any(spec.startswith("(--color)--color=[") and spec.endswith(":WORD:(always auto never)") for spec in specs))
        self.assertIn(":OLD:_files", specs)


if __name__ == "__main__":
    unittest.main(verbosity=2)
