# SPDX-License-Identifier: MIT
"""The runner of documents must be able to fail: each way in which a page can be wrong is a page here."""
import io
import os
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import document  # noqa: E402
import normalise  # noqa: E402

loader = SourceFileLoader("run_document", str(HERE / "run_document"))
runner = module_from_spec(spec_from_loader("run_document", loader))
loader.exec_module(runner)


class PageTest(unittest.TestCase):
    """A repository with one page and one program."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name) / "source"
        (self.source / "build" / "x" / "bin").mkdir(parents=True)
        program = self.source / "build" / "x" / "bin" / "count"
        program.write_text("#!/bin/sh\necho '[ SYSCOST  ] 1024 write, 131 us in the kernel, 94 % of wall'\nexit ${1:-0}\n",
                           encoding="ascii")
        program.chmod(0o755)
        self.can_count(True)

    def can_count(self, can):
        before = runner.why_not_counting
        self.addCleanup(setattr, runner, "why_not_counting", before)
        runner.why_not_counting = lambda: None if can else "no capability"

    def run_page(self, text, *options):
        page = self.source / "page.md"
        page.write_text(text, encoding="utf-8")
        output = io.StringIO()
        arguments = sys.argv
        sys.argv = ["run_document", "--source", str(self.source), "--build", str(self.source / "build" / "x"), *options,
                    str(page)]
        try:
            with redirect_stdout(output), redirect_stderr(output):
                code = runner.main()
        finally:
            sys.argv = arguments
        return code, output.getvalue(), page.read_text(encoding="utf-8")

    def passes(self, text):
        code, output, _ = self.run_page(text)
        self.assertEqual(code, 0, output)
        return output

    def fails(self, text, message):
        code, output, _ = self.run_page(text)
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def test_true_page_passes_whatever_the_speed(self):
        self.passes("```console\n$ build/release/bin/count\n[ SYSCOST  ] 1024 write, 2.07 ms in the kernel, 3 % of wall\n```\n")

    def test_wrong_count_fails(self):
        self.fails("```console\n$ count\n[ SYSCOST  ] 1025 write, 131 us in the kernel, 94 % of wall\n```\n", "something else")

    def test_missing_output_line_fails(self):
        self.fails("```console\n$ count\n```\n", "something else")

    def test_output_that_no_longer_comes_fails(self):
        self.fails("```console\n$ true\ngone\n```\n", "something else")

    def test_dots_stand_for_any_lines_but_not_for_a_wrong_one(self):
        self.passes("```console\n$ seq 9\n1\n...\n5\n...\n9\n```\n")
        self.passes("```console\n$ seq 2\n...\n1\n2\n...\n```\n")
        self.fails("```console\n$ seq 9\n1\n...\n5\n...\n8\n```\n", "something else")
        self.fails("```console\n$ seq 9\n...\n10\n...\n```\n", "something else")

    def test_undocumented_exit_code_fails(self):
        line = "[ SYSCOST  ] 1024 write, 131 us in the kernel, 94 % of wall"
        self.fails(f"```console\n$ count 1\n{line}\n```\n", "exit code 1, documented is 0")
        self.passes(f"<!-- exit: 1 -->\n```console\n$ count 1\n{line}\n```\n")
        self.fails(f"<!-- exit: 2 -->\n```console\n$ count 1\n{line}\n```\n", "exit code 1, documented is 2")
        self.fails(f"<!-- exit: 1 -->\n```console\n$ count\n{line}\n```\n", "exit code 0, documented is 1")

    def test_exit_code_shown_by_echo_is_compared(self):
        self.passes("```console\n$ exit 3\n$ echo $?\n3\n```\n")
        self.fails("```console\n$ exit 3\n$ echo $?\n1\n```\n", "something else")
        self.fails("```console\n$ exit 3\n$ true\n```\n", "exit code 3, documented is 0")

    def test_commands_that_nothing_would_run_are_faults(self):
        for text in ("```bash\nmake\n```\n", "```\n$ make\n```\n", "```text\n$ make\n```\n", "Do\n\n    ./make it\n",
                     "Do\n\n    SYSCOST_CSV=x ctest\n", "```console\nmake\n```\n", "```console\n```\n"):
            self.fails(text, "line ")

    def test_code_that_nothing_would_compile_is_a_fault(self):
        self.fails("```cpp\nint x;\n```\n", "what compiles this")
        self.assertIn("not compiled: page.md:2", self.passes("<!-- fragment -->\n```cpp\nint x;\n```\n"))

    def test_block_without_end_and_unknown_directive_are_faults(self):
        self.fails("```console\n$ true\n", "no end")
        self.fails("<!-- exit-code: 1 -->\n```console\n$ true\n```\n", "no directive 'exit-code'")
        self.fails("<!-- exit: one -->\n```console\n$ true\n```\n", "wants a number")
        self.fails("<!-- exit: 1 -->\n\ntext\n", "belongs to no block")
        self.fails("<!-- mask: ( -->\n```console\n$ true\n```\n", "no regular expression")

    def test_commands_that_are_not_run_are_listed(self):
        output = self.passes("```sh\n# with root:\nsudo setcap cap_bpf+ep x\n```\n")
        self.assertIn("not run: page.md: sudo setcap cap_bpf+ep x", output)
        self.assertNotIn("with root", output)

    def test_without_privilege_counting_blocks_are_skipped_and_the_page_is_not_passed(self):
        self.can_count(False)
        code, output, _ = self.run_page("```console\n$ false\n```\n<!-- needs: nothing -->\n```console\n$ echo 1\n1\n```\n")
        self.assertEqual(code, runner.SKIPPED, output)
        self.assertIn("SKIPPED page.md:1: no capability", output)
        self.assertIn("1 commands run", output)
        self.fails("```console\n$ false\n```\n<!-- needs: nothing -->\n```console\n$ echo 1\n2\n```\n", "something else")

    def test_blocks_for_bpftrace_are_skipped_where_it_cannot_run_and_the_others_are_not(self):
        self.can_count(True)
        before = runner.why_no_bpftrace
        self.addCleanup(setattr, runner, "why_no_bpftrace", before)
        page = "<!-- needs: bpftrace -->\n```console\n$ false\n```\n```console\n$ echo 1\n1\n```\n"
        runner.why_no_bpftrace = lambda: "no bpftrace"
        code, output, _ = self.run_page(page)
        self.assertEqual(code, runner.SKIPPED, output)
        self.assertIn("SKIPPED page.md:2: no bpftrace", output)
        self.assertIn("1 commands run", output)
        runner.why_no_bpftrace = lambda: None
        self.fails(page, "exit code 1, documented is 0")

    def test_what_only_dispatch_can_do_is_skipped_where_it_cannot_work_and_the_rest_is_not(self):
        self.addCleanup(setattr, runner, "why_no_dispatch", runner.why_no_dispatch)
        self.addCleanup(setattr, runner, "NEED_DISPATCH", runner.NEED_DISPATCH)
        runner.NEED_DISPATCH = {"page.md": "false|cp"}
        page = "```console\n$ true\n$ false\n```\n<!-- run: cp none more -->\n<!-- needs: nothing -->\n```console\n$ echo 1\n1\n```\n"
        runner.why_no_dispatch = lambda: "no instructions"
        code, output, _ = self.run_page(page)
        self.assertEqual(code, runner.SKIPPED, output)
        self.assertIn("SKIPPED page.md:1: no instructions", output)
        self.assertIn("SKIPPED page.md:5: no instructions", output)
        self.assertIn("1 commands run", output)
        runner.why_no_dispatch = lambda: None
        self.fails(page, "exit code 1, documented is 0")
        self.fails("```console\n$ echo 1\n1\n```\n", "NEED_DISPATCH of run_document looks for false|cp")

    def test_hidden_command_is_skipped_only_where_it_says_that_it_counts(self):
        self.can_count(False)
        self.fails("<!-- run: false -->\n", "hidden command ended with 1")
        code, output, _ = self.run_page("<!-- needs: counting -->\n<!-- run: false -->\n<!-- run: true -->\n")
        self.assertEqual(code, runner.SKIPPED, output)

    def test_hidden_command_is_skipped_with_the_block_above_it(self):
        self.can_count(False)
        page = "```console\n$ true\n```\n<!-- run: false -->\n"
        code, output, _ = self.run_page(page)
        self.assertEqual(code, runner.SKIPPED, output)
        self.assertIn("SKIPPED page.md:4: no capability", output)
        self.fails("<!-- needs: nothing -->\n" + page, "hidden command ended with 1")
        self.fails(page.replace("<!--", "<!-- needs: nothing -->\n<!--"), "hidden command ended with 1")
        self.can_count(True)
        self.fails(page, "hidden command ended with 1")

    def test_written_files_and_hidden_commands_serve_later_ones(self):
        self.passes("<!-- file: a/b.cpp -->\n```cpp\nint x;\n```\n<!-- run: grep -q x a/b.cpp -->\n"
                    "```console\n$ cat a/b.cpp\nint x;\n```\n")
        self.fails("<!-- run: grep -q y page.md.gone -->\n", "hidden command ended with 2")

    def test_continued_command_is_one_command(self):
        self.passes("```console\n$ echo a \\\n>   b\na b\n```\n")

    def test_mask_hides_what_it_says_and_no_more(self):
        self.passes("<!-- mask: \\d+ futex -->\n```console\n$ echo 3 futex 4 read\n1 futex 4 read\n```\n")
        self.fails("<!-- mask: \\d+ futex -->\n```console\n$ echo 3 futex 4 read\n1 futex 5 read\n```\n", "something else")
        self.passes("<!-- mask: ^.*futex.*$ -->\n```console\n$ echo 4 read\n1 futex\n4 read\n```\n")

    def test_update_writes_the_truth_and_keeps_the_dots(self):
        code, output, text = self.run_page("a\n```console\n$ seq 3\n1\n2\n$ seq 9\n1\n...\n5\n6\n...\n$ seq 2\n...\n4\n```\nz\n", "--update")
        self.assertEqual(code, 0, output)
        self.assertEqual(text, "a\n```console\n$ seq 3\n1\n2\n3\n$ seq 9\n1\n...\n5\n6\n...\n$ seq 2\n1\n2\n```\nz\n")
        self.assertIn("renewed: seq 3", output)

    def test_update_leaves_a_page_alone_that_is_true_but_for_times(self):
        text = "```console\n$ echo 3 calls, 5 us\n3 calls, 7 us\n```\n"
        self.assertEqual(self.run_page(text, "--update")[::2], (0, text))
        stale = text + "```console\n$ echo 4 calls\n5 calls\n```\n"
        self.assertIn("3 calls, 5 us\n```", self.run_page(stale, "--update")[2])

    def test_a_page_that_is_not_true_names_the_command_that_renews_it(self):
        self.assertRegex(self.run_page("```console\n$ seq 1\n2\n```\n")[1], r"\./dev update \S+\.md")

    def test_update_leaves_a_page_alone_if_its_commands_fail(self):
        text = "```console\n$ seq 3\n$ false\n```\n"
        code, _, after = self.run_page(text, "--update")
        self.assertEqual((code, after), (1, text))

    def test_the_shell_is_not_ours(self):
        os.environ["SYSCOST_CSV"] = "/nowhere"
        self.addCleanup(os.environ.pop, "SYSCOST_CSV")
        self.passes("```console\n$ echo \"[$SYSCOST_CSV]\"; pwd\n[]\n/home/you/syscost\n```\n")


class NormaliseTest(unittest.TestCase):
    def same(self, left, right):
        text = lambda lines: [line.text for line in normalise.normalise(lines.splitlines(), [])]  # noqa: E731
        return text(left) == text(right)

    def test_speed_is_hidden_and_counts_are_not(self):
        for left, right in [("(373 ms)", "(1.2 s)"), ("18 % of wall", "2.4 % of wall"), ("run a-1-2", "run b-3-4"),
                            ("1.0 us -> 2.0 us, 2.0x slower", "1.0 us -> 1.0 us"), ("1 read, 2 us waiting", "1 read"),
                            ("p50 116 ns  p75 1.20 us", "p50 96 ns p75 88 ns"),
                            ("run a-1-2 of x.csv, 2026-11-21T03:21:09.855Z, vm, 6.18, 392a40f, optimised, backend ebpf",
                             "run b-3-4 of x.csv, 2025-01-01T00:00:00.000Z, host, 6.1, unoptimised, backend ebpf"),
                            ("9 us a call [1 us, 2 us], 10 passes of 31 calls: stable",
                             "8 us a call [3 us, 7 us], 10 passes of 42 calls: UNSTABLE, 39 % apart"),
                            ("2 us a call [1 us, 2 us], 3 passes of 1 call: stable", "2 us a call [1 us, 2 us], 3 passes of 52 calls: stable"),
                            ("wall 1 us a call [1 us..2.5 us]  n=3 of 1 call", "wall 3 us a call [2 ns..3 s]  n=3 of 8 calls"),
                            ("wall 1 us a call [1 us..2.5 us]  n=3 of 15 calls", "wall 3 us a call [2 ns..3 s]  n=3 of 8 calls"),
                            ("1 us -> 2 us, 2.0x slower [1.9x..2.1x] (+-1.2 % -> +-10 %, n=10, p<0.0001, regressed)",
                             "1 us -> 2 us, 90 % slower [+85.1..+95.0 %] (+-1.0 % -> +-2.3 %, n=10, p=0.0003, regressed)"),
                            ("+89.7 us  -2.3 ns", "-1.0 us  0 ns"),
                            ("ebpf (131 ns added per call while counting), run a-1-2",
                             "ebpf (what counting adds to a call is not measurable: the machine is busy), run b-3-4"),
                            ("wall: taken under ebpf; measuring added about 0.4 % of OLD's and 12 % of NEW's (estimated)",
                             "wall: taken under ebpf; what measuring added was not estimated for all of it"),
                            ("506 of 526 call sites of libc patched, the rest trapped: 20 without room",
                             "423 of 423 call sites of libc patched"),
                            ("OLD  a.csv: run 1-2, label x, 2026-11-21T03:21:09Z", "OLD  a.csv: run 3-4, commit 5, 2025-01-01T00:00:00Z"),
                            ("x  wall 1 s (about 3 ms of it added by measuring)", "x wall 2 s")]:
            self.assertTrue(self.same(left, right), f"{left} / {right}")
        for left, right in [("1024 write", "1023 write"), ("(n=10, p=0.02, same)", "(n=9, p=0.02, same)"),
                            ("(n=10, p=0.02, same)", "(n=10, p=0.02, regressed)"), ("5 [4..6]", "5 [4..7]"), ("n=3 of 15 calls", "n=4 of 15 calls"),
                            ("10 passes of 31 calls: stable", "3 passes of 31 calls: stable"), ("1024 -> 1", "1024 -> 2"), ("2 ENOENT", "3 ENOENT"),
                            ("0.5 -> 1", "0.25 -> 1"), ("2 regressed", "1 regressed"), ("64 of 64", "63 of 64"),
                            ("iterations 500", "iterations 1"), ("-1023 write", "+1023 write"), ("faster", "slower"),
                            ("OLD  a.csv: run 1-2", "OLD  b.csv: run 1-2"), ("OLD  a.csv: run 1-2", "NEW  a.csv: run 1-2"),
                            ("run a of x.csv, 2026-11-21T03:21:09.855Z, vm, backend ebpf",
                             "run a of y.csv, 2026-11-21T03:21:09.855Z, vm, backend ebpf"),
                            ("run a of x.csv, 2026-11-21T03:21:09.855Z, vm, backend ebpf",
                             "run a of x.csv, 2026-11-21T03:21:09.855Z, vm, backend none")]:
            self.assertFalse(self.same(left, right), f"{left} / {right}")

    def test_table_rows_match_in_any_order_and_keep_their_counts(self):
        head = "  % of work  % of wall   seconds  usecs/call  calls  calls/s  errors  syscall  errnos\n"
        one = "       45.2        1.1  0.000038       2.360     16     4536          read\n"
        two = "       34.4        0.8  0.000029       9.591      3      850       2  openat   2 ENOENT\n"
        fast = "       99.0        9.9  0.000001       0.100     16   999999          read\n"
        self.assertTrue(self.same(head + one + two, head + two + fast))
        self.assertFalse(self.same(head + one + two, head + two + fast.replace(" 16 ", " 17 ")))
        self.assertFalse(self.same(head + one + two, head + one + two.replace(" 2  openat", " 3  openat")))
        self.assertFalse(self.same(head + one + two, head + one))

    def test_tables_of_loops_match_too(self):
        head = "    % of work  kernel a call     each  calls a call  calls/s  errors  syscall  errnos\n"
        one = "         99.5        40.0 us  40.0 us             1    78431          fsync\n"
        two = "          0.5         220 ns   110 ns             2   156863          write\n"
        self.assertTrue(self.same(head + one + two, head + two + one.replace("78431", "   31").replace("40.0", "50.0")))
        self.assertTrue(self.same(head + one + two, head + two.replace("110 ns", "9.5 ns") + one))
        self.assertFalse(self.same(head + one + two, head + two + one.replace("   1  ", "   3  ")))

    def test_rates_below_100_have_a_point(self):
        head = "  % of work  % of wall   seconds  usecs/call  calls  calls/s  errors  syscall  errnos\n"
        row = "       26.3        0.7  0.000094      94.355      1     {}          mkdir\n"
        self.assertTrue(self.same(head + row.format("   8"), head + row.format("72.7")))

    def test_histogram_bars_are_one_thing(self):
        bars = "[64, 128)            365636 |@@@@  |\n[128, 256)           144138 |@@    |\n"
        self.assertTrue(self.same("a\n" + bars + "b", "a\n[1K, 2K)    1 |@     |\nb"))
        self.assertFalse(self.same("a\n" + bars + "b", "a\nb"))


class ParseTest(unittest.TestCase):
    def test_outputs_know_their_place_in_the_page(self):
        block = document.parse("a\n\n```console\n$ x\n1\n2\n$ y\n3\n```\n")[0]
        self.assertEqual([(c.line, c.first, c.last) for c in block.commands], [(4, 4, 6), (7, 7, 8)])


if __name__ == "__main__":
    unittest.main()
