// SPDX-License-Identifier: MIT
//
// Options: the user's request, from flags and environment.
//
// If syscost ignored a flag, a measurement would silently not happen. So it ignores nothing with its prefix: an unknown
// name, a bad value and a feature that this version lacks are failures, and the message has the nearest existing name.
// The command line belongs to the user's framework too, so syscost leaves all arguments without its prefix alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/call_stack.h"
#include "core/selector.h"
#include "core/syscall_id.h"
#include "os/errors.h"
#include "session/options/fault_rules.h"

namespace syscost::session {

enum class BackendChoice { automatic, ebpf, dispatch, dispatch_trap, seccomp, none };

/// A variable that `bench run` sets for tests below: the path of a CSV that goes with `bench run`.
inline constexpr const char* kTemporaryCsv = "SYSCOST_INTERNAL_TEMPORARY_CSV";
/// Another one: which `bench run` commands are above the tests, the value of schema::kFactBenchRun.
inline constexpr const char* kBenchRuns = "SYSCOST_INTERNAL_BENCH_RUNS";

/// Where relative paths of an option start.
enum class Source { absent, command_line, environment };

/// --syscost_trace: each call of a window, in files.
struct TraceRequest {
  static constexpr std::uint64_t kUsualEvents = 65'536;
  bool wanted = false;
  std::uint64_t events = kUsualEvents;  ///< Most of one window.

  bool operator==(const TraceRequest&) const = default;
};

/// --syscost_sched: the scheduler's events of a window, in a file.
struct SchedulerRequest {
  static constexpr std::uint64_t kUsualEvents = 65'536;
  bool wanted = false;
  std::uint64_t events = kUsualEvents;  ///< Most of one window.

  bool operator==(const SchedulerRequest&) const = default;
};

struct Options {
  std::string csv;  ///< As given; empty = no CSV.
  Source csv_source = Source::absent;
  bool profile_syscalls = false;
  bool profile_bpftrace = false;
  bool profile_perf = false;
  bool profile_cupti = false;
  bool lists_scripts = false;  ///< --syscost_bpf list
  bool bpf_sudo = false;
  std::vector<std::string> scripts;         ///< For bpftrace; empty = the default.
  std::vector<std::string> script_folders;  ///< Searched before those that ship.
  std::string artifacts;                    ///< As given; empty = syscost_artifacts beside the CSV, or here.
  Source bpf_source = Source::absent;
  Source bpf_path_source = Source::absent;
  Source bpf_sudo_source = Source::absent;
  Source artifacts_source = Source::absent;
  BackendChoice backend = BackendChoice::automatic;
  bool is_backend_named = false;  ///< The user chose a backend, or "auto", explicitly.
  bool children = false;          ///< Count children too, in rows of their own.
  bool leaks = false;             ///< Report what each test leaves open.
  bool quick = false;
  bool allow_lost = false;               ///< Lost events do not fail the run.
  std::shared_ptr<const Filter> filter;  ///< Null = count everything.
  DetailRequest details;                 ///< Without rules: open_backend() adds them (backends/open_backend.cc).
  WhereRequest where;                    ///< Tell calls apart by their call stacks.
  TraceRequest trace;
  SchedulerRequest scheduler;
  std::vector<InjectRequest> inject;  ///< Calls of each test that fail.
  std::string forbid;                 ///< Calls that no test may make; empty = none is forbidden.
  std::optional<std::uint64_t> cycles;
  std::optional<std::uint64_t> repeats;   ///< Timed, and as many counted, passes of a loop.
  std::optional<std::uint64_t> warm_ups;  ///< Passes of a loop before them.
  std::string label;
  Source label_source = Source::absent;
  bool doctor = false;
  bool help = false;

  // Environment only.
  std::string run_id;
  std::string commit;
  std::string build_type;
  std::string cupti_library;  ///< libcupti to open; empty = looked for.
  enum class OnUnavailable { by_place, skip, fail } on_unavailable = OnUnavailable::by_place;
  bool markers = false;

  bool operator==(const Options&) const = default;

  /// This process measures a command (session/outside.h): of what is counted inside its programs, why that cannot be;
  /// empty = it can. Unset: no command is measured.
  std::optional<std::string> obstacle_inside_command;

  /// This process counts for another process, which writes and prints (syscost/counting.h).
  bool is_counting_process = false;

  /// True if calls of tests fail or are forbidden.
  bool wants_faults() const { return !inject.empty() || !forbid.empty(); }

  /// True if tools observe windows.
  bool wants_tools() const { return profile_bpftrace || profile_perf || profile_cupti; }

  /// True if each window has a file of its call stacks, among the other files of the run.
  bool writes_stacks() const {
    return where.wanted && !is_counting_process && (!artifacts.empty() || trace.wanted || wants_tools());
  }

  /// Resets each option that prints or writes. The options that decide about counting stay.
  void drop_output() {
    csv.clear();
    artifacts.clear();
    profile_syscalls = profile_bpftrace = profile_perf = profile_cupti = false;
    trace = {};
    scheduler = {};
    leaks = false;
    inject.clear();
    forbid.clear();
    is_backend_named = doctor = help = lists_scripts = markers = false;
  }
  /// The same for a counting process, but it keeps the tools, which observe its windows.
  void become_counting_process() {
    const bool has_bpftrace = profile_bpftrace;
    const bool has_perf = profile_perf;
    const bool has_cupti = profile_cupti;
    drop_output();
    profile_bpftrace = has_bpftrace;
    profile_perf = has_perf;
    profile_cupti = has_cupti;
    is_counting_process = true;
  }

  /// True if an option makes the session start.
  bool requests_anything() const {
    return !is_counting_process &&
           (!csv.empty() || profile_syscalls || trace.wanted || scheduler.wanted || leaks || wants_faults() ||
            wants_tools() || writes_stacks() || is_backend_named || doctor || help || lists_scripts);
  }
};

/// Which spellings of a flag syscost takes.
enum class Spelling {
  prefixed,        ///< --syscost_csv: beside a main of the user's.
  prefixed_short,  ///< --csv as well: in a main of ours.
};

struct ParsedOptions {
  Options options;
  std::vector<std::size_t> used;  ///< Indices, ascending, of the arguments that are flags of ours or their values.
};

/// Reads `arguments` (the first is the program's name; "--" ends them) and `environment` (NAME=VALUE). A flag wins over
/// the environment, the last of several flags wins.
Result<ParsedOptions> parse_options(const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& environment, Spelling spelling);

/// Takes the arguments with the indices `used` (ascending) out of `argv`, which ends with a null pointer as before.
void remove_arguments(int* argc, char** argv, const std::vector<std::size_t>& used);

/// True if a test framework does not run the program's tests but lists them, or runs it as the child of a threadsafe
/// death test. Such a program may measure, but syscost must print and write nothing in it.
bool is_listing_or_death_test(const std::vector<std::string>& arguments);

/// The command line of this process before main() changed it: from the C library, else from /proc; empty if neither has
/// it.
std::vector<std::string> process_arguments();
/// This process's environment.
std::vector<std::string> process_environment();

}  // namespace syscost::session
