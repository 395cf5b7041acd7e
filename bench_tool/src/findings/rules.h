// SPDX-License-Identifier: MIT
//
// Rules: what bench looks for in a window, what data that needs, and what to do about it; and the functions that look.
//
// The table of rules is the one place that says what a rule is: `bench findings --rules` prints it, and a test holds
// docs/findings.md against it. Each function is in the file of its area: file_rules.cc, io_rules.cc, ...
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "findings/traced_window.h"
#include "findings/window_calls.h"

namespace syscost::bench::findings {

/// The data that a rule reads.
enum class Needs {
  counts,    ///< How often each syscall was called; every backend has it.
  results,   ///< Errors, too; seccomp sees none.
  bytes,     ///< And bytes; seccomp has none.
  times,     ///< Counts and kernel time; seccomp has none.
  trace,     ///< The calls in order: --syscost_trace.
  children,  ///< Rows of child processes: --syscost_children.
  gpu,       ///< Times of GPU kernels and copies: --syscost_profile cupti.
  requests,  ///< Names of ioctl requests: --syscost_detail ioctl.
};

/// `bytes of calls`: what docs/findings.md and --rules say of it.
std::string_view text_of(Needs needs);

/// The case that a rule saw in a window.
struct Hit {
  std::string syscall;
  std::string site;
  std::string evidence;
  double cost_ns = 0;
  bool is_note = false;
  bool counts_at_any_cost = false;  ///< It is a finding even if its calls cost next to nothing.
};

/// A test, or another window, with those of the windows beside it that say more of it.
struct TestWindows {
  const WindowCalls* own = nullptr;                  ///< Null if there are only figures of a GPU.
  std::vector<const WindowCalls*> children = {};     ///< Kind `process`.
  std::vector<const WindowCalls*> gpu_figures = {};  ///< Kind `gpu_kernel`.
};

struct Rule {
  std::string_view name;   ///< `tiny-writes`
  std::string_view title;  ///< `many small writes`
  Needs needs = Needs::counts;
  std::string_view definition;  ///< When it fires, with its thresholds.
  std::string_view in_a_trace =
      {};                      ///< When it fires in a window that has a trace; empty: the trace makes no difference.
  std::string_view note = {};  ///< When there is a note instead of a finding; empty: never.
  std::string_view remedy;
  bool is_general = false;  ///< Silent about a syscall that this window has a finding of; a note also after a note
                            ///< that costs half as much or more.
  // How it looks; a rule has at least one of these.
  std::vector<Hit> (*in_counts)(const WindowCalls&) = nullptr;
  std::vector<Hit> (*in_trace)(const TracedWindow&) = nullptr;  ///< In the place of in_counts, if there is a trace.
  std::vector<Hit> (*in_test)(const TestWindows&) = nullptr;
};

/// All rules, in the order of docs/findings.md.
std::span<const Rule> rules();
/// Null if there is none of this name.
const Rule* rule_of(std::string_view name);

// Rules about calls of any kind. They say less than others, so they are silent about a syscall that another rule names,
// unless that is a note that costs less than half.

std::vector<Hit> failing_calls(const WindowCalls& window);
std::vector<Hit> failing_calls_in_order(const TracedWindow& window);
std::vector<Hit> many_calls(const WindowCalls& window);
std::vector<Hit> many_calls_in_order(const TracedWindow& window);

// Rules about a GPU: what its driver's calls and its kernels' times say.

std::vector<Hit> gpu_transfers(const TestWindows& test);
std::vector<Hit> gpu_allocations(const TestWindows& test);

// Rules about reading, writing, and connections.

std::vector<Hit> tiny_writes(const WindowCalls& window);
std::vector<Hit> tiny_writes_in_order(const TracedWindow& window);
std::vector<Hit> tiny_reads(const WindowCalls& window);
std::vector<Hit> tiny_reads_in_order(const TracedWindow& window);
std::vector<Hit> seek_then_read(const TracedWindow& window);
std::vector<Hit> connection_per_message(const TracedWindow& window);

// The rule about looking for what is not there: one path again and again, or a name through many folders.

std::vector<Hit> missing_paths(const WindowCalls& window);
std::vector<Hit> missing_paths_in_order(const TracedWindow& window);

// Rules about memory, and about processes that copy it.

std::vector<Hit> allocator_churn(const WindowCalls& window);
std::vector<Hit> allocator_churn_in_order(const TracedWindow& window);
std::vector<Hit> fork_without_exec(const TestWindows& test);

// Rules about paths: looking for files, and opening them.

std::vector<Hit> open_to_probe(const TracedWindow& window);
std::vector<Hit> reopened_file(const TracedWindow& window);

// The rule about bytes of a file that are read again and again.

std::vector<Hit> read_amplification(const TracedWindow& window);

// Rules about sleeping: for an event that could wake the thread, and again and again for a short time.

std::vector<Hit> sleep_in_test(const WindowCalls& window);
std::vector<Hit> sleep_in_test_in_order(const TracedWindow& window);
std::vector<Hit> short_timeouts(const WindowCalls& window);
std::vector<Hit> short_timeouts_in_order(const TracedWindow& window);

// The rule about syncing files more often than their changes need.

std::vector<Hit> fsync_storm(const WindowCalls& window);
std::vector<Hit> fsync_storm_in_order(const TracedWindow& window);

// Rules about waiting: too eagerly, for a fixed time, or for a lock.

std::vector<Hit> busy_polling(const WindowCalls& window);
std::vector<Hit> busy_polling_in_order(const TracedWindow& window);
std::vector<Hit> lock_convoy(const TracedWindow& window);

}  // namespace syscost::bench::findings
