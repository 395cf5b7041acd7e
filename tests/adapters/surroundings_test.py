# SPDX-License-Identifier: MIT
"""Which backend `auto` takes where, and what is said about the others: the table of docs/backends.md, done.

`./dev update pages` writes the table into the page (`surroundings_test.py build/release/bin --update`); a test compares the
two."""
import collections
import itertools
import os
import re
import shutil
import subprocess
import sys
import unittest

from adapter_case import ASSERTIONS, AUTOMATIC, DENY, MANY, Case, can_unshare, main, why_not

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "backends.md")
TEST = "--gtest_filter=Shapes.CallsThreeTimes"
ROOT = unittest.skipUnless(os.geteuid() == 0, "needs root, to become somebody else")
HEAD = "| where | "
WORKS = "works"
NO_CAPABILITY = "needs CAP_BPF and CAP_PERFMON"
DENIED = "denied"
BY_NAME = "only when named"
ASKS_TRACER = "refused"
NO_INSTRUCTIONS = "needs FSGSBASE"  # of the processor, so not in the page's table

CAPABILITIES = "+bpf,+perfmon"
USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
ORDINARY = [*USER, "--inh-caps=-all"]
AMBIENT = [*USER, f"--inh-caps={CAPABILITIES}", f"--ambient-caps={CAPABILITIES}"]
STRACE = ["strace", "-f", "-o", "/dev/null"]
# The program starts under a filter that asks strace.
STRACE_BY_FILTER = [*STRACE, "--seccomp-bpf", "-e", "trace=openat"]
# People who debug under dispatch must use the same command.
GDB = ["gdb", "-nx", "-batch", "-return-child-result", "-ex", "handle SIGSYS nostop noprint pass", "-ex", "run", "--args"]
PID_NAMESPACE = ["unshare", "--fork", "--pid", "--mount-proc"]

# `before` stands in front of the program; what each backend answers there; what auto takes (None = nothing).
Place = collections.namedtuple("Place", ["name", "before", *AUTOMATIC, "auto"])


def with_denied(who, before, capable):
    """Places where a profile denies what a backend needs. `capable`: without the profile, this user may use eBPF."""
    able = WORKS if capable else NO_CAPABILITY
    for answer in ("EPERM", "ENOSYS"):
        deny = [*before, DENY, answer]
        # Without capabilities EPERM is what bpf says anyway.
        no_bpf = NO_CAPABILITY if answer == "EPERM" and not capable else DENIED
        where = f"{who}, profile answers"
        yield Place(f"{where} bpf with {answer}", [*deny, "bpf"], no_bpf, WORKS, WORKS, "dispatch")
        yield Place(f"{where} prctl with {answer}", [*deny, "prctl"], able, DENIED, WORKS, "ebpf" if capable else "seccomp")
        yield Place(f"{where} seccomp with {answer}", [*deny, "seccomp"], able, WORKS, DENIED, "ebpf" if capable else "dispatch")
        yield Place(f"{where} all three with {answer}", [*deny, "bpf,prctl,seccomp"], no_bpf, DENIED, DENIED, None)


TABLE = [
    Place("root", [], WORKS, WORKS, WORKS, "ebpf"),
    Place("an ordinary user", ORDINARY, NO_CAPABILITY, WORKS, WORKS, "dispatch"),
    Place("CAP_BPF and CAP_PERFMON, of the file", ["FILE", *ORDINARY], WORKS, WORKS, WORKS, "ebpf"),
    Place("CAP_BPF and CAP_PERFMON, ambient", AMBIENT, WORKS, WORKS, WORKS, "ebpf"),
    *with_denied("root", [], True),
    *with_denied("an ordinary user", ORDINARY, False),
    Place("root, under strace", STRACE, WORKS, WORKS, WORKS, "ebpf"),
    Place("an ordinary user, under strace", [*ORDINARY, *STRACE], NO_CAPABILITY, WORKS, WORKS, "dispatch"),
    Place("root, under strace --seccomp-bpf", STRACE_BY_FILTER, WORKS, WORKS, ASKS_TRACER, "ebpf"),
    Place("an ordinary user, under strace --seccomp-bpf", [*ORDINARY, *STRACE_BY_FILTER],
          NO_CAPABILITY, WORKS, ASKS_TRACER, "dispatch"),
    Place("root, under gdb", GDB, WORKS, BY_NAME, WORKS, "ebpf"),
    Place("an ordinary user, under gdb", [*ORDINARY, *GDB], NO_CAPABILITY, BY_NAME, WORKS, "seccomp"),
    Place("root, first of a PID namespace", PID_NAMESPACE, WORKS, WORKS, WORKS, "ebpf"),
    Place("an ordinary user, first of a PID namespace", [*PID_NAMESPACE, *ORDINARY],
          NO_CAPABILITY, WORKS, WORKS, "dispatch"),
]

# The reason must contain this text.
REASONS = {
    NO_CAPABILITY: {"ebpf": "CAP_BPF"},
    BY_NAME: {"dispatch": "debugger"},
    NO_INSTRUCTIONS: {"dispatch": "FSGSBASE"},
    ASKS_TRACER: {"seccomp": "may ask the tracer"},
    DENIED: {"ebpf": "BPF", "dispatch": "Dispatch", "seccomp": "profile"},
}


def on_this_machine(row):
    """Dispatch works nowhere on a processor without the instructions that it needs."""
    if row.dispatch == BY_NAME or "FSGSBASE" not in why_not("dispatch"):
        return row
    row = row._replace(dispatch=NO_INSTRUCTIONS)
    return row._replace(auto=next((backend for backend in AUTOMATIC if getattr(row, backend) == WORKS), None))


def table():
    """A row for all places with the same answers."""
    lines = [f"{HEAD}{' | '.join(AUTOMATIC)} | `auto` takes |", "|---" * (len(AUTOMATIC) + 2) + "|"]
    names_of = collections.defaultdict(list)
    for row in TABLE:
        taken = row.auto or "nothing: exit code 2, with every reason"
        names_of[(*(getattr(row, backend) for backend in AUTOMATIC), taken)].append(row.name)
    for answers, names in names_of.items():
        lines.append("| " + " | ".join(["; ".join(together(names)), *answers]) + " |")
    return "\n".join(lines) + "\n"


def together(names):
    """A profile that answers with either error is one place for the reader."""
    both = {name.removesuffix(" with EPERM") for name in names} & {name.removesuffix(" with ENOSYS") for name in names}
    short_of = {name: name.removesuffix(" with EPERM").removesuffix(" with ENOSYS") for name in names}
    return list(dict.fromkeys(short if short in both else name for name, short in short_of.items()))


def write_table():
    """Into the page, in place of the one that begins with HEAD."""
    with open(PAGE, encoding="utf-8") as page:
        before, head, after = page.read().partition(HEAD)
    if not head:
        sys.exit(f"surroundings_test: {PAGE} has no table that begins with '{HEAD}'")
    rest = "".join(itertools.dropwhile(lambda line: line.startswith("|"), after.splitlines(keepends=True)[1:]))
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write(before + table() + rest)


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"needs {program}")


class SurroundingsCase(Case):
    def command(self, before):
        """The command before the flags. FILE = the program is a copy with capabilities."""
        if before[:1] != ["FILE"]:
            return [*before, MANY]
        capped = os.path.join(self.folder, "capped")
        if os.path.exists(capped):
            return [*before[1:], capped]
        shutil.copy(MANY, capped)
        if subprocess.run(["setcap", "cap_bpf,cap_perfmon+ep", capped], check=False).returncode != 0:
            self.skipTest("the file system of the temporary folder keeps no capabilities")
        return [*before[1:], capped]

    def measure(self, before, code=0, backend=None):
        """Runs the test that calls getppid three times; (backend, entries or calls of getppid, header line), or stderr
        where it must fail."""
        if os.path.exists(self.csv):
            os.remove(self.csv)
        flags = [f"--syscost_csv={self.csv}", TEST] + ([f"--syscost_backend={backend}"] if backend else [])
        done = self.run_program(*self.command(before), *flags, code=code)
        if code != 0:
            return done.err
        [row] = self.rows(kind="test", record="syscall", syscall="getppid")
        header = re.search("syscost: backend.*", done.err + done.out).group()
        return row["backend"], int(row["entries"] or row["calls"]), header

    def check_backend(self, row, backend):
        answer = getattr(row, backend)
        if answer == BY_NAME:
            self.needs(backend)
        if answer in (WORKS, BY_NAME):
            self.assertEqual(self.measure(row.before, backend=backend)[:2], (backend, 3))
            return
        error = self.measure(row.before, code=2, backend=backend)
        self.assertIn(REASONS[answer][backend], error)
        self.assertIn("fix: ", error)

    def check_auto(self, row):
        before_taken = AUTOMATIC[:AUTOMATIC.index(row.auto)] if row.auto else AUTOMATIC
        if row.auto:
            backend, count, text = self.measure(row.before)
            self.assertEqual((backend, count), (row.auto, 3))
            self.assertEqual(", not " in text, len(before_taken) > 0)
            if before_taken:  # in a clause each: the doctor has the rest
                self.assertIn("(see --syscost_doctor)", text)
                self.assertLess(len(text), 400 + len(self.csv))
                text += " fix: " + self.run_program(*self.command(row.before), "--syscost_doctor", code=None).out.replace("\n", " ")
        else:
            text = " ".join(self.measure(row.before, code=2).split("\n"))
            self.assertIn("no backend can count here", text)
        # Each that was passed over is named, with its reason and its remedy.
        for backend in before_taken:
            self.assertRegex(text, f"{backend}: .*{REASONS[getattr(row, backend)][backend]}.*fix: ")

    def check_doctor(self, row):
        out = self.run_program(*self.command(row.before), "--syscost_doctor", code=None).out
        for backend in AUTOMATIC:
            works = getattr(row, backend) == WORKS
            self.assertRegex(out, rf"(?m)^  {backend} +{'works' if works else 'does not work'}: ")
        self.assertIn(f"auto would take {row.auto}." if row.auto else "Nothing can count here", out)
        # Two backends that both measure latencies are told apart by a number.
        said = r"(?m)^latency: a getppid takes \d+ ns by ebpf, \d+ ns by dispatch \(medians\): (they agree|\d+ ns more by )"
        both = row.ebpf == WORKS and row.dispatch == WORKS
        (self.assertRegex if both else self.assertNotRegex)(out, said if both else "(?m)^latency:")

    def check(self, rows):
        for row in map(on_this_machine, rows):
            for backend in AUTOMATIC:
                with self.subTest(where=row.name, backend=backend):
                    self.check_backend(row, backend)
            with self.subTest(where=row.name, backend="auto"):
                self.check_auto(row)
            with self.subTest(where=row.name, doctor=True):
                self.check_doctor(row)


def rows_with(*words, without=()):
    return [row for row in TABLE if all(w in row.name for w in words) and not any(w in row.name for w in without)]


@ROOT
@needs("setpriv")
class Surroundings(SurroundingsCase):
    def test_for_every_user(self):
        self.check(rows_with(without=("profile", "under", "namespace", "of the file")))

    @needs("setcap")
    def test_with_capabilities_of_the_file(self):
        self.check(rows_with("of the file"))

    def test_as_root_under_a_profile(self):
        self.check(rows_with("root, profile"))

    def test_as_an_ordinary_user_under_a_profile(self):
        self.check(rows_with("user, profile"))

    @needs("strace")
    def test_under_strace(self):
        self.check(rows_with("under strace"))

    @needs("gdb")
    def test_under_gdb(self):
        self.check(rows_with("under gdb"))

    @needs("unshare")
    def test_in_a_pid_namespace(self):
        # A container's root may lack the capability, or be kept from it by the seccomp profile.
        if not can_unshare(*PID_NAMESPACE[1:]):
            self.skipTest("needs to make a PID namespace, which takes CAP_SYS_ADMIN")
        self.check(rows_with("PID namespace"))


class SurroundingsTold(SurroundingsCase):
    def test_the_page_shows_the_table(self):
        with open(PAGE, encoding="utf-8") as page:
            self.assertTrue(table() in page.read(), "the page shows another table; write it anew: ./dev update pages")

    def test_what_seccomp_cannot_know_is_empty(self):
        self.measure([], backend="seccomp")
        [row] = self.rows(kind="test", record="syscall", syscall="getppid", as_written=True)
        for column in ("calls", "restarts", "in_flight", "no_return", "carried_in", "denied", "errors", "errnos",
                       "latency_count", "latency_sum_ns", "histogram"):
            self.assertEqual(row[column], "", column)

    def test_assertions_on_what_the_backend_cannot_measure_skip_here_and_fail_in_ci(self):
        flags = ["--gtest_filter=Assertions.ReadAValueFirst", "--syscost_backend=seccomp"]
        skipped = self.run_program(ASSERTIONS, *flags)
        self.assertIn("does not measure calls, only entries. Use one that can: --syscost_backend dispatch, or ebpf", skipped.out)
        self.assertIn("SKIPPED", skipped.out)
        failed = self.run_program(ASSERTIONS, *flags, code=1, CI="true")
        self.assertIn("does not measure calls", failed.out)


if __name__ == "__main__":
    if sys.argv[2:] == ["--update"]:
        write_table()
    else:
        main()
