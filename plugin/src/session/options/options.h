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

#include "core/selector.h"
#include "core/syscall_id.h"
#include "extras/extra_options.h"
#include "os/errors.h"

namespace syscost::session {

enum class BackendChoice { automatic, ebpf, dispatch, dispatch_trap, seccomp, none };

/// A variable that `bench run` sets for tests below: the path of a CSV that goes with `bench run`.
inline constexpr const char* kTemporaryCsv = "SYSCOST_INTERNAL_TEMPORARY_CSV";
/// Another one: which `bench run` commands are above the tests, the value of schema::kFactBenchRun.
inline constexpr const char* kBenchRuns = "SYSCOST_INTERNAL_BENCH_RUNS";

struct Options : ExtraOptions {
  std::string csv;  ///< As given; empty = no CSV.
  Source csv_source = Source::absent;
  bool profile_syscalls = false;
  BackendChoice backend = BackendChoice::automatic;
  bool is_backend_named = false;  ///< The user chose a backend, or "auto", explicitly.
  bool quick = false;
  bool allow_lost = false;               ///< Lost events do not fail the run.
  std::shared_ptr<const Filter> filter;  ///< Null = count everything.
  DetailRequest details;                 ///< Without rules: open_backend() adds them (backends/open_backend.cc).
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
  enum class OnUnavailable { by_place, skip, fail } on_unavailable = OnUnavailable::by_place;
  bool markers = false;

  bool operator==(const Options&) const = default;

  /// This process measures a command (session/outside.h): of what is counted inside its programs, why that cannot be;
  /// empty = it can. Unset: no command is measured.
  std::optional<std::string> obstacle_inside_command;

  /// This process counts for another process, which writes and prints (syscost/counting.h).
  bool is_counting_process = false;

  /// True if each window has a file of its call stacks, among the other files of the run.
  bool writes_stack_files() const {
    return where.wanted && !is_counting_process && (!artifacts.empty() || trace.wanted || wants_tools());
  }

  /// Resets each option that prints or writes. The options that decide about counting stay.
  void drop_output(bool keeps_tools = false) {
    drop_extra_output(keeps_tools);
    csv.clear();
    profile_syscalls = is_backend_named = doctor = help = markers = false;
  }
  /// The same for a counting process, but it keeps the tools, which observe its windows.
  void become_counting_process() {
    drop_output(true);
    is_counting_process = true;
  }

  /// True if an option makes the session start.
  bool requests_anything() const {
    return !is_counting_process && (!csv.empty() || profile_syscalls || requests_an_extra() || writes_stack_files() ||
                                    is_backend_named || doctor || help);
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
