// SPDX-License-Identifier: MIT
#include "faults/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "faults/outcome.h"
#include "faults/run_folder.h"
#include "faults/test_row.h"

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 200ms;
/// A failure may make a test slower, and other runs share the machine.
constexpr int kTimesItsOwn = 10;

bool is_bad(Outcome outcome) {
  return outcome <= Outcome::ignored;
}

/// `5 file FOLDER_OF_THE_RUN/store` as `5 file store`: the folder of a run has gone.
std::string without_folder(std::string text, const fs::path& folder) {
  for (std::size_t at = 0; (at = text.find(folder.string() + '/', at)) != std::string::npos;) {
    const std::size_t number = at + folder.string().size() + 1;
    const std::size_t slash = text.find('/', number);
    if (slash == std::string::npos) break;
    constexpr std::string_view kWork = "work/";
    const bool is_work = text.compare(slash + 1, kWork.size(), kWork) == 0;
    text.erase(at, slash + 1 + (is_work ? kWork.size() : 0) - at);
  }
  return text;
}

}  // namespace

SweepIdentity identity_of(const SweepOptions& options) {
  SweepIdentity identity{options.command, "", ""};
  struct stat file {};
  if (!options.command.empty() && ::stat(options.command.front().c_str(), &file) == 0) {
    identity.program =
        fmt::format("{} bytes, changed at {}.{:09}", file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  }
  const PlanOptions& plan = options.plan;
  identity.options = fmt::format(
      "tests={} calls={} errnos={} every-call={} lasting={} sample={} seed={} lines={} folder={} own-tmp={} "
      "timeout={}s",
      options.tests.text(), plan.calls, fmt::join(plan.errors, ","), plan.has_every_call, plan.is_lasting, plan.sample,
      plan.seed, options.has_lines, static_cast<int>(options.folder), options.has_own_tmp, options.timeout.count());
  return identity;
}

std::string without_a_part(const std::string& why) {
  return why + "\n`bench faults` needs the whole of syscost. Run ./dev build, or install it (Debian: syscost-tools).";
}

Sweep::Sweep(SweepOptions options, std::function<bool()> is_interrupted, std::function<void(const SweepProgress&)> show,
             StateFile& file, SweepState& state)
    : options_(std::move(options)),
      interrupted_(std::move(is_interrupted)),
      show_(std::move(show)),
      file_(file),
      state_(state) {}

ContainedCommand Sweep::measured(const std::string& csv, std::vector<std::string> flags,
                                 const std::string& selecting) const {
  ContainedCommand command;
  command.arguments = {options_.runner, "--tests", "--backend=dispatch", "--csv=" + csv, "--leaks"};
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  command.arguments.emplace_back("--");
  command.arguments.insert(command.arguments.end(), options_.command.begin(), options_.command.end());
  if (!selecting.empty()) command.arguments.push_back(selecting);
  command.reports_end = true;
  command.folder = options_.folder;
  command.has_own_tmp = options_.has_own_tmp;
  command.limit = options_.timeout;
  command.variables.assign(kUsersSettings.begin(), kUsersSettings.end());
  return command;
}

std::string Sweep::runner_fault(const ContainedEnd& end) const {
  if (!end.has_started && end.fault.starts_with("--private-tmp")) {
    return end.fault + "\nLeave the option out, or run as a user who may make a namespace (as root, for example).";
  }
  if (!end.has_started) {
    return end.fault.starts_with(options_.runner + " cannot be started") ? without_a_part(end.fault) : end.fault;
  }
  // The dynamic loader ends a program that lacks a library, and says which one in its first line.
  const bool is_silent = !end.report.status && end.report.refusal.empty();
  const bool has_ended = end.fault.empty() && !end.is_timed_out && WIFEXITED(end.status);
  if (!has_ended || !is_silent) return {};
  const std::string line = end.output.substr(0, end.output.find('\n'));
  return without_a_part(line.empty() ? options_.runner + ' ' + how_it_ended(end.status) : line);
}

std::chrono::nanoseconds Sweep::limit_of(const LearnedTest& test) const {
  return std::max<std::chrono::nanoseconds>(options_.timeout, kTimesItsOwn * std::chrono::nanoseconds(test.wall_ns));
}

std::optional<ContainedEnd> Sweep::run_one(ContainedRuns& runs, const ContainedCommand& command) {
  runs.start(command);
  while (!interrupted_()) {
    if (auto ended = runs.wait(kBetweenLooks)) return std::move(ended->second);
  }
  was_interrupted_ = true;
  return std::nullopt;
}

std::string Sweep::run_all(ContainedRuns& runs, std::size_t count, const std::function<Task(std::size_t)>& make,
                           const std::function<std::string(const Task&, ContainedEnd&&)>& take) {
  std::map<int, Task> running;
  for (std::size_t next = 0; next < count || !running.empty();) {
    if (interrupted_()) {
      was_interrupted_ = true;
      return {};
    }
    if (next < count && running.size() < options_.jobs) {
      Task task = make(next++);
      const int number = runs.start(task.command);
      running.emplace(number, std::move(task));
      continue;
    }
    auto ended = runs.wait(kBetweenLooks);
    if (!ended) continue;
    const auto task = running.find(ended->first);
    std::string fault;
    if (!ended->second.left.empty()) fault = add_harm({"left behind: " + ended->second.left});
    if (fault.empty()) fault = take(task->second, std::move(ended->second));
    std::error_code ignored;
    fs::remove(task->second.csv, ignored);
    running.erase(task);
    if (!fault.empty()) return fault;
  }
  return {};
}

std::string Sweep::fail_each(ContainedRuns& runs) {
  std::vector<std::size_t> left;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < plan_.failures.size(); ++i) {
    const auto done = state_.done.find(i);
    if (done == state_.done.end()) {
      left.push_back(i);
    } else if (is_bad(done->second.result.outcome)) {
      ++bad;
    }
  }
  const auto make = [&](std::size_t task) {
    const Failure& failure = plan_.failures[left[task]];
    const LearnedTest& test = state_.tests[failure.test];
    Task made{left[task], {}, (runs.folder() / fmt::format("run-{}.csv", left[task])).string()};
    std::vector<std::string> flags = {"--inject=" + failure.rule()};
    // Looking for lines takes longer than all the rest. A test that makes the same calls each time makes the n-th from
    // the same place again.
    if (options_.has_lines && !test.is_steady) flags.emplace_back("--where");
    made.command = measured(made.csv, flags, selecting(state_.framework, test.name));
    made.command.has_report_file = test.has_report_file;
    made.command.limit = limit_of(test);
    return made;
  };
  const auto take = [&](const Task& task, ContainedEnd&& end) -> std::string {
    if (std::string fault = runner_fault(end); !fault.empty()) return fault;
    const Failure& failure = plan_.failures[task.index];
    const LearnedTest& test = state_.tests[failure.test];
    Observed observed;
    observed.end = std::move(end);
    read_row(task.csv, test.name, &failure, observed);
    observed.left_open = without_folder(std::move(observed.left_open), runs.folder());
    Done done{failure, classify(observed, failure, test)};
    if (is_bad(done.result.outcome)) ++bad;
    std::string fault = file_.add(task.index, done);
    state_.done[task.index] = std::move(done);
    show_({false, state_.done.size(), plan_.failures.size(), bad});
    return fault;
  };
  show_({false, state_.done.size(), plan_.failures.size(), bad});
  return run_all(runs, left.size(), make, take);
}

std::string Sweep::add_harm(std::vector<std::string> lines) {
  if (lines.empty()) return {};
  harm_.insert(harm_.end(), lines.begin(), lines.end());
  state_.harm.insert(state_.harm.end(), lines.begin(), lines.end());
  // In `here` the tests may do what they like.
  return options_.folder == WorkingFolder::here ? std::string() : file_.add_harm(lines);
}

std::string Sweep::add_left(const std::vector<LeftBehind>& left) {
  std::vector<LeftBehind> unnamed;
  std::copy_if(left.begin(), left.end(), std::back_inserter(unnamed), [&](const LeftBehind& one) {
    return std::none_of(harm_.begin(), harm_.end(),
                        [&](const std::string& line) { return line.find(one.path + ": ") != std::string::npos; });
  });
  return unnamed.empty() ? "" : add_harm({"left behind: " + text_of(unnamed)});
}

std::string Sweep::run() {
  std::error_code error;
  const fs::path working = fs::current_path(error);
  // bench's own files may lie there and grow.
  std::vector<FileId> own = file_.ids();
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (::fstat(stream, &status) == 0) own.emplace_back(status.st_dev, status.st_ino);
  }
  FolderScan before = error ? FolderScan() : scan_folder(working, kMostScanned, own);
  std::string fault;
  {
    ContainedRuns runs;
    fault = runs.fault().empty() ? learn(runs) : runs.fault();
    if (!fault.empty()) {
      const std::string left = text_of(runs.end());
      return left.empty() ? fault : fault + "\nleft behind: " + left;
    }
    // In `here` the tests may do what they like, and the report names it all.
    if (options_.folder != WorkingFolder::here) {
      std::vector<FileId> with_runs = own;
      struct stat status {};
      if (::stat(runs.folder().c_str(), &status) == 0) with_runs.emplace_back(status.st_dev, status.st_ino);
      FolderScan learned = scan_folder(working, kMostScanned, with_runs);
      fault = add_changed_always(before, learned);
      before = std::move(learned);
    }
    if (fault.empty() && !was_interrupted_) fault = run_failures(runs);
    const std::string of_file = add_left(runs.end());
    if (fault.empty()) fault = of_file;
  }
  if (error || !before.is_whole) return fault;
  FolderScan after = scan_folder(working, kMostScanned, own);
  // The runs have ended, so what is still open for writing is of another program: a log, for example.
  leave_out(files_open_for_writing(), before, after);
  std::string of_file = add_harm(without_known(differences(before, after), state_.changed_always));
  return fault.empty() ? of_file : fault;
}

std::string Sweep::add_changed_always(const FolderScan& before, const FolderScan& after) {
  if (!before.is_whole || !after.is_whole) return {};
  const std::vector<std::string> lines = without_known(differences(before, after), state_.changed_always);
  if (lines.empty()) return {};
  state_.changed_always.insert(state_.changed_always.end(), lines.begin(), lines.end());
  return file_.add_changed_always(lines);
}

std::string Sweep::run_failures(ContainedRuns& runs) {
  plan_ = make_plan(state_.tests, options_.plan);
  // The same tests and options make the same plan again.
  const auto is_other = [&](const auto& one) {
    return one.first >= plan_.failures.size() || !(plan_.failures[one.first] == one.second.failure);
  };
  if (std::any_of(state_.done.begin(), state_.done.end(), is_other)) {
    return "the state file has results of another plan, perhaps of another bench; name another file";
  }
  std::string fault;
  if (!state_.plan) {
    state_.plan = plan_.size;
    fault = file_.add(plan_.size);
  }
  return fault.empty() ? fail_each(runs) : fault;
}

}  // namespace syscost::bench::faults
