# SPDX-License-Identifier: MIT
"""What is in a page of `bench report`: for tests."""
import base64
import gzip
import html.parser
import re

VOID = {"meta", "input", "br"}
SHAPES = {"path", "rect", "line", "circle"}
OPTIONAL = {"tr", "td", "th", "li"}  # their closing tags may be left out


class Reader(html.parser.HTMLParser):
    """Tags, attributes and texts of a page; faults of its nesting."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.texts, self.faults = [], [], [], []
        self.feed(page)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self.open if tag not in OPTIONAL]

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if len(dict(attrs)) != len(attrs):
            self.faults.append(f"<{tag}> has an attribute twice: {attrs}")
        if tag not in VOID and tag not in SHAPES:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in SHAPES:
            return
        while self.open and self.open[-1] != tag and self.open[-1] in OPTIONAL:
            self.open.pop()
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes nothing, or too early: {self.open[-3:]}")
        else:
            self.open.pop()

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def unpacked(page):
    """The cards that a browser unpacks."""
    cards = []
    for pack in re.findall(r'<script type="text/plain" id="p\d+">([^<]*)</script>', page):
        cards += gzip.decompress(base64.b64decode(pack)).decode().split("\x1e")
    return cards
