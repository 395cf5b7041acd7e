// SPDX-License-Identifier: MIT
//
// Rules about calls of any kind: those that fail, many calls, and calls that are made again with the same arguments.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "findings/rules.h"
#include "findings/thresholds.h"
#include "findings/window_calls.h"
#include "render/numbers.h"

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

// Calls that are made again with the same arguments, and end in the same way: the answer was known.

namespace {

using Calls = std::vector<const TracedCall*>;

/// They only ask. Clocks and random bytes are not among them: each answer is another one.
constexpr std::array<std::string_view, 22> kQuestions = {
    "getpid",     "getppid",  "gettid",     "getuid",     "geteuid", "getgid",    "getegid", "getpgrp",
    "getsid",     "stat",     "lstat",      "newfstatat", "statx",   "access",    "fstat",   "faccessat",
    "faccessat2", "readlink", "readlinkat", "getcwd",     "uname",   "getsockopt"};
/// Errors that a correct program does not meet again and again. Others may be an answer: EINVAL of readlink says that
/// a path is no link.
constexpr std::array<std::string_view, 3> kMisuse = {"EBADF", "EFAULT", "ENOTSOCK"};

/// The call with its arguments and result. Addresses are left out: they say where an answer goes. A descriptor is the
/// file that it is of: a number that was closed and opened again is another one.
std::string text_of(const TracedWindow& window, const TracedCall& call) {
  std::string text = fmt::format("{} {}", call.name(), call.call->result);
  for (const trace::Note& note : window.arguments(call)) {
    if (note.text.starts_with("0x")) continue;
    const bool is_file = note.name == "fd" && call.file != nullptr;
    text += is_file ? fmt::format(" file {}", call.file->opened) : fmt::format(" {}", note.text);
  }
  if (call.file != nullptr) return text + fmt::format(" of {}", call.file->opened);
  if (!call.path.empty()) return text + " of " + call.path;
  // A number that is not open is all that such a call is about.
  return call.call->error() == "EBADF" ? text : text + fmt::format(" after {}", call.closes);
  return text;
}

/// The same call, time after time, while nothing it is about changes.
struct Same {
  Calls row;
  Calls all;  ///< Those of all rows, each without its first call: that one had to be made.

  void end_same() {
    if (row.size() > 1) all.insert(all.end(), row.begin() + 1, row.end());
    row.clear();
  }
};

using SameCalls = std::map<std::string, Same>;

/// All calls for which `is_asked` holds.
SameCalls same_calls(const TracedWindow& window, bool (*is_asked)(const TracedCall&)) {
  SameCalls found;
  std::map<std::string, std::vector<Same*>, std::less<>> by_path;
  for (const TracedCall& call : window.calls()) {
    for (const std::string* path : changed_by(call)) {
      const auto asked = by_path.find(*path);
      if (asked == by_path.end()) continue;
      for (Same* same : asked->second) same->end_same();
    }
    if (!is_asked(call)) continue;
    const auto [place, is_new] = found.try_emplace(text_of(window, call));
    Same& same = place->second;
    if (is_new) by_path[call.file != nullptr && call.path.empty() ? call.file->path : call.path].push_back(&same);
    if (!same.row.empty() && !is_next(*same.row.back(), call, kFewBetween)) same.end_same();
    same.row.push_back(&call);
  }
  for (auto& [text, same] : found) same.end_same();
  return found;
}

/// `stat of /etc/localtime`, `getpid`
std::string subject_of(const TracedCall& call) {
  const std::string& path = call.path.empty() && call.file != nullptr ? call.file->path : call.path;
  return path.empty() ? std::string(call.name()) : fmt::format("{} of {}", call.name(), path);
}

}  // namespace

std::vector<Hit> failing_calls_in_order(const TracedWindow& window) {
  const auto fails = [](const TracedCall& call) {
    const std::string_view error = call.call->error();
    return !error.empty() && std::find(kNotNow.begin(), kNotNow.end(), error) == kNotNow.end() &&
           !(is_one_of(kLookups, call.name()) && error == "ENOENT");
  };
  std::vector<Hit> hits;
  for (const auto& [text, same] : same_calls(window, fails)) {
    if (static_cast<double>(same.all.size()) < kFewCalls) continue;
    const TracedCall& call = *same.all.front();
    const bool is_misuse = is_one_of(kMisuse, call.call->error());
    hits.push_back({std::string(call.name()), site_of(same.all),
                    fmt::format("{} fails {} times more in the same way ({})", subject_of(call), same.all.size(),
                                call.call->error()),
                    cost_of(same.all), !is_misuse, is_misuse});
  }
  return hits;
}

std::vector<Hit> many_calls_in_order(const TracedWindow& window) {
  const auto asks = [](const TracedCall& call) { return is_one_of(kQuestions, call.name()) && !call.failed(); };
  std::vector<Hit> hits;
  for (const auto& [text, same] : same_calls(window, asks)) {
    if (same.all.size() < kSameQuestions) continue;
    const TracedCall& call = *same.all.front();
    hits.push_back(
        {std::string(call.name()), site_of(same.all),
         fmt::format("{} is asked {} times more, and the answer is the same", subject_of(call), same.all.size()),
         cost_of(same.all), !window.is_system_file(call.path)});
  }
  return hits;
}

}  // namespace syscost::bench::findings
