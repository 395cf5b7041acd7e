// SPDX-License-Identifier: MIT
#include "faults/outcome.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "syscost/call_errors.h"

namespace syscost::bench::faults {
namespace {

/// True if success after this failure means that data or a name may be lost.
bool loses_something(const Failure& failure) {
  return std::any_of(std::begin(kCallErrors), std::end(kCallErrors), [&](const CallError& one) {
    return one.syscall == failure.syscall && one.if_ignored == IfIgnored::loss;
  });
}

/// A failed close() leaves its descriptor open, because the call was not made. The kernel's close() always frees it.
std::uint64_t left_by_failure(const Failure& failure) {
  return failure.syscall == "close" ? 1 : 0;
}

/// `bench run` ends with 128 + N if signal N ended the program.
constexpr int kOfSignal = 128;

/// `bench run` ends with 2 if it cannot measure, and says why in a line of its own.
constexpr int kRefused = 2;

std::string refusal(std::string_view output) {
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    if (line.starts_with("bench: ") || line.starts_with("syscost: ")) return std::string(line);
    output.remove_prefix(std::min(output.size(), line.size() + 1));
  }
  return {};
}

struct End {
  int signal = 0;
  int code = 0;
};

End end_of(int status) {
  if (WIFSIGNALED(status)) return {WTERMSIG(status), 0};
  const int code = WEXITSTATUS(status);
  return code > kOfSignal && code < kOfSignal + NSIG ? End{code - kOfSignal, 0} : End{0, code};
}

}  // namespace

std::string_view word_of(Outcome outcome) {
  return kOutcomeWords[static_cast<std::size_t>(outcome)];
}

std::optional<Outcome> outcome_of(std::string_view word) {
  std::string asked(word);
  std::replace(asked.begin(), asked.end(), '-', ' ');
  if (asked == "ignored") asked = "ignored?";
  const auto found = std::find(kOutcomeWords.begin(), kOutcomeWords.end(), asked);
  if (found == kOutcomeWords.end()) return std::nullopt;
  return static_cast<Outcome>(found - kOutcomeWords.begin());
}

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

Result classify(const Observed& observed, const Failure& failure, const LearnedTest& test) {
  const ContainedEnd& run = observed.end;
  Result result{Outcome::not_run, {}, observed.hit, run.wall_ns, run.processes_left, run.output};
  const auto is = [&](Outcome outcome, std::string detail = {}) {
    result.outcome = outcome;
    result.detail = std::move(detail);
    const bool needs_a_look = outcome <= Outcome::ignored || outcome == Outcome::not_run;
    if (!needs_a_look) result.output.clear();
    return result;
  };
  if (!run.fault.empty()) return is(Outcome::not_run, run.fault);
  if (run.is_timed_out) return is(Outcome::hung);
  const End end = end_of(run.status);
  if (end.signal != 0) return is(Outcome::crashed, signal_name(end.signal));
  if (!observed.has_row && end.code == kRefused) {
    if (std::string why = refusal(run.output); !why.empty()) return is(Outcome::not_run, std::move(why));
  }
  if (!observed.has_row) return is(Outcome::exited, fmt::format("exit code {} inside the test", end.code));
  if (!observed.is_hit) return is(Outcome::not_reached);
  if (observed.verdict == "failed") return is(Outcome::reported, observed.left_open);
  if (observed.verdict == "skipped") return is(Outcome::skipped);
  if (end.code != 0 && run.output.find("LeakSanitizer: detected memory leaks") != std::string::npos) {
    return is(Outcome::leaked, "memory, as LeakSanitizer says");
  }
  // main() or a destructor at the end of the program saw the error: the run is red.
  if (end.code != 0) return is(Outcome::reported, fmt::format("exit code {} after the test had passed", end.code));
  if (observed.descriptors_left > test.descriptors_left + left_by_failure(failure)) {
    return is(Outcome::leaked, observed.left_open);
  }
  const bool is_equal = test.is_steady && observed.entries == test.entries;
  return is(is_equal && loses_something(failure) ? Outcome::ignored : Outcome::survived);
}

}  // namespace syscost::bench::faults
