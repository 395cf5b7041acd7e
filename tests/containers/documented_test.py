#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""documented_test.py REPOSITORY: every docker command of docs/containers.md is one that ./dev docker runs.

The page's tests have no engine to type them into; tools/docker_steps.sh has, so its text must hold each of them.
"""
import re
import sys
import unittest
from pathlib import Path

REPOSITORY = Path(sys.argv.pop()).resolve()


def words(text: str) -> str:
    """Continued lines joined, quotes and comments away, one space between words."""
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"\s#.*", "", text)
    return re.sub(r"[ \t]+", " ", re.sub(r"[\"']", "", text)).strip()


def documented_commands() -> list[str]:
    page = (REPOSITORY / "docs" / "containers.md").read_text(encoding="utf-8")
    lines = "\n".join(re.findall(r"^```sh\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL))
    return [words(line) for line in re.sub(r"\\\n", " ", lines).splitlines() if line.startswith("docker ")]


class DocumentedCommands(unittest.TestCase):
    # ${in_copy[@]} is docker compose in a copy of the folder.
    steps = words((REPOSITORY / "tools" / "docker_steps.sh").read_text(encoding="utf-8")).replace(
        "${in_copy[@]}", "docker compose")

    def test_each_is_run(self):
        commands = documented_commands()
        self.assertGreater(len(commands), 10)
        for command in commands:
            with self.subTest(command):
                self.assertTrue(command in self.steps, "tools/docker_steps.sh does not run it")


if __name__ == "__main__":
    unittest.main(verbosity=2)
