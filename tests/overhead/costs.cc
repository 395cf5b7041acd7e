// SPDX-License-Identifier: MIT
//
// The cost of a test and of a loop besides their syscalls, and the cost of linking alone.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "figures.h"
#include "process.h"
#include "reports.h"

namespace overhead {
namespace {

/// Limits of a window, in appends of a line.
constexpr double kMostAppends = 10;
constexpr double kMostOfAppend = 2;

}  // namespace

void report_windows(int rounds) {
  const std::vector<std::string> keys = {"rows_1_us", "rows_2_us", "rows_5_us", "append_us"};
  std::vector<std::vector<double>> values(keys.size());
  std::string csv = "/tmp/syscost_overhead_" + std::to_string(getpid()) + ".csv";
  for (int round = 0; round < rounds; ++round) {
    Process process({beside("overhead_windows"), "--syscost_csv=" + csv});
    int status = process.wait();
    std::filesystem::remove(csv);
    if (status != 0) {
      fmt::print("\na test's window: n/a  {}\n", process.output().substr(0, process.output().find('\n')));
      return;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      std::optional<double> value = value_of(process.output(), keys[i]);
      if (!value) throw std::runtime_error("overhead_windows printed no " + keys[i]);
      values[i].push_back(*value);
    }
  }
  double one = median(values[0]);
  double two = median(values[1]);
  double five = median(values[2]);
  fmt::print("\na test's window (open, close, read, append rows to a CSV), us of CPU time, median of the rounds\n");
  const double append = median(values[3]);
  const double further = (five - one) / 4;
  fmt::print("  one row {:.1f}, two rows {:.1f}, five rows {:.1f}: {:.1f} for each further row\n", one, two, five,
             further);
  fmt::print("  a line appended to a shared file (lock, write, unlock) by a program that is not measured: {:.1f}\n",
             append);
  judge(fmt::format("one row at most {} such appends ({:.1f})", kMostAppends, one / append),
        one <= kMostAppends * append);
  judge(fmt::format("a further row at most {} of one ({:.2f})", kMostOfAppend, further / append),
        further <= kMostOfAppend * append);
}

void report_loops() {
  const std::string csv = "/tmp/syscost_overhead_" + std::to_string(getpid()) + ".csv";
  const auto run = [&](const char* cycles) {
    Process process({beside("overhead_loops"), "--syscost_csv=" + csv, std::string("--syscost_cycles=") + cycles,
                     "--syscost_repeats=1", "--syscost_warmup=0"});
    const int status = process.wait();
    std::filesystem::remove(csv);
    if (status != 0) throw std::runtime_error(process.output().substr(0, process.output().find('\n')));
    return process.output();
  };
  const std::string turns = run("50000000");
  const std::string loops = run("1");
  const std::optional<double> plain = value_of(turns, "plain_ns");
  const std::optional<double> ours = value_of(turns, "loop_ns");
  const std::optional<double> once = value_of(loops, "per_loop_us");
  if (!plain || !ours || !once) throw std::runtime_error("overhead_loops printed no figures");
  fmt::print(
      "\na loop with an empty body: {:.2f} ns a turn, a plain for loop {:.2f} ns; once for each loop (instrument "
      "off and on, rows) {:.0f} us\n",
      *ours, *plain, *once);
}

namespace {

double seconds_of(const std::string& program) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  Process process({program, "--gtest_brief=1"});
  if (process.wait() != 0) throw std::runtime_error(program + " failed");
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

void report_empty_tests(int rounds) {
  std::vector<double> differences;
  std::vector<double> bare;
  for (int pair = 0; pair < 2 * rounds; ++pair) {
    bool linked_first = pair % 2 == 1;
    double first = seconds_of(beside(linked_first ? "overhead_empty_linked" : "overhead_empty_bare"));
    double second = seconds_of(beside(linked_first ? "overhead_empty_bare" : "overhead_empty_linked"));
    differences.push_back(1e3 * (linked_first ? first - second : second - first));
    bare.push_back(1e3 * (linked_first ? second : first));
  }
  fmt::print("\n10 000 empty tests, no flag: not linked {:.1f} ms; linked {}\n", median(bare),
             difference_of(differences, "ms").text);
}

}  // namespace overhead
