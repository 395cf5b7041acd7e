// SPDX-License-Identifier: MIT
//
// Calls that are made again with the same arguments, and end in the same way: the answer was known.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "findings/call_rules.h"
#include "findings/syscall_families.h"
#include "findings/thresholds.h"

namespace syscost::bench::findings {
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
  Calls all;  ///< Of all rows, each without its first call: that one had to be made.

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
