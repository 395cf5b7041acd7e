#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contributor_files_test.py REPOSITORY: what a contributor and a hosting site read is well formed, and names what exists:
workflows, templates, .editorconfig, .gitattributes, the changelog, the texts of licences."""
import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    yaml = None

SOURCE = Path(sys.argv.pop()).resolve()
GITHUB = SOURCE / ".github"
# Commands that a workflow's `run` may use: the images have them, or the step before installs them.
SYSTEM_COMMANDS = {"apt-get", "git"}


def git(*arguments: str) -> str | None:
    """What git says; None in a tree without history, as from an archive."""
    if not shutil.which("git"):
        return None
    done = subprocess.run(["git", "-c", f"safe.directory={SOURCE}", "-C", str(SOURCE), *arguments], check=False,
                          capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def read(path: Path):
    # YAML 1.1 takes the key `on` for a boolean.
    return yaml.safe_load(re.sub(r"(?m)^on:", '"on":', path.read_text(encoding="utf-8")))


def commands_of(script: str) -> list[list[str]]:
    """The words of each command of a step."""
    script = re.sub(r"\$\{\{.*?\}\}", "EXPRESSION", script)
    words = [re.split(r"&&|\|\||[;|]", line) for line in script.splitlines()]
    return [shlex.split(command) for line in words for command in line if command.strip()]


@unittest.skipUnless(yaml, "python3-yaml is missing: apt-get install python3-yaml")
class Workflows(unittest.TestCase):
    workflows = {path.name: read(path) for path in sorted(GITHUB.glob("workflows/*"))} if yaml else {}

    def steps(self):
        for name, workflow in self.workflows.items():
            for job in workflow["jobs"].values():
                for step in job["steps"]:
                    yield name, step

    def test_each_says_when_it_runs_with_which_rights_and_where(self):
        self.assertIn("ci.yml", self.workflows)
        for name, workflow in self.workflows.items():
            with self.subTest(name):
                self.assertTrue(workflow["name"] and workflow["on"] and workflow["jobs"])
                self.assertEqual(workflow["permissions"], {"contents": "read"})
                for job in workflow["jobs"].values():
                    self.assertRegex(job["runs-on"], r"^ubuntu-\d\d\.\d\d$")
                    self.assertGreater(job["timeout-minutes"], 0)

    def test_each_step_is_an_action_of_a_named_version_or_a_script(self):
        for name, step in self.steps():
            with self.subTest(f"{name}: {step}"):
                self.assertEqual(("uses" in step) + ("run" in step), 1)
                if "uses" in step:
                    self.assertRegex(step["uses"], r"^[\w.-]+/[\w./-]+@v\d+")
                else:
                    done = subprocess.run(["bash", "-n"], input=step["run"], text=True, capture_output=True, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_each_command_of_the_repository_exists(self):
        commands = [command for _, step in self.steps() if "run" in step for command in commands_of(step["run"])]
        self.assertIn([".ci/run"], commands)
        usage = subprocess.run([SOURCE / "dev", "help"], check=True, capture_output=True, text=True).stdout
        for command in commands:
            with self.subTest(command):
                if command[0] in SYSTEM_COMMANDS:
                    continue
                program = SOURCE / command[0]
                self.assertTrue(program.is_file() and program.stat().st_mode & 0o111, f"{command[0]} is no program")
                if program.name == "dev":
                    self.assertRegex(usage, rf"(?m)^  \./dev {command[1]}\b")

    def test_debian_12_and_13_run_what_ci_runs(self):
        job = next(job for job in self.workflows["ci.yml"]["jobs"].values()
                   if any(step.get("run") == ".ci/run" for step in job["steps"]))
        self.assertEqual(job["strategy"]["matrix"]["image"], ["debian:12", "debian:13"])
        self.assertEqual(job["container"]["image"], "${{ matrix.image }}")

    def test_each_preset_exists(self):
        presets = {preset["name"] for preset in json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]}
        named = {preset for workflow in self.workflows.values() for job in workflow["jobs"].values()
                 for preset in job.get("strategy", {}).get("matrix", {}).get("preset", [])}
        self.assertGreater(len(named), 0)
        self.assertLessEqual(named, presets)


@unittest.skipUnless(yaml, "python3-yaml is missing: apt-get install python3-yaml")
class IssueForms(unittest.TestCase):
    def test_each_form_has_what_the_site_demands(self):
        forms = [path for path in GITHUB.glob("ISSUE_TEMPLATE/*.yml") if path.name != "config.yml"]
        self.assertGreaterEqual(len(forms), 2)
        for path in forms:
            with self.subTest(path.name):
                form = read(path)
                self.assertTrue(form["name"] and form["description"])
                self.assertLessEqual(set(form), {"name", "description", "title", "labels", "assignees", "body"})
                fields = [field for field in form["body"] if field["type"] != "markdown"]
                names = [field["id"] for field in fields]
                self.assertEqual(len(names), len(set(names)))
                self.assertTrue(any(field.get("validations", {}).get("required") for field in fields))
                for field in form["body"]:
                    self.assertIn(field["type"], {"markdown", "textarea", "input", "dropdown", "checkboxes"})
                    self.assertIsInstance(field["attributes"]["value" if field["type"] == "markdown" else "label"], str)

    def test_problems_of_security_are_kept_out(self):
        config = read(GITHUB / "ISSUE_TEMPLATE/config.yml")
        self.assertIn("SECURITY.md", " ".join(link["about"] for link in config["contact_links"]))


class Files(unittest.TestCase):
    @unittest.skipIf(git("rev-parse", "HEAD") is None, "this tree has no history")
    def test_what_is_generated_is_marked(self):
        tracked = git("ls-files").splitlines()
        generated = {file for file in tracked if "/generated/" in file or file.endswith((".inc", ".symbols"))}
        self.assertGreater(len(generated), 5)
        said = git("check-attr", "linguist-generated", "--", *tracked).splitlines()
        marked = {line.split(": ")[0] for line in said if line.endswith(": set")}
        self.assertEqual(marked, generated)

    @unittest.skipIf(git("rev-parse", "HEAD") is None, "this tree has no history")
    def test_git_changes_no_line_ending_of_recorded_files(self):
        recorded = [line for line in git("ls-files", "--eol").splitlines() if re.match(r"i/(crlf|mixed)", line)]
        self.assertGreater(len(recorded), 0)
        for line in recorded:
            with self.subTest(line):
                self.assertIn("attr/-text", line)

    def test_editors_are_told_of_line_endings_and_blanks(self):
        text = (SOURCE / ".editorconfig").read_text(encoding="utf-8")
        config = configparser.ConfigParser()
        config.read_string("[top]\n" + text)
        self.assertEqual(config["top"]["root"], "true")
        self.assertEqual((config["*"]["end_of_line"], config["*"]["insert_final_newline"]), ("lf", "true"))

    def test_each_licence_that_a_file_names_has_its_text(self):
        licence = (SOURCE / "LICENSE").read_text(encoding="utf-8")
        self.assertTrue(licence.startswith("MIT License"))
        self.assertIn("LICENSES/GPL-2.0.txt", licence)
        gpl = " ".join((SOURCE / "LICENSES/GPL-2.0.txt").read_text(encoding="utf-8").split())
        self.assertTrue(gpl.startswith("GNU GENERAL PUBLIC LICENSE Version 2, June 1991"))
        self.assertIn("END OF TERMS AND CONDITIONS", gpl)

    def test_the_changelog_keeps_its_form(self):
        text = (SOURCE / "CHANGELOG.md").read_text(encoding="utf-8")
        versions = re.findall(r"(?m)^## (.*)$", text)
        self.assertEqual(versions[0], "[Unreleased]")
        for version in versions[1:]:
            self.assertRegex(version, r"^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$")
        for kind in re.findall(r"(?m)^### (.*)$", text):
            self.assertIn(kind, {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"})

    def test_contributing_names_files_that_exist(self):
        text = (SOURCE / "CONTRIBUTING.md").read_text(encoding="utf-8")
        text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        named = re.findall(r"`((?:plugin|bench_tool|tests|tools|docs|cmake)/[\w./-]+)`", text)
        for name in [name for name in named if "NAME" not in name]:
            self.assertTrue((SOURCE / name).exists(), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
