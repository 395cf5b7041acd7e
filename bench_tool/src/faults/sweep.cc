// SPDX-License-Identifier: MIT
#include "faults/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "faults/run_folder.h"
#include "faults/test_row.h"
#include "model/suggestion.h"

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Listing runs the whole suite once.
constexpr auto kListLimit = 3600s;
constexpr auto kHelpLimit = 30s;
constexpr auto kBetweenLooks = 200ms;
/// A failure may make a test slower, and other runs share the machine.
constexpr int kTimesItsOwn = 10;

bool is_bad(Outcome outcome) {
  return outcome <= Outcome::ignored;
}

/// The last lines of what a run printed.
std::string tail(const std::string& output) {
  constexpr std::size_t kMost = 1500;
  std::string text = output.size() > kMost ? output.substr(output.size() - kMost) : output;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "It printed nothing." : "It printed:\n" + text;
}

std::string end_text(const ContainedEnd& end) {
  if (!end.fault.empty()) return end.fault;
  if (end.is_timed_out) return "it ran until the time limit";
  if (WIFSIGNALED(end.status)) return signal_name(WTERMSIG(end.status));
  return fmt::format("exit code {}", WEXITSTATUS(end.status));
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

/// `all`: the names of all tests; empty if they are not known.
std::string no_test_text(const SweepOptions& options, const std::vector<std::string>& all) {
  const std::string pattern = options.tests.text();
  if (all.empty()) {
    return fmt::format("no test matches --test {}\n`{} --gtest_list_tests` prints the names.", pattern,
                       options.command.front());
  }
  return fmt::format("no test matches --test {}{}", pattern, model::or_rather(pattern, all));
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
  command.folder = options_.folder;
  command.has_own_tmp = options_.has_own_tmp;
  command.limit = options_.timeout;
  command.variables.assign(kUsersSettings.begin(), kUsersSettings.end());
  return command;
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
    std::string fault = take(task->second, std::move(ended->second));
    std::error_code ignored;
    fs::remove(task->second.csv, ignored);
    running.erase(task);
    if (!fault.empty()) return fault;
  }
  return {};
}

std::string Sweep::find_framework(ContainedRuns& runs) {
  if (options_.framework) return {};
  ContainedCommand help;
  help.arguments = {options_.command.front(), "--help"};
  help.folder = options_.folder;
  help.limit = kHelpLimit;
  const std::optional<ContainedEnd> end = run_one(runs, help);
  if (!end) return {};
  if (!end->fault.empty()) return fmt::format("{} --help cannot be run: {}", options_.command.front(), end->fault);
  options_.framework = framework_in(end->output);
  if (options_.framework) return {};
  return fmt::format(
      "{} --help prints nothing of GoogleTest, Catch2 or doctest, so bench cannot select its tests one by one\n"
      "If it is a program of one of these, name it: --framework googletest, catch2 or doctest.",
      options_.command.front());
}

std::string Sweep::list_tests(ContainedRuns& runs, std::vector<std::string>& names) {
  const std::string csv = runs.folder() / "list.csv";
  const bool has_pattern = options_.framework == Framework::googletest && !options_.tests.is_everything();
  ContainedCommand list = measured(csv, {}, has_pattern ? "--gtest_filter=" + options_.tests.text() : "");
  list.limit = kListLimit;
  const std::optional<ContainedEnd> end = run_one(runs, list);
  if (!end) return {};
  for (std::string& name : tests_in(csv)) {
    if (options_.tests.matches({name})) names.push_back(std::move(name));
  }
  if (!names.empty()) return {};
  // GoogleTest has applied the pattern itself, so its rows do not tell a pattern that fits no test from a program that
  // failed; its last line does.
  const bool has_none = has_pattern && end->output.find(" 0 tests from 0 test ") != std::string::npos;
  if (has_none || !tests_in(csv).empty()) return no_test_text(options_, tests_in(csv));
  return fmt::format("a run of the tests without a failure gave no rows ({})\n{}", end_text(*end), tail(end->output));
}

std::string Sweep::learn(ContainedRuns& runs) {
  if (state_.has_learned) return {};
  std::string fault = find_framework(runs);
  std::vector<std::string> names;
  if (fault.empty() && !was_interrupted_) fault = list_tests(runs, names);
  if (!fault.empty() || was_interrupted_) return fault;
  std::set<std::string> known;
  for (const LearnedTest& test : state_.tests) known.insert(test.name);
  names.erase(
      std::remove_if(names.begin(), names.end(), [&](const std::string& name) { return known.count(name) != 0; }),
      names.end());
  const std::size_t before = state_.tests.size();
  const std::size_t all = before + names.size();
  // Two runs of each test: they show the calls in their order, and whether they are the same each time.
  std::size_t done = before;
  const auto artifacts = [&](std::size_t task) { return (runs.folder() / fmt::format("traces-{}", task)).string(); };
  const auto make = [&](std::size_t task) {
    Task made{task, {}, (runs.folder() / fmt::format("learn-{}.csv", task)).string()};
    std::vector<std::string> flags;
    if (task % 2 == 0) flags = {"--trace", "--artifacts=" + artifacts(task)};
    if (task % 2 == 0 && options_.has_lines) flags.emplace_back("--where");
    made.command = measured(made.csv, flags, selecting(*options_.framework, names[task / 2]));
    made.command.limit = std::max<std::chrono::nanoseconds>(options_.timeout, 60s);
    return made;
  };
  std::map<std::size_t, LearnedTest> half;
  const auto take = [&](const Task& task, ContainedEnd&& end) -> std::string {
    LearnedTest test;
    test.name = names[task.index / 2];
    Observed seen;
    seen.end = std::move(end);
    read_row(task.csv, test.name, nullptr, seen);
    test.wall_ns = seen.end.wall_ns;
    test.descriptors_left = seen.descriptors_left;
    test.entries = seen.entries;
    const bool has_passed = seen.has_row && seen.verdict == "passed" && seen.end.fault.empty() &&
                            !seen.end.is_timed_out && WIFEXITED(seen.end.status) && WEXITSTATUS(seen.end.status) == 0;
    if (!has_passed) {
      test.why_left_out = !seen.has_row              ? "alone it has no row: " + end_text(seen.end)
                          : seen.verdict != "passed" ? fmt::format("alone it is {}", seen.verdict)
                                                     : "alone it passes, then " + end_text(seen.end);
    }
    if (task.index % 2 == 0) {
      test.places = places_of(task.csv, artifacts(task.index), test.name);
      // A test may make a million calls; without --every-call only the first of each place is of use.
      for (Place& place : test.places) {
        if (!options_.plan.has_every_call) place.nths.resize(1);
      }
      remove_folder(artifacts(task.index));
    }
    const auto other = half.find(task.index / 2);
    if (other == half.end()) {
      half.emplace(task.index / 2, std::move(test));
      return {};
    }
    LearnedTest& earlier = other->second;
    if (test.places.empty()) test.places = std::move(earlier.places);
    if (test.why_left_out.empty()) test.why_left_out = earlier.why_left_out;
    test.is_steady = test.entries == earlier.entries;
    test.wall_ns = std::max(test.wall_ns, earlier.wall_ns);
    test.descriptors_left = std::max(test.descriptors_left, earlier.descriptors_left);
    half.erase(other);
    std::string written = file_.add(test);
    state_.tests.push_back(std::move(test));
    show_({true, ++done, all, 0});
    return written;
  };
  show_({true, done, all, 0});
  fault = run_all(runs, 2 * names.size(), make, take);
  if (!fault.empty() || was_interrupted_) return fault;
  state_.has_learned = true;
  state_.framework = *options_.framework;
  return file_.end_learning(state_.framework);
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
    made.command.limit = limit_of(test);
    return made;
  };
  const auto take = [&](const Task& task, ContainedEnd&& end) {
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

std::string Sweep::run() {
  ContainedRuns runs;
  if (!runs.fault().empty()) return runs.fault();
  std::string fault = learn(runs);
  if (!fault.empty() || was_interrupted_) return fault;
  plan_ = make_plan(state_.tests, options_.plan);
  // The same tests and options make the same plan again.
  const auto is_other = [&](const auto& one) {
    return one.first >= plan_.failures.size() || !(plan_.failures[one.first] == one.second.failure);
  };
  if (std::any_of(state_.done.begin(), state_.done.end(), is_other)) {
    return "the state file has results of another plan, perhaps of another bench; name another file";
  }
  if (!state_.plan) {
    state_.plan = plan_.size;
    fault = file_.add(plan_.size);
  }
  return fault.empty() ? fail_each(runs) : fault;
}

}  // namespace syscost::bench::faults
