# SPDX-License-Identifier: MIT
"""update_test.py REPOSITORY: tools/update says what it changed and what it could not do; it knows every generated file of the
repository; and what is stale names the command that mends it."""
import io
import re
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

SOURCE = Path(sys.argv.pop()).resolve()
sys.dont_write_bytecode = True
loader = SourceFileLoader("update", str(SOURCE / "tools/update"))
update = module_from_spec(spec_from_loader("update", loader))
sys.modules["update"] = update
loader.exec_module(update)


def step(script, *writes, **options):
    return update.Step(["sh", "-c", script], list(writes), **options)


class MadeUp(unittest.TestCase):
    """A repository of two kinds."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, value in ("ROOT", Path(folder.name)), ("KINDS", update.KINDS):
            self.addCleanup(setattr, update, name, getattr(update, name))
            setattr(update, name, value)
        self.root = update.ROOT
        (self.root / "made").mkdir()
        (self.root / "made/a.txt").write_text("old\n")

    def run_kinds(self, *kinds, names=()):
        update.KINDS = [update.Kind(name, "", [made]) for name, made in kinds]
        output, arguments = io.StringIO(), sys.argv
        sys.argv = ["update", "--build", str(self.root), *names]
        try:
            with redirect_stdout(output), redirect_stderr(output):
                return update.main(), output.getvalue()
        finally:
            sys.argv = arguments

    def test_it_names_the_files_that_changed_came_and_went(self):
        (self.root / "made/gone.txt").write_text("")
        (self.root / "made/same.txt").write_text("")
        code, said = self.run_kinds(("one", step("cd made; rm gone.txt; echo new | tee a.txt b.txt", "made/*.txt")))
        self.assertEqual(code, 0)
        self.assertIn("changed:\n  made/a.txt\n  made/b.txt\n  made/gone.txt\n\nread", said)

    def test_a_file_that_did_not_change_keeps_its_time(self):
        before = (self.root / "made/a.txt").stat().st_mtime_ns
        code, said = self.run_kinds(("one", step("touch -d 2001-01-01 made/a.txt", "made/*.txt")))
        self.assertEqual(code, 0)
        self.assertIn("no file changed", said)
        self.assertEqual((self.root / "made/a.txt").stat().st_mtime_ns, before)

    def test_what_is_printed_becomes_the_file_unless_the_program_fails(self):
        code, said = self.run_kinds(("one", step("echo torn; echo why >&2; exit 1", "made/a.txt", is_on_stdout=True)))
        self.assertEqual((code, (self.root / "made/a.txt").read_text()), (1, "old\n"))
        self.assertRegex(said, "failed:\n  one: .*: why")
        self.assertEqual(self.run_kinds(("one", step("echo new", "made/a.txt", is_on_stdout=True)))[0], 0)
        self.assertEqual((self.root / "made/a.txt").read_text(), "new\n")

    def test_what_lacks_something_here_is_left_and_the_rest_done(self):
        kinds = [("one", step("echo clang is missing; exit 2", "made/*")), ("two", step("echo >made/b.txt", "made/*"))]
        code, said = self.run_kinds(*kinds)
        self.assertEqual(code, 0)
        self.assertRegex(said, r"changed:\n  made/b.txt\n\nleft, because something is missing here:\n  one: clang is missing\n")
        self.assertEqual(self.run_kinds(*kinds, names=["one"])[0], 2, "asked for by name")

    def test_only_the_kinds_asked_for_run(self):
        kinds = [("one", step("echo 1", "made/*")), ("two", step("echo >made/b.txt", "made/*"))]
        self.assertNotIn("b.txt", self.run_kinds(*kinds, names=["one"])[1])
        code, said = self.run_kinds(*kinds, names=["three"])
        self.assertEqual(code, 2)
        self.assertIn("there is no kind 'three'; there are one, two", said)
        self.assertIn("there is no page no.md", self.run_kinds(*kinds, names=["no.md"])[1])

    def test_a_kind_of_a_folder_that_was_deleted_is_left_out(self):
        code, said = self.run_kinds(("one", step("exit 1", "gpu/*.txt")))
        self.assertEqual((code, "failed" in said), (0, False))


class Repository(unittest.TestCase):
    steps = [(kind.name, one) for kind in update.KINDS for one in kind.steps if one.is_there()]

    def test_every_pattern_has_files_and_every_program_is_there(self):
        for name, one in self.steps:
            for pattern in one.writes:
                with self.subTest(kind=name, pattern=pattern):
                    folder = SOURCE / pattern.split("*")[0].rpartition("/")[0]
                    self.assertTrue(update.snapshot([pattern]) or not folder.is_dir())
            for word in one.command:
                if re.match(r"(tools|tests)/\S+$", word):
                    with self.subTest(kind=name, word=word):
                        self.assertTrue((SOURCE / word).exists())

    def test_every_file_that_says_it_is_generated_belongs_to_a_kind(self):
        known = {path for _, one in self.steps for path in update.snapshot(one.writes)}
        says = re.compile(rb"Generated by tools/|Made by tools/|`\./dev update \w+` generates")
        paths = [path for folder in ("plugin", "bench_tool", "tests", "docs", "demos") for path in (SOURCE / folder).rglob("*")
                 if path.suffix in (".inc", ".h", ".symbols", ".md", ".svg") and path.is_file()]
        found = {str(path.relative_to(SOURCE)) for path in paths if says.search(path.read_bytes()[:1000])}
        self.assertGreater(len(found), 10)
        self.assertEqual(found - known, set(), "tools/update does not know them")

    def test_the_test_of_each_kind_names_the_command(self):
        texts = [path.read_text(encoding="utf-8", errors="replace") for folder in ("tests", "tools")
                 for path in (SOURCE / folder).rglob("*")
                 if path.is_file() and path.name not in ("update", "update_test.py") and path.suffix in ("", ".py", ".cc")]
        for kind in update.KINDS:
            command = f"./dev update {kind.name}" if kind.name != "outputs" else "./dev update {page.name}"
            with self.subTest(command=command):
                self.assertTrue(any(f": {command}" in text or f"    {command}" in text for text in texts))

    def test_help_lists_the_kinds(self):
        said = subprocess.run([SOURCE / "dev", "update", "--help"], check=True, capture_output=True, text=True).stdout
        for kind in update.KINDS:
            self.assertIn(f"{kind.name}:", said)


if __name__ == "__main__":
    unittest.main()
