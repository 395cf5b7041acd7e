# SPDX-License-Identifier: MIT
"""The test frameworks of the matrix: where a version's sources come from, what is compiled, and what it is compared with."""
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PROGRAMS = TOP / "tests" / "agent" / "programs"


class CannotBuild(Exception):
    pass


def from_repository(repository, option, tag, paths, folder):
    """The files of a tag."""
    if not folder.exists():
        if repository is None:
            raise CannotBuild(f"no {option}")
        archive = subprocess.run(["git", "-C", repository, "archive", tag, *paths], capture_output=True)
        if archive.returncode != 0:
            raise CannotBuild(archive.stderr.decode())
        folder.mkdir(parents=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


def numbers(version):
    return tuple(map(int, version.split(".")))


class Framework:
    """Sources: those of the framework, which may be a shared library, and then main() and the tests."""

    @staticmethod
    def comparable(rows, others):
        """Both, without what may differ between two runs of one program."""
        return rows, others


class GoogleTest(Framework):
    reference = "adapter_many_shapes"
    flags = ("--gtest_filter=-Hostile.*:Forks.*",)
    passed = "[       OK ]"

    @staticmethod
    def sources(version, args):
        """(flags, [the framework's], [(the program's, more flags)])"""
        if version == "system":
            folder = Path("/usr/src/googletest/googletest")
            if not folder.exists():
                raise CannotBuild("no /usr/src/googletest (Debian: googletest)")
        else:
            tag = ("release-" if numbers(version) < (1, 12, 2) else "v") + version
            folder = from_repository(args.gtest_repo, "--gtest-repo", tag, ["googletest"],
                                     args.work / "source" / version) / "googletest"
        old = ["-include", str(PROGRAMS / "old_gtest.h")]
        return ([f"-I{folder}/include", f"-I{folder}"], [folder / "src/gtest-all.cc"],
                [(folder / "src/gtest_main.cc", []),
                 (TOP / "tests/adapters/programs/many_shapes_test.cc", old)])


class GoogleBenchmark(Framework):
    reference = "agent_benchmark_kinds_linked"
    flags = ("--benchmark_min_time=0.001",)
    passed = "BM_"

    @staticmethod
    def sources(version, args):
        folder = from_repository(args.benchmark_repo, "--benchmark-repo", f"v{version}", ["include", "src"],
                                 args.work / "source" / f"benchmark-{version}")
        flags = [f"-I{folder}/include", f"-I{folder}/src", "-DNDEBUG", "-DHAVE_STD_REGEX", "-DHAVE_STEADY_CLOCK",
                 "-Dbenchmark_EXPORTS", f'-DBENCHMARK_VERSION="{version}"']
        files = sorted(file for file in (folder / "src").glob("*.cc") if file.name != "benchmark_main.cc")
        return flags, files, [(PROGRAMS / "benchmark_kinds.cc", [])]

    @staticmethod
    def comparable(rows, others):
        """It chooses how many iterations it times. On a busy machine a counted pass may have fewer than 1000."""
        unsure = {dict(row)["test"] for row in rows + others if dict(row).get("counted_iterations") in ("1", "10", "100")}

        def sure(some):
            return [tuple((k, v) for k, v in row if k != "iterations") for row in some if dict(row)["test"] not in unsure]
        return sure(rows), sure(others)


class Catch2(Framework):
    reference = "agent_catch2_tests_linked"
    flags = ("~Fails", "~Throws")  # they print, each version in its own way
    passed = "passed"

    @staticmethod
    def sources(version, args):
        is_old = numbers(version) < (3,)
        folder = from_repository(args.catch2_repo, "--catch2-repo", f"v{version}",
                                 ["single_include"] if is_old else ["extras"], args.work / "source" / f"catch2-{version}")
        if is_old:
            return [f"-I{folder}/single_include"], [], [(PROGRAMS / "catch2_tests.cc", [])]
        return ([f"-I{folder}/extras", "-DSYSCOST_TEST_CATCH_AMALGAMATED"], [folder / "extras/catch_amalgamated.cpp"],
                [(PROGRAMS / "catch2_tests.cc", [])])


class Doctest(Framework):
    reference = "agent_doctest_tests_linked"
    flags = ("--test-case-exclude=Fails*,Throws",)
    passed = "passed"

    @staticmethod
    def sources(version, args):
        folder = from_repository(args.doctest_repo, "--doctest-repo", version if numbers(version) < (2, 4, 8) else f"v{version}",
                                 ["doctest/doctest.h"], args.work / "source" / f"doctest-{version}")
        return [f"-I{folder}"], [], [(PROGRAMS / "doctest_tests.cc", [])]


FRAMEWORKS = {"gtest": GoogleTest, "benchmark": GoogleBenchmark, "catch2": Catch2, "doctest": Doctest}
