// SPDX-License-Identifier: MIT
#include "faults/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "faults/contained.h"
#include "model/choice.h"
#include "syscost/call_errors.h"

namespace syscost::bench::faults {
namespace {

std::string selector_of(const std::string& calls) {
  return calls.empty() ? std::string(kSweptCalls) : calls;
}

/// Those that dispatch can shorten.
constexpr std::array<std::string_view, 12> kTransfers = {"read",    "pread64",  "readv",    "preadv",
                                                         "preadv2", "recvfrom", "write",    "pwrite64",
                                                         "writev",  "pwritev",  "pwritev2", "sendto"};

std::vector<std::string> errors_of(const std::string& syscall, const PlanOptions& options) {
  std::vector<std::string> errors = options.errors;
  for (const CallError& one : kCallErrors) {
    if (options.errors.empty() && one.syscall == syscall) errors.emplace_back(one.name);
  }
  if (std::find(kTransfers.begin(), kTransfers.end(), syscall) == kTransfers.end()) {
    errors.erase(std::remove(errors.begin(), errors.end(), kShort), errors.end());
  }
  for (std::string& error : errors) {
    if (options.is_lasting) error += kLasting;
  }
  return errors;
}

/// `count` of `all`, in their order, at equal distances from a random start: each test and call site has its share.
std::vector<Failure> systematic_sample(std::vector<Failure> all, std::size_t count, std::uint64_t seed) {
  if (count >= all.size()) return all;
  std::vector<Failure> chosen;
  chosen.reserve(count);
  // The first output of the generator alone: distributions differ between standard libraries.
  const std::uint64_t start = std::mt19937_64(seed)() % all.size();
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(std::move(all[(start + i * all.size()) / count % all.size()]));
  }
  return chosen;
}

}  // namespace

std::string_view word_of(Part part) {
  return part == Part::body ? "body" : part == Part::fixture ? "fixture" : "unknown";
}

std::optional<Part> part_of(std::string_view word) {
  for (const Part one : {Part::unknown, Part::body, Part::fixture}) {
    if (word == word_of(one)) return one;
  }
  return std::nullopt;
}

std::string Failure::rule() const {
  const bool is_lasting = error.ends_with(kLasting);
  const std::string_view word = std::string_view(error).substr(0, error.size() - (is_lasting ? 1 : 0));
  const std::string effect = word == kShort ? "shorten=1" : fmt::format("error={}", word);
  return fmt::format("{}:{}:nth={}{}", syscall, effect, nth, is_lasting ? "+" : "");
}

std::string failure_text(std::string_view syscall, std::string_view error) {
  const bool is_lasting = error.ends_with(kLasting);
  if (is_lasting) error.remove_suffix(1);
  if (error == kShort)
    return fmt::format("{} {}", syscall, is_lasting ? "and all later ones move one byte" : "moves one byte");
  return fmt::format("{} {} with {}", syscall, is_lasting ? "and all later ones fail" : "fails", error);
}

std::string selector_fault(const std::string& calls) {
  std::string fault;
  return model::SyscallChoice::parse(selector_of(calls), fault) ? "" : fault;
}

std::string error_fault(const std::string& error) {
  const bool is_name =
      error.size() > 2 && error.front() == 'E' && std::all_of(error.begin(), error.end(), [](char c) {
        return std::isupper(static_cast<unsigned char>(c)) != 0 || std::isdigit(static_cast<unsigned char>(c)) != 0;
      });
  if (is_name || error == kShort) return {};
  return fmt::format("\"{}\" is no name of an errno, such as ENOSPC, and not {}", error, kShort);
}

Plan make_plan(const std::vector<LearnedTest>& tests, const PlanOptions& options) {
  std::string fault;
  const std::optional<model::SyscallChoice> choice = model::SyscallChoice::parse(selector_of(options.calls), fault);
  Plan plan;
  if (!choice) return plan;
  std::vector<Failure> first;
  std::vector<Failure> others;
  for (std::size_t test = 0; test < tests.size(); ++test) {
    if (!tests[test].why_left_out.empty()) continue;
    for (const Place& place : tests[test].places) {
      if (!choice->matches(place.syscall, "", place.classes)) continue;
      const std::vector<std::string> errors = errors_of(place.syscall, options);
      if (errors.empty()) plan.size.not_in_list[place.syscall] += place.calls;
      plan.size.other_calls += (place.calls - place.nths.size()) * errors.size();
      for (std::size_t i = 0; i < place.nths.size(); ++i) {
        for (const std::string& error : errors) {
          (i == 0 ? first : others).push_back({test, place.syscall, place.nths[i], error, place.site, place.part});
        }
      }
    }
  }
  if (!options.has_every_call) {
    plan.size.other_calls += others.size();
    others.clear();
  }
  const std::size_t all = first.size() + others.size();
  const std::size_t most = options.sample == 0 ? all : options.sample;
  plan.failures = systematic_sample(std::move(first), most, options.seed);
  std::vector<Failure> rest = systematic_sample(std::move(others), most - plan.failures.size(), options.seed);
  std::move(rest.begin(), rest.end(), std::back_inserter(plan.failures));
  plan.size.left_out = all - plan.failures.size();
  plan.size.failures = plan.failures.size();
  return plan;
}

namespace {

using namespace std::chrono_literals;

}  // namespace

std::string as_own_words(std::string_view output) {
  std::string_view line = output.substr(0, output.find('\n'));
  constexpr std::string_view kProgram = "syscost: ";
  constexpr std::string_view kCalls = "bad value of --filter: ";
  constexpr std::string_view kErrors = "bad value of --inject: ";
  if (line.starts_with(kProgram)) line.remove_prefix(kProgram.size());
  if (line.starts_with(kCalls)) return fmt::format("--calls: {}", line.substr(kCalls.size()));
  if (line.starts_with(kErrors)) {
    // After the semicolon comes the grammar of --inject.
    line = line.substr(kErrors.size());
    std::string text(line.substr(0, line.find(';')));
    constexpr std::string_view kWord = "error=";  // words_fault() has put it there
    if (const std::size_t at = text.find(kWord); at != std::string::npos) text.erase(at, kWord.size());
    return fmt::format("--errnos: {}; `bench faults --errors` prints the usual ones", text);
  }
  return std::string(line);
}

std::string words_fault(const std::string& runner, const PlanOptions& options) {
  ContainedCommand command;
  command.arguments = {runner, "--tests"};
  if (!options.calls.empty()) command.arguments.push_back("--filter=" + options.calls);
  for (const std::string& error : options.errors) {
    if (error != kShort) command.arguments.push_back(fmt::format("--inject=write:error={}", error));
  }
  if (command.arguments.size() == 2) return {};
  // The runner reads its options before it starts this program, which has no tests.
  command.arguments.insert(command.arguments.end(), {"--", "true"});
  command.variables.assign(kUsersSettings.begin(), kUsersSettings.end());
  command.reports_end = true;
  command.folder = WorkingFolder::here;
  command.limit = 30s;
  ContainedRuns runs;
  if (!runs.fault().empty()) return runs.fault();
  runs.start(command);
  std::optional<std::pair<int, ContainedEnd>> ended;
  while (!(ended = runs.wait(1s))) {
  }
  const ContainedEnd& end = ended->second;
  const std::string left = end.left.empty() ? text_of(runs.end()) : end.left;
  if (!left.empty()) return "left behind: " + left;
  if (!end.has_started) return {};  // the sweep says so
  return end.report.refusal.empty() ? end.fault : as_own_words(end.output);
}

}  // namespace syscost::bench::faults
