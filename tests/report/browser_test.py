# SPDX-License-Identifier: MIT
"""`bench report` in a real browser: `browser_test.py BENCH DATA [PICTURES]`. Exits with 77 where there is no Chromium.

With PICTURES, a folder, it leaves screenshots there: light, dark, a phone's width, printed, and without JavaScript.
"""
import csv
import os
import subprocess
import sys
import tempfile
import unittest

import browser

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PICTURES = sys.argv[3] if len(sys.argv) > 3 else None

HOSTILE = ["<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "</script><script>window.hit=1</script>",
           '"onmouseover="window.hit=1" x="', "'onclick='window.hit=1", "<!--<script>", "javascript:window.hit=1",
           "</title></style><svg onload=window.hit=1>", "${window.hit=1}", "&lt;b&gt;", "<a href='javascript:window.hit=1'>x</a>", "\x1e<b>\x01<script>window.hit=1</script>",
           "\udcff\udc80<script>window.hit=1</script>", "<details open ontoggle=window.hit=1>" + "long" * 2500,
           "]]>\u2028\u2029\u202e<script>window.hit=1</script>"]
ROWS = "[...document.querySelectorAll('.tests > tbody > tr[data-card]')]"
SHOWN = ROWS + ".filter((row) => row.offsetParent !== null)"
NAMES = SHOWN + ".map((row) => row.querySelector('a').textContent)"


def report(folder, run, *arguments):
    path = os.path.join(folder, os.path.basename(run) + ".html")
    subprocess.run([BENCH, "report", run, "-o", path, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=DATA)
    return path


def made_run(folder, tests, *more):
    path = os.path.join(folder, "run.csv")
    with open(path, "wb") as file:
        subprocess.run([sys.executable, "-B", os.path.join(HERE, "make_run.py"), os.path.join(DATA, "main.csv"), str(tests), *more],
                       stdout=file, check=True)
    return path


def earlier_run(folder, run):
    """A run with the same tests, a day before `run`."""
    path = os.path.join(folder, "earlier.csv")
    with open(run, encoding="utf-8", errors="surrogateescape") as file, open(path, "w", encoding="utf-8", errors="surrogateescape") as copy:
        copy.write(file.read().replace("1795225951-99", "1795139551-98").replace("2026-11-21T", "2026-11-20T"))
    return path


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def hostile_run(folder):
    """A run in which everything that is not ours tries to become markup. Its file's name does, too."""
    source = made_run(folder, len(HOSTILE) * 2, "sites")
    with open(source, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = {}
    for row in rows:
        name = HOSTILE[names.setdefault(row["test"], len(names)) % len(HOSTILE)]
        row["test"] = f"{row['test']}{name}"
        for column in ("program", "commit", "label", "host", "kernel_release", "build_id", "build_type", "filter"):
            row[column] = name
        if row["record"] == "syscall":
            row["detail"] = f"at {name}.cc:7 {name}"
            row["syscall"] += name
            row["class"] = f"file {name}".replace(" ", "_")
            if row["calls"] != "0":
                row["errors"], row["errnos"] = row["calls"], f"E{name.replace(' ', '_').replace(':', '_')}:{row['calls']}"
        else:
            row["outcome"] = "failed"
            row["left_open"] = f"1 {name} at {name}"
            row["descriptors_left"] = "1"
    path = os.path.join(folder, "<img src=x onerror=window.hit=1>\"'&.csv")
    write_rows(path, rows)
    return path


def printable(name):
    """As bench shows it."""
    text = ""
    for letter in name:
        code = ord(letter)
        if code < 32 or 0xDC80 <= code <= 0xDCFF:
            text += f"\\x{code & 0xFF:02x}"
        else:
            text += f"\\u{code:04x}" if 0x2028 <= code <= 0x202E else letter
    return text


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.large = report(cls.folder, made_run(cls.folder, 5000, "sites"))
        cls.browser = browser.Browser(browser.find(), limit_s=240)
        cls.addClassCleanup(cls.browser.__exit__)
        cls.browser.size(1200, 900)

    def setUp(self):
        self.page = self.browser
        self.page.open(self.large)

    def tearDown(self):
        self.assertEqual(self.page.complaints(), [])
        self.assertEqual(self.page.requests(), [])

    def wait_for_card(self):
        self.page.run("new Promise((done) => { const look = () => document.querySelector('.open[data-ready]') ? done() "
                      ": requestAnimationFrame(look); look(); })")

    def sort_by(self, title):
        self.page.run(f"[...document.querySelectorAll('th button')].find((one) => one.textContent === '{title}').click()")

    def test_shows_the_first_tests_and_more_on_request(self):
        self.assertEqual(self.page.run(SHOWN + ".length"), 50)
        self.page.run("document.querySelector('.more').click()")
        self.assertEqual(self.page.run(SHOWN + ".length"), 550)
        self.page.run("document.querySelectorAll('.more')[1].click()")
        self.assertEqual(self.page.run(SHOWN + ".length"), 5000)

    def test_sorts_by_each_column_both_ways_and_back(self):
        first = self.page.run(NAMES)
        for column, title in enumerate(("Wall", "Kernel", "Waits", "Calls", "Failed"), start=1):
            self.sort_by(title)
            values = self.page.run(f"{SHOWN}.map((row) => Number(row.cells[{column}].dataset.n))")
            self.assertEqual(values, sorted(values, reverse=True))
            self.sort_by(title)
            values = self.page.run(f"{SHOWN}.map((row) => Number(row.cells[{column}].dataset.n))")
            self.assertEqual(values, sorted(values))
            self.sort_by(title)
            self.assertEqual(self.page.run(NAMES), first)
        self.sort_by("Test")
        self.assertEqual(self.page.run("document.querySelector('.tests th').getAttribute('aria-sort')"), "ascending")
        self.assertIn("Cache0.", self.page.run(NAMES)[0])

    def test_filters_by_words(self):
        self.page.run("{ const box = document.querySelector('input'); box.value = 'cache bytes'; "
                      "box.dispatchEvent(new Event('input')); }")
        names = self.page.run(NAMES)
        self.assertEqual(len(names), 50)
        self.assertTrue(all("Cache" in name and "Bytes" in name for name in names))
        self.assertIn("that match, of 5000", self.page.run("document.querySelector('[role=status]').textContent"))

    def test_keys_filter_walk_and_open(self):
        self.page.key("/")
        self.assertEqual(self.page.run("document.activeElement.tagName"), "INPUT")
        for letter in "log1.":
            self.page.key(letter)
        self.assertTrue(all("log1." in name.lower() for name in self.page.run(NAMES)))
        self.page.key("Escape")
        self.assertEqual(self.page.run(SHOWN + ".length"), 50)
        names = self.page.run(NAMES)
        for key, place in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
            self.page.key(key)
            self.assertEqual(self.page.run("document.activeElement.textContent"), names[place])
        self.page.key("Enter", "\r")
        self.wait_for_card()
        self.assertEqual(self.page.run("document.activeElement.getAttribute('aria-expanded')"), "true")
        self.page.key("Enter", "\r")
        self.assertIsNone(self.page.run("document.querySelector('.open')"))

    def test_opens_the_slowest_test_its_lines_and_histograms_by_two_clicks(self):
        self.sort_by("Wall")
        self.page.run(SHOWN + ".find((row) => row.cells[6].textContent.includes(',')).cells[0].querySelector('a').click()")
        self.wait_for_card()
        self.assertGreater(self.page.run("document.querySelectorAll('.open .hist path').length"), 2)
        self.assertIn("src/storage/part_", self.page.run("document.querySelector('.open').textContent"))

    def test_three_clicks_find_the_slowest_test_its_line_and_its_history(self):
        run = made_run(self.folder, 200, "sites")
        path = os.path.join(self.folder, "clicks.html")
        with open(run, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        busiest = max((row for row in rows if row["record"] == "test"), key=lambda row: int(row["total_calls"]))
        busiest["wall_ns"] = "60000000000"
        write_rows(run, rows)
        subprocess.run([BENCH, "report", earlier_run(self.folder, run), run, "-o", path], check=True, stdout=subprocess.DEVNULL)
        slowest = busiest["test"]
        lines = [row["detail"].split()[1] for row in rows if row["test"] == slowest and row["record"] == "syscall"]
        in_sight = ("(() => {{ const box = {0}.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; }})()")
        for width, height in ((1200, 900), (390, 844)):
            with self.subTest(width):
                self.page.size(width, height)
                self.page.open(path)
                self.page.click("document.querySelector('#totals a')")
                self.wait_for_card()
                row = "document.querySelector('.open').previousElementSibling"
                self.assertEqual(self.page.run(row + ".querySelector('a').textContent"), slowest)
                self.assertTrue(self.page.run(in_sight.format(row)))
                jump = "[...document.querySelectorAll('.open .jumps button')].find((one) => one.textContent.startsWith('{}'))"
                title = "[...document.querySelectorAll('.open h3')].find((one) => one.textContent.startsWith('{}'))"
                self.page.click(jump.format("Lines"))
                line = title.format("Lines") + ".nextElementSibling.querySelector('tbody td')"
                self.assertTrue(self.page.run(in_sight.format(line)))
                self.assertIn(self.page.run(line + ".textContent").split()[0], lines)
                self.page.click(jump.format("History"))
                self.assertTrue(self.page.run(in_sight.format(title.format("History") + ".nextElementSibling")))
        self.page.size(1200, 900)

    def test_sorts_the_comparison(self):
        path = report(self.folder, "pr.csv", "--compare", "main.csv", "pr.csv")
        self.page.open(path)
        cells = "[...document.querySelectorAll('.compared > tbody > tr')].map((row) => row.cells[{}].{})"
        first = self.page.run(cells.format(0, "textContent"))
        sort = "[...document.querySelectorAll('.compared th button')].find((one) => one.textContent === '{}').click()"
        for title, column in (("Calls", 2), ("Time", 4)):
            for reverse in (True, False):
                self.page.run(sort.format(title))
                values = [float(one) for one in self.page.run(cells.format(column, "dataset.n ?? null")) if one is not None]
                self.assertGreater(len(values), 2)
                self.assertEqual(values, sorted(values, reverse=reverse))
            self.page.run(sort.format(title))
            self.assertEqual(self.page.run(cells.format(0, "textContent")), first)
        self.page.run(sort.format("Test"))
        self.assertEqual(self.page.run(cells.format(0, "textContent")), sorted(first))

    def test_shows_the_history_of_a_test(self):
        self.page.open(report(self.folder, "history"))
        self.page.run(SHOWN + "[0].cells[0].querySelector('a').click()")
        self.wait_for_card()
        self.assertGreater(self.page.run("document.querySelectorAll('.open .history path').length"), 2)

    def test_opens_a_test_by_a_link_to_it(self):
        path = report(self.folder, "findings.csv")
        self.page.open(path)
        self.page.run("document.querySelector('#findings a').click()")
        self.wait_for_card()
        address = self.page.run("location.hash")
        self.page.open(path + address)
        self.wait_for_card()
        self.assertEqual("#" + self.page.run("document.querySelector('.open').previousElementSibling.id"), address)

    def test_is_readable_without_javascript(self):
        self.page.scripting(False)
        try:
            self.page.open(self.large)
        finally:
            self.page.scripting(True)
        self.assertEqual(self.page.run(SHOWN + ".length"), 5000)
        self.assertEqual(self.page.run("document.querySelectorAll('#worst details').length"), 20)
        self.assertIsNotNone(self.page.run("document.querySelector('#worst .hist').getBoundingClientRect().width || null"))
        self.assertIsNone(self.page.run("document.querySelector('input')"))

    def test_fits_a_phone(self):
        compared = report(self.folder, "pr.csv", "--compare", "main.csv", "pr.csv")
        self.page.size(390, 844)
        try:
            for path in (self.large, compared):
                self.page.open(path)
                self.page.run(SHOWN + "[0].cells[0].querySelector('a').click()")
                self.wait_for_card()
                self.assertLessEqual(self.page.run("document.documentElement.scrollWidth"), 390)
                # A card is not wider than the screen, and no word of the comparison is broken into letters.
                self.assertLessEqual(self.page.run("document.querySelector('.open .card').getBoundingClientRect().right"), 390)
            self.assertLess(self.page.run("document.querySelector('.compared tbody a').getBoundingClientRect().height"), 40)
        finally:
            self.page.size(1200, 900)

    def test_nothing_that_is_not_ours_can_run(self):
        hostile = hostile_run(self.folder)
        path = os.path.join(self.folder, "hostile.html")
        for arguments in ([hostile], ["--compare", os.path.join(DATA, "main.csv"), hostile],
                          ["--compare", earlier_run(self.folder, hostile), hostile]):
            subprocess.run([BENCH, "report", *arguments, "-o", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            self.page.open(path)
            opened = self.page.run("const rows = [...document.querySelectorAll('tr[data-card]')]; "
                                   "for (const row of rows) row.cells[0].querySelector('a').click(); rows.length")
            self.page.run("new Promise((done) => { const look = () => document.querySelectorAll('.open[data-ready]').length === "
                          f"{opened} ? done() : requestAnimationFrame(look); look(); }})")
            self.page.run("for (const one of document.querySelectorAll('*')) one.dispatchEvent(new Event('mouseover'))")
            self.assertIsNone(self.page.run("window.hit ?? null"))
            # No tag, attribute or address but those of bench, in the cards as well.
            self.assertEqual(self.page.run("document.querySelectorAll('img, iframe, object, embed, form, base, link, b b').length"), 0)
            self.assertEqual(self.page.run("[...document.querySelectorAll('*')].filter((one) => [...one.attributes].some((attribute) => "
                                           "attribute.name.startsWith('on') || attribute.name === 'src')).length"), 0)
            self.assertEqual(self.page.run("[...document.querySelectorAll('a')].filter((one) => "
                                           "!/^#[a-z][a-z0-9]*$/.test(one.getAttribute('href'))).length"), 0)
            self.assertEqual(self.page.run("document.scripts.length - document.querySelectorAll('script[type=\"text/plain\"]').length"), 2)
            # No invisible or reordering character, and all of each name. A long one does not make the page wide.
            self.assertIsNone(self.page.run("document.body.innerText.match(/[\\u0000-\\u0008\\u2028-\\u202e\\ufffd]/)?.index ?? null"))
            names = "\n".join(self.page.run(ROWS + ".map((row) => row.querySelector('a').textContent)"))
            for name in HOSTILE:
                self.assertIn(printable(name), names)
            self.assertLessEqual(self.page.run("document.documentElement.scrollWidth"), 1200)

    def test_policy_stops_a_script_that_got_in(self):
        path = report(self.folder, "main.csv")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("<main>", "<main><script>window.hit = 1</script><b onclick='window.hit = 1' id=b>b</b>"))
        self.page.open(path)
        self.page.run("document.getElementById('b').click()")
        self.assertIsNone(self.page.run("window.hit ?? null"))
        self.assertTrue(self.page.complaints())
        self.page.events.clear()


def take_pictures(path):
    """For a person to look at."""
    os.makedirs(PICTURES, exist_ok=True)
    with browser.Browser(browser.find(), limit_s=120) as page:
        for scheme in ("light", "dark"):
            for width in (1200, 390):
                page.scheme(scheme)
                page.size(width, int(os.environ.get("HEIGHT", "1500")))
                page.open(path)
                page.run("document.querySelector('.tests a')?.click(); new Promise((done) => setTimeout(done, 300))")
                page.screenshot(os.path.join(PICTURES, f"{scheme}_{width}.png"))
        page.scheme("light")
        page.size(1200, 1500)
        page.pdf(os.path.join(PICTURES, "printed.pdf"))
        page.scripting(False)
        page.open(path)
        page.screenshot(os.path.join(PICTURES, "without_javascript.png"))


if __name__ == "__main__":
    if browser.find() is None:
        print("there is no browser to open reports with (Debian: chromium)")
        sys.exit(77)
    if PICTURES:
        take_pictures(os.environ["REPORT"])
        sys.exit(0)
    unittest.main(argv=sys.argv[:1])
