#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""man_pages_test.py BENCH SHARE: there is a manual page for each command and for the helper, with every option of its --help,
and man finds no fault in it."""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import bench_help

SHARE = Path(sys.argv.pop()).resolve()
BENCH = sys.argv.pop()
HELPER = os.environ.get("SYSCOST_EBPF_HELPER_FILE")


def printed(page: Path) -> str:
    """The page's text, without what makes it look well."""
    text = re.sub(r"\\f[BIR]", "", page.read_text(encoding="utf-8"))
    return text.replace("\\-", "-")


class Pages(unittest.TestCase):
    pages = sorted(SHARE.glob("man/man?/*"))

    def test_each_command_has_one_with_all_its_options(self):
        commands = bench_help.commands_of(BENCH)
        self.assertGreater(len(commands), 10)
        for path, options in commands.items():
            if path in (("hist",), ("baseline",)):  # another word for show, and a command of one command
                continue
            with self.subTest(path):
                text = printed(SHARE / "man/man1" / ("-".join(["bench", *path]) + ".1"))
                for option in options:
                    self.assertRegex(text, rf"(?m)^(-\w, )?(--[\w-]+, )?{option}(, --[\w-]+)*( |$)")

    @unittest.skipUnless(HELPER, "built without the eBPF backend")
    def test_the_helper_has_one_with_all_its_options(self):
        done = subprocess.run([HELPER, "--help"], check=True, capture_output=True, text=True, timeout=20)
        self.assertEqual(done.stderr, "")
        options = bench_help.options_of(done.stdout)
        self.assertIn("--for-everyone", options)
        text = printed(SHARE / "man/man8/syscost-ebpf-helper.8")
        for option in options:
            self.assertRegex(text, rf"(?m)^{option}$")

    @unittest.skipUnless(shutil.which("man") and shutil.which("groff"), "man is missing: apt-get install man-db groff-base")
    def test_man_finds_no_fault(self):
        self.assertGreater(len(self.pages), 10)
        for page in self.pages:
            with self.subTest(page.name):
                done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)], check=False,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=20,
                                      env=os.environ | {"LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_each_says_what_it_is_on_one_line(self):
        for page in self.pages:
            with self.subTest(page.name):
                name = page.name.rsplit(".", 1)[0]
                self.assertRegex(printed(page), rf"(?m)^\.SH NAME\n{name} - \S.*\n\.SH SYNOPSIS\n\S")


if __name__ == "__main__":
    unittest.main(verbosity=2)
