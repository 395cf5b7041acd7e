#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""links_test.py REPOSITORY: each relative link of each page leads to a file, and to a heading of it if it names one. Sources and
messages that name a page of docs/ name one that is there."""
import re
import sys
import tempfile
import unittest
from functools import lru_cache
from pathlib import Path

import document

SOURCE = Path(sys.argv.pop()).resolve()
LINK = re.compile(r"\]\(([^)\s]*)\)")
NAMED_PAGE = re.compile(r"(?<![\w/])docs/[\w/-]+\.md(?:#[\w-]+)?")
# Folders of the repository, so that builds and scratch folders in it are not read.
FOLDERS = (".ci", ".github", "bench_tool", "cmake", "demos", "docs", "plugin", "tests", "tools")
# It makes up names of pages.
EXEMPT = ("tests/docs/links_test.py", "tests/docs/update_test.py")


def text_lines(text: str) -> list[tuple[int, str]]:
    """The lines of a page that are not inside a block, with their numbers."""
    lines, in_fence = [], False
    for number, line in enumerate(text.splitlines(), 1):
        is_fence = bool(document.FENCE.match(line))
        if not in_fence and not is_fence:
            lines.append((number, line))
        in_fence ^= is_fence
    return lines


def anchors(text: str) -> set[str]:
    """What may follow a page's # in a link: GitHub's names of its headings."""
    found: dict[str, int] = {}
    names = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for _, line in text_lines(text):
        heading = re.match(r"#{1,6} +(.*?)(?: +#+)?$", line)
        if not heading:
            continue
        bare = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
        name = re.sub(r"[^\w\- ]", "", bare.lower()).replace(" ", "-")
        count = found.get(name, 0)
        found[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


@lru_cache(maxsize=None)
def anchors_of(path: Path) -> set[str]:
    return anchors(path.read_text(encoding="utf-8"))


def fault_of(target: str, page: Path) -> str | None:
    """Why a link on `page` leads nowhere."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    file = page.parent / name if name else page
    if not file.exists():
        return f"the link to {target} leads nowhere"
    if anchor and (file.suffix != ".md" or anchor not in anchors_of(file.resolve())):
        return f"the link to {target} leads nowhere: {file.name} has no such heading"
    return None


def faults(page: Path) -> list[str]:
    wrong = []
    for number, line in text_lines(page.read_text(encoding="utf-8")):
        wrong += [f"{page}:{number}: {fault}" for target in LINK.findall(line) if (fault := fault_of(target, page))]
    return wrong


def files() -> list[Path]:
    inner = [path for folder in FOLDERS for path in (SOURCE / folder).rglob("*")]
    found = [path for path in [*SOURCE.glob("*"), *inner] if path.is_file() and "__pycache__" not in path.parts]
    return [path for path in found if not str(path.relative_to(SOURCE)).startswith(EXEMPT)]


class Repository(unittest.TestCase):
    def test_each_link_leads_somewhere(self):
        pages = [path for path in files() if path.suffix == ".md"]
        self.assertGreater(len(pages), 50)
        self.assertEqual([fault for page in pages for fault in faults(page)], [])

    def test_each_page_that_a_source_names_is_there(self):
        named = 0
        for path in files():
            if path.suffix == ".md" or path.stat().st_size > 1 << 20:
                continue
            for name in NAMED_PAGE.findall(path.read_text(encoding="utf-8", errors="replace")):
                named += 1
                with self.subTest(file=str(path.relative_to(SOURCE)), page=name):
                    self.assertIsNone(fault_of(name, SOURCE / "README.md"))
        self.assertGreater(named, 20)


class Pages(unittest.TestCase):
    def faults(self, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(text, encoding="utf-8")
            Path(folder, "other.md").write_text("# Other\n\n## What it's `for`\n", encoding="utf-8")
            anchors_of.cache_clear()
            return [fault.partition(": ")[2] for fault in faults(page)]

    def test_a_dead_link_is_a_fault(self):
        self.assertEqual(self.faults("[a](other.md) [b](https://example.org/gone) ![c](../gone.svg)\n"),
                         ["the link to ../gone.svg leads nowhere"])

    def test_a_heading_that_is_not_there_is_a_fault(self):
        self.assertEqual(self.faults("# A b\n[a](#a-b) [b](other.md#what-its-for) [c](other.md#what) [d](#c)\n"),
                         [f"the link to {name} leads nowhere: {file} has no such heading"
                          for name, file in (("other.md#what", "other.md"), ("#c", "page.md"))])

    def test_a_block_has_neither_links_nor_headings(self):
        self.assertEqual(self.faults("```text\n# A\n[a](gone.md)\n```\n[b](#a)\n"),
                         ["the link to #a leads nowhere: page.md has no such heading"])

    def test_names_of_headings_are_those_of_github(self):
        self.assertEqual(anchors("# `--flag` and [link](x.md): A, b\n## Same\n## Same\n### 4. A/B - c\n"),
                         {"--flag-and-link-a-b", "same", "same-1", "4-ab---c"})


if __name__ == "__main__":
    unittest.main()
