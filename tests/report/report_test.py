# SPDX-License-Identifier: MIT
"""`bench report` as a file: `report_test.py BENCH DATA`. No browser is needed.

The page holds nothing that a name of a test could have put there, names no address, and is as small as promised. The file
that it is written to is there whole or not at all.
"""
import base64
import csv
import hashlib
import html
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from report_page import Reader, unpacked

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
STAMPS = os.path.join(os.path.dirname(HERE), "gpu_stamps", "data", "warps.csv")


def bench(*arguments, **options):
    return subprocess.run([BENCH, *arguments], capture_output=True, check=False, **options)


# Arguments, and what the page has to show for them.
PAGES = [
    (["main.csv"], ["<h2>Syscalls</h2>", "Log.Reads"]),
    (["findings.csv"], ["<h2>Findings</h2>", "tiny-writes", "Collect the data in a buffer", "1 note: costs that may be on purpose",
                        "<h4>failing-calls"]),
    (["loops.csv"], ["<h2>Loops, per call</h2>"]),
    (["benchmark_new.csv"], ["<h2>Benchmarks, per iteration</h2>"]),
    (["history"], ["<h2>History</h2>", "<h3>Steps</h3>", "over "]),
    (["scale_old.csv"], ["<h2>Laws</h2>", "2n + 3", 'class="law"', "No plot: no two sizes files have the same bytes."]),
    (["groups.csv"], ["<h2>Groups of tests</h2>", "open, read, close files", "<h3>Fixtures</h3>", "Like no other test", "0.32",
                      "Slowest test: "]),
    (["sites_new.csv"], ["<h2>Lines</h2>", "<h3>Flame graph</h3>", "<h3>Lines</h3>"]),
    (["traces/run.csv"], ["calls that took longest", 'class="timeline"']),
    (["main.csv", "--stamps", STAMPS], ["<h2>GPU stamps</h2>"]),
    (["kinds_of_windows.csv"], ["<h2>GPU kernels, per launch</h2>"]),
    (["--compare", "main.csv", "pr.csv"], ["<h2>Comparison</h2>", "red, exit code 1", "Syscalls of pr.csv"]),
    (["--compare", "sites_old.csv", "sites_new.csv"], ["(new)"]),
]


class Page(unittest.TestCase):
    def page_of(self, *arguments):
        done = bench("report", *arguments, "-o", "-", cwd=DATA)
        self.assertEqual(done.stderr, b"")
        self.assertEqual(done.returncode, 0)
        return done.stdout.decode()

    def test_is_one_well_formed_file_without_addresses(self):
        for arguments, words in PAGES:
            with self.subTest(arguments):
                page = self.page_of(*arguments)
                everything = html.unescape(page + "".join(unpacked(page)))
                for word in words:
                    self.assertIn(word, everything)
                reader = Reader(page)
                self.assertEqual(reader.faults, [])
                for card in unpacked(page):
                    self.assertEqual(Reader(card).faults, [])
                ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
                self.assertEqual(len(ids), len(set(ids)))
                for tag, attributes in reader.tags:
                    self.assertNotIn("src", attributes, tag)
                    self.assertFalse([name for name in attributes if name.startswith("on")], tag)
                    self.assertTrue(attributes.get("href", "#").startswith("#"), attributes)
                    if "href" in attributes:
                        self.assertIn(attributes["href"][1:], ids)

    def test_shows_critical_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.csv")
            with open(os.path.join(DATA, "traces", "run.csv"), encoding="utf-8") as file, open(run, "w", encoding="utf-8") as copy:
                text = file.read().replace("Log.WritesABatch", "Report.Waits").replace("demo_tests", "report_tests")
                copy.write(text.replace(",97000,", ",22000001,"))
            shutil.copytree(os.path.join(DATA, "sched"), os.path.join(folder, "syscost_artifacts"))
            page = self.page_of(run)
            everything = html.unescape(page + "".join(unpacked(page)))
            for word in ("<h2>Waiting</h2>", "<h3>Critical path</h3>", "blocked in clock_nanosleep, ended by: a timer", "fetcher 18",
                         'title="20.4 ms">92.7<'):
                self.assertIn(word, everything)
            self.assertEqual(Reader(page).faults, [])
            with open(run, "w", encoding="utf-8") as copy:  # events of another test of this name
                copy.write(text)
            self.assertNotIn("Critical path", self.page_of(run))

    def page_of_rows(self, rows):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.csv")
            with open(run, "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            return self.page_of(run)

    def test_shows_what_a_gpu_did(self):
        figures = [("all kernels (CUPTI)", "1000"), ("all transfers (CUPTI)", "4089000"), ("add duration (CUPTI)", "1000")]
        with open(os.path.join(DATA, "main.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        test = next(row for row in rows if row["record"] == "test" and row["kind"] == "test")
        kept = ("schema_version", "run_id", "started_at", "host", "kernel_release", "backend", "selection", "program", "pid", "test",
                "repetition", "record", "origin", "end")
        for name, wall in figures:
            rows.append({**{column: test[column] if column in kept else "" for column in test}, "kind": "gpu_kernel", "window": name,
                         "parent": test["test"], "iterations": "1", "wall_ns": wall})
        page = self.page_of_rows(rows)
        self.assertIn("<h2>GPU: kernels and copies</h2>", page)
        self.assertIn('data-n="4089">4089</td>', page)
        self.assertIn('<table class="tests timed">', page)  # figures of a GPU have no calls
        self.assertEqual(Reader(page).faults, [])

    def test_a_card_has_what_was_left_and_the_peak_of_mappings(self):
        page = self.page_of(os.path.join(DATA, "bytes.csv"))
        figures = re.findall(r"<dt>(Mapped at most|Left open)</dt><dd>([^<]*)", page)
        self.assertEqual(figures, [("Mapped at most", "143360 bytes (140 KiB)"), ("Left open", "2")])

    def test_draws_a_line_for_each_second_size(self):
        with open(os.path.join(DATA, "scale_old.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        rows = [row for row in rows if row["test"].startswith("BM_Load/")]
        names = sorted({row["test"] for row in rows})
        for row in rows:
            place = names.index(row["test"])
            row["test"] = f"BM_Load/files:{1 + place % 3}/bytes:{100 * (1 + place // 3)}"
        page = self.page_of_rows(rows)
        self.assertEqual(len(re.findall(r"<title>[0-9.]+ at 3, bytes = 100</title>", page)), 2)  # read, openat
        self.assertIn(">bytes = 200<", page)
        self.assertFalse("No plot" in page)

    def test_holds_notes_apart_from_findings(self):
        page = self.page_of("findings.csv")
        place = page.index('<details class="unproven"><summary>1 note: ')
        self.assertLess(page.index("<h3>tiny-writes"), place)
        self.assertLess(place, page.index("<h4>failing-calls"))
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.csv")
            with open(os.path.join(DATA, "findings.csv"), encoding="utf-8") as file, open(run, "w", encoding="utf-8") as copy:
                text = file.read().replace(",Odd.One,", ",<img src=x onerror=hit>,").replace("EACCES:18", "E</details><b>:18")
                copy.write(text.replace(",4800,,,,,,1200,", ",480000,,,,,,1200,"))  # large writes: a note alone
            page = self.page_of(run)
        self.assertNotIn("<img", page)
        self.assertNotIn("E</details>", page)
        self.assertIn("<p>No findings.</p>", page)
        self.assertEqual(Reader(page).faults, [])

    def test_says_what_could_not_be_read(self):
        done = bench("report", "nul_row.csv", "-o", "-", cwd=DATA)  # line 3 has a NUL byte
        self.assertEqual(done.returncode, 2)
        page = done.stdout.decode()
        self.assertEqual(Reader(page).faults, [])
        self.assertIn("<h2>Could not be read</h2>", page)
        self.assertIn("<li>nul_row.csv:3: holds NUL bytes: damaged, or not text</li>", page)
        self.assertNotIn("Could not be read", self.page_of("main.csv"))

    def test_packs_a_card_for_each_row(self):
        page = self.page_of("main.csv")
        places = re.findall(r'data-card="p(\d+)\.(\d+)"', page)
        self.assertEqual(len(unpacked(page)), len(places))

    def test_policy_allows_the_scripts_of_bench_alone(self):
        page = self.page_of("main.csv")
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        parts = re.findall(r"<(style|script)>(.*?)</\1>", page, re.DOTALL)
        self.assertEqual([kind for kind, _ in parts], ["style", "script", "script"])
        hashes = ["'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for _, text in parts]
        self.assertIn("style-src %s; script-src %s %s;" % tuple(hashes), policy)

    def test_names_of_tests_stay_text(self):
        page = self.page_of("markup.csv")
        reader = Reader(page)
        self.assertEqual(reader.faults, [])
        allowed = {"html", "head", "meta", "title", "style", "script", "body", "header", "h1", "h2", "h3", "h4", "p", "nav", "a", "main",
                   "section", "dl", "div", "dt", "dd", "small", "table", "thead", "tbody", "tr", "th", "td", "b", "span", "svg",
                   "path", "rect", "text", "details", "ul", "br", "figure", "figcaption", "title", "summary", "ul", "li", "g", "line", "circle", "polyline", "code"}
        self.assertEqual({tag for tag, _ in reader.tags} - allowed, set())

    def test_of_5000_tests_is_under_5_mb(self):
        with tempfile.TemporaryDirectory() as folder:
            for more in ([], ["sites"]):
                run = os.path.join(folder, "run.csv")
                with open(run, "wb") as file:
                    subprocess.run([sys.executable, "-B", os.path.join(HERE, "make_run.py"), os.path.join(DATA, "main.csv"),
                                    "5000", *more], stdout=file, check=True)
                page = self.page_of(run)
                self.assertEqual(page.count("data-card="), 5000)
                self.assertLess(len(page.encode()), 5_000_000)


class OutputFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "report.html")
        self.folder = folder.name

    def write(self, path):
        return bench("report", "main.csv", "-o", path, cwd=DATA)

    def test_is_replaced_by_a_newer_report(self):
        self.assertEqual(self.write(self.path).returncode, 0)
        with open(self.path, "ab") as file:
            file.write(b"older")
        self.assertEqual(self.write(self.path).returncode, 0)
        with open(self.path, "rb") as file:
            self.assertTrue(file.read().endswith(b"</html>\n"))
        self.assertEqual(os.listdir(self.folder), ["report.html"])

    def test_without_a_name_has_that_of_its_run_and_lies_in_the_current_folder(self):
        packed = os.path.join(self.folder, "results.csv.gz")
        with open(os.path.join(DATA, "main.csv"), "rb") as source, gzip.open(packed, "wb") as file:
            file.write(source.read())
        main = os.path.join(DATA, "main.csv")
        for arguments, name in ((["results.csv.gz"], "results.html"), ([main], "main.html"),
                                (["--compare", os.path.join(DATA, "pr.csv"), main], "main.html"),
                                ([os.path.dirname(packed)], os.path.basename(self.folder) + ".html")):
            with self.subTest(arguments):
                done = bench("report", *arguments, cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.decode().startswith(name + " holds "), done.stdout)
                os.remove(os.path.join(self.folder, name))

    def test_without_a_name_is_not_written_over_another_file(self):
        with open(os.path.join(self.folder, "main.html"), "w", encoding="utf-8") as file:
            file.write("mine")
        done = bench("report", os.path.join(DATA, "main.csv"), cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"main.html is there already, and is no report of bench: it is left as it is", done.stderr)

    def test_that_is_something_else_is_left_alone(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("<!DOCTYPE html>\nmine")
        done = self.write(self.path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is no report of bench: it is left as it is", done.stderr)
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "<!DOCTYPE html>\nmine")

    def test_is_not_written_through_a_link(self):
        other = os.path.join(self.folder, "other")
        with open(other, "w", encoding="utf-8"):
            pass
        os.symlink(other, self.path)
        self.assertEqual(self.write(self.path).returncode, 2)
        self.assertEqual(os.path.getsize(other), 0)

    def test_without_a_folder_is_an_error(self):
        done = self.write(os.path.join(self.folder, "none", "report.html"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
