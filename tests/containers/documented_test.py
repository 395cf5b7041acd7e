#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""documented_test.py REPOSITORY: every docker and podman command of docs/containers.md is one that ./dev docker runs.

The page's tests have no engine to type them into; the steps of tools/docker have, so their text must hold each of them.
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
    commands = [words(line).removeprefix("sudo ") for line in re.sub(r"\\\n", " ", lines).splitlines()]
    return [command for command in commands if command.startswith(("docker ", "podman "))]


class DocumentedCommands(unittest.TestCase):
    # ${in_copy[@]} is docker compose in a copy of the folder.
    steps = words("\n".join((REPOSITORY / "tools" / name).read_text(encoding="utf-8") for name
                            in ("docker_steps.sh", "docker_podman_steps.sh"))).replace("${in_copy[@]}", "docker compose")

    def test_each_is_run(self):
        commands = documented_commands()
        self.assertGreater(len(commands), 10)
        for command in commands:
            with self.subTest(command):
                self.assertTrue(command in self.steps, "./dev docker does not run it")


if __name__ == "__main__":
    unittest.main(verbosity=2)
