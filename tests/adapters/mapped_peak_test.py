# SPDX-License-Identifier: MIT
"""Column `peak_mapped_bytes`: the most by which a test's mappings had grown at one time."""
import os
import re

from adapter_case import BIN, Case, main

PROGRAM = os.path.join(BIN, "adapter_mapped_peak")
FILTERED = os.path.join(BIN, "adapter_filtered")
MEBIBYTE = 1 << 20


class MappedPeak(Case):
    def peaks(self, *flags, below=(), **variables):
        """Test -> the column, in MiB if it is filled."""
        if os.path.exists(self.csv):
            os.remove(self.csv)
        self.run_program(*below, PROGRAM, "--syscost_leaks", f"--syscost_csv={self.csv}", "--syscost_quick", *flags, **variables)
        cells = {row["test"].partition(".")[2]: row["peak_mapped_bytes"] for row in self.rows(kind="test", record="test")
                 if row["outcome"] != "skipped"}
        return {test: int(cell) / MEBIBYTE if cell else None for test, cell in cells.items()}

    def assert_each_has_its_peak(self, peaks):
        excluded = peaks.pop("ExcludesALoop")
        self.assertGreater(peaks.pop("OfAnIoContext", 1), 0)
        self.assertEqual(peaks.pop("OfTheOldAbi", 32), 32)
        self.assertEqual(peaks, {test: int(re.search(r"\d+$", test)[0]) for test in peaks})
        self.assertEqual((len(peaks), excluded), (10, None))

    def test_is_exact_where_calls_are_seen(self):
        for backend in ("ebpf", "dispatch", "dispatch-trap"):
            for flags in ((), ("--syscost_where",)) if backend == "dispatch" else ((),):
                with self.subTest(backend=backend, flags=flags):
                    self.needs(backend)
                    self.assert_each_has_its_peak(self.peaks(f"--syscost_backend={backend}", *flags))

    def test_is_the_processs_mark_elsewhere_if_the_test_raised_it(self):
        for flags in (("--syscost_backend=seccomp",), ("--syscost_backend=dispatch", "--syscost_filter=getpid")):
            with self.subTest(flags=flags):
                self.needs(flags[0].partition("=")[2])
                known = {test: peak for test, peak in self.peaks(*flags).items() if peak is not None}
                self.assertEqual(known, {"First1024": 1024})

    def test_each_repetition_has_its_own(self):
        self.needs("dispatch")
        self.peaks("--syscost_backend=dispatch", "--gtest_filter=MappedPeak.UnmapsBetween48", "--gtest_repeat=3")
        self.assertEqual([row["peak_mapped_bytes"] for row in self.rows(kind="test", record="test")], [str(48 * MEBIBYTE)] * 3)

    def test_is_empty_without_the_flag(self):
        self.run_program(PROGRAM, f"--syscost_csv={self.csv}", "--gtest_filter=MappedPeak.First*")
        self.assertEqual([row["peak_mapped_bytes"] for row in self.rows(kind="test", record="test")], [""])

    def test_no_row_has_the_calls_that_ask(self):
        self.needs("dispatch")
        self.peaks("--syscost_backend=dispatch")
        self.assertEqual([row for row in self.rows(record="syscall") if row["syscall"] == "pread64"], [])

    def test_a_test_that_closes_our_descriptor_has_none_and_the_next_one_has(self):
        self.needs("dispatch")
        odd = ("--gtest_also_run_disabled_tests", "--syscost_backend=dispatch",
               "--gtest_filter=MappedPeak.First1024:*ClosesAllDescriptors:*After16:-*X")
        peaks = self.peaks(*odd)
        self.assertEqual(peaks, {"First1024": 1024, "DISABLED_ClosesAllDescriptors": None, "DISABLED_After16": 16})

    def test_another_file_on_our_number_is_not_believed(self):
        self.needs("dispatch")
        peaks = self.peaks("--gtest_also_run_disabled_tests", "--syscost_backend=dispatch",
                           "--gtest_filter=MappedPeak.First1024:*AnotherFile*:*After16")
        self.assertEqual(peaks, {"First1024": 1024, "DISABLED_AnotherFileOnOurNumbers": None, "DISABLED_After16": 16})

    def test_a_filter_that_kills_for_the_question_is_not_met(self):
        self.needs("dispatch")
        for below in ((), (FILTERED,)):
            for backend in ("dispatch", "dispatch-trap"):
                with self.subTest(below=below, backend=backend):
                    peaks = self.peaks("--gtest_also_run_disabled_tests", f"--syscost_backend={backend}",
                                       "--gtest_filter=MappedPeak.First1024:*ForbidsReads:*UnderTheFilter", below=below)
                    self.assertEqual(peaks, {"First1024": 1024, "DISABLED_ForbidsReads": None, "DISABLED_UnderTheFilter": None})
                    peaks = self.peaks("--gtest_also_run_disabled_tests", f"--syscost_backend={backend}",
                                       "--gtest_filter=MappedPeak.First1024:*OfWorker*", below=below)
                    self.assertEqual((peaks["First1024"], peaks["DISABLED_MapsUnderIt"]), (1024, None))

    def test_a_filter_from_outside_that_kills_for_the_question_is_tried_in_a_child(self):
        self.needs("dispatch")
        peaks = self.peaks("--syscost_backend=dispatch", "--gtest_filter=*First*:*Replaces*", below=(FILTERED, "pread64"))
        self.assertEqual(peaks, {"First1024": 1024, "Replaces64": None})
        # Below a filter that allows it the kernel is asked.
        peaks = self.peaks("--syscost_backend=dispatch", "--gtest_filter=*First*:*Replaces*", below=(FILTERED,))
        self.assertEqual(peaks, {"First1024": 1024, "Replaces64": 64})

    def test_few_descriptors_are_left_to_the_program(self):
        self.needs("dispatch")
        peaks = self.peaks("--syscost_backend=dispatch", "--gtest_filter=*First*:*Replaces*", below=("sh", "-c", 'ulimit -n 64; exec "$@"', "sh"))
        self.assertEqual(peaks, {"First1024": 1024, "Replaces64": None})


if __name__ == "__main__":
    main()
