// SPDX-License-Identifier: MIT
//
// WindowCalls: the calls of one window, as rules ask for them.
//
// A rule is about a family of syscalls (all that write), while rows and summaries tell syscalls and their details
// apart.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/dataset.h"
#include "model/group.h"
#include "stats/window_summary.h"

namespace syscost::bench::findings {

/// Calls of some syscalls together: per repetition, or per iteration where the summary's are. nullopt: not measured.
struct CallSum {
  double calls = 0;  ///< Entries where calls are unknown.
  std::optional<double> errors = 0;
  std::optional<double> bytes = 0;
  std::optional<double> bytes_released = 0;
  std::optional<double> kernel_ns = 0;
  std::map<std::string, double, std::less<>> errnos;
  std::string_view most;  ///< The syscall of them with the most calls; empty if there is none.

  double succeeded() const { return calls - errors.value_or(0); }
  double failed_with(std::string_view errno_name) const;
};

using Syscalls = std::span<const std::string_view>;

/// `ioctl` of `ioctl TCGETS`.
std::string_view syscall_of(std::string_view name);

class WindowCalls {
 public:
  /// What it is made of must outlive it.
  WindowCalls(const model::Dataset& data, const model::Group& group, const stats::WindowSummary& summary);

  const stats::WindowSummary& summary() const { return summary_; }
  CallSum sum(Syscalls syscalls) const;
  CallSum sum(std::initializer_list<std::string_view> syscalls) const {
    return sum(Syscalls(syscalls.begin(), syscalls.size()));
  }
  bool has(Syscalls syscalls) const { return sum(syscalls).calls > 0; }

  /// The line that makes the most calls of `syscalls`; "" if the run has no lines.
  std::string site_of(Syscalls syscalls) const;

  bool has_results() const;
  bool has_bytes() const;
  bool has_times() const;
  /// ` a call` of a loop, ` an iteration` of a benchmark, else "".
  std::string_view per() const;

 private:
  const model::Dataset& data_;
  const model::Group& group_;
  const stats::WindowSummary& summary_;
};

}  // namespace syscost::bench::findings
