// SPDX-License-Identifier: MIT
#include "make_rows.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <ostream>
#include <string>

#include "syscost/histogram.h"
#include "syscost/schema.h"

namespace syscost::bench::perf {
namespace {

struct Kind {
  const char* syscall;
  const char* classes;
  const char* errno_name;  ///< The error of each 10th call; "" = it never fails.
};

constexpr std::array<Kind, 20> kKinds = {{{"read", "desc", ""},
                                          {"write", "desc", ""},
                                          {"openat", "file;desc", "ENOENT"},
                                          {"close", "desc", ""},
                                          {"newfstatat", "file", "ENOENT"},
                                          {"mmap", "memory;volatile", ""},
                                          {"munmap", "memory;volatile", ""},
                                          {"brk", "memory;volatile", ""},
                                          {"futex", "wait;volatile", "EAGAIN"},
                                          {"clone3", "process", ""},
                                          {"rt_sigprocmask", "signal", ""},
                                          {"mprotect", "memory", ""},
                                          {"lseek", "desc", ""},
                                          {"ioctl", "desc", "ENOTTY"},
                                          {"fcntl", "desc", ""},
                                          {"epoll_wait", "desc;wait", "EINTR"},
                                          {"sendto", "network;desc", ""},
                                          {"recvfrom", "network;desc", "EAGAIN"},
                                          {"clock_nanosleep", "wait", ""},
                                          {"getrandom", "", ""}}};

/// A fixed multiplicative generator: the same file on every machine.
class Random {
 public:
  std::uint64_t next() { return (state_ = state_ * 6364136223846793005U + 1442695040888963407U) >> 33U; }

 private:
  std::uint64_t state_ = 1;
};

constexpr const char* kMachineColumns =
    "build-host-17,6.1.0-28-amd64,43cf755a0e1c8b989aa53d0e2f7b6c1d9e4f5a60,1c8b989aa53d0e2f7b6c1d9e4f5a6043cf755a0e,"
    "RelWithDebInfo,ebpf,whole,,build/release/bin/storage_tests";

constexpr std::uint64_t kLatencyNs = 700;

/// The row of `syscall` number `s` of a test, and what it adds to the window's totals.
struct Call {
  std::string row;
  std::uint64_t calls, errors;
};

Call make_call(const std::string& key, std::uint64_t test, std::uint64_t s, const MakeRows& shape, Random& random) {
  const Kind& kind = kKinds[s % kKinds.size()];
  const std::uint64_t calls = 20 + test % 80 + shape.extra_calls;
  const std::uint64_t errors = *kind.errno_name == '\0' ? 0 : calls / 10;
  // A dozen filled buckets around the median: what some tens of calls of one syscall give.
  std::string histogram;
  std::uint64_t left = calls;
  std::size_t bucket = histogram_bucket(300 + random.next() % 1000);
  for (int filled = 0; left != 0; ++filled, bucket += 1 + random.next() % 2) {
    const std::uint64_t here = filled == 11 ? left : (left + 3) / 4;
    fmt::format_to(std::back_inserter(histogram), "{}{}:{}", filled == 0 ? "" : " ", histogram_lower_ns(bucket), here);
    left -= here;
  }
  return {fmt::format(
              "{}syscall,{}{},,syscost{}{},{},0,0,{},0,0,0,0,0,{},{},,,,,,,,,,,{},{},310,4800,620,700,900,1100,3000,"
              "{},end\n",
              key, kind.syscall, s < kKinds.size() ? "" : fmt::format("_{}", s), std::string(30, ','), kind.classes,
              calls, calls, errors, errors == 0 ? "" : fmt::format("{}:{}", kind.errno_name, errors), calls,
              calls * kLatencyNs, histogram),
          calls, errors};
}

}  // namespace

std::uint64_t make_rows(const MakeRows& shape, std::ostream& out) {
  std::string text = fmt::format("{}\n", fmt::join(schema::kColumnNames, ","));
  Random random;
  std::uint64_t rows = 0;
  const std::uint64_t of_a_test = shape.syscalls_per_test * shape.repetitions * shape.runs;
  const std::uint64_t tests = (shape.syscall_rows + of_a_test - 1) / of_a_test;
  const std::uint64_t windows_of_a_run = shape.repetitions * tests;
  for (std::uint64_t window = 0; window < shape.runs * windows_of_a_run; ++window) {
    const std::uint64_t run = window / windows_of_a_run;
    const std::uint64_t repetition = window / tests % shape.repetitions;
    const std::uint64_t test = window % tests;
    const std::string key = fmt::format(
        "{},1795{:06}-4242,2026-11-21T{:02}:{:02}:{:02}.123456Z,nightly,{},4242,test,StorageEngine{}."
        "KeepsRecordsInOrder{},,,{},",
        schema::kSchemaVersion, run, run / 3600 % 24, run / 60 % 60, run % 60, kMachineColumns, test / 10, test,
        repetition);
    std::string calls;
    std::uint64_t total = 0;
    std::uint64_t errors = 0;
    for (std::uint64_t s = 0; s < shape.syscalls_per_test; ++s) {
      const Call call = make_call(key, test, s, shape, random);
      calls += call.row;
      total += call.calls;
      errors += call.errors;
    }
    const std::uint64_t wall_ns = 2 * total * kLatencyNs + random.next() % 50'000;
    fmt::format_to(std::back_inserter(text),
                   "{}test,,,syscost,passed,,,{},{},{},,{},3,1,20,0,,{},{},{},{},,,,,,,,,,,0,0{}end\n", key, wall_ns,
                   wall_ns / 3, wall_ns / 2, 4000, total, total, errors, total * kLatencyNs, std::string(33, ','));
    text += calls;
    rows += 1 + shape.syscalls_per_test;
    if (text.size() > (std::size_t{1} << 20)) {
      out << text;
      text.clear();
    }
  }
  out << text;
  return rows;
}

}  // namespace syscost::bench::perf
