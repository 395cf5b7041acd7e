# SPDX-License-Identifier: MIT
"""Test suites that we did not write: where their sources come from, and how they are built with us linked."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SUITES = {
    "googletest": {"source": "/usr/src/googletest", "package": "googletest",
                   "cmake": ["-Dgtest_build_tests=ON", "-Dgmock_build_tests=OFF", "-DINSTALL_GTEST=OFF"],
                   "texts": {"googletest-output-test", "googletest-shuffle-test", "gtest_xml_outfiles_test",
                             "googletest-json-outfiles-test", "gtest_xml_output_unittest",
                             "googletest-json-output-unittest"}},
    # HiddenValuesAreRemoved races with a compaction in the background: bare, on a busy machine, 19 of 60 runs failed.
    # Its programs run benchmarks after their tests, which have no verdict.
    "leveldb": {"package": "leveldb", "cmake": ["-DLEVELDB_BUILD_BENCHMARKS=OFF"],
                "variables": {"GTEST_FILTER": "-DBTest.HiddenValuesAreRemoved", "BENCHMARK_FILTER": "^$"}},
    # Threads, death tests, files; ours stands before its own main(). Of the other tests each is a program of its own.
    "glog": {"package": "google-glog", "cmake": ["-DBUILD_TESTING=ON", "-DWITH_GTEST=ON", "-DWITH_PKGCONFIG=OFF"]},
    "snappy": {"package": "snappy",
               "cmake": ["-DSNAPPY_BUILD_BENCHMARKS=OFF", "-DSNAPPY_ENABLE_RTTI=ON", "-DBUILD_SHARED_LIBS=ON"]},
}


def give_up(why):
    print(f"{Path(sys.argv[0]).name}: {why}", file=sys.stderr)
    sys.exit(2)


def run(command, log, **options):
    """Runs `command`; its output goes to the file `log`, which the message names when it fails."""
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        give_up(f"{' '.join(map(str, command[:3]))} ... failed: see {log}")


def apt_source(package, work):
    """Unpacks the package's source with Debian's patches. The machine's own list of sources stays as it is."""
    found = sorted(path for path in work.glob(f"{package}-*") if path.is_dir())
    if found:
        return found[0]
    lists = work / "apt"
    (lists / "sources.d").mkdir(parents=True, exist_ok=True)
    (lists / "state" / "partial").mkdir(parents=True, exist_ok=True)
    for file in Path("/etc/apt/sources.list.d").glob("debian*.sources"):
        text = re.sub(r"^Types:.*$", "Types: deb-src", file.read_text(encoding="utf-8"), flags=re.M)
        (lists / "sources.d" / file.name).write_text(text, encoding="utf-8")
    apt = ["apt-get", "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={lists / 'sources.d'}",
           "-o", f"Dir::State::Lists={lists / 'state'}", "-o", "APT::Sandbox::User=root"]
    if not any((lists / "state").glob("*Sources*")):
        run([*apt, "update"], work / "apt-update.log")
    run([*apt, "source", package], work / f"apt-source-{package}.log", cwd=work)
    return next(path for path in work.glob(f"{package}-*") if path.is_dir())


def build(name, suite, args, linked):
    """The folder where the suite is built. Linked or not, its objects are the same ones: only programs are made anew."""
    source = Path(suite["source"]) if "source" in suite else apt_source(suite["package"], args.work)
    if not source.is_dir():
        give_up(f"{source} is missing: apt-get install {suite['package']}")
    folder = args.work / name
    options = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS=-w", *suite["cmake"]]
    if shutil.which("ccache"):
        options += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    ours, last = "", ""
    if linked:
        lib = (args.build / "lib").resolve()
        ours = f"-Wl,-u,syscost_gtest_registration {lib}/libsyscost_gtest.a {lib}/libsyscost_late.a"
        # For programs that are no tests and link no GoogleTest, which ours need.
        last = "" if "source" in suite else "-lgtest -lpthread"
    # Before the program's own objects and libraries, which bring GoogleTest; of shared libraries none gets ours, nor do
    # the programs by which CMake tries the C compiler.
    options += [f"-DCMAKE_CXX_LINK_FLAGS={ours}", f"-DCMAKE_CXX_STANDARD_LIBRARIES={last}"]
    run(["cmake", "-S", source, "-B", folder, *options], args.work / f"{name}-configure.log")
    run(["cmake", "--build", folder, "-j", str(args.jobs)], args.work / f"{name}-build.log")
    return folder
