# SPDX-License-Identifier: MIT
"""`bench report` beside damaged and hostile artifacts: `hostile_test.py BENCH DATA [COUNT [RUN.csv]...]`.

A trace, the scheduler's events and a file of GPU stamps come from folders that others may have written. COUNT changed copies
of each are made; with RUN.csv also of the artifacts beside real runs. bench must end by itself, without a signal, and the page must stay
well-formed, without a tag, an attribute or a script that the page of the undamaged files does not have.
"""
import html
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import report_page

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 40
RUNS = [os.path.abspath(run) for run in sys.argv[4:]]
STAMPS = os.path.join(os.path.dirname(HERE), "gpu_stamps", "data", "warps.csv")
PATIENCE_S = 60

TEXTS = [b"<script>alert(1)</script>", b"\"><img src=x onerror=alert(1)>", b"' onmouseover='alert(1)", b"</svg></p></div><b>",
         b"</script><script>alert(1)</script>", b"javascript:alert(1)", b"&lt;script&gt;", b"\x00", b"\x1b[31m\x07", b"\xff\xfe\xc3",
         b"\xe2\x80\xae", b"x" * 100_000, b"-1", b"18446744073709551615", b"9223372036854775808", b"1e308", b"nan", b"", b",,,,", b"\""]


def flip(data, dice):
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 8, 64])):
        data[dice.randrange(len(data))] = dice.choice([0, 0x7f, 0x80, 0xff, dice.randrange(256)])
    return bytes(data)


def cut(data, dice):
    return data[:dice.randrange(len(data))]


def repeat(data, dice):
    begin = dice.randrange(len(data))
    part = data[begin:begin + dice.randrange(1, 400)]
    return data[:begin] + part * dice.choice([1, 2, 50]) + data[begin:]


def put_text(data, dice):
    """In a string's place, with its length: what is around it stays what it was."""
    strings = [found for found in re.finditer(rb"[ -~]{4,}", data)]
    if not strings:
        return flip(data, dice)
    found = dice.choice(strings)
    text = (dice.choice(TEXTS) * 40)[:found.end() - found.start()]
    return data[:found.start()] + text.ljust(found.end() - found.start()) + data[found.end():]


def change_cells(data, dice):
    lines = data.split(b"\n")
    for _ in range(dice.choice([1, 1, 3, 10])):
        at = dice.randrange(len(lines))
        cells = lines[at].split(b",")
        cells[dice.randrange(len(cells))] = dice.choice(TEXTS)
        lines[at] = b",".join(cells)
    return b"\n".join(lines)


def change_texts(data, dice):
    """Of cells that are no numbers, each with the same text: the file makes sense, with other names."""
    words = sorted(set(re.findall(rb"(?<=,)[a-z_][a-z_0-9 ]{3,}(?=,)", data)))
    if not words:
        return change_cells(data, dice)
    return data.replace(b"," + dice.choice(words) + b",", b"," + dice.choice(TEXTS[:7]) + b",")


def change_lines(data, dice):
    lines = data.split(b"\n")
    at, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    how = dice.randrange(3)
    if how == 0:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 1:
        del lines[at]
    else:
        lines[at:at] = [lines[other]] * dice.choice([1, 1000])
    return b"\n".join(lines)


OF_BYTES = [flip, cut, repeat, put_text]
OF_TEXT = OF_BYTES + [change_cells, change_texts, change_texts, change_lines]


def report(arguments, folder):
    return subprocess.run([BENCH, "report", *arguments, "-o", "-"], cwd=folder, capture_output=True, timeout=PATIENCE_S, check=False)


def has_timeline(done):
    page = done.stdout.decode()
    return 'class="timeline"' in html.unescape(page + "".join(report_page.unpacked(page)))


def parts_of(page):
    """The tags of the page and of its packed cards, with the names of their attributes."""
    found = set()
    for text in [page, *report_page.unpacked(page)]:
        for tag, attributes in report_page.Reader(text).tags:
            found.add(tag)
            found.update(f"{tag} {name}" for name in attributes)
    return found


class Hostile(unittest.TestCase):
    def check(self, done, known, what):
        self.assertIn(done.returncode, (0, 2), f"{what}: {done.stderr[-2000:]}")
        self.assertNotIn(b"\x1b", done.stderr, what)
        if not done.stdout:
            return
        page = done.stdout.decode()  # UTF-8
        for text in [page, *report_page.unpacked(page)]:
            reader = report_page.Reader(text)
            self.assertEqual(reader.faults, [], what)
            for tag, attributes in reader.tags:
                self.assertTrue(attributes.get("href", "#").startswith("#"), f"{what}: {attributes}")
                self.assertNotIn("src", attributes, what)
        self.assertEqual(parts_of(page) - known, set(), what)
        self.assertEqual(len(re.findall(r"<script>", page)), 2, what)

    def change(self, folder, path, arguments, changes):
        """Reports of changed copies of one file; its name is in each failure, with the number that made the change."""
        with open(path, "rb") as file:
            whole = file.read()
        # What is on other pages may be on this one: a changed trace has other findings, and damage is named.
        pages = [report(arguments, folder), *(report([name], DATA) for name in ("main.csv", "findings.csv", "groups.csv", "nul_row.csv"))]
        allowed = set().union(*(parts_of(page.stdout.decode()) for page in pages))
        for number in range(COUNT):
            dice = random.Random(f"{os.path.basename(path)} {number}")
            change = dice.choice(changes)
            data = change(whole, dice) if whole else b""
            with open(path, "wb") as file:
                file.write(data)
            self.check(report(arguments, folder), allowed, f"{os.path.basename(path)} {number} {change.__name__}")
        with open(path, "wb") as file:
            file.write(whole)

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def test_traces(self):
        folder = os.path.join(self.folder(), "traces")
        shutil.copytree(os.path.join(DATA, "traces"), folder)
        self.assertTrue(has_timeline(report(["run.csv"], folder)))
        trace = os.path.join(folder, "syscost_artifacts", "1795225951-17", "demo_tests", "Log.WritesABatch", "trace.pftrace")
        self.change(folder, trace, ["run.csv"], OF_BYTES)

    def test_events_of_the_scheduler(self):
        folder = self.folder()
        with open(os.path.join(DATA, "traces", "run.csv"), encoding="utf-8") as file:
            text = file.read().replace("Log.WritesABatch", "Report.Waits").replace("demo_tests", "report_tests")
        with open(os.path.join(folder, "run.csv"), "w", encoding="utf-8") as file:
            file.write(text.replace(",97000,", ",22000001,"))
        shutil.copytree(os.path.join(DATA, "sched"), os.path.join(folder, "syscost_artifacts"))
        self.assertIn(b"Critical path", report(["run.csv"], folder).stdout)
        [path] = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
                  if name == "sched.csv" and "Report.Waits" in at]
        self.change(folder, path, ["run.csv"], OF_TEXT)

    def test_stamps(self):
        folder = self.folder()
        shutil.copy(os.path.join(DATA, "main.csv"), folder)
        shutil.copy(STAMPS, os.path.join(folder, "stamps.csv"))
        arguments = ["main.csv", "--stamps", "stamps.csv"]
        if b"GPU stamps" not in report(arguments, folder).stdout:
            self.skipTest("bench was built without stamps")
        self.change(folder, os.path.join(folder, "stamps.csv"), arguments, OF_TEXT)

    def test_real_runs(self):
        for run in RUNS:
            folder = os.path.join(self.folder(), "run")
            shutil.copytree(os.path.dirname(run), folder)
            for at, _, names in os.walk(folder):
                for name in names:
                    if name in ("sched.csv", "trace.pftrace"):
                        self.change(folder, os.path.join(at, name), [os.path.basename(run)], OF_TEXT if name == "sched.csv" else OF_BYTES)

    def linked(self):
        """A folder with a run. Its traces are elsewhere, and `syscost_artifacts` is a link to them."""
        folder, other = self.folder(), self.folder()
        shutil.copy(os.path.join(DATA, "traces", "run.csv"), folder)
        shutil.copytree(os.path.join(DATA, "traces", "syscost_artifacts"), os.path.join(other, "artifacts"))
        os.symlink(os.path.join(other, "artifacts"), os.path.join(folder, "syscost_artifacts"))
        return folder

    def test_a_link_of_the_users_own_is_followed_as_the_plugin_follows_it(self):
        folder = self.linked()
        done = report(["run.csv"], folder)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(has_timeline(done))
        self.assertEqual(self.trace(folder).returncode, 0)

    @staticmethod
    def trace(folder, source="run.csv"):
        return subprocess.run([BENCH, "trace", "Log.WritesABatch", source], cwd=folder, capture_output=True, check=False)

    @unittest.skipUnless(os.geteuid() == 0, "only root can plant the link of another user")
    def test_a_link_of_another_user_is_left_out(self):
        folder = self.linked()
        os.chown(os.path.join(folder, "syscost_artifacts"), 65534, 65534, follow_symlinks=False)
        for done in (report(["run.csv"], folder), self.trace(folder)):
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"syscost_artifacts: is a link that another user has made, which bench does not follow", done.stderr)
            self.assertNotIn(b"WritesABatch  8", done.stdout)
            self.assertFalse(has_timeline(done))
        # As the plugin: a folder that the user names is the user's choice.
        os.rename(os.path.join(folder, "syscost_artifacts"), os.path.join(folder, "named"))
        self.assertEqual(self.trace(folder, "named").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
