# SPDX-License-Identifier: MIT
"""--syscost_detail: rows for each request of ioctl, from the program to what bench says of them."""
import os
import subprocess

from adapter_case import BIN, DETAILS, Case, main

BENCH = os.path.join(BIN, "bench")
THREE_KINDS = {"null 0x1234": 1, "null 0x5413": 3, "random 0x80045200": 1}


class Details(Case):
    def details(self, test, syscall="ioctl", kind="test"):
        rows = self.rows(kind=kind, record="syscall", test=test, syscall=syscall)
        return {row["detail"]: int(row["calls"]) for row in rows}

    def bench(self, *arguments, code=0):
        done = subprocess.run([BENCH, *arguments], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_each_request_has_a_row_and_they_add_up_to_the_total(self):
        self.needs("ebpf")
        self.run_program(DETAILS, f"--syscost_csv={self.csv}", "--syscost_detail=ioctl")
        self.assertEqual(self.details("Ioctl.ThreeKinds"), THREE_KINDS)
        self.assertEqual(self.details("Ioctl.ThreeKinds", kind="scope"), THREE_KINDS)
        for row in self.rows(kind="scope", record="test", test="Ioctl.ThreeKinds"):
            self.assertEqual((row["total_calls"], row["total_errors"], row["lost"]), ("5", "4", "0"))
        [failing] = self.rows(kind="scope", record="syscall", detail="null 0x5413")
        self.assertEqual((failing["errnos"], failing["latency_count"], failing["class"]), ("ENOTTY:3", "3", "desc"))

    def test_without_the_flag_there_is_one_row(self):
        self.run_program(DETAILS, f"--syscost_csv={self.csv}")
        self.assertEqual(self.details("Ioctl.ThreeKinds"), {"": 5})

    def test_a_filter_that_leaves_ioctl_out_leaves_its_details_out(self):
        self.needs("ebpf")
        self.run_program(DETAILS, f"--syscost_csv={self.csv}", "--syscost_detail=ioctl", "--syscost_filter=getppid",
                         "--gtest_filter=Ioctl.InADriversThread")
        self.assertEqual(self.details("Ioctl.InADriversThread"), {})
        self.assertEqual(self.details("Ioctl.InADriversThread", "getppid"), {"": 1, "driver thread": 7})

    def test_calls_of_a_drivers_threads_stand_apart(self):
        self.needs("ebpf")
        self.run_program(DETAILS, f"--syscost_csv={self.csv}", "--syscost_detail=thread:cuda-Evt",
                         "--gtest_filter=Ioctl.InADriversThread")
        self.assertEqual(self.details("Ioctl.InADriversThread", "getppid"), {"": 1, "driver thread": 7})
        self.assertEqual(self.details("Ioctl.InADriversThread"), {"driver thread": 1})

    def test_the_line_under_a_test_adds_details_up(self):
        self.needs("ebpf")
        done = self.run_program(DETAILS, "--syscost_profile=syscalls", "--syscost_detail=ioctl",
                                "--gtest_filter=Ioctl.ThreeKinds")
        self.assertIn("[ SYSCOST  ] 5 ioctl (4 ENOTTY), ", done.out)

    def test_bench_shows_and_compares_each_request(self):
        self.needs("ebpf")
        one = "--gtest_filter=Ioctl.OneMoreWhenAsked"
        self.run_program(DETAILS, "--syscost_csv=old.csv", "--syscost_detail=ioctl", one)
        self.run_program(DETAILS, "--syscost_csv=new.csv", "--syscost_detail=ioctl", one, ONE_MORE="1")
        self.assertIn("ioctl random 0x80045200", self.bench("summary", "old.csv"))
        compared = self.bench("compare", "old.csv", "new.csv", code=1)
        self.assertRegex(compared, r"6 -> 7 +\+1 ioctl random 0x80045200 +regressed")

    def test_calls_that_move_data_have_a_row_for_each_kind_of_file(self):
        for backend in "ebpf", "dispatch", "dispatch-trap":
            with self.subTest(backend=backend):
                self.needs(backend)
                self.csv = os.path.join(self.folder, f"{backend}.csv")
                self.run_program(DETAILS, f"--syscost_csv={self.csv}", "--syscost_detail=file", f"--syscost_backend={backend}",
                                 "--gtest_filter=Moves.*")
                rows = self.rows(kind="scope", record="syscall")
                self.assertEqual({(row["syscall"], row["detail"]): (row["calls"], row["bytes"]) for row in rows},
                                 {("write", "pipe"): ("3", "60"), ("write", "character device"): ("1", "7"), ("read", "pipe"): ("1", "50")})
                [window] = self.rows(kind="scope", record="test")
                self.assertEqual((window["total_bytes_read"], window["total_bytes_written"], window["lost"]), ("50", "67", "0"))
                self.assertIn("bytes by kind of file: read 50 bytes: 50 bytes pipe; written 67 bytes: 60 bytes pipe, 7 bytes character device",
                              " ".join(self.bench("show", self.csv, "Moves.ToAPipeAndAFile").split()))

    def test_a_backend_that_cannot_tell_them_apart_says_so(self):
        done = self.run_program(DETAILS, f"--syscost_csv={self.csv}", "--syscost_detail=ioctl", "--syscost_backend=dispatch",
                                code=2)
        self.assertIn("backend dispatch has only --syscost_detail file", done.err)
        self.assertIn("--syscost_backend ebpf", done.err)
        self.assertFalse(os.path.exists(self.csv))

    def test_no_backend_tells_calls_of_children_apart_and_all_say_so(self):
        for backend in "auto", "ebpf", "seccomp":
            done = self.run_program(DETAILS, f"--syscost_csv={self.csv}", "--syscost_detail=ioctl", "--syscost_children",
                                    f"--syscost_backend={backend}", code=2)
            self.assertIn("--syscost_children and --syscost_detail do not work together", done.err)
            self.assertFalse(os.path.exists(self.csv))


if __name__ == "__main__":
    main(DETAILS)
