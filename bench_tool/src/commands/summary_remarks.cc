// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/bytes_by_kind.h"
#include "commands/injected.h"
#include "commands/left_open.h"
#include "commands/summary.h"

namespace syscost::bench::commands {
namespace {

/// These calls never return, by design.
bool may_not_return(std::string_view syscall) {
  static constexpr std::array<std::string_view, 4> kNames = {"exit", "exit_group", "execve", "execveat"};
  return std::find(kNames.begin(), kNames.end(), syscall) != kNames.end();
}

void add_losses(const stats::WindowSummary& window, std::vector<std::string>& out) {
  if (window.lost.value_or(0) > 0) {
    out.push_back(fmt::format("warning: events lost: {}; every count here is a lower bound", *window.lost));
  }
  if (window.late.value_or(0) > 0) {
    out.push_back(
        fmt::format("warning: events that came after the window was read: {}; not in its counts", *window.late));
  }
  if (window.incomplete > 0) {
    out.push_back(fmt::format("warning: rows are missing in {} of {} repetitions; every count here is a lower bound",
                              window.incomplete, window.n));
  }
  // If nothing was counted, the empty table says so.
  if (window.uncounted > 0 && window.uncounted < window.n) {
    out.push_back(fmt::format("warning: {} of {} repetitions were not counted, so that nothing is known of all of them",
                              window.uncounted, window.n));
  }
}

void add_syscall_remarks(const stats::SyscallSummary& syscall, std::vector<std::string>& out) {
  if (syscall.denied.value_or(0) > 0) {
    out.push_back(
        fmt::format("denied: {} {} stopped by a seccomp filter, not in the counts", *syscall.denied, syscall.name));
  }
  if (syscall.restarts.value_or(0) > 0) {
    out.push_back(
        fmt::format("restarts: {} {} interrupted and started again by the kernel", *syscall.restarts, syscall.name));
  }
  if (syscall.in_flight.value_or(0) > 0) {
    out.push_back(
        fmt::format("in flight: {} {} had not returned when the window ended", *syscall.in_flight, syscall.name));
  }
  if (syscall.no_return.value_or(0) > 0 && !may_not_return(syscall.name)) {
    out.push_back(fmt::format("no return: {} {} did not return, because the thread ended or was killed",
                              *syscall.no_return, syscall.name));
  }
  if (syscall.carried_in.value_or(0) > 0) {
    out.push_back(fmt::format("carried in: {} {} began before the window and returned in it, not in the counts",
                              *syscall.carried_in, syscall.name));
  }
}

}  // namespace

std::vector<std::string> remarks(const SummarizedRun& run, const stats::WindowSummary& window) {
  std::vector<std::string> out;
  add_losses(window, out);
  // A tool observes a window of ours, and that window has the remarks.
  if (!window.is_ours()) return out;
  if (const auto found = run.findings.find(window.name); found != run.findings.end()) {
    out.insert(out.end(), found->second.begin(), found->second.end());
  }
  if (stats::has_injected(window)) out.push_back(injected_line(*window.injected) + " (docs/faults.md)");
  for (const stats::SyscallSummary& syscall : window.syscalls) add_syscall_remarks(syscall, out);
  std::vector<MovedBytes> moved;
  for (const stats::SyscallSummary& one : window.syscalls)
    moved.push_back({one.name, one.bytes ? one.bytes->median : 0});
  if (const std::string kinds = bytes_by_kind(moved); !kinds.empty()) out.push_back("bytes by kind of file: " + kinds);
  if (std::string left = left_remark(window); !left.empty()) out.push_back(std::move(left));
  return out;
}

}  // namespace syscost::bench::commands
