// SPDX-License-Identifier: MIT
#include "groups/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace syscost::bench::groups {
namespace {

struct Word {
  std::string_view word;
  std::string_view syscalls;  ///< With spaces between and around.
};

/// Calls that make a descriptor, and what it is of. The order is that of the printed words.
constexpr std::array kObjects = {
    Word{"files", " open openat openat2 creat "},
    Word{"pipes", " pipe pipe2 "},
    Word{"sockets", " socket socketpair accept accept4 "},
    Word{"memory files", " memfd_create "},
    Word{"events", " eventfd eventfd2 epoll_create epoll_create1 timerfd_create signalfd signalfd4 "},
};

/// Calls on descriptors of any kind.
constexpr std::array kVerbs = {
    Word{"open", " open openat openat2 creat "},
    Word{"read", " read pread64 readv preadv preadv2 "},
    Word{"write", " write pwrite64 writev pwritev pwritev2 "},
    Word{"copy", " sendfile copy_file_range splice tee vmsplice "},
    Word{"connect", " connect "},
    Word{"listen", " listen "},
    Word{"send", " sendto sendmsg sendmmsg "},
    Word{"receive", " recvfrom recvmsg recvmmsg "},
    Word{"flush", " fsync fdatasync sync syncfs sync_file_range msync "},
    Word{"close", " close close_range "},
};

/// What else a test may do; the most telling first.
constexpr std::array kActions = {
    Word{"run programs", " execve execveat "},
    Word{"start processes", " clone fork vfork "},
    Word{"start threads", " clone3 "},
    Word{"trace processes", " ptrace process_vm_readv process_vm_writev "},
    Word{"send signals", " kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo "},
    Word{"control devices", " ioctl "},
    Word{"remove files", " unlink unlinkat rmdir "},
    Word{"rename files", " rename renameat renameat2 link linkat symlink symlinkat "},
    Word{"make folders", " mkdir mkdirat "},
    Word{"list folders", " getdents getdents64 "},
    Word{"resize files", " truncate ftruncate fallocate "},
    Word{"duplicate descriptors", " dup dup2 dup3 "},
    Word{"look up files", " stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat "},
    Word{"set signal handlers", " rt_sigaction sigaltstack signalfd "},
    Word{"set timers", " alarm setitimer timer_create timer_settime timerfd_settime "},
    Word{"block signals", " rt_sigprocmask "},
};

constexpr std::size_t kMostActions = 2;
constexpr std::size_t kMostNames = 4;

template <std::size_t n>
std::vector<std::string_view> matching(const std::array<Word, n>& words, std::span<const std::string_view> syscalls) {
  std::vector<std::string_view> found;
  for (const Word& word : words) {
    const bool is_made = std::any_of(syscalls.begin(), syscalls.end(), [&](std::string_view name) {
      return word.syscalls.find(fmt::format(" {} ", name)) != std::string_view::npos;
    });
    if (is_made) found.push_back(word.word);
  }
  return found;
}

}  // namespace

std::string words_of(std::span<const std::string_view> syscalls) {
  const std::vector<std::string_view> objects = matching(kObjects, syscalls);
  const std::vector<std::string_view> verbs = matching(kVerbs, syscalls);
  std::vector<std::string_view> actions = matching(kActions, syscalls);
  if (actions.size() > kMostActions) actions.resize(kMostActions);
  std::string text;
  if (objects.size() == 1 && objects.front() == "files") {
    text = fmt::format("{} files", fmt::join(verbs, ", "));
  } else if (!objects.empty()) {
    text = fmt::format("{}", fmt::join(objects, ", "));
    if (!verbs.empty()) text += fmt::format(": {}", fmt::join(verbs, ", "));
  } else if (!verbs.empty()) {
    text = fmt::format("{}", fmt::join(verbs, ", "));
  }
  if (!actions.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", fmt::join(actions, ", "));
  if (!text.empty()) return text;
  return fmt::format("{}", fmt::join(syscalls.first(std::min(kMostNames, syscalls.size())), ", "));
}

}  // namespace syscost::bench::groups
