// SPDX-License-Identifier: MIT
#include "groups/behaviour.h"

#include <algorithm>
#include <utility>

#include "model/lists.h"

namespace syscost::bench::groups {
namespace {

/// `ioctl` of `ioctl TCGETS`: no name of a syscall holds a space.
std::string_view name_alone(std::string_view name) {
  return name.substr(0, name.find(' '));
}

bool tells(const stats::SyscallSummary& call) {
  return !call.is_wait && !model::has_class(call.classes, "volatile") && !model::has_class(call.classes, "memory");
}

/// Why the counts of `window` cannot be compared with other tests'; empty if they can.
std::string reason_against(const stats::WindowSummary& window) {
  if (window.uncounted > 0 || (!window.calls && !window.entries)) return "its calls were not counted";
  if (window.incomplete > 0) return "rows are missing: the test did not end";
  if (window.lost.value_or(0) > 0) return "calls were lost";
  return {};
}

}  // namespace

std::uint32_t Behaviours::index_of(const stats::SyscallSummary& call) {
  const std::string_view name = name_alone(call.name);
  const auto found = indexes_.find(name);
  if (found != indexes_.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(syscalls.size());
  indexes_.emplace(name, index);
  syscalls.push_back({std::string(name), tells(call)});
  return index;
}

void Behaviours::add(const stats::WindowSummary& window) {
  if (window.kind != "test" || !window.is_ours() || window.is_plain) return;
  if (std::string reason = reason_against(window); !reason.empty()) {
    left_out.push_back({window.name, std::move(reason)});
    return;
  }
  Behaviour test{window.name, std::string(window.test), std::string(window.program), {}, 0};
  std::map<std::uint32_t, double> counts;
  for (const stats::SyscallSummary& call : window.syscalls) {
    if (!call.count()) {
      left_out.push_back({window.name, "the calls of " + call.name + " were not counted"});
      return;
    }
    if (call.count()->median > 0) counts[index_of(call)] += call.count()->median;
  }
  for (const auto& [syscall, calls] : counts) {
    test.counts.push_back({syscall, calls});
    test.calls += calls;
  }
  tests.push_back(std::move(test));
}

}  // namespace syscost::bench::groups
