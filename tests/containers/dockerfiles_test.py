#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dockerfiles_test.py REPOSITORY: the images can be built without a registry or a floating download, and share layers."""
import re
import sys
import unittest
from pathlib import Path

DOCKER = Path(sys.argv.pop()).resolve() / "docker"


def instructions(name: str) -> list[str]:
    """The instructions, one a line, continued ones joined, comments left out."""
    text = (DOCKER / name).read_text(encoding="utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


class Dockerfiles(unittest.TestCase):
    files = sorted(DOCKER.glob("*.Dockerfile"))

    def test_there_is_one_for_each_role(self):
        self.assertEqual([file.name.split(".")[0] for file in self.files], ["cuda", "dev", "example", "runtime"])

    def test_none_asks_a_registry_for_a_syntax_or_a_digest(self):
        for file in self.files:
            with self.subTest(file.name):
                text = file.read_text(encoding="utf-8")
                self.assertNotRegex(text, r"(?im)^#\s*syntax\s*=")
                self.assertNotRegex(text, r"(?m)^FROM .*@sha256")

    def test_every_base_image_is_a_build_argument_or_a_stage(self):
        for file in self.files:
            with self.subTest(file.name):
                for line in instructions(file.name):
                    if line.startswith("FROM "):
                        self.assertRegex(line, r"^FROM \$\{\w+\}")

    def test_nothing_is_downloaded_but_packages(self):
        for file in [*self.files, *(path for path in DOCKER.iterdir() if path.is_file())]:
            with self.subTest(file.name):
                self.assertNotRegex(file.read_text(encoding="utf-8"), r"\b(curl|wget|pip3? install|ADD https?:|git clone)\b")

    def test_every_copied_file_is_sent_to_the_engine_and_every_script_that_runs_was_copied(self):
        left_out = [line.strip("/") for line in (DOCKER.parent / ".dockerignore").read_text(encoding="utf-8").splitlines()
                    if line.startswith("/")]
        for file in self.files:
            scripts = set()
            for line in instructions(file.name):
                with self.subTest(f"{file.name}: {line}"):
                    words = line.split()
                    if words[0] == "COPY" and not words[1].startswith("--from"):
                        for name in words[1:-1]:
                            self.assertTrue((DOCKER.parent / name).exists())
                            self.assertNotIn(name.split("/")[0], left_out)
                        scripts |= {words[-1] + Path(name).name if words[-1].endswith("/") else words[-1] for name in words[1:-1]}
                    if words[0] == "RUN" and words[1].startswith("/usr/local/lib/syscost/"):
                        self.assertIn(words[1], scripts)

    def test_every_list_of_packages_is_one_of_those_that_dev_installs(self):
        lists = set(re.findall(r"(?m)^(?:readonly )?(packages_\w+)=", "".join(
            path.read_text(encoding="utf-8") for path in (DOCKER.parent / "tools/packages.sh", DOCKER / "install-packages"))))
        for file in self.files:
            asked = {word for line in instructions(file.name) if "install-packages" in line for word in re.findall(r"packages_\w+", line)}
            with self.subTest(file.name):
                self.assertEqual(asked - lists, set())

    def test_the_cuda_image_shares_the_development_images_layers(self):
        dev, cuda = instructions("dev.Dockerfile"), instructions("cuda.Dockerfile")
        self.assertGreater(len(dev), 5)
        self.assertEqual(cuda[: len(dev)], dev)
        self.assertIn("install-cuda", cuda[-1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
