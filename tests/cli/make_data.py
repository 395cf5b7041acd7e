#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the CSVs of tests/cli/data: small runs that show one thing each, and files broken in one way each.

The files are committed; `./dev update data` writes them anew after a change of the schema. With an argument they are
written into that folder: a test compares them with the committed ones.
Column names come from plugin/include/syscost/schema.h, so that the two cannot disagree.
"""
import argparse
import gzip
import json
import os
import re

from make_groups import make_groups
from make_scale import make_scale
from make_sched import make_sched
from make_traces import make_folders

HERE = os.path.dirname(os.path.abspath(__file__))
# The folder of the program that runs, because tests/gpu_stamps imports this module.
ARGUMENTS = argparse.ArgumentParser(description="Writes the files of tests/cli/data.")
ARGUMENTS.add_argument("folder", nargs="?", default=os.path.join(HERE, "data"), help="write into this folder instead")
DATA = ARGUMENTS.parse_args().folder
SCHEMA = open(os.path.join(HERE, "../../plugin/include/syscost/schema.h")).read()
COLUMNS = re.findall(r'X\(k\w+,\s*"(\w+)"\)', SCHEMA)
VERSION = int(re.search(r"kSchemaVersion = (\d+);", SCHEMA)[1])
HEADER = ",".join(COLUMNS)


def row(**cells):
    values = dict(schema_version=VERSION, run_id="1795225951-17", started_at="2026-11-21T01:52:31.123456Z", host="builder",
                  kernel_release="6.1.0", build_type="RelWithDebInfo", backend="ebpf", selection="whole",
                  program="demo_tests", pid=17, kind="test", repetition=0, origin="syscost", end="end")
    values.update(cells)
    unknown = set(values) - set(COLUMNS)
    assert not unknown, unknown
    return ",".join(str(values.get(column, "")) for column in COLUMNS)


def lower_bound(ns):
    if ns < 8:
        return ns
    exponent = ns.bit_length() - 1
    return (1 << exponent) + (((ns >> (exponent - 3)) & 7) << (exponent - 3))


def call(name, classes, latencies, errnos=None, **cells):
    """A syscall row of one call per latency; `errnos` of these failed."""
    errnos = errnos or {}
    buckets = {}
    for ns in latencies:
        buckets[lower_bound(ns)] = buckets.get(lower_bound(ns), 0) + 1
    count = len(latencies)
    values = dict(syscall=name, entries=count, calls=count, restarts=0, in_flight=0, no_return=0, carried_in=0,
                  denied=0, errors=sum(errnos.values()),
                  errnos=" ".join(f"{errno}:{times}" for errno, times in sorted(errnos.items())), latency_count=count,
                  latency_sum_ns=sum(latencies), latency_min_ns=min(latencies), latency_max_ns=max(latencies),
                  histogram=" ".join(f"{ns}:{times}" for ns, times in sorted(buckets.items())))
    values["class"] = classes
    values.update(cells)
    return values


def apart(one, per_run=0, errnos=None):
    """A syscall row of a benchmark, with `per_run` calls that are made once per run of its loop."""
    errnos = errnos or {}
    return dict(one, per_run_calls=per_run, per_run_errors=sum(errnos.values()),
                per_run_errnos=" ".join(f"{errno}:{times}" for errno, times in sorted(errnos.items())))


def window(test, calls, wall_ns, totals=None, **key):
    """A `test` row and a row per call."""
    def add(column):
        numbers = [one[column] for one in calls]
        return "" if "" in numbers else sum(numbers)
    values = dict(outcome="passed", wall_ns=wall_ns, user_ns=wall_ns // 4, system_ns=wall_ns // 2,
                  overhead_estimate_ns=0, voluntary_switches=0, involuntary_switches=0, minor_faults=0,
                  major_faults=0, total_entries=add("entries"), total_calls=add("calls"), total_errors=add("errors"),
                  total_kernel_ns=add("latency_sum_ns"), late=0, lost=0)
    values.update(totals or {})
    return [row(test=test, record="test", **values, **key)] + [
        row(test=test, record="syscall", **one, **key) for one in calls]


def repeated(test, samples, totals=None, **key):
    """One window per (calls, wall_ns) of `samples`."""
    return [line for repetition, (calls, wall_ns) in enumerate(samples)
            for line in window(test, calls, wall_ns, totals, repetition=repetition, **key)]


def loops(test, name, samples, cycles, totals=None, **key):
    """The rows of a syscost::loop: one repetition per (calls, wall_ns) of `samples`, of `cycles` calls of its body."""
    return [line for repetition, (calls, wall_ns) in enumerate(samples)
            for line in window(test, calls, wall_ns, dict(outcome="", iterations=cycles, **(totals or {})), kind="loop",
                               window=name, repetition=repetition, **key)]


def traced(test, calls, totals=None, **key):
    """What bpftrace saw of a window: entries, errors, latencies in powers of two; (name, classes, latencies) of each."""
    rows = []
    for name, classes, latencies in calls:
        buckets = {}
        for ns in latencies:
            lower_ns = 1 << (ns.bit_length() - 1)
            buckets[lower_ns] = buckets.get(lower_ns, 0) + 1
        histogram = " ".join(f"{ns}:{times}" for ns, times in sorted(buckets.items()))
        rows.append(dict(call(name, classes, latencies, {}), calls="", restarts="", in_flight="", no_return="",
                         carried_in="", denied="", histogram=histogram))
    no_times = dict.fromkeys(("wall_ns user_ns system_ns overhead_estimate_ns voluntary_switches involuntary_switches "
                              "minor_faults major_faults total_calls total_kernel_ns late").split(), "")
    return window(test, rows, 0, dict(no_times, **(totals or {})), origin="bpftrace", **key)


def save(name, lines, header=HEADER, end="\n"):
    path = os.path.join(DATA, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write((("\n".join([header] + lines)) + end).encode())


def save_bytes(name, data):
    os.makedirs(os.path.dirname(os.path.join(DATA, name)), exist_ok=True)
    with open(os.path.join(DATA, name), "wb") as out:
        out.write(data)


def scattered(wall_ns, noise, n=10):
    """n times around wall_ns, within about +- noise."""
    return [round(wall_ns * (1 + noise * ((i * 37) % 11 - 5) / 5)) for i in range(n)]


def benchmark(name, times, unit="ns", iterations=1000, **more):
    """Entries of Google Benchmark's JSON, one for each repetition, and the aggregate that it adds."""
    entry = dict(name=name, run_name=name, run_type="iteration", threads=1, iterations=iterations, time_unit=unit, **more)
    return [dict(entry, repetition_index=i, real_time=time, cpu_time=time) for i, time in enumerate(times)] + [
        dict(entry, run_type="aggregate", aggregate_name="median", real_time=times[0], cpu_time=times[0])]


def save_json(name, benchmarks, **context):
    values = dict(date="2026-11-21T01:52:31+00:00", host_name="builder", executable="build/log_benchmark",
                  library_build_type="release")
    values.update(context)
    rows = ",\n".join(f"    {json.dumps(one)}" for one in benchmarks)
    save_bytes(name, f'{{\n  "context": {json.dumps(values)},\n  "benchmarks": [\n{rows}\n  ]\n}}'.encode())


def make_times():
    """Runs with enough repetitions to judge times; a template for the runs of `ab`; Google Benchmark's own files."""
    reads = lambda n, ns: call("pread64", "desc", [ns] * n)

    def run(slower, faster, sides, **key):
        return (repeated("Time.Slows", [([reads(20, ns // 40)], ns) for ns in scattered(slower, 0.01)], **key)
                + repeated("Time.Speeds", [([reads(20 if faster > 50000 else 5, 900)], ns)
                                           for ns in scattered(faster, 0.02)], **key)
                + repeated("Time.Stays", [([reads(3, 400)], ns) for ns in scattered(50000 + sides, 0.005)], **key)
                + repeated("Time.Scatters", [([reads(3, 400)], ns) for ns in scattered(50000 + 7 * sides, 0.3)], **key)
                + repeated("Time.Rare", [([reads(3, 400)], ns) for ns in scattered(50000, 0.01, 3)], **key))
    save("times_old.csv", run(80000, 300000, 0))
    save("times_new.csv", [line.replace("1795225951-17", "1795229999-23") for line in run(90000, 45000, 100)])
    # There are as many processes as samples. Each process is one sample, and the difference between its repetitions
    # does not matter.
    processes = [[line for i, ns in enumerate(scattered(wall_ns, 0.01, 8)) for repetition in range(3)
                  for line in window("Time.Slows", [reads(20, 900)], ns + repetition, pid=100 + i, repetition=repetition)]
                 for wall_ns in (80000, 81000)]
    save("processes_old.csv", processes[0])
    save("processes_new.csv", processes[1])
    save("one_process.csv", [line for line in processes[1] if ",107,test," in line])

    ab = dict(run_id="@RUN@", started_at="2026-11-21T01:52:31.123456Z")
    def template(line):
        return line.replace("123456789", "@WALL@").replace("987654321", "@SCATTERED@")
    def busy(wall_ns):
        return dict(user_ns=wall_ns, system_ns=0)
    writes = [template(line) for line in window("Log.Writes", [reads(4, 900)], 123456789, busy(123456789), **ab)]
    scatters = [template(line) for line in window("Log.Scatters", [reads(4, 900)], 987654321, busy(987654321), **ab)]
    save("ab.template", writes)
    save("ab_scatters.template", writes + scatters)

    skipped = dict(run_type="iteration", run_name="BM_Skips", iterations=0, real_time=0, cpu_time=0, time_unit="ns")
    save_json("google_old.json", benchmark("BM_Write/8", scattered(250.0, 0.01)) + benchmark("BM_Copy", [1.5], "us", 7)
              + benchmark("BM_Sort", scattered(3.0, 0.01), "ms", 200)
              + [dict(skipped, name="BM_Skips", error_occurred=True, error_message="no disk")])
    save_json("google_new.json", benchmark("BM_Write/8", scattered(280.0, 0.01)) + benchmark("BM_Copy", [1.6], "us", 7)
              + benchmark("BM_Sort", scattered(3.0, 0.01), "ms", 200)
              + [dict(skipped, name="BM_Skips", skipped=True, skip_message="no disk")],
              date="2026-11-21T02:52:31+00:00", library_build_type="debug")
    # Times that are none, in all benchmarks and in one.
    none = float("nan")
    save_json("google_without_times.json", benchmark("BM_Write/8", [none] * 10) + benchmark("BM_Sort", [-3.0] * 10, "ms", 200))
    save_json("google_one_without_time.json", benchmark("BM_Write/8", [none] * 10)
              + benchmark("BM_Sort", scattered(3.0, 0.01), "ms", 200))
    # So noisy that the medians move one way and the estimate of the ratio the other.
    save_json("google_noisy_old.json", benchmark("BM_Noisy", [450, 399, 795, 485, 650, 713, 521, 537, 789, 544]))
    save_json("google_noisy_new.json", benchmark("BM_Noisy", [367, 363, 371, 676, 640, 679, 395, 805, 799, 537]))
    # On a busy machine: wall times say nothing, processor times that BM_Works does a tenth more and BM_Stays does not.
    waits = [0, 310, 40, 520, 90, 260, 15, 700, 130, 400]
    for name, share, shift in (("google_busy_old.json", 1.0, 0), ("google_busy_new.json", 1.1, 3)):
        entries = []
        for test, cpu in (("BM_Works", 1000 * share), ("BM_Stays", 1000)):
            for i, one in enumerate(benchmark(test, scattered(cpu, 0.005))[:-1]):
                entries.append(dict(one, real_time=one["cpu_time"] + waits[(i + shift) % 10]))
        save_json(name, entries)
    save("google_linked.csv", [line for i, ns in enumerate(scattered(250000, 0.01)) for line in window(
        "BM_Write/8", [reads(8000, 90)], ns, dict(iterations=1000), repetition=i, kind="benchmark",
        program="build/log_benchmark")])
    save_json("google_aggregates.json", benchmark("BM_Write/8", [250.0])[1:])
    save_json("google_bad.json", benchmark("BM_Unit", [1], "fortnight") + benchmark("BM_Never", [1], iterations=0)
              + benchmark("BM_Back", [-1]) + benchmark("BM_Good", [1])
              + benchmark("BM_Endless", [1], iterations=2 ** 64 - 1)[:1] + [dict(run_type="iteration")])
    save_bytes("google_torn.json", open(os.path.join(DATA, "google_old.json"), "rb").read()[:900])
    save_bytes("other.json", b'{"tests": []}\n')
    os.makedirs(os.path.join(DATA, "mixed_folder"), exist_ok=True)
    save_json("mixed_folder/benchmark.json", benchmark("BM_Write/8", [250.0]))
    save_bytes("mixed_folder/compile_commands.json", b'[{"directory": "/"}]\n')
    save("mixed_folder/tests.csv", window("Log.Stays", [reads(2, 900)], 1500))


def make_policy():
    """What is not measured in NEW any more, each test in one way; and the list of tests that says where they stand."""
    def tests(outcomes):
        return [line for test, outcome in outcomes for line in window(
            "Policy." + test, [call("write", "desc", [110] * 2)], 1500, dict(outcome=outcome))]
    save("policy_old.csv", tests((("Stays", "passed"), ("Vanishes", "passed"), ("Fails", "passed"),
                                  ("Skips", "passed"), ("Ends", "passed"), ("AlwaysFails", "failed"),
                                  ("AlwaysSkips", "skipped"), ("Recovers", "failed")))
         + window("Policy", [call("openat", "file;desc", [900])], 3000, dict(outcome=""), kind="suite", window="set-up"))
    save("policy_new.csv", tests((("Stays", "passed"), ("Fails", "failed"), ("Skips", "skipped"), ("Ends", ""),
                                  ("AlwaysFails", "failed"), ("AlwaysSkips", "skipped"), ("Recovers", "passed"),
                                  ("Appears", "failed"))))
    def suite(name, tests):
        return dict(name=name, tests=len(tests), testsuite=[dict(name=test, file=file, line=line)
                                                            for test, file, line in tests])
    save_bytes("tests.json", json.dumps(dict(tests=3, name="AllTests", testsuites=[
        suite("Log", [("Reads", "src/log_test.cc", 12), ("Vanishes", "src/log,odd: 100%.cc", 34),
                      ("Fails", "/elsewhere/log_test.cc", 56)])]), indent=2).encode())


def make_intended():
    """Changes that somebody wants, each in a test of its own; and a program with threads, which leaves them in doubt."""
    opens = lambda n: [call("openat", "file;desc", [900] * n), call("read", "desc", [400] * n), call("close", "desc", [300] * n)]
    writes = lambda n: call("write", "desc", [500] * n)
    syncs = lambda n: call("fsync", "desc", [9000] * n)

    def run(lists, saves, keeps, reads, forks):
        return (window("Store.Lists", opens(lists), 2000) + window("Store.Saves", saves, 90000)
                + window("Store.Keeps", [writes(4)] + keeps, 40000) + window("Store.Reads", opens(1) + reads, 2000)
                + window("Store.Forks", forks, 3000))
    save("intended_old.csv", run(1, [writes(300), syncs(1)], [syncs(4)], [], [dict(writes(300), by_started_threads=300, by_older_threads=0)]))
    save("intended_new.csv", [line.replace("1795225951-17", "1795229999-23") for line in run(
        2, [call("writev", "desc", [2000]), syncs(1)], [], [call("socket", "network", [700])],
        [call("writev", "desc", [2000], by_started_threads=1, by_older_threads=0)])])


def make_crashed():
    """A program that came to its end in OLD and not in NEW, one that failed outside of its tests, and one that left no test."""
    def mark(window, **cells):
        return row(kind="run", record="run", window=window, **cells)
    def tests(names, **key):
        return [line for test in names for line in window(test, [call("write", "desc", [110] * 2)], 1500, **key)]
    facts = dict(detail="cpus=2;process_start=4711")
    other = dict(program="other_tests", pid=18)
    old = [mark("begin", **facts)] + tests(("Store.Opens", "Store.Writes", "Store.Closes")) + [mark("end", outcome="passed")]
    other_old = [mark("begin", **facts, **other)] + tests(("Other.Runs",), **other) + [mark("end", outcome="passed", **other)]
    save("crashed_old.csv", old + other_old)
    save("crashed_new.csv", old[:3] + other_old[:-1] + [mark("end", outcome="failed", **other)])
    save("crashed_exit.csv", old[:3] + window("Store.Writes", [call("write", "desc", [110])], 900, dict(outcome="")))
    save("crashed_alone.csv", [mark("begin", test="Store.Opens", **facts)])


def make_same_programs():
    """Two programs of one file name in one run, and one program that a run starts twice."""
    def program(run, folder, build, pid, writes, outcome="passed", test="Store.Writes"):
        key = dict(run_id=run, program="unit_tests", build_id=build, pid=pid)
        facts = f"cpus=2;program_path={folder}/unit_tests" if folder else "cpus=2"
        return ([row(kind="run", record="run", window="begin", detail=facts, **key)] +
                window(test, [call("write", "desc", [110] * writes)], 1500, dict(outcome=outcome), **key) +
                [row(kind="run", record="run", window="end", outcome=outcome, **key)])
    old, new = "1795225951-17", "1795229999-23"
    save("same_programs_old.csv", program(old, "/main/build/a", "aaaa1111", 21, 5) +
         program(old, "/main/build/b", "bbbb1111", 22, 50))
    # Other build ids, another folder around them, and the other order.
    save("same_programs_grown.csv", program(new, "/pr/b", "bbbb2222", 31, 5000) + program(new, "/pr/a", "aaaa1111", 32, 5))
    save("same_programs_one.csv", program(new, "/pr/b", "bbbb2222", 31, 50))
    save("same_programs_failed.csv", program(new, "/pr/a", "aaaa2222", 31, 5, "failed") +
         program(new, "/pr/b", "bbbb2222", 32, 50))
    save("same_programs_no_path.csv", program(old, "", "aaaa1111", 21, 5) + program(old, "", "bbbb1111", 22, 50))
    save("several_processes_old.csv", program(old, "/build", "cccc1111", 21, 5) + program(old, "/build", "cccc1111", 22, 50))
    save("several_processes_new.csv", program(new, "/build", "cccc2222", 31, 5) + program(new, "/build", "cccc2222", 32, 5000))
    save("several_processes_one.csv", program(new, "/build", "cccc2222", 31, 50))


def make_names():
    """Names that cannot be seen as they are, or that would be markup; each file once more with a call more."""
    def save_names(name, names, syscall, label):
        for suffix, extra in (("", 0), ("_more", 1)):
            calls = [call(syscall, "desc", [90] * 600 + [110] * 300 + [250] * 120 + [1500] * (4 + extra))]
            lines = [line for test in names for line in window(test, calls, 131000, label=label)]
            save_bytes(f"{name}{suffix}.csv", "\n".join([HEADER] + lines + [""]).encode(errors="surrogateescape"))

    latin_1 = "Log.Größe".encode("latin-1").decode(errors="surrogateescape")
    save_names("unseen", [latin_1, "Log.user\u202etxt.exe", "Log.ab", "Log.a\u200bb", "Log.\u009b31m\x1b[31mred", "Log.Größe"],
               "write", "l\u2066bel")
    save_names("markup", ["BM_Fill<int>/8", "BM_Fill<double>/8", "x:1*2*3", "<script>alert(1)</script>",
                          "[click](https://example.org)", "a|b\\|c", "`quoted`", "@someone", "=1+1"],
               "<b>_write_</b>", "https://example.org")


def make_locale():
    """Two tests; the same with a getrandom and a write more; and with a tear-down that makes its first call."""
    once = [call("openat", "file;desc", [900], entries=1), call("read", "desc", [400])]
    work = [call("write", "desc", [500, 500])]
    tests = window("Locale.First", work + once, 2000) + window("Locale.Second", work, 1000)
    save("locale_old.csv", tests)
    save("locale_new.csv", [line.replace("1795225951-17", "1795229999-24") for line in
                            window("Locale.First", work + once + [call("getrandom", "", [300])], 2100) +
                            window("Locale.Second", [call("write", "desc", [500, 500, 500])], 1500)])
    # A tear-down without a call has no row; one that makes its first call has.
    save("locale_teardown.csv", [line.replace("1795225951-17", "1795229999-25") for line in
                                 tests + window("Locale", [call("getppid", "", [300])], 900, kind="suite",
                                                window="tear-down", totals=dict(outcome=""))])


def make_history():
    """Ten runs of a test, one commit each: from the sixth on it writes twice as often, from the seventh on it is slower."""
    lines, packed = [], []
    for i in range(12):
        key = dict(run_id=f"1795225951-{i + 30}", started_at=f"2026-11-{i + 1:02}T03:00:00.5Z", label="nightly",
                   commit=f"{(i + 1) * 0x10203:07x}c0ffee")
        writes = call("write", "desc", [900] * (3 if i < 5 else 6))
        wall_ns = round((20000 if i < 6 else 26000) * (1 + 0.004 * ((i * 37) % 11 - 5)))
        run = window("Log.Stays", [call("close", "desc", [800])], 1500, **key)
        if i != 3:
            run += repeated("Log.Writes", [([call("read", "desc", [400] * (2 + (i + j) % 3)), writes], wall_ns + j)
                                           for j in range(2)], **key)
        (packed if i >= 9 else lines).extend(run)
    save("history/nightly.csv", lines)
    # In the form that gzip writes, without a time. Byte 9 names the system that packed it, and versions of Python
    # differ there.
    whole = gzip.compress(("\n".join([HEADER] + packed) + "\n").encode(), mtime=0)
    whole = whole[:9] + b"\x03" + whole[10:]
    save_bytes("history/packed.csv.gz", whole)
    save_bytes("cut.csv.gz", whole[:len(whole) // 2])
    save_bytes("damaged.csv.gz", whole[:20] + bytes(byte ^ 0x55 for byte in whole[20:40]) + whole[40:])


SITED_SOURCE = """// SPDX-License-Identifier: MIT
// The program of tests/cli/data/sites_new.csv: its annotations point at these lines.
#include <fstream>

void open(std::ofstream& log) {
  log.open("log.txt");
}

void batch(std::ofstream& log) {
  for (int i = 0; i < 100; ++i) log << i << std::endl;
}

void close(std::ofstream& log) {
  log.close();
}
"""


def make_causes():
    """Six runs of a suite, one commit each: a line writes more and is mended, a sync is lost, a test is not there, and a
    test with threads varies."""
    def at(place, name, classes, latencies, **cells):
        return call(name, classes, latencies, detail="at " + place, **cells)

    lines = []
    for i, (writes, syncs, has_saves, waits) in enumerate(
            [(2, 1, True, 5), (40, 1, True, 5), (40, 0, True, 6), (40, 0, False, 5), (2, 0, True, 5), (2, 1, True, 7)]):
        key = dict(run_id=f"nightly-{i + 1}", started_at=f"2026-11-{i + 1:02}T03:00:00.5Z", label="nightly",
                   commit=f"{(i + 1) * 0x1a2b3:07x}c0ffee", backend="dispatch")
        opens = at("src/log.cc:20 Log::open+3", "openat", "file;desc", [900])
        for test, factor in (("Log.Writes", 1), ("Log.Rotates", 3)):
            lines += window(test, [opens, at("src/log.cc:45 Log::write_all+6", "write", "desc", [700] * writes * factor)],
                            9000, **key)
        if has_saves:
            lines += window("Store.Saves", [at("src/store.cc:71 Store::flush+2", "fsync", "desc", [30000])] * syncs +
                            [at("src/store.cc:70 Store::flush+1", "write", "desc", [700])], 50000, **key)
        lines += window("Net.Serves", [call("recvfrom", "net", [400] * waits, by_started_threads=waits,
                                            by_older_threads=0)], 7000, **key)
    save("causes.csv", lines)


def make_sites():
    """Runs with --syscost_where: rows that name the lines that make the calls."""
    def at(place, name, classes, latencies, errnos=None, **cells):
        return call(name, classes, latencies, errnos, detail=place and "at " + place, **cells)

    def opens(moved, **errnos):
        return at(f"sites/log.cc:{6 + moved} open+1", "openat", "file;desc", [900] * (1 + sum(errnos.values())), errnos)

    closes = lambda moved: at(f"sites/log.cc:{14 + moved} close+1", "close", "desc", [300])
    stays = [at("sites/index.cc:40 Index::save+7", "write", "desc", [120] * 3),
             at("sites/index.cc:52 Index::save+19", "write", "desc", [110] * 2),
             at("libdb.so db::commit", "fsync", "desc", [40000]),
             at("libdb.so+0x1a2b", "pwrite64", "desc", [500] * 4),
             at("libc.so.6 start_thread", "rseq", "", [90]),
             at("unknown: no unwind information", "read", "desc", [400] * 2),
             at("", "read", "desc", [400]),
             at("sites/index.cc:33 std::vector<Entry>::operator+++2", "futex", "wait;volatile", [250000] * 3)]
    # OLD writes once, when the log is closed; in NEW each line is written, and lines above moved everything by four.
    old_calls = [opens(-4), at("sites/log.cc:10 close+1", "write", "desc", [700]), closes(-4)]
    new_calls = [opens(0), at("sites/log.cc:10 batch+1", "write", "desc", [110] * 100), closes(0)]
    moved = [dict(one, detail=one["detail"].replace("sites/index.cc:40", "sites/index.cc:43")
                  .replace("sites/index.cc:52", "sites/index.cc:55").replace("Index::save+19", "Index::save+19"))
             for one in stays]
    stat = lambda count, errno: at("sites/far/away/folder/of/the/tree/lookup.cc:118 "
                                   "app::storage::detail::PathCache<Entry>::probe_all+12", "stat", "file",
                                   [200] * count, {errno: count})
    loop = lambda line: [at(f"sites/log.cc:{line} batch+1", "write", "desc", [110] * 8)]
    def run(batch, save, probes, line, **key):
        return (repeated("Log.Batch", [(batch, 52000 + i) for i in range(2)], **key) + window("Index.Saves", save, 900000, **key)
                + window("Index.Probes", probes, 30000, **key)
                + loops("Log.Batch", "flush", [(loop(line), 3000), (loop(line), 3010)], 4, **key))
    key = dict(backend="dispatch")
    save("sites_old.csv", run(old_calls, stays, [opens(-4), stat(2, "ENOENT")], 6, **key))
    new = dict(key, run_id="1795229999-23")
    save("sites_new.csv", run(new_calls, moved, [opens(0), stat(6, "ENOENT"), at("sites/gone.cc:3 Gone::probe", "stat", "file",
                                                                                [200] * 2, {"EACCES": 2})], 10, **new))
    # The same two without the flag.
    def plain(calls):
        names = {}
        for one in calls:
            names.setdefault(one["syscall"], []).append(one)
        rows = []
        for same in names.values():
            latencies = [int(ns) for one in same for ns, times in (bucket.split(":") for bucket in one["histogram"].split())
                         for _ in range(int(times))]
            errnos = {}
            for one in same:
                for errno, times in (item.split(":") for item in one["errnos"].split()):
                    errnos[errno] = errnos.get(errno, 0) + int(times)
            rows.append(dict(call(same[0]["syscall"], same[0]["class"], latencies, errnos),
                             latency_sum_ns=sum(one["latency_sum_ns"] for one in same),
                             latency_min_ns=min(one["latency_min_ns"] for one in same),
                             latency_max_ns=max(one["latency_max_ns"] for one in same)))
        return rows
    def plain_run(batch, save, probes, **key):
        return (repeated("Log.Batch", [(plain(batch), 52000 + i) for i in range(2)], **key)
                + window("Index.Saves", plain(save), 900000, **key) + window("Index.Probes", plain(probes), 30000, **key)
                + loops("Log.Batch", "flush", [(plain(loop(6)), 3000), (plain(loop(6)), 3010)], 4, **key))
    save("sites_plain_old.csv", plain_run(old_calls, stays, [opens(-4), stat(2, "ENOENT")], **key))
    # Many lines of a generated file.
    many = lambda more: [at(f"gen/table.cc:{10 * i + 3} fill_{i}+2", "write", "desc", [100] * (i + more)) for i in range(1, 12)]
    save("sites_many_old.csv", window("Table.Fills", many(0), 5000))
    save("sites_many_new.csv", window("Table.Fills", many(2), 5000, run_id="1795229999-23"))
    save_bytes("sites/log.cc", SITED_SOURCE.encode())
    save_bytes("sites/stacks.folded", b"main;Log::batch;std::endl;write sites/log.cc:10 100\nmain;close;close sites/log.cc:14 1\n")
    save_bytes("sites/torn.folded", b"main;Log::batch;write 100\nmain;clo")
    save_bytes("budgets_sites.toml", b'''[[budget]]
test = ["Log.*"]
measure = "calls"
of = "write"
max = 10

[[budget]]
test = ["Index.*"]
measure = "errors"
max = 3
per = "program"
''')


def make_injected():
    """Calls that faults answered or changed: with and without --syscost_inject, and in a test that has a fault itself."""
    def write(count, injected, errnos=None):
        return call("write", "desc", [400] * count, errnos, injected=injected)

    def suite(log, store, outcome="passed", **key):
        return [line for name, calls, end in (("Log.Writes", log, outcome), ("Log.Faulted", store, "passed"),
                                              ("Log.Reads", [call("read", "desc", [300] * 4, injected=0)], "passed"))
                for line in window(name, calls, 9000, dict(outcome=end), backend="dispatch", **key)]

    own = [write(6, 1, {"ENOSPC": 1})]
    save("injected_none.csv", suite([write(5, 0)], own))
    key = dict(run_id="1795229999-23", started_at="2026-11-21T02:52:31.123456Z")
    rules = row(kind="run", record="run", detail="cpus=2;inject=write:EIO:2+", backend="dispatch", **key)
    some = [write(5, 4, {"EIO": 4}), call("openat", "file;desc", [600] * 2, injected=1)]
    save("injected_some.csv", [rules] + suite(some, [write(6, 5, {"ENOSPC": 1, "EIO": 4})], **key))
    save("injected_failed.csv", [rules] + suite(some, own, outcome="failed", **key))
    save("injected_too_many.csv", suite([write(5, 6)], own))
    save_bytes("budgets_injected.toml", b'''[[budget]]
test = ["Log.*"]
measure = "errors"
max = 3
''')


def make_bytes():
    """Bytes that calls moved and mapped, and what tests left open."""
    moves = lambda name, count, each, **cells: call(name, "desc", [400] * count, bytes=count * each, **cells)
    copies = [moves("read", 9, 8192, short_calls=1), moves("write", 9, 8192, short_calls=0), moves("writev", 1, 7),
              call("mmap", "desc;memory;volatile", [900] * 2, bytes=143360),
              call("munmap", "memory;volatile", [700], bytes_released=135168), call("close", "desc", [90] * 2)]
    copies[0]["bytes"] = 70000
    left = dict(total_bytes_read=70000, total_bytes_written=73735, total_bytes_mapped=143360, total_bytes_unmapped=135168,
                descriptors_left=2, threads_left=1, children_left=0, mapped_bytes_left=8192, peak_mapped_bytes=143360,
                left_open="5 file /tmp/copy;7 pipe")
    nothing = dict(total_bytes_read=0, total_bytes_written=0, total_bytes_mapped=0, total_bytes_unmapped=0,
                   descriptors_left=0, threads_left=0, children_left=0, mapped_bytes_left=0, peak_mapped_bytes=0)
    save("bytes.csv", repeated("Copy.Copies", [(copies, 52000), (copies, 53000)], totals=left)
         + window("Copy.Closes", [call("close", "desc", [90])], 900, nothing)
         + window("Copy.Messages", [call("sendmmsg", "network;desc", [900])], 1900, dict(total_bytes_mapped=0,
                                                                                                total_bytes_unmapped=0)))
    bench = [apart(moves("write", 12, 1000, short_calls=0), per_run=2)]
    bench[0]["per_run_bytes"] = 2000
    save("bytes_benchmark.csv", window("BM_Write", bench, 5000, dict(outcome="", iterations=100, counted_iterations=10,
                                                                    total_bytes_read=0, total_bytes_written=12000),
                                       kind="benchmark"))
    save_bytes("budgets_bytes.toml", b'''[[budget]]
test = ["Copy.Copies"]
measure = "bytes-written"
max = "64 KiB"
reason = "a copy writes each byte once"

[[budget]]
test = ["Copy.C*"]
measure = "descriptors-left"
max = 0

[[budget]]
test = ["Copy.C*"]
measure = "bytes"
of = "read"
max = 70000

[[budget]]
test = ["Copy.Messages"]
measure = "bytes-read"
max = 0

[[budget]]
test = ["Copy.Messages"]
measure = "bytes"
max = 0

[[budget]]
test = ["Copy.Copies"]
measure = "short-calls"
of = "read,write"
max = 0
''')
    save_bytes("bad_budgets_bytes.toml", b'''[[budget]]
measure = "bytes-read"
max-growth = "10%"

[[budget]]
measure = "bytes-read"
max = "64 kB"

[[budget]]
measure = "leaked_descriptors"
max = 0
''')


def main():
    make_history()
    make_bytes()
    make_injected()
    make_causes()
    make_sites()
    make_locale()
    write = lambda count, ns=110: call("write", "desc", [ns] * count)
    opens = lambda count, **errnos: call("openat", "file;desc", [900] * count, errnos)
    wait = lambda count: call("futex", "wait;volatile", [250000] * count)

    # Two tests of a demo, one in each file.
    small = call("write", "desc", [90] * 600 + [110] * 300 + [250] * 120 + [1500] * 4)
    save("slow.csv", window("BatchedWrites.ManySmallWrites", [small], 131000))
    save("fast.csv", window("BatchedWrites.SingleBatchedWrite", [write(1)], 152))

    # A branch and its base: each test shows one verdict.
    suite = dict(kind="suite", window="set-up")
    environment = dict(kind="environment", window="set-up")
    base = repeated("Log.Reads", [([opens(4, ENOENT=2), call("lseek", "desc", [80] * 4)], 90000 + i) for i in range(3)])
    base += repeated("Log.Flushes", [([write(64), call("fsync", "desc", [40000] * 8)], 600000 + i) for i in range(3)])
    base += repeated("Log.Polls", [([call("read", "desc", [300] * n, {"EAGAIN": n - 5})], 50000) for n in (10, 11, 10)])
    base += repeated("Log.Waits", [([write(2), wait(3)], 900000) for _ in range(3)])
    base += repeated("Log.Stays", [([write(2)], 1500 + i) for i in range(3)])
    base += repeated("Log.Vanishes", [([write(1)], 700)])
    base += window("Log.Fails", [write(3)], 1000)
    base += window("Log.LosesEvents", [write(3)], 1000)
    base += window("Log.Silent", [], 20) + window("Log.Skips", [], 20, dict(outcome="skipped"))
    base += window("Log", [opens(1)], 30000, **suite) + window("", [opens(2)], 30000, **environment)
    save("main.csv", base)
    branch = repeated("Log.Reads", [([opens(5, ENOENT=3, EACCES=1), call("lseek", "desc", [80] * 2)], 99000 + i)
                                    for i in range(3)])
    branch += repeated("Log.Flushes", [([write(64), call("fsync", "desc", [40000] * 1)], 90000 + i) for i in range(3)])
    branch += repeated("Log.Polls", [([call("read", "desc", [300] * n, {"EAGAIN": n - 5})], 50000) for n in (11, 10, 12)])
    branch += repeated("Log.Waits", [([write(2), wait(5)], 1400000) for _ in range(3)])
    branch += repeated("Log.Stays", [([write(2)], 1510 + i) for i in range(3)])
    branch += window("Log.Fails", [write(1)], 400, dict(outcome="failed"))
    branch += window("Log.LosesEvents", [write(3)], 1000, dict(lost=7))
    branch += window("Log.Silent", [], 20) + window("Log.Skips", [], 20, dict(outcome="skipped"))
    branch += window("Log.Appears", [write(1)], 700)
    branch += window("Log", [opens(1)], 30000, **suite) + window("", [opens(2)], 30000, **environment)
    save("pr.csv", [line.replace("1795225951-17", "1795229999-23") for line in branch])

    # Rows for the findings of the summary.
    odd = [call("stat", "file", [300] * 20, {"EACCES": 18, "ENOENT": 1}), call("write", "desc", [1100] * 1200, bytes=4800),
           call("read", "desc", [5000] * 3, {}, entries=6, restarts=2, in_flight=1, carried_in=1),
           call("exit_group", "process", [1], entries=1, calls=0, no_return=1, latency_count=0, latency_sum_ns=0,
                latency_min_ns="", latency_max_ns="", histogram=""),
           call("ptrace", "process", [400] * 2, {"EPERM": 2}, denied=2), wait(4)]
    save("findings.csv", window("Odd.One", odd, 4000000, dict(lost=3, late=1, overhead_estimate_ns=50000,
                                                            total_bytes_read=15000, total_bytes_written=4800)))
    lines = [call("write", "desc", [1100] * 900, detail="at src/log.cc:17 Log::batch+3", bytes=3600),
             call("write", "desc", [1100] * 300, detail="at src/log.cc:40 Log::close+9", bytes=1200)]
    moved = dict(total_bytes_read=0, total_bytes_written=4800)
    save("findings_lines.csv", window("Log.Batch", lines, 2000000, moved) + window("Log.Stays", [write(2)], 1500))

    # Backends that measure less, another tool's rows, iterations.
    unseen = dict(entries="", restarts="", in_flight="", no_return="", carried_in="")
    save("dispatch.csv", window("Log.Stays", [call("write", "desc", [90] * 2, {}, **unseen)], 1400, backend="dispatch"))
    untimed = dict(calls="", restarts="", in_flight="", no_return="", carried_in="", errors="", latency_count="",
                   latency_sum_ns="", latency_min_ns="", latency_max_ns="", histogram="")
    save("seccomp.csv", window("Log.Stays", [call("write", "desc", [90] * 2, {}, **untimed)], 9000, backend="seccomp"))
    save("bpftrace.csv", window("Log.Stays", [write(2)], 1500) + window("Log.Stays", [write(2)], 4500,
                                                                        origin="bpftrace"))
    # Rows of --syscost_profile bpftrace: a loop with its own times, beside its trace, and a test without times.
    def many(cycles, each):
        return [call("write", "desc", [90] * (each * cycles - 2) + [600, 40000], {})]

    def seen(cycles, each):
        return [("write", "desc", [400] * (each * cycles - 3) + [700, 1500, 41000])]
    for name, test, each in ("traced.csv", "ManySmallWrites", 64), ("traced_fast.csv", "SingleBatchedWrite", 1):
        key = dict(kind="loop", window="write")
        untimed = dict(total_kernel_ns="", wall_ns="", user_ns="", system_ns="", overhead_estimate_ns="",
                       voluntary_switches="", involuntary_switches="", minor_faults="", major_faults="")
        save(name, loops("Batched." + test, "write", [(many(20, each), 131 * each * 20)] * 2, 20)
             + traced("Batched." + test, seen(20, each), dict(outcome="", iterations=20), **key)
             + traced("Batched." + test, [], dict(detail="excludes loop write"))
             + window("Batched." + test, [], 0, dict(untimed, detail="excludes loop write")))
    plain = dict(write(2), latency_count="", latency_sum_ns="", latency_min_ns="", latency_max_ns="", histogram="")
    save("traced_plain.csv", traced("Batched.Plain", [("write", "desc", [400, 410])])
         + window("Batched.Plain", [plain], 0, untimed))
    bounds = [line.replace(",400,41000,", ",,,") for line in traced("Batched.Bounds", seen(1, 64))]
    save("traced_bounds.csv", bounds + window("Batched.Bounds", [write(64)], 5000))
    uncounted = dict.fromkeys("total_entries total_calls total_errors total_kernel_ns late lost".split(), "")
    for name, times in ("traced_uncounted.csv", 13), ("traced_uncounted_more.csv", 14):
        save(name, traced("Batched.Plain", [("write", "desc", [400] * times)], backend="none")
             + window("Batched.Plain", [], 0, dict(uncounted, wall_ns=""), backend="none"))
    save("traced_benchmark.csv", traced("BM_Write/8", seen(100, 8), dict(outcome="", counted_iterations=100),
                                        kind="benchmark")
         + window("BM_Write/8", many(100, 8), 5600000, dict(iterations=5000, counted_iterations=100), kind="benchmark"))
    save("filtered.csv", window("Log.Stays", [write(2)], 1450, filter="write")
         + window("Log.Flushes", [write(64)], 590000, filter="write"))
    save("filters.csv", window("Log.Stays", [write(2)], 1450, filter="write")
         + window("Log.Stays", [write(2)], 1450, repetition=1, filter="%network"))
    # A loop without a test around it (a plain main's), and with the test's row missing, because it was killed.
    loop = dict(kind="loop", window="flush")
    save("loop_old.csv", window("Log.Loops", [write(2048)], 131000000, dict(iterations=1000), **loop))
    save("loop_new.csv", window("Log.Loops", [write(500)], 152000, dict(iterations=1000), **loop))
    save("loop_main.csv", loops("", "flush", [([write(20)], ns) for ns in (1000, 1100)], 10))

    # Tests that are nothing but a loop, one in each file; ten repetitions as syscost::loop makes them.
    small = [call("write", "desc", [90] * 1500 + [110] * 500 + [1500] * 48)]
    save("loops_slow.csv", loops("BatchedWrites.ManySmallWrites", "write",
                                 [(small, 2 * ns) for ns in range(126000, 136000, 1000)], 2)
         + window("BatchedWrites.ManySmallWrites", [], 20000, dict(detail="excludes loop write")))
    save("loops_fast.csv", loops("BatchedWrites.SingleBatchedWrite", "write",
                                 [([write(20)], 20 * ns) for ns in range(147, 157)], 20)
         + window("BatchedWrites.SingleBatchedWrite", [], 20000, dict(detail="excludes loop write")))
    # Several loops in a test that calls by itself too; one in a set-up; one with void counts; one of waits.
    probes = lambda n: call("stat", "file", [300] * 8 * n, {"ENOENT": 6 * n})
    many = loops("Log.Loops", "flush", [([write(8), call("fsync", "desc", [40000] * 4)], ns) for ns in (50000, 52000)], 4)
    many += loops("Log.Loops", "probe", [([probes(4)], ns) for ns in (4000, 4100)], 4)
    many += window("Log.Loops", [opens(2)], 5000, dict(detail='"excludes loop flush, probe"'))
    many += loops("Log", "warm", [([write(6), wait(3)], 900000)], 3, parent="set-up")
    many += window("Log", [opens(1)], 30000, dict(outcome="", detail="excludes loop warm"), **suite)
    many += loops("Log.Void", "void", [([], 900), ([], 910)], 3, dict(total_entries="", total_calls="", total_errors="",
                                                                    total_kernel_ns="", late="", lost=""))
    many += window("Log.Void", [write(1)], 5000, dict(detail="excludes loop void"))
    many += window("Log.Stays", [write(2)], 1500)
    save("loops.csv", many)
    grown = loops("Log.Loops", "flush", [([write(8), call("fsync", "desc", [40000] * 8)], ns) for ns in (50000, 52000)], 4)
    grown += loops("Log.Loops", "search", [([probes(4)], ns) for ns in (4000, 4100)], 4)
    grown += window("Log.Loops", [opens(2)], 5000, dict(detail='"excludes loop flush, search"'))
    grown += window("Log.Stays", [write(3)], 1500)
    save("loops_pr.csv", grown)
    # A benchmark: timed over many iterations, counted over a few, and what it costs is a figure per iteration.
    counted = dict(iterations=1000000, counted_iterations=512)
    save("benchmark_old.csv", window("BM_Append/8", [apart(write(2048)), apart(call("fsync", "desc", [40000] * 32))],
                                     3400000000, counted, kind="benchmark"))
    save("benchmark_new.csv", window("BM_Append/8", [apart(write(250)), apart(call("fsync", "desc", [40000] * 25))],
                                     1360000000, dict(iterations=400000, counted_iterations=250), kind="benchmark"))
    # Calls made once per run of the loop are listed apart, so passes of 1000 and 100 iterations agree.
    def opens_once(iterations, each=2, opens=3, tell=apart, enoent=2):
        calls = [tell(call("write", "desc", [90] * (each * iterations + 1)), 1),
                 tell(call("openat", "file", [600] * opens, {"ENOENT": enoent}), opens, {"ENOENT": enoent}),
                 tell(call("stat", "file", [300] * iterations, {"ENOENT": iterations}), 0, {})]
        return window("BM_Append/2", calls, 200000000, dict(iterations=1000000, counted_iterations=iterations),
                      kind="benchmark")
    alike = lambda one, *ignored: one
    save("per_run_1000.csv", opens_once(1000))
    save("per_run_100.csv", opens_once(100))
    save("per_run_100_opens.csv", opens_once(100, opens=4, enoent=3))
    save("per_run_100_writes.csv", opens_once(100, each=4))
    save("per_run_unknown.csv", opens_once(1000, tell=alike))
    save("per_run_unknown_100.csv", opens_once(100, tell=alike))
    # A test, a benchmark and a GPU kernel.
    uncounted = dict(outcome="", iterations=1, total_entries="", total_calls="", total_errors="", total_kernel_ns="",
                     overhead_estimate_ns="", late="", lost="")
    every = window("Log.Stays", [write(2)], 1500) + opens_once(1000)
    for launch in range(4):
        every += window("Sum.Tree", [], 9000 + launch, uncounted, kind="gpu_kernel", window="sum_tree span",
                        repetition=launch)
    save("kinds_of_windows.csv", every)
    save("benchmark_busy.csv", window("BM_ByteByByte/1024", [write(2048), call("stat", "file", [300] * 16, {"ENOENT": 12})],
                                      150000000, dict(iterations=1000, counted_iterations=2), kind="benchmark"))
    request = [call("ioctl", "desc", [90] * 2, detail="TCGETS"), call("ioctl", "desc", [70], detail="FIONREAD")]
    save("details.csv", window("Tty.Asks", request, 5000))
    save("details_plain.csv", window("Tty.Asks", [call("ioctl", "desc", [90, 90, 70])], 5000))
    request = [call("ioctl", "desc", [90] * 2, detail="TCGETS"), call("ioctl", "desc", [70] * 3, {"ENOTTY": 1}, detail="FIONREAD")]
    save("details_more.csv", window("Tty.Asks", request, 5000))
    moves = [call("read", "desc", [90] * 2, detail="file", bytes=4096, short_calls=1),
             call("read", "desc", [70], detail="socket", bytes=144, short_calls=1),
             call("write", "desc", [80], detail="terminal", bytes=12, short_calls=0),
             call("sendfile", "desc;network", [200], detail="file to socket", bytes=70000, short_calls=0),
             call("getrandom", "", [40], bytes=16, short_calls=0)]
    save("kinds.csv", window("Log.Sends", moves, 5000, dict(total_bytes_read=74256, total_bytes_written=70012)))
    plain = [call("read", "desc", [90, 90, 70], bytes=4240, short_calls=2), call("write", "desc", [80] * 2, bytes=24, short_calls=0),
             call("sendfile", "desc;network", [200], bytes=70000, short_calls=0), call("getrandom", "", [40], bytes=16, short_calls=0)]
    tty = [call("ioctl", "desc", [90], detail="TCGETS")]
    save("kinds_of_ioctl.csv", window("Log.Sends", plain + tty, 5000, dict(total_bytes_read=74256, total_bytes_written=70024)))

    # Two programs with a test of the same name, and of one loop with a test beside it.
    first = [line.replace("demo_tests", "build/log_tests") for line in window("Log.Stays", [write(2)], 1500)]
    second = [line.replace("demo_tests", "build/net_tests") for line in window("Log.Stays", [write(3)], 2500, pid=18)]
    save("same_name.csv", first + second + window("Log.Alone", [write(1)], 700))
    save("same_name_pr.csv", first + [line.replace("2500", "2400") for line in
                                      window("Log.Stays", [write(4)], 2500, pid=18, program="build/net_tests")])
    save("loop_and_test_old.csv", window("Log.Loops", [write(2048)], 131000000, dict(iterations=1000), **loop)
         + window("Log.Writes", [write(4)], 9000))
    save("loop_and_test_new.csv", window("Log.Loops", [write(500)], 152000, dict(iterations=1000), **loop)
         + window("Log.Writes", [write(2)], 8000))

    # Times that say nothing: of a set-up, and of single runs that differ little; and one that measuring slowed.
    save("set_up_old.csv", window("Log", [opens(1)], 30000, **suite) + window("", [opens(2)], 30000, **environment)
         + window("Log.Stays", [write(2)], 1500) + window("Log.Slows", [write(2)], 1500))
    save("set_up_new.csv", window("Log", [opens(1)], 90000, **suite) + window("", [opens(2)], 90000, **environment)
         + window("Log.Stays", [write(2)], 2900) + window("Log.Slows", [write(2)], 3100))
    save("overhead.csv", window("Odd.One", [write(1200)], 2000000, dict(overhead_estimate_ns=500000, iterations=1000))
         + window("Odd.Two", [write(12)], 500000, dict(overhead_estimate_ns=1000))
         + window("Odd", [write(1)], 9000000, dict(overhead_estimate_ns=90), **suite))

    # Runs in one file, files in one folder.
    old = [line.replace("17,test", "16,test").replace("1795225951-17", "older").replace("01:52:31", "00:11:00")
           for line in window("Log.Stays", [write(9)], 1900)]
    # Three programs of one ctest, two of which started in the same millisecond.
    later = "2026-11-21T01:52:31.124456Z"
    save("same_start.csv", window("Log.Stays", [write(2)], 1500) + window("Log.Flushes", [write(64)], 590000, pid=18)
         + window("Log.Waits", [write(1)], 700, pid=19, started_at=later))
    save("two_runs.csv", window("Log.Stays", [write(2)], 1500) + old)
    save("folder/a.csv", window("Log.Reads", [opens(4)], 5000, program="log_tests"))
    save("folder/b.csv", window("Net.Sends", [call("sendto", "network;desc", [2000] * 3)], 9000, program="net_tests"))
    save("twice/a.csv", window("Log.Reads", [opens(4)], 5000))
    save("twice/copy.csv", window("Log.Reads", [opens(4)], 5000))
    # As with --gtest_shuffle: whichever test is first opens what the program keeps.
    for name, order in ("shuffled_old.csv", "ABC"), ("shuffled_new.csv", "CAB"), ("shuffled_pr.csv", "BCA"):
        save(name, [line for i, test in enumerate(order)
                    for line in window(f"Names.{test}", [opens(6 if i == 0 else 1)], 5000, run_id=name)])
    os.makedirs(os.path.join(DATA, "no_csv"), exist_ok=True)
    save_bytes("no_csv/readme.txt", b"A folder without a CSV.\n")

    uncounted = dict(total_entries="", total_calls="", total_errors="", total_kernel_ns="")
    save("uncounted.csv", repeated("Log.Stays", [([write(2)], 1500), ([write(2)], 1510)])
         + window("Log.Stays", [], 1490, uncounted, repetition=2))
    ended = call("read", "desc", [300] * 2, {}, entries=3, no_return=1)
    run = call("execve", "process", [1], entries=1, calls=0, no_return=1, latency_count=0, latency_sum_ns=0,
               latency_min_ns="", latency_max_ns="", histogram="")
    save("no_return.csv", window("Kill.Ends", [ended, run], 9000))
    save("controls.csv", window("Log.\x1b[31mRed\x7f\u009bx", [write(2)], 1500, host="build\x07er")
         + [row(test="A.B", record="to\x1btal")])

    # The surroundings in the row of a run.
    def around(run, **facts):
        known = dict(libc="glibc 2.36", cpus=2, user="root", folder_depth=3, environment="4 KiB", open_files=1024,
                     output="no terminal", locale="C.UTF-8", time_zone="none")
        known.update(facts)
        return row(kind="run", record="run", run_id=run, detail=";".join(f"{name}={value}" for name, value in known.items()))
    save("around_here.csv", [around("1795225951-17")] + window("Log.Stays", [write(2)], 1500))
    save("around_ci.csv", [around("1795225999-18", cpus=1, user="other", time_zone="UTC", environment="8 KiB", word_of_the_future="yes")]
         + window("Log.Stays", [write(2)], 1500, run_id="1795225999-18"))

    # A run of three shards, a machine each.
    def shard(number, windows):
        run = f"machine{number}-7"
        return [around(run, shard=f"{number} of 3")] + [line.replace("1795225951-17", run) for line in windows]
    shards = {1: window("Log.Reads", [opens(4)], 5000), 2: window("Log.Stays", [write(2)], 1500), 3: []}
    for number, windows in shards.items():
        save(f"shards/machine_{number}/tests.csv", shard(number, windows))
        if number != 2:
            save(f"shards_lost/machine_{number}/tests.csv", shard(number, windows))
    # A history: of the second run a shard is lost, the third is another one alone.
    for run, numbers in {"build-1": (1, 2, 3), "build-2": (1, 2), "by-hand": (3,)}.items():
        for number in numbers:
            lines = [line.replace(f"machine{number}-7", run) for line in shard(number, shards[number])]
            save(f"shards_history/{run}/machine_{number}.csv", lines)
    save_bytes("bazel/target/test.outputs/outputs.zip", b"PK")
    save("bazel/other/test.outputs/tests.csv", window("Log.Reads", [opens(4)], 5000))

    # A server in intervals of a second; one of the last has many failed calls.
    def interval(number):
        reads = call("read", "desc", [300] * 40)
        misses = call("openat", "file;desc", [900] * 800, {"ENOENT": 790}) if number == 28 else opens(4)
        idle = call("epoll_wait", "desc;wait", [20_000_000] * 30)
        return window("server", [reads, misses, idle], 1_000_000_000, kind="interval", repetition=number, program="server")
    save("intervals.csv", [line for number in range(30) for line in interval(number)]
         + window("server", [call("read", "desc", [300] * 1200)], 30_000_000_000, kind="process", program="server"))

    # Broken, each in one way.
    good = window("Log.Stays", [write(2)], 1500)
    after = window("Log.After", [write(1)], 700)
    save_bytes("empty.csv", b"")
    save("header_only.csv", [])
    save("foreign.csv", ["1,2,3"], header="name,iterations,real_time")
    save("short_header.csv", good, header=",".join(COLUMNS[:20]))
    save("long_header.csv", good, header=HEADER + ",more")
    newer = [f"{VERSION + 1}," + line.split(",", 1)[1] for line in good]
    save("other_version.csv", newer)
    save("other_columns.csv", [line + ",x" for line in newer], header=HEADER + ",new_column")
    save("other_version_after.csv", after + newer)
    save("torn_end.csv", after + [good[0], good[1][:120]], end="")
    save("torn_middle.csv", [good[0], good[1][:-4]] + after)
    save("two_in_one_line.csv", [good[0][:200] + good[1]] + after)
    save("quoted_newline.csv", [good[0].replace("Log.Stays", '"Log.\nStays"')] + after)
    save("quoted.csv", [line.replace("Log.Stays", '"Log.Stays/""a, b"""') for line in good])
    save("bad_numbers.csv", [row(test="A.B", record="test", wall_ns="12ms"), row(test="A.B", record="test", wall_ns=-1),
                             row(test="A.B", record="test", wall_ns=1.5),
                             row(test="A.B", record="test", wall_ns=2 ** 64 - 1),
                             row(test="A.B", record="test", repetition="")] + after)
    save("unknown_words.csv", [row(test="A.B", record="total"), row(test="A.B", record="test", kind="chapter"),
                               row(test="A.B", record="test", origin="strace"),
                               row(test="A.B", record="test", run_id=""),
                               row(test="A.B", record="syscall"),
                               row(test="A.B", record="syscall", syscall="read", wall_ns=1),
                               row(test="A.B", record="test", calls=1),
                               row(test="A.B", record="syscall", syscall="read", errnos="ENOENT=3"),
                               row(test="A.B", record="syscall", syscall="read", entries=4, calls=1, restarts=0,
                                   in_flight=0, no_return=0)] + after)
    save("duplicate.csv", good + good + after)
    save("bad_histogram.csv", [line.replace("104:2", "105:2") for line in good]
         + window("Log.Other", [call("write", "desc", [110] * 2, {}, histogram="104:1")], 700))
    save("joined.csv", good + [HEADER] + [line.replace("1795225951-17", "1795225999-18") for line in after])
    save_bytes("crlf.csv", ("\r\n".join([HEADER] + good) + "\r\n").encode())
    save_bytes("bom.csv", ("\ufeff" + "\n".join([HEADER] + good) + "\n").encode())
    save_bytes("garbage.csv", bytes(range(256)) * 4)
    save_bytes("nul_row.csv", (HEADER + "\n" + good[0] + "\n").encode() + b"1,\0\0\0," + b"x\n"
               + (after[0] + "\n" + after[1] + "\n").encode())


def make_runs_of_traces():
    # The time is that of the trace, which make_traces.py writes.
    run = window("Log.WritesABatch", [call("write", "desc", [110] * 11, {})], 97_000)
    save("traces/run.csv", run)
    save("traces/untraced.csv", [line.replace("1795225951-17", "1795225999-18") for line in run])


if __name__ == "__main__":
    main()
    make_times()
    make_policy()
    make_intended()
    make_crashed()
    make_same_programs()
    make_names()
    make_folders(DATA)
    make_sched(save_bytes)
    make_runs_of_traces()
    make_scale(save, save_json, call, window, benchmark)
    make_groups(save, call, window)
