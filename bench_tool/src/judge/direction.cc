// SPDX-License-Identifier: MIT
#include "judge/direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
    {Family::syncs, "syncs", "fsync fdatasync msync sync_file_range syncfs sync O_SYNC"},
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

namespace {

/// Families that a program may exchange for one another to find a file or its contents. For example, it reads a
/// directory instead of trying names, or reads a file instead of mapping it.
constexpr std::array kWaysToAFile = {Family::look_ups, Family::opens, Family::closes, Family::data_in, Family::memory};

/// Calls that the C library makes for each clone3, which starts a thread or a process, and how many of them. A clone3
/// that is absent counts, too: then clone starts it.
constexpr std::pair<std::string_view, int> kForAStart[] = {
    {"mmap", 1}, {"munmap", 1}, {"mprotect", 1}, {"madvise", 1}, {"rt_sigprocmask", 2}};

bool is_way_to_a_file(Family family) {
  return std::find(kWaysToAFile.begin(), kWaysToAFile.end(), family) != kWaysToAFile.end();
}

/// It gives back what another call took.
bool gives_back(std::string_view syscall) {
  return family_of(syscall) == Family::closes || syscall.substr(0, syscall.find(' ')) == "munmap";
}

struct Sum {
  double before = 0;
  double after = 0;
  double growth() const { return after - before; }
};

class DirectionJudge {
 public:
  DirectionJudge(const std::vector<CallCount>& calls, const std::vector<FailureCount>& failures)
      : calls_(calls), failures_(failures) {
    for (const CallCount& call : calls) {
      Sum& sum = by_call_[call.syscall];
      sum.before += call.before;
      // One that a filter denied is a failure, and not a call on each backend.
      sum.after += call.after - std::clamp(call.after - call.before, 0.0, std::max(call.absent, 0.0));
      if (call.syscall == "clone3") starts_ += call.absent;
    }
    starts_ = std::max(starts_ + of("clone3").growth(), 0.0);
    forgive_starts();
    for (const CallCount& call : calls) {
      Sum& sum = by_call_[call.syscall];
      const bool is_sync = family_of(call.syscall) == Family::syncs;
      // A sync that fails, as that of a pipe, has written nothing.
      if (is_sync) sum = {call.before - call.failed_before, call.after - call.failed_after};
      if (call.is_accepted && (sum.growth() > 0 || is_sync)) sum.after = sum.before;
      sum.after -= std::clamp(sum.growth(), 0.0, call.interrupted);
    }
    for (const CallCount& call : calls) {
      // A close that succeeds is needed because another call made the descriptor. So it is not judged, and fewer of
      // them make up for no other call. A close that fails is a call like any other.
      if (family_of(call.syscall) != Family::closes) continue;
      by_call_[call.syscall] = {call.failed_before, call.failed_after};
    }
    // The same of a munmap, as far as mmap does not change with it.
    if (const auto munmap = by_call_.find("munmap"); munmap != by_call_.end()) {
      const double made = of("mmap").growth();
      Sum& sum = munmap->second;
      sum.after = sum.before + std::clamp(sum.growth(), std::min(made, 0.0), std::max(made, 0.0));
    }
    for (const auto& [syscall, sum] : by_call_) {
      Sum& family = by_family_[family_of(syscall)];
      family.before += sum.before;
      family.after += sum.after;
    }
    spread_data_both();
  }

  Direction direction() {
    judge_syncs();
    note_first(Grew::syncs);
    judge_single_calls();
    judge_families();
    note_first(Grew::calls);
    judge_failures();
    note_first(Grew::failures);
    note_open_descriptors();
    note_mappings();
    note_rings();
    if (!out_.reasons.empty()) {
      out_.word = Word::red;
    } else if (std::all_of(calls_.begin(), calls_.end(),
                           [](const CallCount& one) { return one.before == one.after; }) &&
               std::all_of(failures_.begin(), failures_.end(),
                           [](const FailureCount& one) { return one.before == one.after; })) {
      out_.word = Word::same;
    } else {
      const bool has_growth = std::any_of(calls_.begin(), calls_.end(), [](const CallCount& one) {
        return one.after > one.before && !gives_back(one.syscall);
      });
      out_.word = has_growth ? Word::exchanged : Word::improved;
    }
    return std::move(out_);
  }

 private:
  Sum of(std::string_view syscall) const {
    const auto found = by_call_.find(syscall);
    return found == by_call_.end() ? Sum{} : found->second;
  }
  double growth(Family family) const {
    const auto found = by_family_.find(family);
    return found == by_family_.end() ? 0 : found->second.growth();
  }

  void forgive_starts() {
    for (const auto& [syscall, each] : kForAStart) {
      const auto found = by_call_.find(syscall);
      if (found == by_call_.end()) continue;
      Sum& sum = found->second;
      sum.after -= std::clamp(sum.growth(), 0.0, starts_ * each);
    }
  }

  /// A call such as sendfile reads and writes. It is added to that one of the two families that lost more calls,
  /// because it may have taken their place.
  void spread_data_both() {
    const Sum both = by_family_[Family::data_both];
    const Family side = growth(Family::data_out) < growth(Family::data_in) ? Family::data_out : Family::data_in;
    by_family_[side].before += both.before;
    by_family_[side].after += both.after;
    by_family_.erase(Family::data_both);
  }

  void note_first(Grew one) {
    if (out_.grew == Grew::nothing && !out_.reasons.empty()) out_.grew = one;
  }

  void judge_syncs() {
    const auto found = by_family_.find(Family::syncs);
    if (found == by_family_.end()) return;
    const Sum& sum = found->second;
    // One open with O_SYNC stands for all writes to its file, so another sync does not take its place.
    if (const Sum opens = of("O_SYNC"); sum.growth() == 0 && opens.growth() != 0) {
      out_.reasons.push_back(fmt::format("other syncs: O_SYNC {} -> {}", opens.before, opens.after));
    }
    if (sum.growth() == 0) return;
    out_.reasons.push_back(
        fmt::format("{} syncs: {} -> {}", sum.growth() < 0 ? "fewer" : "more", sum.before, sum.after));
  }

  void judge_single_calls() {
    for (const auto& [syscall, sum] : by_call_) {
      if (family_of(syscall) == Family::none && sum.growth() > 0) {
        out_.reasons.push_back(fmt::format("+{} {}", sum.growth(), syscall));
      }
    }
  }

  void judge_families() {
    double to_files = 0;
    for (const Family family : kWaysToAFile) to_files += growth(family);
    const bool is_other_way = to_files < 0 && std::any_of(kWaysToAFile.begin(), kWaysToAFile.end(),
                                                          [&](Family one) { return growth(one) < 0; });
    for (const auto& [family, sum] : by_family_) {
      if (sum.growth() <= 0 || family == Family::none || family == Family::syncs || family == Family::closes ||
          family == Family::hints || family == Family::unjudged) {
        continue;
      }
      if (is_way_to_a_file(family) && is_other_way) continue;
      out_.reasons.push_back(fmt::format("+{} {}", sum.growth(), name_of(family)));
    }
  }

  /// More failures with one errno in one family. The ways to a file are one family here: a program that looks for a
  /// file in another way fails in another call.
  void judge_failures() {
    std::map<std::pair<std::string_view, std::string_view>, Sum> by_kind;
    for (const FailureCount& one : failures_) {
      const Family family = family_of(one.syscall);
      const std::string_view who = is_way_to_a_file(family) ? name_of(Family::look_ups)
                                   : family == Family::none ? one.syscall
                                                            : name_of(family);
      Sum& sum = by_kind[{who, one.errno_name}];
      sum.before += one.before;
      sum.after += one.after;
    }
    for (const auto& [kind, sum] : by_kind) {
      if (sum.growth() > 0) out_.reasons.push_back(fmt::format("+{} {}", sum.growth(), kind.second));
    }
  }

  /// Descriptors that the calls made and did not close.
  void note_open_descriptors() {
    double before = 0;
    double after = 0;
    Sum closes;
    for (const CallCount& call : calls_) {
      const int made = descriptors_made_by(call.syscall);
      before += made * (call.before - call.failed_before);
      after += made * (call.after - call.failed_after);
      if (call.syscall.substr(0, call.syscall.find(' ')) != "close") continue;
      if (call.is_accepted) return;
      closes.before += call.before - call.failed_before;
      closes.after += call.after - call.failed_after;
    }
    const double left = after - closes.after;
    if (left <= 0 || left <= before - closes.before || closes.after >= closes.before) return;
    const double more = left - std::max(before - closes.before, 0.0);
    out_.open = {more, fmt::format("{} more stay open: close {} -> {}", more, closes.before, closes.after)};
  }

  /// Mappings that the calls made and did not take away.
  void note_mappings() {
    const Sum mmap = successes("mmap");
    const Sum munmap = successes("munmap");
    const double more = mmap.growth() - munmap.growth();
    if (munmap.growth() >= 0 || more <= 0 || mmap.after <= munmap.after) return;
    const double stay = std::min(more, mmap.after - munmap.after);
    out_.mapped = {stay, fmt::format("{} more may stay mapped: munmap {} -> {}", stay, munmap.before, munmap.after)};
  }

  /// As given, also what is forgiven or accepted.
  Sum successes(std::string_view syscall) const {
    Sum sum;
    for (const CallCount& call : calls_) {
      if (call.syscall.substr(0, call.syscall.find(' ')) != syscall) continue;
      sum.before += call.before - call.failed_before;
      sum.after += call.is_accepted ? call.before - call.failed_before : call.after - call.failed_after;
    }
    return sum;
  }

  /// The calls that io_uring makes for a program are not counted. If they took the place of calls, it says so.
  void note_rings() {
    const Sum rings = of("io_uring_enter");
    if (rings.growth() <= 0) return;
    for (const Family family : {Family::data_in, Family::data_out, Family::syncs}) {
      if (growth(family) >= 0) continue;
      out_.ring_note = fmt::format("what went may be in io_uring, which is not counted: io_uring_enter {} -> {}",
                                   rings.before, rings.after);
      return;
    }
  }

  const std::vector<CallCount>& calls_;
  const std::vector<FailureCount>& failures_;
  double starts_ = 0;  // more of them than before
  std::map<std::string_view, Sum> by_call_;
  std::map<Family, Sum> by_family_;
  Direction out_;
};

}  // namespace

Direction direction_of(const std::vector<CallCount>& calls, const std::vector<FailureCount>& failures) {
  return DirectionJudge(calls, failures).direction();
}

}  // namespace syscost::bench::judge
