// SPDX-License-Identifier: MIT
//
// For adapters of harnesses that time a body over and over: a second process counts.
//
// Counting must not disturb a timing, and an attached backend costs something even when it counts nothing. So the
// program runs twice. First it runs as the *counting process*: the same program with the same arguments; its times are
// thrown away. Then it runs itself, without a backend. The counting process sends its counts as lines of
// text. plugin/src/adapters/benchmark uses all of this; framework-free programs need none of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syscost/adapter.h"
#include "syscost/cost.h"
#include "syscost/export.h"

namespace syscost::adapter {

/// Like take_options(), for a command line that the user's own main reads too: takes out only `--syscost_*`. If one of
/// them is bad, prints a message and ends the program with 2.
SYSCOST_EXPORT void take_prefixed_options(int* argc, char** argv);

/// The command line this program was started with.
SYSCOST_EXPORT std::vector<std::string> started_with();

/// The value of --syscost_cycles, or else `fallback`.
SYSCOST_EXPORT std::uint64_t wanted_cycles(std::uint64_t fallback);

/// State that the copies of an adapter in a program and in its shared libraries share.
struct SharedAdapterState {
  std::atomic<const void*> observer{nullptr};  ///< The adapter's own: it hears of loops, in a counting process.
  std::atomic<bool> is_main_seen{false};       ///< The framework was started through the adapter.
  /// Why the framework was started without the adapter; null if it was not started. Such a program ends with 2.
  std::atomic<const Unavailable* (*)()> why_main_is_unseen{nullptr};
};
/// The state of the process. After the first call of this function, a program that requested something but ran to its
/// end without the adapter says so.
SYSCOST_EXPORT SharedAdapterState& shared_adapter_state();

// ---- in the counting process ----------------------------------------------------------------------------------------

/// True in a process that run_counting_process() started; false in processes that it forks or executes.
SYSCOST_EXPORT bool is_counting_process();
/// The `request` that run_counting_process() got.
SYSCOST_EXPORT std::string counting_request();

struct CountingStart {
  std::string backend;  ///< Column `backend`.
  std::string note;     ///< For people: what counting adds to a call. May be empty.
  std::optional<Unavailable> why_not;
};
/// Opens the backend. In a counting process syscost prints and writes nothing; syscost::Scope counts.
SYSCOST_EXPORT CountingStart start_counting(const Framework& framework);

// Tools beside a counting process (--syscost_profile bpftrace): they observe a pass of their own. Only arm_tools() and
// disarm_tools() are thread-safe.

/// True when tools are requested. In either process.
SYSCOST_EXPORT bool wants_tools();
/// In place of start_counting(), if tools will observe: opens and tries them; `why_not` says why they do not work.
/// Opens the backend as well; if no backend works, nothing is compared.
SYSCOST_EXPORT CountingStart start_tracing(const Framework& framework);
/// Starts the tools; takes long. If that fails, detach_tools() reports it.
SYSCOST_EXPORT bool attach_tools();
/// The tools' counting begins and ends here. No syscall.
SYSCOST_EXPORT void arm_tools() noexcept;
SYSCOST_EXPORT void disarm_tools() noexcept;
/// Stops the tools, writes their files, and compares with `counted`, which this process counted while they were armed
/// (null: it did not). Returns a text for write_traced(), on one line and without tabs.
SYSCOST_EXPORT std::string detach_tools(std::string_view benchmark, const Cost* counted);

/// Sends one line; control characters except tabs become spaces. Inert in fork children.
SYSCOST_EXPORT void send_line(std::string_view line);
/// Sends that everything was sent, and ends the process at once, without static destructors: the other process runs the
/// rest of main().
[[noreturn]] SYSCOST_EXPORT void end_counting();

/// A cost as one line of text without tabs, and back. Any other text gives an unavailable cost.
SYSCOST_EXPORT std::string to_text(const Cost& cost);
SYSCOST_EXPORT Cost cost_from_text(std::string_view text);
/// All of `parts` together; the reason of the first that is not available.
SYSCOST_EXPORT Cost sum(const std::vector<Cost>& parts);

// ---- in the process that times --------------------------------------------------------------------------------------

struct CountingEnd {
  bool is_whole = false;  ///< end_counting() was reached.
  std::string how;        ///< Otherwise: "was killed by SIGSEGV", "ended with exit code 3", ... Fits before "in it".
  std::string errors;     ///< The end of what it wrote to stderr, each line after two blanks, as a message shows it.
  /// It ended without its exit handlers: by _exit(), or as another program.
  bool is_silent = false;
};
/// Runs this program again as a counting process and hands on every line it sends. Its stdin and stdout are /dev/null.
/// `on_wait` is called now and then, with the seconds since the last line. Returns when it has ended.
SYSCOST_EXPORT CountingEnd run_counting_process(const std::string& request,
                                                const std::function<void(std::string_view)>& on_line,
                                                const std::function<void(int seconds)>& on_wait);

/// Opens the requested CSV, without a backend. Handles --syscost_help and --syscost_doctor (print, exit). If it cannot
/// do what was requested: message, exit(2). May be called again.
SYSCOST_EXPORT void start_timing_or_exit(const Framework& framework);
/// False with --syscost_backend none.
SYSCOST_EXPORT bool wants_counts();
/// Sets the process that counted, for every row; prints the header line. With `why_not` it ends the program with 2.
SYSCOST_EXPORT void set_counted_by_or_exit(const CountingStart& counted_by, const Framework& framework);

/// The calls of one iteration, apart from the calls that a run of the loop makes once, regardless of its length.
struct Figure {
  double per_iteration = 0;
  std::optional<std::uint64_t> per_run;  ///< Empty: there is only one length, or the counts are not on a line.
};
/// For `counts[i]` calls in passes of `iterations[i]`; the last pass is the one that is reported. Counts of passes of
/// different lengths lie on a line: its slope is the cost of an iteration, and its start is the cost that comes once
/// per run.
SYSCOST_EXPORT Figure figure_of(const std::vector<std::uint64_t>& iterations, const std::vector<std::uint64_t>& counts);

/// One timed repetition and the counts that go with it: rows of kind `benchmark`.
struct TimedRepetition {
  std::string_view test;
  std::uint64_t repetition = 0;  ///< From 0.
  std::string_view outcome;
  std::optional<std::uint64_t> iterations;  ///< In `wall_ns` and `cpu_ns`.
  std::optional<std::uint64_t> wall_ns;
  std::optional<std::uint64_t> cpu_ns;              ///< Processor time, user and system together.
  std::optional<std::uint64_t> counted_iterations;  ///< In `cost`.
  const Cost* cost = nullptr;                       ///< Null = not counted.
  struct ShorterPass {
    std::uint64_t iterations = 0;
    const Cost* cost = nullptr;
  };
  std::vector<ShorterPass> shorter;  ///< Earlier, shorter passes: they show which calls are made once per run.
};
/// Writes their rows, with one write. Inert in fork children.
SYSCOST_EXPORT void write_rows(const std::vector<TimedRepetition>& repetitions);

/// The text of detach_tools() about a pass of a benchmark.
struct TracedPass {
  std::string_view test;
  std::uint64_t repetition = 0;  ///< From 0: benchmarks may share a name.
  std::uint64_t iterations = 0;  ///< Over all threads.
  std::string_view text;
};
/// Writes their rows and prints their messages. Call it after set_counted_by_or_exit(). Inert in fork children.
SYSCOST_EXPORT void write_traced(const std::vector<TracedPass>& passes);

/// Call them before and after the benchmarks. If the program ends itself in between, it says that it has lost rows, and
/// ends non-zero.
SYSCOST_EXPORT void begin_timing();
SYSCOST_EXPORT void end_timing();

/// For requested counts that are missing. Prints `what`. The program keeps its own exit code, except under
/// SYSCOST_UNAVAILABLE=fail: then it is as with note_problem().
SYSCOST_EXPORT void note_missing_counts(const Unavailable& what);
/// Prints `what`, and lets the program end non-zero if nothing else does.
SYSCOST_EXPORT void note_problem(const Unavailable& what);
/// Prints `what` and ends the program with exit code 2.
[[noreturn]] SYSCOST_EXPORT void refuse(const Unavailable& what);
/// Prints `text` on stderr as syscost's.
SYSCOST_EXPORT void say(std::string_view text);

}  // namespace syscost::adapter
