// SPDX-License-Identifier: MIT
#include "backends/dispatch/threads.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "signal_safe/state.h"

namespace syscost::dispatch {
namespace {

template <class Body>
void for_each_thread(Body body) {
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) body(task.path());
}

bool may_call(const std::filesystem::path& task) {
  constexpr unsigned long kExiting = 0x4;    // PF_EXITING: set before anybody who joins it goes on
  constexpr unsigned long kIoWorker = 0x10;  // PF_IO_WORKER
  std::ifstream file(task / "stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  // "tid (name) state ppid pgrp session tty tpgid flags ..."; the name may hold anything.
  std::size_t at = line.rfind(')');
  for (int field = 0; field < 7 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  if (at == std::string::npos) return true;
  return (std::strtoul(line.c_str() + at, nullptr, 10) & (kExiting | kIoWorker)) == 0;
}

}  // namespace

std::size_t count_threads() {
  std::size_t all = 0;
  for_each_thread([&](const std::filesystem::path&) { ++all; });
  return all;
}

std::vector<pid_t> calling_threads() {
  std::vector<pid_t> all;
  for_each_thread([&](const std::filesystem::path& task) {
    if (may_call(task)) all.push_back(std::atoi(task.filename().c_str()));
  });
  std::sort(all.begin(), all.end());
  return all;
}

std::size_t count_unseen_threads(std::size_t all) {
  std::size_t armed = 0;
  for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
    if (std::atomic_ref(syscost_threads[i].is_used).load() != 0) ++armed;
  }
  return all > armed ? all - armed : 0;
}

void UnwatchedThreads::end_timed_passes() {
  const std::vector<pid_t> now = calling_threads();
  std::vector<pid_t> new_ones;
  std::set_difference(now.begin(), now.end(), before_.begin(), before_.end(), std::back_inserter(new_ones));
  std::vector<pid_t> all;
  std::set_union(made_.begin(), made_.end(), new_ones.begin(), new_ones.end(), std::back_inserter(all));
  made_.swap(all);
}

std::uint64_t UnwatchedThreads::count_losses() {
  if (made_.empty()) return losses_;
  const std::vector<pid_t> now = calling_threads();
  std::vector<pid_t> left;
  std::set_intersection(made_.begin(), made_.end(), now.begin(), now.end(), std::back_inserter(left));
  made_.swap(left);
  // Other threads' clones may have passed the stub all the same.
  return losses_ += std::min(made_.size(), count_unseen_threads(now.size()));
}

}  // namespace syscost::dispatch
