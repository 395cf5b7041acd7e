// SPDX-License-Identifier: MIT
//
// WindowCalls: the calls of one window, as rules ask for them, and the families of syscalls that rules ask for
// together.
//
// A rule is about a family of syscalls (all that write), while rows and summaries tell syscalls and their details
// apart.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/dataset.h"
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
  /// Its arguments must outlive it.
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

inline constexpr std::array<std::string_view, 5> kWrites = {"write", "writev", "pwrite64", "pwritev", "pwritev2"};
inline constexpr std::array<std::string_view, 5> kReads = {"read", "readv", "pread64", "preadv", "preadv2"};
inline constexpr std::array<std::string_view, 4> kSyncs = {"fsync", "fdatasync", "sync", "syncfs"};
inline constexpr std::array<std::string_view, 3> kSends = {"sendto", "sendmsg", "sendmmsg"};
inline constexpr std::array<std::string_view, 4> kOpens = {"open", "openat", "openat2", "creat"};
/// They make or use descriptors on which a small write is a message.
inline constexpr std::array<std::string_view, 14> kMessages = {
    "socket",   "socketpair", "accept",   "accept4",  "sendto",  "sendmsg", "sendmmsg",
    "recvfrom", "recvmsg",    "recvmmsg", "eventfd2", "eventfd", "pipe",    "pipe2"};
/// They look a path up.
inline constexpr std::array<std::string_view, 16> kLookups = {
    "open",      "openat",     "openat2",  "stat",       "lstat",  "newfstatat", "statx",  "access",
    "faccessat", "faccessat2", "readlink", "readlinkat", "execve", "chdir",      "statfs", "opendir"};
inline constexpr std::array<std::string_view, 7> kPolls = {"poll",       "ppoll",       "select",      "pselect6",
                                                           "epoll_wait", "epoll_pwait", "epoll_pwait2"};
inline constexpr std::array<std::string_view, 2> kSleeps = {"nanosleep", "clock_nanosleep"};

/// Errors by which a call says `not now`. Rules about waiting look at them.
inline constexpr std::array<std::string_view, 6> kNotNow = {"EAGAIN",    "EINTR",    "EINPROGRESS",
                                                            "ETIMEDOUT", "EALREADY", "ECHILD"};

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace syscost::bench::findings
