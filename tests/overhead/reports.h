// SPDX-License-Identifier: MIT
//
// The sections of the report. Each prints its lines, and throws std::runtime_error if a program that it needs fails.
#pragma once

namespace overhead {

/// The table of instruments: the time that each adds to one call, in ns. Then the limits of the eBPF backend and of
/// dispatch.
void report_calls(int rounds);

/// The time that --syscost_sched adds to a change of threads, in ns, and as a ratio to an empty program.
void report_switches(int rounds);

/// Boundary, read and rows of one window, in microseconds.
void report_windows(int rounds);

/// The cost of a call in one of many measured processes, against one that is alone, and the time to open the backend.
void report_many(int rounds);

/// The cost of syscost::loop for a call of its body, and once for each loop.
void report_loops();

/// 10 000 empty tests, linked with us against not linked, no flag given: the difference and its interval.
void report_empty_tests(int rounds);

/// The fixed CPU time of a measured program, for each backend, against the same program not linked. The last report: it
/// leaves the network namespace and adopts orphans.
void report_start_up(int rounds);

/// The cost of bpftrace's scripts and of perf for a call while their window is open, and once for each window.
void report_profiles(int rounds);

/// The cost for one call of a command that is counted as a whole from outside: by `bench run`, strace, perf trace,
/// bpftrace.
void report_commands(int rounds);

/// A Google Benchmark linked with us against the same not linked: without a flag, and with counts asked for.
void report_benchmarks(int rounds);

}  // namespace overhead
