# SPDX-License-Identifier: MIT
"""What a process does between its tests (kind `between`), and that nothing is missing: windows and what lies between them are what strace sees."""
import collections
import os
import re
import shutil
import sys
import unittest

from adapter_case import BACKENDS, BIN, COUNT_ENTRIES, Case, clone3_is_denied, main

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import strace_sums  # pylint: disable=wrong-import-position

LINKED = os.path.join(BIN, "adapter_between")
PLAIN = os.path.join(BIN, "adapter_between_plain")
BENCH = os.path.join(BIN, "bench")
TESTS = 22
# What dispatch does for itself in each thread, for each brk and to copy arguments, and what has no end that it could count.
OF_DISPATCH = {"rt_sigprocmask", "rt_sigaction", "prctl", "gettid", "sigaltstack", "brk", "process_vm_readv", "process_vm_writev", "exit",
               "rt_sigreturn"}


def counted_by_strace(log, of_entries):
    """{syscall: calls} of the process that marks its windows, from `between` to the end of that, without those that syscost makes between its
    marks. `of_entries`: of calls that began then, else of those that returned then."""
    calls = strace_sums.read_calls(log)
    process_of = strace_sums.processes(calls)
    marks = [(call, found[1], found[2]) for call in calls
             if (found := re.match(r'-1, "syscost-(begin|end|works|rests) ?(.*)", \d+$', call.text)) and call.name == "write"]
    begin = next(call for call, what, name in marks if (what, name) == ("begin", "between"))
    end = next(call for call, what, name in marks if (what, name) == ("end", "between"))
    works = collections.defaultdict(list)  # thread -> [line, whether syscost works from there on]
    for call, what, _ in marks:
        works[call.thread].append((call.entered, what in ("works", "end")))
    marked = {call for call, _, _ in marks}
    sums = collections.Counter()
    for call in calls:
        at = call.entered if of_entries else None if call.is_restarted else call.returned
        if process_of[call.thread] != process_of[begin.thread] or call in marked or at is None or not begin.returned < at < end.entered:
            continue
        is_ours = [ours for line, ours in works[call.thread] if line < call.entered]
        if not (is_ours and is_ours[-1]):
            sums[call.name] += 1
    return sums


class Between(Case):
    def run_under(self, backend, *flags, program=LINKED, before=(), code=0, **variables):
        self.needs(backend)
        if os.path.exists(self.csv):
            os.remove(self.csv)
        asked = [f"--syscost_backend={backend}", f"--syscost_csv={self.csv}"]
        words = [*before, program, *asked, *flags]
        if program == PLAIN or program.endswith("_tests"):
            words = [BENCH, "run", "--tests", f"--backend={backend}", f"--csv={self.csv}", "--", *before, program, *flags]
        return self.run_program(*words, code=code, **variables)

    def between(self, syscall, *columns):
        rows = self.rows(kind="between", record="syscall", syscall=syscall)
        return [tuple(int(row[column]) for column in columns) for row in rows]

    def test_it_is_counted_by_who_made_it(self):
        for backend in BACKENDS:
            for program in (LINKED, PLAIN):
                with self.subTest(backend=backend, program=program):
                    self.run_under(backend, program=program)
                    counted = "entries" if backend in COUNT_ENTRIES else "calls"
                    self.assertEqual(self.between("getppid", counted, "by_started_threads", "by_older_threads"),
                                     [(10 * TESTS, 3 * TESTS, 5 * TESTS)])
                    self.assertEqual({row["test"] + row["window"] for row in self.rows(kind="between")}, {""})
                    self.assertEqual([row["wall_ns"] for row in self.rows(kind="between", record="test")], [""])

    def compare_with_strace(self, backend, program, *flags, code=0):
        """Returns what syscost counted, by syscall: in windows and between them."""
        log = os.path.join(self.folder, "strace")
        self.run_under(backend, *flags, program=program, before=("strace", "-f", "-qq", "-s", "100", "-e", "signal=none", "-o", log),
                       code=code, SYSCOST_MARKERS="1")
        of_entries = backend in COUNT_ENTRIES
        counted = ("entries",) if of_entries else ("calls", "carried_in")
        ours = collections.Counter()
        for row in self.rows(record="syscall") + self.rows(kind="between", record="syscall"):
            self.assertIn(row["kind"], ("test", "suite", "environment", "between"))
            ours[row["syscall"]] += sum(int(row[column]) for column in counted)
        theirs = counted_by_strace(log, of_entries)
        if clone3_is_denied():  # a filter answers before the kernel counts an entry, and strace sees it all the same
            for counts in (ours, theirs):
                counts.pop("clone3", None)
        left_out = OF_DISPATCH if backend.startswith("dispatch") else set()
        total = "total_entries" if of_entries else "total_calls"
        if not self.rows(kind="between", record="syscall"):  # of one thread alone: the sum
            between = sum(int(row[total]) for row in self.rows(kind="between", record="test"))
            rest = {name: theirs[name] - ours[name] for name in theirs}
            if not left_out:
                self.assertEqual(between, sum(rest.values()), rest)
            self.assertEqual({name: count for name, count in rest.items() if count < 0}, {})
            return ours
        differing = {name: (ours[name], theirs[name]) for name in sorted(set(ours) | set(theirs))
                     if ours[name] != theirs[name] and name not in left_out}
        # On a busy machine an event may come late, and is said to.
        windows = self.rows(record="test") + self.rows(kind="between", record="test")
        lost = sum(int(row["lost"]) + int(row["late"]) for row in windows)
        missing = sum(abs(ours[name] - theirs[name]) for name in differing)
        self.assertLessEqual(missing, lost, f"{differing}: syscall: (syscost, strace)")
        return ours

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_windows_and_what_lies_between_are_what_strace_sees(self):
        for backend in BACKENDS:
            for program in (LINKED, PLAIN):
                with self.subTest(backend=backend, program=program):
                    self.assertGreaterEqual(self.compare_with_strace(backend, program)["close"], 60)

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_the_same_holds_where_a_body_runs_several_times(self):
        # doctest stops a program that is traced where a test fails.
        for name, flags in (("agent_catch2_tests", ()), ("agent_doctest_tests", ("--no-breaks",))):
            for program in (name, name + "_linked"):
                if not os.path.exists(os.path.join(BIN, program)):
                    continue  # its framework is missing
                for backend in BACKENDS:
                    with self.subTest(backend=backend, program=program):
                        ours = self.compare_with_strace(backend, os.path.join(BIN, program), *flags, code=None)
                        self.assertGreaterEqual(ours["getppid"], 30)
                        self.assertGreater(sum(1 for _ in self.rows(kind="between")), 0)

    def test_a_test_that_exits_does_not_take_it_along(self):
        self.run_under("dispatch", code=3, TEST_EXITS="1")
        self.assertEqual(len(self.between("getppid", "calls")), 1)

    def test_the_sum_is_enough_where_one_thread_makes_all_calls(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.run_under(backend, "--gtest_filter=Typed*", program=os.path.join(BIN, "adapter_many_shapes"))
                self.assertEqual(self.rows(kind="between", record="syscall"), [])
                total = "total_entries" if backend in COUNT_ENTRIES else "total_calls"
                self.assertGreater(int(self.rows(kind="between", record="test")[0][total]), 0)

    def test_a_process_that_crashes_has_none(self):
        self.run_under("dispatch", code=None, TEST_CRASHES="1")
        self.assertEqual(self.rows(kind="between"), [])
        self.assertEqual([row["window"] for row in self.rows(kind="run")], ["begin"])

    def test_a_process_without_a_test_has_none(self):
        self.run_under("dispatch", "--gtest_filter=None")
        self.assertEqual(self.rows(kind="between") + self.rows(kind="run"), [])

    def test_it_is_left_out_where_calls_are_recorded_one_by_one(self):
        self.run_under("dispatch", "--syscost_trace")
        self.assertEqual(self.rows(kind="between"), [])


if __name__ == "__main__":
    main()
