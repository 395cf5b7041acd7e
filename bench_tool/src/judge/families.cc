// SPDX-License-Identifier: MIT
#include "judge/families.h"

#include <map>

namespace syscost::bench::judge {
namespace {

struct Row {
  Family family;
  std::string_view name;
  std::string_view syscalls;
};

constexpr Row kFamilies[] = {
    {Family::data_out, "data out", "write writev pwrite64 pwritev pwritev2 sendto sendmsg sendmmsg vmsplice"},
    {Family::data_in, "data in", "read readv pread64 preadv preadv2 recvfrom recvmsg recvmmsg getrandom lseek"},
    {Family::data_both, "data", "sendfile copy_file_range splice tee"},
    {Family::look_ups, "look-ups",
     "stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat getcwd getdents getdents64"},
    {Family::opens, "opens", "open openat openat2 creat"},
    {Family::closes, "closes", "close close_range"},
    {Family::syncs, "syncs", "fsync fdatasync msync sync_file_range syncfs sync"},
    {Family::memory, "memory", "brk mmap munmap mremap"},
    {Family::sizes, "sizes of files", "truncate ftruncate fallocate"},
    {Family::starts, "processes and threads", "clone clone3 fork vfork execve execveat wait4 waitid rt_sigprocmask"},
    {Family::waits, "waits",
     "poll ppoll select pselect6 epoll_wait epoll_pwait epoll_pwait2 epoll_create epoll_create1 epoll_ctl nanosleep "
     "clock_nanosleep sched_yield pause rt_sigtimedwait rt_sigsuspend"},
    {Family::descriptors, "descriptors and locks",
     "socket socketpair pipe pipe2 eventfd eventfd2 accept accept4 timerfd_create signalfd signalfd4 memfd_create dup "
     "dup2 dup3 fcntl flock"},
    {Family::hints, "options and hints", "setsockopt fadvise64 madvise readahead"},
    {Family::unjudged, "not judged", "futex futex_wait futex_wake futex_waitv"},
};

constexpr std::string_view kMakeOne =
    "open openat openat2 creat socket accept accept4 eventfd eventfd2 timerfd_create signalfd signalfd4 memfd_create "
    "dup dup3 epoll_create epoll_create1 inotify_init inotify_init1 io_uring_setup pidfd_open perf_event_open "
    "userfaultfd";
constexpr std::string_view kMakeTwo = "pipe pipe2 socketpair";

std::string_view without_detail(std::string_view syscall) {
  return syscall.substr(0, syscall.find(' '));
}

template <class Visit>
void for_each_word(std::string_view words, Visit visit) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    visit(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

}  // namespace

Family family_of(std::string_view syscall) {
  static const std::map<std::string_view, Family> all = [] {
    std::map<std::string_view, Family> made;
    for (const Row& row : kFamilies) {
      for_each_word(row.syscalls, [&](std::string_view one) { made[one] = row.family; });
    }
    return made;
  }();
  const auto found = all.find(without_detail(syscall));
  return found == all.end() ? Family::none : found->second;
}

bool is_wait(std::string_view syscall) {
  return family_of(syscall) == Family::waits && !syscall.starts_with("epoll_c");  // create, ctl
}

std::string_view name_of(Family family) {
  for (const Row& row : kFamilies) {
    if (row.family == family) return row.name;
  }
  return {};
}

std::optional<Family> family_named(std::string_view name) {
  for (const Row& row : kFamilies) {
    if (row.name == name && row.family != Family::unjudged) return row.family;
  }
  return std::nullopt;
}

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  for (const Row& row : kFamilies) {
    if (row.family != Family::unjudged) names.push_back(row.name);
  }
  return names;
}

int descriptors_made_by(std::string_view syscall) {
  static const std::map<std::string_view, int> all = [] {
    std::map<std::string_view, int> made;
    for_each_word(kMakeOne, [&](std::string_view one) { made[one] = 1; });
    for_each_word(kMakeTwo, [&](std::string_view one) { made[one] = 2; });
    return made;
  }();
  const auto found = all.find(without_detail(syscall));
  return found == all.end() ? 0 : found->second;
}

}  // namespace syscost::bench::judge
