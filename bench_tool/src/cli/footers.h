// SPDX-License-Identifier: MIT
//
// The text that --help prints below the options of each command.
#pragma once

namespace syscost::bench::cli {

inline constexpr const char* kRunHelp =
    "A CSV written by --syscost_csv, packed by gzip or not, or a folder (its *.csv and *.csv.gz; with --recursive "
    "those of the folders below, too)";

inline constexpr const char* kMainFooter =
    R"(A RUN is a CSV or a folder of CSVs. If a file holds several runs, bench takes the newest.
Exit codes: 0 ok, 1 regression, 2 usage, input or I/O, 3 no verdict (no test was judged; with --strict: not all).

Examples:
  bench run -- ./my_tests                   measure tests that are not linked with syscost
  my_tests --syscost_csv out.csv            write a CSV
  bench summary out.csv                     the syscalls of each test
  bench show out.csv Log.Write write        latency histogram of one syscall in one test
  bench trace Log.Write out.csv             its calls one by one, after a run with --syscost_trace
  bench log history/                        in which runs calls changed, and by which line
  bench scale out.csv                       how counts grow with the sizes in names of tests
  bench findings out.csv                    what costs more than it has to
  bench groups out.csv                      which tests behave alike, and what a fixture costs
  bench compare main.csv pr.csv             what changed; exit code 1 if a count grew
  bench ab -- main/tests -- pr/tests        runs both in turns: counts and times
  bench baseline update r1.csv r2.csv r3.csv    a file to commit
  bench check pr.csv                        judges a run against it
  bench report out.csv -o report.html       one HTML file to look at
  bench export out.csv --otlp URL           sends it to an OpenTelemetry collector
`bench COMMAND --help` says more.)";

inline constexpr const char* kRunFooter =
    R"(bench run [OPTIONS] -- COMMAND [ARG]...

Measures programs as they are: COMMAND needs no rebuild, and its output and exit code stay its own. If COMMAND has
tests of GoogleTest, Catch2 or doctest, or benchmarks of Google Benchmark, or is a program that starts others (a shell,
ctest, make), each test has rows as if its program were linked with syscost. Any other COMMAND is measured as a whole, with the programs that it starts, in a row of kind
`process`. --tests and --process choose between the two. Each option of a test program works, without its prefix:
--csv for --syscost_csv. The summary goes to stderr.
Exit codes: that of COMMAND; 1 if COMMAND succeeded and nothing was measured; 2 usage, or COMMAND cannot be measured.

Examples:
  bench run -- ./my_tests --gtest_filter='Wal.*'
  bench run --csv pr.csv -- ctest -j8       a whole suite, as configured
  bench run -- rsync -a src dst             any program
  bench run --process --children -- make    all programs below make, a row for each)";

inline constexpr const char* kWatchFooter =
    R"(RUN has intervals if `bench run --interval TIME` wrote it. Prints the newest interval: for each syscall its calls,
errors and time in the kernel per second, and its p99 over the last minute. Below: what was unusual in all intervals,
against the minute before each. docs/statistics.md says when a value is called unusual.
`bench run --live` prints the same while the command runs.

Examples:
  bench run --csv server.csv --interval 1s -- ./server      one row of each syscall for each second
  bench watch server.csv                                    also while the server runs
  bench run --live -- ./server >server.log                  the table is on the terminal, and changes)";

inline constexpr const char* kSummaryFooter =
    R"(Prints the syscalls of all tests, and one line for each test, the worst first. With --details, and if you select one
test: a table per test with the columns of strace -c, waits apart from work, errnos of failed calls, findings.
Numbers are per repetition: the median if repetitions differ, with [min..max] for counts.

Examples:
  bench summary out.csv
  bench summary out.csv --sort kernel --top 20
  bench summary out.csv --test 'Log.*' --details
  bench summary out.csv --where             which lines make the calls
  bench summary results/                    every *.csv of the folder
  bench summary out.csv --all-runs          pool all runs of the file, not only the newest
  bench summary out.csv --format json | jq '.tests[].calls')";

inline constexpr const char* kShowFooter = R"(TEST may be a part of the name if only one test has it.
Without TEST, show prints the only test of RUN; with --test, --sort or --top all tests that they select, the worst first.

Examples:
  bench show out.csv Log.Write              every syscall of the test
  bench show out.csv Log.Write write        one of them
  bench show out.csv Log.Write %file,!close a class of them, with an exception
  bench show out.csv --test 'Log.*' write   the same of several tests
  bench show out.csv --sort calls --top 3   the three tests with the most calls
  bench show out.csv Log.Write --where      the lines of the program that make its calls
  bench show out.csv Log.Write write --fine full resolution: 8 rows per power of two
  bench show stamps.csv                     what the GPU stamps of each launch say
  bench show stamps.csv sum_tree --svg sum.svg      and a picture of one
  bench show stacks.folded --svg flame.svg  a flame graph of call stacks)";

inline constexpr const char* kCompareFooter =
    R"(If one thread makes the calls of a test, its counts are exact: more calls of a family (the ways to write, to look for
a file, ...), more failures of a family with an errno, and other syncs are a regression. If calls take the place of
others of their family, the test is `exchanged`, which is green. If several threads make calls, or if counts vary, a
difference is `in doubt`: the last column says how many runs of each side decide it. With --strict, such a test ends
with exit code 3; without, it is green.
A test of OLD that is missing, failed, skipped or crashed in NEW fails the gate, unless you give --allow or --gate none.
Not gated: futex, syscalls of --volatile and, if several threads make calls, those of class %volatile (allocator, ...).
Tests in which only these changed are shown with --all only.
A time, wall or processor (cpu), regresses if chance does not explain the difference (p < 0.05, adjusted for the number
of tests) and the whole interval of the difference is beyond --threshold. Times are always shown, and gated with --gate
time (both), wall, cpu or all. Repetitions inside one process do not show how much two processes differ; `bench ab`
does. On a busy machine --gate counts,cpu finds more than wall time does.
A change of counts that is intended is accepted by a line in a commit message (--accept-from):
  Syscost-Accept: Log.Reads: +1 openat -- each file is opened twice now
WHAT after the test is what compare prints, or fewer syncs, leaks, write, ENOENT, ...; without it any change of the test's counts.
The same may stand in syscost.toml, as [[accept]] with test, what and reason. Else all stays as it is, also in the same test.

Examples:
  bench compare main.csv pr.csv             changed tests only; exit code 1 on regression
  bench compare main.csv pr.csv --all       unchanged tests too
  bench compare slow.csv fast.csv --pair Log.Slow=Log.Fast
  bench compare out.csv out.csv --run 17 --run 42     two runs of one file
  git log --format=%B main..HEAD | bench compare main.csv pr.csv --accept-from -
  bench compare main.json pr.json --gate time         plain Google Benchmark files: times alone
  bench compare main.csv pr.csv --format md >> "$GITHUB_STEP_SUMMARY")";

inline constexpr const char* kAbFooter =
    R"(bench ab [OPTIONS] -- A [ARG]... [-- B [ARG]...]

Runs A and B in turns (A B, B A, A B, ...). Each run is a process with its own CSV, and a process is one sample. Compares
counts and times as `compare` does; A is OLD and B is NEW. Runs --rounds of each, and doubles the rounds while a time is
undecided. Starts no round that would end after --budget, except for the first. Ctrl-C compares the complete rounds.
Without B, runs A against itself and reports the noise of this machine. Uses no shell. A and B must be linked with
syscost, or be Google Benchmarks (times only).

Examples:
  bench ab -- build/main/tests -- build/pr/tests
  bench ab --budget 300 --keep ab/ -- main/tests --gtest_filter=Log.* -- pr/tests --gtest_filter=Log.*
  bench ab -- build/tests                   noise: how much equal code differs
  bench ab --gate time -- bare_benchmark -- linked_benchmark     what linking syscost costs: nothing)";

inline constexpr const char* kRunsFooter =
    R"(--run of the other commands takes a run_id, newest, oldest, newest~1 (the one before the newest), label:TEXT or
commit:TEXT (the newest run with this label, or with a commit that begins with TEXT).

Examples:
  bench runs history.csv
  bench summary history.csv --run newest~1
  bench compare history.csv history.csv --run label:main --run newest)";

inline constexpr const char* kLogFooter =
    R"(Without TEST: a line for each cause that entered or left, the newest first. Each run is compared with the one before, as
`compare` does. A cause entered in the first run that has it: a line of the program, or the same change in several
tests. It left where the calls are no longer made. Counts in doubt are named at the end.

With TEST: a line for each run, the oldest first. A line that begins with ^ shows what changed in the run above.
Counts: the syscalls that are called more or less often than in all runs since the previous step, at most 20 of them.
Counts that varied in those runs are judged by their spread, as in `compare`; see --tolerate and --volatile.
Times: from this run on the time differs by more than --threshold, and at most one in a hundred random orders of the
same runs has such a step. This needs 11 runs, three on each side, and times of one machine.

Examples:
  bench log nightly/                        which changes entered and left
  bench log Log.Write history.csv           one test, in the runs of one file
  bench log Log.Write nightly/              a folder of files, *.csv.gz too
  bench log Log.Write 2026-*.csv.gz --format csv      to plot it elsewhere)";

inline constexpr const char* kFindingsFooter =
    R"(Each rule looks for one thing: many small writes, a file that is opened again and again, sleeping, busy polling.
--rules says when each one has a finding, which is a fault that the data proves, or a note, which is a cost that may be
on purpose (--notes). Some rules need the order of calls, and paths: run the tests with
--syscost_trace. A rule that lacks data is named, with what it needs. With --syscost_where findings have a line.
Exit codes: 0, also with findings; 1 with --fail-on; 2 usage, input or I/O.

Examples:
  bench findings out.csv                    all tests of the newest run
  bench findings out.csv Log.Write          one of them
  bench findings out.csv --ignore sleep-in-test --fail-on any
  bench findings out.csv --format sarif     for code scanning)";

inline constexpr const char* kScaleFooter =
    R"(Tests are of one family if only numbers in their names differ: BM_Copy/64 and BM_Copy/128, BM_Copy/bytes:64,
Sizes/Copy.Works/4096. For each count of a family prints the formula that reproduces every one of its numbers:
`14`, `2n + 3`, `ceil(n/4096)`, `3*floor(log2(n)) + 1`, `n*m`; else `no law` and the numbers that break the best candidate.
With `b in 4090..4100`, each of these block sizes does. `n/a` if the sizes are too few to show a law.
Times: the best of O(1), O(log n), O(n), O(n log n), O(n^2) and O(n^3), and the part that does not grow.

Examples:
  bench scale out.csv                       every family of the newest run
  bench scale out.csv --test 'BM_Copy/*'    one of them
  bench scale history.csv --label           one test, in runs with labels size=64, size=128, ...
  bench compare main.csv pr.csv             also names laws that changed)";

inline constexpr const char* kGroupsFooter =
    R"(Two tests behave alike if they make the same syscalls about as often. Waits, memory and calls that vary do not count,
because other tests and chance decide about them. The number of groups is the one with the best silhouette; it must be
better than that of data without groups, else all tests are one group. The tests of a fixture share the calls that each
of them makes. docs/groups.md has the definitions.

Examples:
  bench groups out.csv                      kinds of tests, and the fixtures that make the most calls
  bench groups out.csv --all                every test of each group
  bench groups out.csv --format csv         a line for each test)";

inline constexpr const char* kDoctorFooter =
    R"(Shows which backends work on this machine, why the others do not, and the fix: as the installed syscost finds it, or,
with BINARY, as that program does (BINARY --syscost_doctor).

Examples:
  bench doctor
  bench doctor build/my_tests)";

}  // namespace syscost::bench::cli
