// SPDX-License-Identifier: MIT
#include "findings/call_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "findings/syscall_families.h"
#include "findings/thresholds.h"
#include "render/units.h"

namespace syscost::bench::findings {
namespace {

double failed_with(const stats::SyscallSummary& syscall, std::string_view error) {
  if (!syscall.errnos) return 0;
  const auto found = syscall.errnos->find(error);
  return found == syscall.errnos->end() ? 0 : found->second.median;
}

/// By these, programs find out which descriptors are open, or close all there can be. EBADF is an answer then.
constexpr std::array<std::string_view, 8> kLookForDescriptors = {"close", "dup",   "dup2",  "dup3",
                                                                 "fcntl", "fstat", "ioctl", "newfstatat"};

}  // namespace

std::vector<Hit> failing_calls(const WindowCalls& window) {
  std::vector<Hit> hits;
  const double passes = window.summary().passes();
  // A child may close all descriptors there can be.
  const bool is_test = window.summary().kind != "process";
  for (const stats::SyscallSummary& syscall : window.summary().syscalls) {
    const double calls = syscall.count() ? syscall.count()->median : 0;
    const bool may_be_answer = is_one_of(kLookForDescriptors, syscall_of(syscall.name));
    if (const double bad = is_test ? failed_with(syscall, "EBADF") : 0; bad * passes >= kFewCalls) {
      hits.push_back({std::string(syscall_of(syscall.name)), window.site_of(std::array{syscall_of(syscall.name)}),
                      fmt::format("{} of {} {}{} fail, because the descriptor is not open (EBADF)", render::count(bad),
                                  render::count(calls), syscall.name, window.per()),
                      syscall.kernel_ns ? syscall.kernel_ns->median * bad / calls : 0, may_be_answer, !may_be_answer});
      continue;
    }
    double failed = syscall.errors ? syscall.errors->median : 0;
    std::string names;
    const bool looks_up = is_one_of(kLookups, syscall_of(syscall.name));
    for (const auto& [name, spread] : syscall.errnos.value_or(stats::ErrnoNumbers())) {
      // missing-paths looks at lookups that find nothing.
      if (std::find(kNotNow.begin(), kNotNow.end(), name) != kNotNow.end() || (looks_up && name == "ENOENT")) {
        failed -= spread.median;
      } else if (spread.median > 0) {
        names += (names.empty() ? "" : ", ") + name;
      }
    }
    if (calls * passes < kFewCalls || failed < kFailingShare * calls) continue;
    const std::string_view name = syscall_of(syscall.name);
    const double ns = syscall.kernel_ns ? syscall.kernel_ns->median * failed / calls : 0;
    hits.push_back({std::string(name), window.site_of(Syscalls(&name, 1)),
                    fmt::format("{} of {} {}{} fail ({})", render::count(failed), render::count(calls), syscall.name,
                                window.per(), names.empty() ? "errno not recorded" : names),
                    ns, true});
  }
  return hits;
}

std::vector<Hit> many_calls(const WindowCalls& window) {
  // One for each window: the others are seen when this one has gone.
  const stats::SyscallSummary* most = nullptr;
  double most_calls = 0;
  for (const stats::SyscallSummary& syscall : window.summary().syscalls) {
    const double calls = syscall.count() ? syscall.count()->median : 0;
    if (syscall.is_wait || calls <= most_calls) continue;
    most = &syscall;
    most_calls = calls;
  }
  if (most == nullptr || most_calls < kManyCalls) return {};
  const std::string_view name = syscall_of(most->name);
  const bool is_timed = most->kernel_ns && most->latency_count && most->latency_count->median > 0;
  const std::string each =
      is_timed ? ", " + render::duration(most->kernel_ns->median / most->latency_count->median) + " each" : "";
  return {{std::string(name), window.site_of(Syscalls(&name, 1)),
           fmt::format("{} {}{}{}", render::count(most_calls), most->name, window.per(), each),
           most->kernel_ns ? most->kernel_ns->median : 0, true}};
}

}  // namespace syscost::bench::findings
