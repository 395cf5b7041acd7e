# SPDX-License-Identifier: MIT
"""tests/docs/CMakeLists.txt lists exactly the pages of the repository. A page that is missing there would go wrong
unnoticed. A page that is listed but gone would seem to be tested.

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
    gone = sorted(tested - pages)
    for page in gone:
        print(f"{page} does not exist: write it, or take it out of tests/docs/CMakeLists.txt")
    print(f"{len(pages)} pages, {len(missing)} of them untested; {len(gone)} named that do not exist")
    return 1 if missing or gone or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
