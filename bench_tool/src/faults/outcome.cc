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

/// Signals that no fault of the code raises by itself.
bool is_sent(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT ||
         signal == SIGUSR1 || signal == SIGUSR2;
}

/// The first signal that ended more processes of the test than it does without the failure. One that is sent is a way
/// to end a process on purpose.
std::string child_signal(const ContainedEnd& run, const LearnedTest& test) {
  for (const auto& [signal, count] : run.child_signals) {
    const auto without = test.child_signals.find(signal);
    const std::uint64_t expected = without == test.child_signals.end() ? 0 : without->second;
    if (count > expected && !is_sent(signal)) return signal_name(signal);
  }
  return {};
}

/// `SIGSEGV`, `SIGKILL, which was sent`
std::string end_by(int signal) {
  return signal_name(signal) + (is_sent(signal) ? ", which a process sent, or the kernel for want of memory" : "");
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

bool needs_a_look(const Result& result) {
  return result.outcome <= Outcome::ignored || result.outcome == Outcome::not_run || !result.child.empty();
}

std::string how_it_ended(int status) {
  return WIFSIGNALED(status) ? "was ended by " + signal_name(WTERMSIG(status))
                             : fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

Result classify(const Observed& observed, const Failure& failure, const LearnedTest& test) {
  const ContainedEnd& run = observed.end;
  Result result{Outcome::not_run,   {},        child_signal(run, test), observed.hit, run.wall_ns,
                run.processes_left, run.output};
  const auto is = [&](Outcome outcome, std::string detail = {}) {
    result.outcome = outcome;
    result.detail = std::move(detail);
    if (!result.child.empty()) {
      result.detail += (result.detail.empty() ? "" : "; ") + ("a child of the test crashed: " + result.child);
    }
    if (!needs_a_look(result)) result.output.clear();
    return result;
  };
  if (!run.fault.empty()) return is(Outcome::not_run, run.fault);
  if (run.is_timed_out) return is(Outcome::hung);
  if (!observed.has_row && !run.report.refusal.empty()) return is(Outcome::not_run, run.report.refusal);
  if (!run.report.status)
    return is(Outcome::not_run,
              fmt::format("syscost-run {}, and did not say how the program ended", how_it_ended(run.status)));
  const int status = *run.report.status;
  if (WIFSIGNALED(status)) return is(Outcome::crashed, end_by(WTERMSIG(status)));
  const int code = WEXITSTATUS(status);
  if (!observed.has_row) return is(Outcome::exited, fmt::format("exit code {} inside the test", code));
  if (!observed.is_hit) return is(Outcome::not_reached);
  if (observed.verdict == "failed") return is(Outcome::reported, observed.left_open);
  if (observed.verdict == "skipped") return is(Outcome::skipped);
  if (code != 0 && run.has_leak_report) {
    return is(Outcome::leaked, "memory, as LeakSanitizer says");
  }
  // main() or a destructor at the end of the program saw the error: the run is red.
  if (code != 0) return is(Outcome::reported, fmt::format("exit code {} after the test had passed", code));
  if (observed.descriptors_left > test.descriptors_left + left_by_failure(failure)) {
    return is(Outcome::leaked, observed.left_open);
  }
  const bool is_equal = test.is_steady && observed.entries == test.entries;
  return is(is_equal && loses_something(failure) ? Outcome::ignored : Outcome::survived);
}

}  // namespace syscost::bench::faults
