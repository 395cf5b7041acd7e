// SPDX-License-Identifier: MIT
//
// Runs other programs without a shell: commands of the user, each time with a CSV of its own, and programs like ldd.
// One line of the terminal shows which of them runs.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::commands {

struct ChildEnd {
  int error = 0;              ///< errno when it could not be run, else 0.
  int status = 0;             ///< As waitpid() gives it.
  std::uint64_t wall_ns = 0;  ///< From its start to its end.
  std::uint64_t cpu_ns = 0;   ///< User and system time, with that of the children it waited for (getrusage).
};

/// Runs `args` (the program first; looked for in PATH when it has no slash) to its end. `take` gets its standard output
/// and error, piece by piece. `variables`, each `NAME=VALUE`, are set in its environment over ours.
ChildEnd run_child(std::vector<std::string> args, const std::function<void(std::string_view)>& take,
                   std::vector<std::string> variables = {});

/// The last lines of what a failed command printed.
std::string tail_of(const std::string& output);

/// `exit status 3`, `killed by signal 11 (Segmentation fault)`; what `status` of an ended child says.
std::string status_text(int status);

/// Shows what a command that runs others does just now, on one line of the terminal, and nothing elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(std::ostream& err)
      : err_(err), is_on_(err.rdbuf() == std::cerr.rdbuf() && ::isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& line) {
    if (is_on_) err_ << "\r\033[K" << line << std::flush;
    is_drawn_ = is_on_ && !line.empty();
  }
  /// Before anything else is printed.
  void clear() {
    if (is_drawn_) show("");
  }

 private:
  std::ostream& err_;
  bool is_on_;
  bool is_drawn_ = false;
};

/// While it lives, the first Ctrl-C, SIGTERM or SIGHUP only requests the end; a second one ends the program as usual.
class InterruptRequest {
 public:
  InterruptRequest();
  ~InterruptRequest();
  InterruptRequest(const InterruptRequest&) = delete;
  InterruptRequest& operator=(const InterruptRequest&) = delete;

  static bool is_made();
};

/// Seconds since some instant of the past.
using Clock = std::function<double()>;

/// The monotonic clock.
double monotonic_s();

/// A run of a command that ended.
struct OwnRun {
  std::string csv;  ///< Its CSV, if it wrote one.
  ChildEnd end;
  std::string output;  ///< The end of what it printed.
  std::string fault;   ///< It could not be run.

  bool has_csv() const;
};

/// Runs commands, each time with a CSV of its own. compare and check run commands again; ab runs two in turns. The
/// whole command runs, because a test alone or a part of a suite makes other calls than the suite does.
class CommandRuns {
 public:
  /// No round but the first begins that would probably not end within `budget_s`, and no more than `most` do. The files
  /// are removed at the end, unless the new folder `keep` is for them; `err` learns what could not be removed.
  CommandRuns(double budget_s, std::size_t most, std::ostream& err, const std::string& keep = {},
              Clock clock = monotonic_s);
  ~CommandRuns();
  CommandRuns(const CommandRuns&) = delete;
  CommandRuns& operator=(const CommandRuns&) = delete;

  /// Why nothing can be run, or "".
  const std::string& fault() const { return fault_; }
  /// Where the files are. The sides of a comparison must not differ by the length of their names.
  const std::filesystem::path& folder() const { return folder_; }

  /// True while there is time for one more round.
  bool may_go_on() const;
  /// How many more rounds end within the budget, if they take what those so far took on average.
  std::size_t rounds_that_fit() const;
  std::size_t rounds() const { return rounds_; }
  double elapsed_s() const { return clock_() - begin_s_; }
  double budget_s() const { return budget_s_; }
  /// `5 further runs (12.3 s)`, the time from a second on; `, the budget of 60 s is used`; `, interrupted`; how many
  /// commands ended with a status.
  std::string text() const;
  /// How the last command of a round that wrote a CSV and ended with a status did so, `exit status 8`; "" if none did.
  const std::string& last_status() const { return last_status_; }
  /// The end of what it printed.
  const std::string& last_output() const { return last_output_; }

  /// Runs `command` once. `csv` is its file.
  OwnRun run(const std::vector<std::string>& command, const std::filesystem::path& csv, const std::string& run_id,
             std::vector<std::string> variables = {});
  void count_round() { ++rounds_; }
  /// The runs of rounds to come list what each test leaves open.
  void ask_for_leaks() { asks_for_leaks_ = true; }
  /// One round: runs the command of each of `programs` once, `{program}` in its place, or once for all if the commands
  /// do not hold it. `command_of` chooses the command just before each run, `take` reads its CSV. Returns the error of
  /// the two, or "". `waiting`: tests that wait for it, for the progress line.
  std::string run_round(const std::set<std::string>& programs, std::size_t waiting,
                        const std::function<const std::vector<std::string>&()>& command_of,
                        const std::function<std::string(const std::string& csv)>& take);

  ProgressLine& progress() { return progress_; }

 private:
  std::string run_once(const std::vector<std::string>& command, std::string& csv);

  double budget_s_;
  std::size_t most_;
  std::ostream& err_;
  bool is_kept_;
  std::filesystem::path folder_;
  std::string fault_;
  InterruptRequest interrupt_;
  ProgressLine progress_;
  Clock clock_;
  double begin_s_;
  bool asks_for_leaks_ = false;
  std::size_t rounds_ = 0;
  std::size_t runs_ = 0;
  std::size_t with_status_ = 0;
  std::string last_status_;
  std::string last_output_;
};

/// Why these programs cannot take the place of `{program}` in the command; "" if it has none or they can.
std::string fault_of_programs(const std::vector<std::string>& command, const std::set<std::string>& programs);

}  // namespace syscost::bench::commands
