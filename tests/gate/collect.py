# SPDX-License-Identifier: MIT
"""The runs that tests/gate/measure judges: whole suites, unchanged, and single programs with one system call more.

Everything is kept in files, `WORK/gate/SUITE/CONDITION/run-00.csv` and `slip-000.csv`, so that a measurement that was
stopped goes on where it was. A condition is a backend, alone (`ebpf`) or on a busy machine (`ebpf-load-8`). The programs
of a suite run one after the other, as ctest runs them. Their temporary folder is empty before each, as on a machine that
CI has just started.
"""
import fcntl
import json
import random
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from programs import LONGEST, SUITES, give_up, programs_of, run_quietly

MOST_TRIES = 5  # of a program that hangs
SLIPPED = ["getppid", "lseek", "write", "read", "openat"]


def backend_of(condition):
    return condition.partition("-load-")[0]


@contextmanager
def load(processes):
    """Keeps `processes` processes busy."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(processes)]  # pylint: disable=consider-using-with
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


class Collection:
    """The runs of one suite."""

    def __init__(self, name, args):
        self.name, self.args = name, args
        self.place = args.work / "gate" / name
        self.place.mkdir(parents=True, exist_ok=True)
        self.same = SUITES[name].get("variables", {})  # for all its programs: filters
        self.folder = args.work / name

    def conditions(self):
        return sorted({run.parent.name for run in self.place.glob("*/run-??.csv") if backend_of(run.parent.name) in self.args.backends})

    def runs(self, condition):
        return sorted((self.place / condition).glob("run-??.csv"))

    def slips(self, condition):
        return sorted((self.place / condition).glob("slip-???.json"))

    def programs(self):
        """The programs that ctest starts and that have rows: name, command, folder, variables, tests, clock calls."""
        kept = self.place / "programs.json"
        if not kept.exists():
            each = programs_of(self.name, self.args, self.args.backends[0], self.place)
            found = [one for program in each if shutil.which(program.command[0]) and (one := self.probe(program))]
            if not found:
                give_up(f"{self.name}: no program of it was measured")
            kept.write_text(json.dumps(found, indent=1), encoding="utf-8")
        return json.loads(kept.read_text(encoding="utf-8"))

    def probe(self, program):
        test = {"name": program.name, "command": program.command, "folder": str(program.folder), "variables": program.variables}
        rows, count = self.place / "probe.csv", self.place / "probe.count"
        count.unlink(missing_ok=True)
        self.run_program(test, rows, self.args.backends[0], LD_PRELOAD=str(self.shim()), SLIP_COUNT=str(count))
        if not rows.exists() or rows.stat().st_size == 0:
            return None
        tests = sum(",test," in line and ",0,test,,,syscost," in line for line in rows.read_text(encoding="utf-8").splitlines())
        clocks = int(count.read_text(encoding="utf-8")) if count.exists() else 0
        return {**test, "tests": tests, "clocks": clocks}

    def shim(self):
        shim = self.args.work / "slip.so"
        source = Path(__file__).with_name("slip.c")
        if not shim.exists() or shim.stat().st_mtime < source.stat().st_mtime:
            subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
        return shim

    def inside(self):
        """A network of its own for a suite with servers on fixed ports, which other programs must not meet."""
        if not SUITES[self.name].get("ports"):
            return []
        return ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]

    def variables(self, output, backend, **more):
        # In memory: a disk is kept busy by other programs' writes.
        in_memory = SUITES[self.name].get("syncs") and Path("/dev/shm").is_dir()
        scratch = (Path("/dev/shm") if in_memory else self.place) / f"tmp-{backend if not in_memory else self.name + backend}"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        return {**self.same, "TMPDIR": str(scratch), "TEST_TMPDIR": str(scratch), "SYSCOST_CSV": str(output), "SYSCOST_BACKEND": backend, **more}

    def longest(self):
        return SUITES[self.name].get("longest", LONGEST) * (1 + self.args.load)

    def run_program(self, test, output, backend, **more):
        """Runs one program. One that hangs is red in any CI, so it runs again. Returns how often it hung."""
        variables = {**self.variables(output, backend, **more), **test["variables"]}
        for hung in range(MOST_TRIES):
            output.unlink(missing_ok=True)
            try:
                run_quietly([*self.inside(), *test["command"]], test["folder"], longest=self.longest(), **variables)
                return hung
            except subprocess.TimeoutExpired:
                continue
        return give_up(f"{self.name}: {test['name']} hung {MOST_TRIES} times")

    def run_suite(self, condition, number):
        """The whole suite once: its programs one after the other, as ctest runs them, into one file."""
        output = self.place / condition / f"run-{number:02}.csv"
        if output.exists():
            return False
        output.parent.mkdir(exist_ok=True)
        partial, part = output.with_suffix(".partial"), output.with_suffix(".part")
        began, hung = time.monotonic(), 0
        with partial.open("wb") as run:
            for test in self.programs():
                hung += self.run_program(test, part, backend_of(condition), SYSCOST_RUN_ID=f"run-{number}")
                if not part.exists():
                    give_up(f"{self.name}: {test['name']} wrote no rows under {condition}")
                head, _, rows = part.read_bytes().partition(b"\n")
                run.write(rows if run.tell() else head + b"\n" + rows)
        part.unlink(missing_ok=True)
        output.with_suffix(".log").write_text(f"{time.monotonic() - began:.1f} s, {hung} times a program hung\n", encoding="utf-8")
        partial.rename(output)
        return True

    def slip(self, condition, number):
        """A run of one program with one call more at a random place; and one without it, once for each program."""
        backend = backend_of(condition)
        told = self.place / condition / f"slip-{number:03}.json"
        if told.exists():
            return False
        chance = random.Random(f"{self.args.seed}/{self.name}/{number}")
        programs = [one for one in self.programs() if one["clocks"] > 0]
        test = chance.choices(programs, [one["tests"] for one in programs])[0]
        call, at = chance.choice(SLIPPED), chance.randint(1, test["clocks"])
        preload = {"LD_PRELOAD": str(self.shim()), "SLIP_CALL": call}
        base = told.with_name(f"base-{test['name']}.csv")
        told.parent.mkdir(exist_ok=True)
        if not base.exists():
            self.run_program(test, told.with_suffix(".partial"), backend, SLIP_AT="0", **preload)
            told.with_suffix(".partial").rename(base)
        self.run_program(test, told.with_suffix(".csv"), backend, SLIP_AT=str(at), **preload)
        told.write_text(json.dumps({"ctest": test["name"], "call": call, "at": at, "base": base.name}), encoding="utf-8")
        return True

    @contextmanager
    def alone(self, backend=""):
        """A lock: two runs of a suite at a time disturb each other, unless it has a folder and a network of its own."""
        apart = backend if SUITES[self.name].get("beside") else ""
        with open(self.place / f"lock-{apart}", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def collect(self, until):
        """All backends in turns, so that each has as many runs as the others when time is up."""
        with self.alone():
            self.programs()
        runs, slips = self.args.runs, self.args.slips
        for number in range(runs):
            for backend in self.args.backends:
                if time.time() > until:
                    return
                condition = f"{backend}-load-{self.args.load}" if self.args.load else backend
                with self.alone(backend), load(self.args.load):
                    if self.run_suite(condition, number):
                        print(f"{self.name} {condition} run {number}", flush=True)
                    for slip in range(number * slips // runs, (number + 1) * slips // runs):
                        self.slip(condition, slip)
