# SPDX-License-Identifier: MIT
"""Every page of the repository is a page of tests/docs/CMakeLists.txt: a page nobody runs goes wrong unnoticed.

check_pages.py REPOSITORY PAGE...
Records of decisions (docs/decisions) are history and hold no commands to run.
"""
import sys
from pathlib import Path

EXEMPT = ("build/", ".git/", "docs/decisions/")


def main() -> int:
    source, tested = Path(sys.argv[1]), set(sys.argv[2:])
    pages = {str(path.relative_to(source)) for path in source.rglob("*.md")}
    pages = {page for page in pages if not page.startswith(EXEMPT)}
    missing = sorted(pages - tested)
    for page in missing:
        print(f"{page} is not tested: name it in tests/docs/CMakeLists.txt")
    print(f"{len(pages)} pages, {len(missing)} of them untested")
    return 1 if missing or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
