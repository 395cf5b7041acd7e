// SPDX-License-Identifier: MIT
//
// The table of instruments, and the limits that the backends have there.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "figures.h"
#include "instruments.h"
#include "reports.h"

namespace overhead {
namespace {

/// Limits of dispatch, in times of what the empty pair adds: armed, and while nothing is counted.
constexpr double kMostArmed = 0.5;
constexpr double kMostIdle = 0.1;
/// The same of keeping an event for --syscost_trace, above dispatch armed.
constexpr double kMostTraced = 0.08;
/// The same of the stack of a call for --syscost_where, with 14 functions on it.
constexpr double kMostWhere = 0.15;
/// The same of a fault that looks at a call and does not hit it, above dispatch without faults: armed, and between
/// windows; of this thread, and of another one.
constexpr double kMostFault = 0.1;

/// The most that the slowest round's bare call may take, in times of the fastest's, for limits to mean anything.
constexpr double kMostUnsteady = 1.5;

double median_of(const std::vector<Sample>& samples, double Sample::*field) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*field);
  return median(std::move(values));
}

/// Median of what `name` added to getppid; empty when it did not run.
std::optional<double> added_by(const std::vector<Instrument>& all, std::string_view name,
                               double Sample::*field = &Sample::getppid_ns) {
  for (const Instrument& instrument : all) {
    if (instrument.name != name) continue;
    if (instrument.added.empty() || !instrument.failure.empty()) return std::nullopt;
    return median_of(instrument.added, field);
  }
  return std::nullopt;
}

/// True if the bare calls of the rounds took about the same time. If they did not, the machine changed meanwhile, and
/// the times that instruments added mean nothing.
bool is_steady(const std::vector<Sample>& bare) {
  const auto [least, most] = std::minmax_element(
      bare.begin(), bare.end(), [](const Sample& a, const Sample& b) { return a.getppid_ns < b.getppid_ns; });
  fmt::print("\nbare getppid in the rounds: {:.0f} to {:.0f} ns", least->getppid_ns, most->getppid_ns);
  if (most->getppid_ns <= kMostUnsteady * least->getppid_ns) {
    fmt::print("\n");
    return true;
  }
  fmt::print(
      ": no limit is judged, because that is more than {:g} times\n"
      "  stop what else works or traces on this machine (bpftool prog list), and run it again\n",
      kMostUnsteady);
  return false;
}

void report(const std::vector<Instrument>& all, const std::vector<Sample>& bare, int rounds) {
  utsname system{};
  uname(&system);
  fmt::print("{} CPUs, kernel {}, {} rounds; ns added to one call, median of the rounds\n\n",
             std::thread::hardware_concurrency(), system.release, rounds);
  fmt::print("bare: getppid {:.0f} ns, 1-byte write to /dev/null {:.0f} ns\n\n", median_of(bare, &Sample::getppid_ns),
             median_of(bare, &Sample::write_ns));
  double empty = all.front().added.empty() ? 0 : median_of(all.front().added, &Sample::getppid_ns);
  fmt::print("{:<26}{:>10}{:>12}{:>16}\n", "instrument", "getppid", "write", "x empty pair");
  for (const Instrument& instrument : all) {
    if (instrument.added.empty() || !instrument.failure.empty()) {
      fmt::print("{:<26}{:>10}  {}\n", instrument.name, "n/a", instrument.failure);
      continue;
    }
    double getppid = median_of(instrument.added, &Sample::getppid_ns);
    std::string ratio = empty > 0 ? fmt::format("{:.2f}", getppid / empty) : "n/a";
    fmt::print("{:<26}{:>10}{:>12}{:>16}\n", instrument.name, fmt::format("{:+.0f}", getppid),
               fmt::format("{:+.0f}", median_of(instrument.added, &Sample::write_ns)), ratio);
  }
}

/// The eBPF backend against its own limits.
void report_ebpf(const std::vector<Instrument>& all) {
  std::optional<double> armed = added_by(all, "syscost armed");
  std::optional<double> pair = added_by(all, "empty enter+exit pair");
  std::optional<double> bpftrace = added_by(all, "bpftrace histogram");
  if (armed && pair) judge("armed at most 3 times the empty pair", *armed <= 3 * *pair);
  if (armed && bpftrace) judge("armed at most a quarter of bpftrace", *armed <= *bpftrace / 4);
  std::optional<double> floor = added_by(all, "pair reading the clock");
  if (floor && bpftrace) {
    fmt::print("    a quarter is {:.0f} ns; the pair that only reads the clock adds {:.0f} ns\n", *bpftrace / 4,
               *floor);
    if (armed) {
      fmt::print("    above that pair: armed {:.0f} ns, bpftrace {:.0f} ns\n", *armed - *floor, *bpftrace - *floor);
    }
  }
}

struct RequestLimit {
  std::string_view instrument;
  std::string_view what;
  double most;  ///< In times of what the empty pair adds.
  std::string_view without = "dispatch armed";
};

/// Prints the cost of one more flag above dispatch without it.
void report_request(const std::vector<Instrument>& all, const RequestLimit& limit, double pair) {
  const std::optional<double> with_it = added_by(all, limit.instrument);
  const std::optional<double> without = added_by(all, limit.without);
  if (!with_it || !without) return;
  const double above = *with_it - *without;
  fmt::print("    {}: {:.1f} ns above {}, {:.2f} of the empty pair\n", limit.what, above, limit.without, above / pair);
  judge(fmt::format("{} at most {:g} of the empty pair", limit.what, limit.most), above <= limit.most * pair);
}

/// Dispatch against its own limits, and what the two backends say the same calls took.
void report_dispatch(const std::vector<Instrument>& all) {
  const std::optional<double> armed = added_by(all, "dispatch armed");
  const std::optional<double> disarmed = added_by(all, "dispatch disarmed");
  const std::optional<double> pair = added_by(all, "empty enter+exit pair");
  const std::optional<double> check = added_by(all, "kernel's dispatch check");
  if (pair) {
    if (armed) judge("dispatch armed at most half of the empty pair", *armed <= kMostArmed * *pair);
    report_request(all, {"dispatch, traced", "an event of --syscost_trace", kMostTraced}, *pair);
    report_request(all, {"dispatch, 14 functions", "a stack of 14 functions for --syscost_where", kMostWhere}, *pair);
    constexpr std::string_view kDisarmed = "dispatch disarmed";
    report_request(all, {"dispatch armed, fault", "a fault that does not hit, while armed", kMostFault}, *pair);
    report_request(all, {"armed, fault elsewhere", "a fault of another thread, while armed", kMostFault}, *pair);
    report_request(
        all, {"dispatch disarmed, fault", "a fault that does not hit, while disarmed", kMostFault, kDisarmed}, *pair);
    report_request(
        all, {"disarmed, fault elsewhere", "a fault of another thread, while disarmed", kMostFault, kDisarmed}, *pair);
    // Detached is how a loop's timed passes run; disarmed is the time between windows.
    if (const std::optional<double> detached = added_by(all, "dispatch detached")) {
      judge("dispatch detached at most a tenth of the empty pair", *detached <= kMostIdle * *pair);
    }
    if (disarmed && check) {
      judge("dispatch disarmed at most a tenth of the empty pair above the kernel's check",
            *disarmed - *check <= kMostIdle * *pair);
    }
  }
  if (disarmed && check) {
    fmt::print("    the kernel's check is {:.0f} ns, the way through the stub {:.0f} ns\n", *check, *disarmed - *check);
  }
  for (auto [call, field] :
       {std::pair{"getppid", &Sample::seen_getppid_ns}, std::pair{"write", &Sample::seen_write_ns}}) {
    const std::optional<double> ebpf = added_by(all, "syscost armed", field);
    const std::optional<double> dispatch = added_by(all, "dispatch armed", field);
    if (!ebpf || !dispatch) continue;
    fmt::print(
        "    {}, median latency: ebpf says {:.0f} ns, dispatch {:.0f} ns: the way in and out of the kernel is {:.0f} "
        "ns\n",
        call, *ebpf, *dispatch, *dispatch - *ebpf);
  }
}

}  // namespace

void report_calls(int rounds) {
  std::vector<Instrument> all = instruments();
  std::vector<Sample> bare;
  for (int round = 0; round < rounds; ++round) {
    if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\rround {} of {}", round + 1, rounds);
    run_round(round, all, bare);
  }
  if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r{:<40}\r", "");
  report(all, bare, rounds);
  if (!is_steady(bare)) return;
  report_ebpf(all);
  report_dispatch(all);
}

}  // namespace overhead
