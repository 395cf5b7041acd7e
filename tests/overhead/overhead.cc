// SPDX-License-Identifier: MIT
//
// What seeing a syscall costs: ours against an empty pair of eBPF programs, strace, perf trace, bpftrace and syscount.
//
// Absolute times move with the machine and the hour; so every instrument is run once per round, in an order that
// rotates, next to a bare run, and what is compared is the time each adds to one call. The report gives medians over
// the rounds and ratios of medians. An instrument that is missing or does not work here is listed with the reason.
//
// usage: syscost_overhead [--rounds N]
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "process.h"

namespace overhead {
namespace {

/// Calls per batch: enough for a stable batch, few enough for instruments that cost 100 us per call.
constexpr int kFastCalls = 20'000;
constexpr int kSlowCalls = 300;

struct Sample {
  double getppid_ns = 0;
  double write_ns = 0;
};

/// A program that was built beside this one.
std::string beside(const std::string& program) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / program).string();
}

/// Finds `key VALUE` in what a worker printed.
std::optional<double> value_of(const std::string& output, const std::string& key) {
  std::size_t at = output.find(key + " ");
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(output.c_str() + at + key.size() + 1, nullptr);
}

Sample sample_of(const std::string& output) {
  std::optional<double> getppid = value_of(output, "getppid_ns");
  std::optional<double> write = value_of(output, "write_ns");
  if (!getppid || !write) throw std::runtime_error(output.substr(0, output.find('\n')));
  return {*getppid, *write};
}

Sample run_worker(const std::vector<std::string>& prefix, const std::string& mode, int calls) {
  std::vector<std::string> command = prefix;
  command.insert(command.end(), {beside("overhead_worker"), mode, std::to_string(calls)});
  Process process(command);
  int status = process.wait();
  if (status != 0) throw std::runtime_error(process.output().substr(0, process.output().find('\n')));
  return sample_of(process.output());
}

/// Runs the worker beside an observer of the whole system, which is attached once it has printed `ready`.
Sample run_beside(const std::vector<std::string>& observer, std::string_view ready) {
  Process process(observer);
  if (!process.read_until(ready)) {
    process.wait();
    const std::string& text = process.output();
    throw std::runtime_error(observer[0] + " did not start: " + text.substr(0, text.find('\n')));
  }
  Sample sample = run_worker({}, "bare", kFastCalls);
  process.signal(SIGINT);
  process.wait();
  return sample;
}

// The usual latency histogram of every syscall of one program. The interval probe is attached last: its first line
// says that the others are.
constexpr const char* kBpftraceScript =
    "tracepoint:raw_syscalls:sys_enter /comm == \"overhead_worker\"/ { @start[tid] = nsecs; } "
    "tracepoint:raw_syscalls:sys_exit /@start[tid]/ "
    "{ @ns[args->id] = hist(nsecs - @start[tid]); delete(@start[tid]); } "
    "interval:ms:20 { printf(\"attached\\n\"); }";

struct Instrument {
  const char* name;
  const char* tool;  // that must be installed; null = none
  Sample (*run)();
  std::vector<Sample> added;  // per round, against that round's bare run
  std::string failure;
};

std::vector<Instrument> instruments() {
  return {
      {"empty enter+exit pair", nullptr, [] { return run_worker({}, "empty_pair", kFastCalls); }, {}, {}},
      {"pair reading the clock", nullptr, [] { return run_worker({}, "clock_pair", kFastCalls); }, {}, {}},
      {"syscost detached", nullptr, [] { return run_worker({}, "detached", kFastCalls); }, {}, {}},
      {"syscost disarmed", nullptr, [] { return run_worker({}, "disarmed", kFastCalls); }, {}, {}},
      {"syscost armed", nullptr, [] { return run_worker({}, "armed", kFastCalls); }, {}, {}},
      {"bpftrace histogram",
       "bpftrace",
       [] {
         return run_beside({"bpftrace", "-e", kBpftraceScript}, "attached");
       },
       {},
       {}},
      {"bcc syscount -L",
       "syscount-bpfcc",
       [] {
         return run_beside({"syscount-bpfcc", "-L"}, "Tracing");
       },
       {},
       {}},
      {"perf trace -s",
       "perf",
       [] {
         return run_worker({"perf", "trace", "-s", "-o", "/dev/null", "--"}, "bare", kSlowCalls);
       },
       {},
       {}},
      {"strace -c -f",
       "strace",
       [] {
         return run_worker({"strace", "-c", "-f", "-o", "/dev/null", "--"}, "bare", kSlowCalls);
       },
       {},
       {}},
  };
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double median_of(const std::vector<Sample>& samples, double Sample::*field) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*field);
  return median(std::move(values));
}

void run_round(int round, std::vector<Instrument>& all, std::vector<Sample>& bare_samples) {
  Sample bare = run_worker({}, "bare", kFastCalls);
  bare_samples.push_back(bare);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Instrument& instrument = all[(i + static_cast<std::size_t>(round)) % all.size()];
    if (!instrument.failure.empty()) continue;
    if (instrument.tool != nullptr && !is_installed(instrument.tool)) {
      instrument.failure = std::string(instrument.tool) + " is not installed";
      continue;
    }
    try {
      Sample under = instrument.run();
      instrument.added.push_back({under.getppid_ns - bare.getppid_ns, under.write_ns - bare.write_ns});
    } catch (const std::exception& error) {
      instrument.failure = error.what();
    }
  }
}

/// One of the project's own limits (docs/performance.md), and whether this run kept it. Reported, never asserted.
void judge(const std::string& limit, bool kept) {
  fmt::print("  {}: {}\n", limit, kept ? "kept" : "NOT KEPT");
}

/// Median of what `name` added to getppid; empty when it did not run.
std::optional<double> added_by(const std::vector<Instrument>& all, std::string_view name) {
  for (const Instrument& instrument : all) {
    if (instrument.name != name) continue;
    if (instrument.added.empty() || !instrument.failure.empty()) return std::nullopt;
    return median_of(instrument.added, &Sample::getppid_ns);
  }
  return std::nullopt;
}

void report(const std::vector<Instrument>& all, const std::vector<Sample>& bare, int rounds) {
  utsname system{};
  uname(&system);
  fmt::print("{} CPUs, kernel {}, {} rounds; ns added to one call, median of the rounds\n\n",
             std::thread::hardware_concurrency(), system.release, rounds);
  fmt::print("bare: getppid {:.0f} ns, 1-byte write to /dev/null {:.0f} ns\n\n", median_of(bare, &Sample::getppid_ns),
             median_of(bare, &Sample::write_ns));
  double empty = all.front().added.empty() ? 0 : median_of(all.front().added, &Sample::getppid_ns);
  fmt::print("{:<24}{:>12}{:>12}{:>16}\n", "instrument", "getppid", "write", "x empty pair");
  for (const Instrument& instrument : all) {
    if (instrument.added.empty() || !instrument.failure.empty()) {
      fmt::print("{:<24}{:>12}  {}\n", instrument.name, "n/a", instrument.failure);
      continue;
    }
    double getppid = median_of(instrument.added, &Sample::getppid_ns);
    std::string ratio = empty > 0 ? fmt::format("{:.2f}", getppid / empty) : "n/a";
    fmt::print("{:<24}{:>12}{:>12}{:>16}\n", instrument.name, fmt::format("{:+.0f}", getppid),
               fmt::format("{:+.0f}", median_of(instrument.added, &Sample::write_ns)), ratio);
  }
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

// ---- what a test costs besides its syscalls ----

/// Boundary, read and rows of one window, in microseconds.
void report_windows(int rounds) {
  const std::vector<std::string> keys = {"rows_1_us", "rows_2_us", "rows_5_us"};
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
  fmt::print("\na test's window (open, close, read, append rows to a CSV), us, median of the rounds\n");
  fmt::print("  one row {:.1f}, two rows {:.1f}, five rows {:.1f}: {:.1f} for each further row\n", one, two, five,
             (five - one) / 4);
  judge("one row at most 10 us", one <= 10);
  judge("a further row at most 3 us", (five - one) / 4 <= 3);
}

/// What syscost::loop adds to a call of its body, and once for each loop.
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

double seconds_of(const std::string& program) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  Process process({program, "--gtest_brief=1"});
  if (process.wait() != 0) throw std::runtime_error(program + " failed");
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The order statistics that bound the median of `n` values with at least 95 % confidence: {low, high}, from 0.
std::pair<std::size_t, std::size_t> median_interval(std::size_t n) {
  // P(X <= k) for X ~ Binomial(n, 1/2), summed until it passes 2.5 %.
  double term = std::pow(0.5, static_cast<double>(n));
  double below = 0;
  std::size_t rank = 0;
  while (rank < n / 2 && below + term <= 0.025) {
    below += term;
    term *= static_cast<double>(n - rank) / static_cast<double>(rank + 1);
    ++rank;
  }
  rank = rank == 0 ? 0 : rank - 1;
  return {rank, n - 1 - rank};
}

/// 10 000 empty tests, linked with us against not linked, no flag given: the difference and its interval.
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
  std::sort(differences.begin(), differences.end());
  auto [low, high] = median_interval(differences.size());
  fmt::print(
      "\n10 000 empty tests, no flag: not linked {:.1f} ms; linked {:+.2f} ms, 95 % interval [{:+.2f}, {:+.2f}] over "
      "{} pairs\n",
      median(bare), median(differences), differences[low], differences[high], differences.size());
}

}  // namespace
}  // namespace overhead

int main(int argc, char** argv) {
  int rounds = 10;
  if (argc == 3 && std::string_view(argv[1]) == "--rounds") rounds = std::atoi(argv[2]);
  if ((argc != 1 && argc != 3) || rounds < 1) {
    fmt::print(stderr, "usage: syscost_overhead [--rounds N]\n");
    return 2;
  }
  std::vector<overhead::Instrument> all = overhead::instruments();
  std::vector<overhead::Sample> bare;
  try {
    for (int round = 0; round < rounds; ++round) {
      if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\rround {} of {}", round + 1, rounds);
      overhead::run_round(round, all, bare);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "syscost_overhead: {}\n", error.what());
    return 2;
  }
  if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r{:<40}\r", "");
  try {
    overhead::report(all, bare, rounds);
    overhead::report_windows(rounds);
    overhead::report_loops();
    overhead::report_empty_tests(rounds);
  } catch (const std::exception& error) {
    fmt::print(stderr, "syscost_overhead: {}\n", error.what());
    return 2;
  }
  return 0;
}
