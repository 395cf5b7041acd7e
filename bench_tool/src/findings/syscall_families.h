// SPDX-License-Identifier: MIT
//
// The syscalls that rules ask for together.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "findings/window_calls.h"

namespace syscost::bench::findings {

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
