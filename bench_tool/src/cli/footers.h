// SPDX-License-Identifier: MIT
//
// What --help says below the options of each command.
#pragma once

namespace syscost::bench::cli {

inline constexpr const char* kRunHelp =
    "A CSV written by --syscost_csv, packed by gzip or not, or a folder (its *.csv and *.csv.gz, not those of "
    "sub-folders)";

inline constexpr const char* kMainFooter =
    R"(A RUN is a CSV or a folder of CSVs. If a file holds several runs, bench takes the newest.
Exit codes: 0 ok, 1 regression, 2 usage, input or I/O, 3 no verdict (with --strict).

Examples:
  my_tests --syscost_csv out.csv            write a CSV
  bench summary out.csv                     what each test asked of the kernel
  bench show out.csv Log.Write write        latency histogram of one syscall in one test
  bench log Log.Write history/              since when it makes so many calls
  bench compare main.csv pr.csv             what changed; exit code 1 when a count grew
  bench ab -- main/tests -- pr/tests        runs both in turns: counts and times
  bench baseline update r1.csv r2.csv r3.csv    a file to commit
  bench check pr.csv                        judges a run against it
`bench COMMAND --help` says more.)";

inline constexpr const char* kSummaryFooter =
    R"(The syscalls of all tests, and one line a test, the worst first. With --details, and of one test always: a table per
test with strace -c's columns, waits apart from work, failing errnos, findings.
Numbers are per repetition: the median when repetitions differ, with [min..max] for counts.

Examples:
  bench summary out.csv
  bench summary out.csv --sort kernel --top 20
  bench summary out.csv --test 'Log.*' --details
  bench summary results/                    every *.csv of the folder
  bench summary out.csv --all-runs          pool all runs of the file, not only the newest
  bench summary out.csv --format json | jq '.tests[].calls')";

inline constexpr const char* kShowFooter = R"(TEST may be a part of the name when only one test has it.
Without it the only test of RUN is shown; with --test, --sort or --top all tests that these choose, the worst first.

Examples:
  bench show out.csv Log.Write              every syscall of the test
  bench show out.csv Log.Write write        one of them
  bench show out.csv Log.Write %file,!close a class of them, with an exception
  bench show out.csv --test 'Log.*' write   the same of several tests
  bench show out.csv --sort calls --top 3   the three tests with the most calls
  bench show out.csv Log.Write write --fine full resolution: 8 rows per power of two
  bench show stamps.csv                     what the GPU stamps of each launch say
  bench show stamps.csv sum_tree --svg sum.svg      and a picture of one)";

inline constexpr const char* kCompareFooter =
    R"(Counts are exact: any growth of a syscall's calls or of a failing errno is a regression, named in the last column.
A test of OLD that is missing, failed, skipped or crashed in NEW fails the gate, too, unless --allow or --gate none.
Syscalls of class %volatile (futex, allocator, ...) and of --volatile are not gated, and alone are shown with --all only. So are calls that only
moved between the tests of a program, which makes as many as before: `moved`.
Counts that vary among repetitions regress when old and new ranges are further apart than --near-abs and --near-rel.
Times, wall and processor (cpu) each, regress when chance does not explain the difference (p < 0.05, adjusted for the
number of tests) and the whole interval of the difference is beyond --threshold. They are shown, and gated with --gate
time (both), wall, cpu or all: repetitions inside one process do not see what two processes differ by. `bench ab` does.
On a busy machine --gate counts,cpu finds more than wall time does.

Examples:
  bench compare main.csv pr.csv             changed tests only; exit code 1 on regression
  bench compare main.csv pr.csv --all       unchanged tests too
  bench compare slow.csv fast.csv --pair Log.Slow=Log.Fast
  bench compare out.csv out.csv --run 17 --run 42     two runs of one file
  bench compare main.json pr.json --gate time         plain Google Benchmark files: times alone
  bench compare main.csv pr.csv --format md >> "$GITHUB_STEP_SUMMARY")";

inline constexpr const char* kAbFooter =
    R"(bench ab [OPTIONS] -- A [ARG]... [-- B [ARG]...]

Runs A and B in turns (A B, B A, A B, ...), each run a process with a CSV of its own, and compares them as `compare`
does, counts and times; A is OLD and B is NEW. A process is one sample. It runs --rounds of each; while a test's time is
undecided it doubles them. No round begins that would not end within --budget, but for the first. Ctrl-C compares the
rounds that are whole. Without B it runs A against itself: what it reports then is the noise of this machine.
A and B are run without a shell and must be linked with syscost, or be Google Benchmarks (times alone).

Examples:
  bench ab -- build/main/tests -- build/pr/tests
  bench ab --budget 300 --keep ab/ -- main/tests --gtest_filter=Log.* -- pr/tests --gtest_filter=Log.*
  bench ab -- build/tests                   noise: what equal code differs by
  bench ab --gate time -- bare_benchmark -- linked_benchmark     what linking syscost costs: nothing)";

inline constexpr const char* kRunsFooter =
    R"(--run of the other commands takes a run_id, newest, oldest, newest~1 (the one before the newest), label:TEXT or
commit:TEXT (the newest run with this label, or with a commit that begins so).

Examples:
  bench runs history.csv
  bench summary history.csv --run newest~1
  bench compare history.csv history.csv --run label:main --run newest)";

inline constexpr const char* kLogFooter =
    R"(One line for each run that the files hold, the oldest first, and below it, marked ^, what changed there.
A step of the counts: which syscalls are called more or less often than in all runs since the step before (at most 20
of them). What varied in those is judged by its spread, as `compare` judges it; --tolerate and --volatile say more.
A step of a time: from here on it is another, by more than --threshold, and at most one in a hundred orders of the same
runs has a place as marked. It takes 8 runs and three on each side, and the times of one machine.

Examples:
  bench log Log.Write history.csv           the runs that one file holds
  bench log Log.Write nightly/              a folder of files, *.csv.gz too
  bench log Log.Write 2026-*.csv.gz --format csv      to plot it elsewhere)";

inline constexpr const char* kDoctorFooter =
    R"(Runs BINARY --syscost_doctor: which backends work on this machine, why the others do not, and the fix.

Examples:
  bench doctor build/my_tests)";

}  // namespace syscost::bench::cli
