# SPDX-License-Identifier: MIT
"""Benchmarks that end the process, or part of it, while they are counted or timed."""
import os

from benchmark_case import COUNT_CALLS, DYING, MEASURING, SHAPES, QUICK, BenchmarkCase, main, needs_results


class OddBodies(BenchmarkCase):
    FEW = "--benchmark_filter=BM_OneCall$|BM_Odd|BM_Last"

    def odd(self, body, code, **variables):
        return self.run_program(SHAPES, f"--syscost_csv={self.csv}", QUICK, self.FEW, code=code, SYSCOST_TEST_BODY=body,
                                **variables)

    def totals(self):
        return {row["test"]: row["total_calls"] for row in self.rows(record="test")}

    @needs_results
    def test_a_body_that_measures_itself_has_the_result_that_it_has_without_flags(self):
        self.assertNotIn("ERROR OCCURRED", self.run_program(MEASURING, QUICK).out)
        for backend in ("ebpf", "dispatch"):
            self.csv = os.path.join(self.folder, backend)
            with self.subTest(backend=backend):
                self.needs(backend)
                done = self.run_program(MEASURING, QUICK, f"--syscost_backend={backend}", f"--syscost_csv={self.csv}", CI="1")
                self.assertNotIn("ERROR OCCURRED", done.out)
                self.assertEqual({row["test"]: (row["outcome"], row["total_calls"]) for row in self.rows(record="test")},
                                 {"BM_MeasuresItsBody": ("passed", "1000"), "BM_MeasuresAroundItsLoop": ("passed", "1000")})

    def test_what_ends_the_program_loses_nothing_before_it(self):
        for body, code, how in (("throw", -6, "was killed by SIGABRT"), ("crash", -11, "was killed by SIGSEGV"),
                                ("exit", 1, "ended with exit code 0")):
            with self.subTest(body=body):
                self.csv = os.path.join(self.folder, body)
                done = self.odd(body, code)
                self.assertIn(f"benchmark BM_Odd/iterations:2 has no counts: the process that counts {how} in it", done.err)
                self.assertEqual(self.totals(), {"BM_OneCall": "1000"})

    def test_a_program_that_ends_in_a_benchmark_says_which_rows_are_missing(self):
        done = self.odd("exit", 1)
        self.assertIn("the program ended before its benchmarks did, so there are no rows after benchmark "
                      "BM_OneCall\n", done.err)

    def test_without_a_file_the_exit_code_of_such_a_program_stays_its_own(self):
        self.run_program(SHAPES, "--syscost_backend=auto", QUICK, self.FEW, SYSCOST_TEST_BODY="exit")

    def test_a_body_that_becomes_another_program_is_told_from_one_that_calls_exit(self):
        done = self.odd("exec", 0)  # the other program's
        self.assertIn("benchmark BM_Odd/iterations:2 has no counts: the process that counts ended with exit code 0, by _exit() "
                      "or as another program that it executed, in it", done.err)
        self.assertEqual(self.totals(), {"BM_OneCall": "1000"})

    def test_a_body_that_would_end_the_run_without_a_word_is_announced(self):
        for body in "_exit", "exec":
            self.csv = os.path.join(self.folder, body)
            done = self.odd(body, 0)
            self.assertIn("the benchmarks are still timed: if BM_Odd/iterations:2 ends the program there too, it and the benchmarks after it have no rows", done.err)
            self.assertEqual(self.totals(), {"BM_OneCall": "1000"})

    def test_a_body_that_closes_our_descriptors_gets_one_message_and_costs_no_other(self):
        for backend in COUNT_CALLS:
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, backend + ".csv")
                done = self.odd("close-all", 0, SYSCOST_BACKEND=backend)
                self.assertEqual(done.err.count("benchmark BM_Odd/iterations:2 has no counts: the process that counts had its file "
                                                "descriptors closed in it"), 1, done.err)
                self.assertNotIn("_exit", done.err)
                # The process that counts has them for the other process; those of the backend itself are ebpf's only.
                self.assertEqual(done.err.count("something closed its file descriptors"), 1 if backend == "ebpf" else 0, done.err)
                self.assertEqual(self.totals(), {"BM_OneCall": "1000", "BM_Odd/iterations:2": "", "BM_Last": "1000"})

    def test_a_body_that_bears_one_pass_only_keeps_its_verdict_and_has_no_counts(self):
        done = self.odd("once", 0)
        self.assertIn("benchmark BM_Odd/iterations:2 has no counts: the process that counts was killed by SIGABRT in it", done.err)
        self.assertEqual(self.totals(), {"BM_OneCall": "1000", "BM_Odd/iterations:2": "", "BM_Last": "1000"})

    def test_a_run_that_requires_counts_gets_an_exit_code(self):
        self.odd("once", 1, SYSCOST_UNAVAILABLE="fail")
        self.odd("once", 0, SYSCOST_UNAVAILABLE="skip")
        self.odd("nothing", 0, SYSCOST_UNAVAILABLE="fail")

    def test_what_only_the_counting_process_dies_of_leaves_the_times(self):
        done = self.odd("crash-counted", 0)
        self.assertIn("benchmark BM_Odd/iterations:2 has no counts: the process that counts was killed by SIGSEGV in it", done.err)
        self.assertEqual(self.totals(), {"BM_OneCall": "1000", "BM_Odd/iterations:2": "", "BM_Last": "1000"})
        self.assertTrue(all(row["wall_ns"] for row in self.rows(record="test")))

    def test_what_the_counting_process_wrote_before_it_died_is_shown(self):
        self.assertIn("thrown by the body", self.odd("throw", -6).err.split("fix:")[0])

    def test_a_body_that_forks_is_counted(self):
        self.odd("fork", 0)
        calls = self.calls("BM_Odd/iterations:2")
        self.assertEqual((calls["getppid"], calls["wait4"]), (2, 2))
        self.assertEqual(self.totals()["BM_Last"], "1000")

    def test_a_fork_child_that_runs_the_rest_writes_nothing(self):
        self.odd("fork-returns", 0)
        self.assertEqual([row["test"] for row in self.rows(record="test")],
                         ["BM_OneCall", "BM_Odd/iterations:2", "BM_Last"])
        self.assertEqual(self.totals()["BM_Last"], "1000")


class Deaths(BenchmarkCase):
    """The counting process is ended by a benchmark, at one point or another; the process that times is not."""
    NAMES = {"First": "BM_First", "Middle": "BM_Middle<(a|b)*>[$^+?.{1}\\]", "Last": "BM_Last"}
    HOW = {"abort": "was killed by SIGABRT", "exit": "ended with exit code 0", "throw": "was killed by SIGABRT",
           "kill": "was killed by SIGKILL", "quick_exit": "ended with exit code 0"}

    def dying(self, *deaths, code=0, **variables):
        self.csv = os.path.join(self.folder, "out%d.csv" % len(os.listdir(self.folder)))
        done = self.run_program(DYING, f"--syscost_csv={self.csv}", QUICK, code=code, SYSCOST_TEST_DIES=",".join(deaths),
                                **variables)
        rows = self.rows(record="test")
        self.assertTrue(all(row["wall_ns"] for row in rows))
        return done, [(row["test"], row["total_calls"]) for row in rows]

    def check(self, deaths):
        """Each death is reported with its name. The counts of the other benchmarks stay."""
        done, totals = self.dying(*deaths)
        dead = {self.NAMES[death.split(":")[0]]: self.HOW[death.split(":")[2]] for death in deaths}
        self.assertEqual(totals, [(name, "" if name in dead else "1000") for name in self.NAMES.values()])
        for name, how in dead.items():
            self.assertIn(f"syscost: benchmark {name} has no counts: the process that counts {how} in it", done.err)
        self.assertEqual(done.err.count(" has no counts: "), len(dead), done.err)

    def test_each_way_to_die_in_each_place_costs_the_counts_of_that_benchmark_only(self):
        for name in self.NAMES:
            for how in self.HOW:
                with self.subTest(name=name, how=how):
                    self.check([f"{name}:in:{how}"])

    def test_before_and_after_its_loop_it_is_the_same_benchmark(self):
        for where in ("before", "after"):
            for name in self.NAMES:
                with self.subTest(name=name, where=where):
                    self.check([f"{name}:{where}:exit"])

    def test_several_may_die(self):
        self.check(["First:in:abort", "Last:before:kill"])
        self.check(["First:in:exit", "Middle:in:abort", "Last:in:kill"])

    def test_what_a_benchmark_left_is_not_the_next_ones_fault(self):
        done, totals = self.dying("Middle:later:abort")
        self.assertIn("was killed by SIGABRT before the loop of benchmark BM_Last began: another process continues there", done.err)
        self.assertEqual(totals, [(name, "1000") for name in self.NAMES.values()])

    def twins(self, *deaths):
        """stderr, and the counts of the two that share a name, with another one between them."""
        done, totals = self.dying(*deaths, SYSCOST_TEST_TWINS="1")
        self.assertEqual([name for name, _ in totals[3:]], ["BM_Twin", "BM_Between", "BM_Twin"])
        return done.err, [total for name, total in totals[3:] if name == "BM_Twin"]

    def test_twins_keep_their_own_counts_if_others_die(self):
        for deaths in ([], ["First:in:abort"], ["Between:in:exit"], ["First:in:exit", "Between:before:kill"]):
            with self.subTest(deaths=deaths):
                self.assertEqual(self.twins(*deaths)[1], ["1000", "2000"])

    def test_the_twin_of_a_dead_one_cannot_be_told_from_it_and_says_so(self):
        err, totals = self.twins("Twin:in:abort")
        self.assertEqual(totals, ["", ""])
        self.assertEqual(err.count("benchmark BM_Twin has no counts: the process that counts was killed by SIGABRT in it"), 1)
        self.assertEqual(err.count("benchmark BM_Twin has no counts: the process that counts ended before it, and another process cannot tell it from a benchmark of the same name"), 1)

    def test_twins_in_random_order_cannot_be_told_apart_once_another_died(self):
        done, totals = self.dying("First:in:abort", SYSCOST_TEST_TWINS="1", BENCHMARK_ENABLE_RANDOM_INTERLEAVING="1")
        self.assertEqual([total for name, total in totals if name == "BM_Twin"], ["", ""])
        self.assertEqual(done.err.count("benchmark BM_Twin has no counts: the process that counts ended before it"), 2)


class BesideALibrary(BenchmarkCase):
    """A shared library without us has a benchmark too: its loop is out of sight, and found out before anything is counted."""
    PROGRAM = DYING + "_beside_library"

    def totals(self, code=0, **variables):
        done = self.run_program(self.PROGRAM, f"--syscost_csv={self.csv}", QUICK, code=code, **variables)
        self.assertIn("benchmark BM_InLibrary has no counts: Its loop was not seen", done.err)
        return done, {row["test"][:8]: row["total_calls"] for row in self.rows(record="test")}

    def test_the_others_have_their_counts(self):
        _, totals = self.totals()
        self.assertEqual(totals, {"BM_InLib": "", "BM_First": "1000", "BM_Middl": "1000", "BM_Last": "1000"})

    def test_others_of_one_name_have_none_and_it_is_said(self):
        done, totals = self.totals(SYSCOST_TEST_TWINS="1")
        self.assertEqual((totals["BM_Last"], totals["BM_Twin"]), ("1000", ""))
        self.assertIn("benchmark BM_Twin has no counts: It cannot be told from the others of its name", done.err)

    def test_a_death_is_still_told_with_its_name(self):
        done, totals = self.totals(SYSCOST_TEST_DIES="Middle:in:abort")
        self.assertEqual(totals, {"BM_InLib": "", "BM_First": "1000", "BM_Middl": "", "BM_Last": "1000"})
        self.assertIn("benchmark BM_Middle<(a|b)*>[$^+?.{1}\\] has no counts: the process that counts was killed by SIGABRT in it",
                      done.err)


if __name__ == "__main__":
    main()
