// SPDX-License-Identifier: MIT
#include "session/windows/open_window.h"

#include <sys/resource.h>

#include <ctime>

namespace syscost::session {
namespace {

std::uint64_t to_ns(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_usec) * 1'000U;
}

Usage usage_of(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return {to_ns(usage.ru_utime),
          to_ns(usage.ru_stime),
          static_cast<std::uint64_t>(usage.ru_nvcsw),
          static_cast<std::uint64_t>(usage.ru_nivcsw),
          static_cast<std::uint64_t>(usage.ru_minflt),
          static_cast<std::uint64_t>(usage.ru_majflt),
          static_cast<std::uint64_t>(usage.ru_maxrss) * 1024};
}

}  // namespace

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

Usage Usage::now() {
  return usage_of(RUSAGE_SELF);
}

Usage Usage::of_children() {
  return usage_of(RUSAGE_CHILDREN);
}

void Usage::add(const Usage& after, const Usage& before) {
  user_ns += after.user_ns - before.user_ns;
  system_ns += after.system_ns - before.system_ns;
  voluntary_switches += after.voluntary_switches - before.voluntary_switches;
  involuntary_switches += after.involuntary_switches - before.involuntary_switches;
  minor_faults += after.minor_faults - before.minor_faults;
  major_faults += after.major_faults - before.major_faults;
}

void Usage::fill(csv::WindowColumns& columns, const Usage& before) const {
  columns.user_ns = user_ns - before.user_ns;
  columns.system_ns = system_ns - before.system_ns;
  columns.voluntary_switches = voluntary_switches - before.voluntary_switches;
  columns.involuntary_switches = involuntary_switches - before.involuntary_switches;
  columns.minor_faults = minor_faults - before.minor_faults;
  columns.major_faults = major_faults - before.major_faults;
}

}  // namespace syscost::session
