// SPDX-License-Identifier: MIT
//
// Contained runs: each runs a command in a process tree and a folder of its own, and removes both at its end.
//
// A test that lost a call may do anything: hang, start processes that leave their session, fill a folder. So each run
// has a keeper, a process between bench and the command. If a process below the command loses its parent, it becomes a
// child of the keeper, so the keeper finds every process of the tree in /proc, and learns how the command ended.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/temporary_folder.h"

namespace syscost::bench::faults {

/// How a command of syscost-run ended, by the descriptor that the keeper passes to it (--report-end).
///
/// syscost-run ends with the command's exit code, as a shell does, and prints where the command prints. So its own end
/// does not tell what the command did: 2 may be a refusal or the test's exit(2), 137 a SIGKILL or what main() returned.
struct EndReport {
  std::optional<int> status;  ///< The command's, as waitpid() gives it. None: it did not run to an end.
  std::string refusal;        ///< Why it could not be measured; empty = it could.
};

/// Lines that this version does not know are left out.
EndReport read_end_report(std::string_view text);

/// The working directory of a run.
enum class WorkingFolder {
  links,         ///< A new folder with a link to each entry of ours. Files that a run creates beside them are removed.
  copy,          ///< A new folder with a copy of all that is in ours.
  here,          ///< Ours.
  bounded_copy,  ///< As copy, with links in the place of what is too large or too much (run_folder.h).
};

struct WorkingPlan;

struct ContainedCommand {
  std::vector<std::string> arguments;  ///< The program first, with its path.
  std::vector<std::string> variables;  ///< `NAME=VALUE`, over ours; `NAME`: without it.
  WorkingFolder folder = WorkingFolder::bounded_copy;
  bool reports_end = false;  ///< The program is syscost-run: it says how its command ended (EndReport).
  bool has_own_tmp = false;  ///< /tmp is a folder of the run, by a mount namespace; the program must lie elsewhere.
  /// Sanitizers write to a file of the run, unless the user has named one. A death test then finds nothing in its
  /// output.
  bool has_report_file = false;
  std::chrono::nanoseconds limit{};
};

/// Variables of the user's own measurements: they have no place in a sweep. For ContainedCommand::variables.
inline constexpr std::array<std::string_view, 12> kUsersSettings = {
    "SYSCOST_CSV",   "SYSCOST_RUN_ID",    "SYSCOST_INJECT", "SYSCOST_FORBID", "SYSCOST_FILTER",  "SYSCOST_PROFILE",
    "SYSCOST_TRACE", "SYSCOST_ARTIFACTS", "SYSCOST_SCHED",  "SYSCOST_DETAIL", "SYSCOST_BACKEND", "SYSCOST_CHILDREN"};

struct ContainedEnd {
  std::string fault = {};   ///< Why it could not be run; empty = it ran.
  EndReport report = {};    ///< If ContainedCommand::reports_end.
  bool has_started = true;  ///< False: `fault` says why the program could not be executed.
  int status = 0;           ///< As waitpid() gives it.
  bool is_timed_out = false;
  /// How many processes each signal ended, of those for which the program waited; if ContainedCommand::reports_end.
  std::map<int, std::uint64_t> child_signals = {};
  bool has_report = false;       ///< A sanitizer wrote to the file of the run; what it wrote is in `output`, too.
  bool has_leak_report = false;  ///< And it was LeakSanitizer.
  std::uint64_t wall_ns = 0;
  std::uint64_t processes_left = 0;  ///< Processes that still ran when the command had ended.
  std::string left = {};             ///< Parts of its folder that were not removed, and why: `PATH: WHY; PATH: WHY`.
  std::string output = {};           ///< Standard output and error: the beginning and the end, kMostOutput at most.
};

inline constexpr std::size_t kMostOutput = 16 * 1024;

/// Starts runs, and waits for their ends. Not for programs with threads: it forks.
///
/// A process that loses its parent becomes a child of the run's keeper (PR_SET_CHILD_SUBREAPER), in any session. The
/// keeper kills the last of them, and removes the folder. The keepers hold the end of a pipe of bench. If bench ends in
/// any way, also by SIGKILL, they see that, kill and remove. One more process, the janitor, then removes what lies
/// around the folders of the runs.
class ContainedRuns {
 public:
  /// Makes the folder in which all is, in TMPDIR or /tmp. fault() says why that failed.
  ContainedRuns();
  ~ContainedRuns() { end(); }
  ContainedRuns(const ContainedRuns&) = delete;
  ContainedRuns& operator=(const ContainedRuns&) = delete;

  const std::string& fault() const { return fault_; }
  /// A folder for files of the caller; removed at the end.
  const std::filesystem::path& folder() const { return root_; }

  /// Starts a run, and returns its number. TMPDIR and TEST_TMPDIR of the command are a folder of the run.
  int start(const ContainedCommand& command);
  std::size_t running() const { return keepers_.size(); }
  /// Waits for the end of a run, or `at_most`, or a signal. Nothing if no run ended.
  std::optional<std::pair<int, ContainedEnd>> wait(std::chrono::milliseconds at_most);
  /// Ends all runs, and removes the folder. Returns what of it could not be removed.
  std::vector<LeftBehind> end();

 private:
  struct Keeper {
    pid_t process = -1;
    int report = -1;      ///< The keeper writes here how the run ended.
    std::string written;  ///< So far.
  };

  /// Kills all runs, and waits until no process of them is left.
  void end_all();
  ContainedEnd finish(Keeper& keeper);
  void begin_janitor();

  std::string fault_;
  std::filesystem::path root_;
  std::filesystem::path working_;    ///< Our working directory.
  int lifeline_[2] = {-1, -1};       ///< Closed at its writing end when this process ends, or ends all.
  int keepers_alive_[2] = {-1, -1};  ///< Closed when no keeper is left.
  pid_t janitor_ = -1;
  bool was_subreaper_ = false;
  bool has_ended_ = false;
  int next_ = 0;
  std::map<int, Keeper> keepers_;
  std::map<WorkingFolder, std::shared_ptr<const WorkingPlan>> plans_;
};

/// The children of this process, their children, and so on, as /proc has them, by the numbers that this process knows
/// them by: in a PID namespace /proc may be that of an outer one. Left out: the processes of `spared` with all that is
/// below them, and processes that have ended.
std::set<pid_t> processes_below(const std::set<pid_t>& spared = {});

struct KilledTree {
  std::uint64_t processes = 0;  ///< That were alive at the first look.
  bool is_gone = true;          ///< False: one is left after some seconds, for example inside a driver.
  bool is_listed = true;        ///< False: /proc does not show this process, so it is not known which one is left.
};

/// Why one is left.
std::string not_killed(const KilledTree& killed);

/// Kills and reaps all processes below this one, but for `spared` and what is below these. This process must be a
/// subreaper, so that it becomes their parent.
KilledTree kill_processes_below(const std::set<pid_t>& spared = {});

}  // namespace syscost::bench::faults
