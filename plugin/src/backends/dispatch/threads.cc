// SPDX-License-Identifier: MIT
#include "backends/dispatch/threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "os/files.h"
#include "os/proc.h"
#include "os/program_files.h"

namespace syscost::dispatch {
namespace {

template <class Body>
void for_each_thread(Body body) {
  const std::string folder = "/proc/self/task";
  for (const std::string& thread : names_in(folder)) body(folder + "/" + thread, std::atoi(thread.c_str()));
}

/// /proc/self/task/TID/stat: "tid (name) state ppid pgrp session tty tpgid flags ..."; the name may hold anything.
struct Status {
  bool is_there = false;
  bool is_known = false;  ///< The following fields could be read.
  char state = 0;
  unsigned long flags = 0;
};

Status status_of(const std::string& task) {
  const std::string line = read_small_file(task + "/stat");
  Status found;
  if (line.empty()) return found;
  found.is_there = true;
  const std::size_t name_end = line.rfind(')');
  std::size_t at = name_end;
  for (int field = 0; field < 7 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  if (at == std::string::npos) return found;
  found.is_known = true;
  found.state = line[name_end + 2];
  found.flags = std::strtoul(line.c_str() + at, nullptr, 10);
  return found;
}

bool may_call(const std::string& task) {
  const Status status = status_of(task);
  return status.is_there && is_thread_of_program(status.flags);
}

}  // namespace

std::size_t count_threads() {
  std::size_t all = 0;
  for_each_thread([&](const std::string&, pid_t) { ++all; });
  return all;
}

std::vector<pid_t> calling_threads() {
  std::vector<pid_t> all;
  for_each_thread([&](const std::string& task, pid_t thread) {
    if (may_call(task)) all.push_back(thread);
  });
  std::sort(all.begin(), all.end());
  return all;
}

void forget_ended_threads() {
  for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
    signal_safe::Thread& thread = syscost_threads[i];
    // 0 = it is being born, or it is ending in the stub.
    const std::uint32_t id = std::atomic_ref(thread.id).load();
    if (std::atomic_ref(thread.is_used).load() == 0 || id == 0) continue;
    if (syscost_raw_syscall(SYS_tgkill, syscost_state.process, id, 0) != -ESRCH) continue;
    // Ended in between, it has given the record back itself, and another thread may have it.
    std::uint32_t still = id;
    if (std::atomic_ref(thread.id).compare_exchange_strong(still, 0)) {
      signal_safe::note_end(thread);
      std::atomic_ref(thread.is_used).store(0);
    }
  }
}

std::size_t count_armed_threads() {
  std::size_t armed = 0;
  for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
    if (std::atomic_ref(syscost_threads[i].is_used).load() != 0) ++armed;
  }
  return armed;
}

std::size_t count_unseen_threads(std::size_t all) {
  const std::size_t armed = count_armed_threads();
  return all > armed ? all - armed : 0;
}

std::vector<pid_t> still_unseen(const std::vector<pid_t>& threads) {
  std::vector<pid_t> unseen;
  for (const pid_t thread : threads) {
    bool has_record = false;
    for (std::uint32_t i = 0; i < syscost_state.thread_high && !has_record; ++i) {
      has_record = std::atomic_ref(syscost_threads[i].is_used).load() != 0 &&
                   std::atomic_ref(syscost_threads[i].id).load() == static_cast<std::uint32_t>(thread);
    }
    if (!has_record && may_call("/proc/self/task/" + std::to_string(thread))) unseen.push_back(thread);
  }
  return unseen;
}

void UnwatchedThreads::set_made(std::vector<pid_t> made) {
  const std::lock_guard guard(made_lock_);
  made_ = std::move(made);
}

std::size_t UnwatchedThreads::count_unseen() const {
  const std::lock_guard guard(made_lock_);
  return still_unseen(made_).size();
}

void UnwatchedThreads::end_timed_passes() {
  const std::vector<pid_t> now = calling_threads();
  std::vector<pid_t> new_ones;
  std::set_difference(now.begin(), now.end(), before_.begin(), before_.end(), std::back_inserter(new_ones));
  std::vector<pid_t> all;
  std::set_union(made_.begin(), made_.end(), new_ones.begin(), new_ones.end(), std::back_inserter(all));
  set_made(std::move(all));
}

std::uint64_t UnwatchedThreads::count_losses() {
  if (made_.empty()) return losses_;
  const std::vector<pid_t> now = calling_threads();
  std::vector<pid_t> left;
  std::set_intersection(made_.begin(), made_.end(), now.begin(), now.end(), std::back_inserter(left));
  set_made(std::move(left));
  // Other threads' clones may have passed the stub all the same.
  return losses_ += std::min(made_.size(), count_unseen_threads(now.size()));
}

// ---- older threads --------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

struct Activity {
  bool is_there = false;
  bool is_running = false;
  std::uint64_t run_ns = kUnknown;
};

Activity activity_of(pid_t thread) {
  const std::string task = "/proc/self/task/" + std::to_string(thread);
  const Status status = status_of(task);
  Activity found;
  if (!status.is_there) return found;
  found.is_there = true;
  // The next figure lacks the time since a running thread was scheduled.
  found.is_running = !status.is_known || status.state == 'R';
  const std::string times = read_small_file(task + "/schedstat");
  if (!times.empty()) found.run_ns = std::strtoull(times.c_str(), nullptr, 10);
  return found;
}

/// ThreadSanitizer's runtime has a thread of its own.
std::size_t count_runtime_threads() {
  return loaded_function("__tsan_init") != nullptr ? 1 : 0;
}

}  // namespace

void OlderThreads::begin(std::size_t unseen) {
  threads_.clear();
  if (unseen <= count_runtime_threads()) return;
  // If an earlier backend armed threads, it is not known which threads are unseen.
  are_known_ = count_armed_threads() == 1;
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  for (const pid_t thread : calling_threads()) {
    if (thread == self) continue;
    at_begin_.push_back(thread);
    threads_.push_back({thread, activity_of(thread).run_ns});
  }
}

std::size_t OlderThreads::count_unseen() const {
  if (at_begin_.empty()) return 0;
  const std::size_t unseen = still_unseen(at_begin_).size();
  return unseen - std::min(unseen, count_runtime_threads());
}

std::uint64_t OlderThreads::count_losses() {
  if (!are_known_) return losses_ += count_unseen_threads(count_threads());
  for (One& one : threads_) {
    const Activity now = activity_of(one.thread);
    if (!now.is_there || now.is_running || now.run_ns == kUnknown || now.run_ns != one.run_ns) ++losses_;
    one = {now.is_there ? one.thread : 0, now.run_ns};
  }
  threads_.erase(std::remove_if(threads_.begin(), threads_.end(), [](const One& one) { return one.thread == 0; }),
                 threads_.end());
  return losses_;
}

}  // namespace syscost::dispatch
