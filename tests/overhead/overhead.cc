// SPDX-License-Identifier: MIT
//
// What seeing a syscall costs: ours against an empty pair of eBPF programs, strace, perf trace, bpftrace and syscount.
//
// Absolute times move with the machine and the hour; so every instrument is run once per round, in an order that
// rotates, next to a bare run, and what is compared is the time each adds to one call. The report gives medians over
// the rounds and ratios of medians. An instrument that is missing or does not work here is listed with the reason.
//
// usage: syscost_overhead [--rounds N] [--only SECTION]
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "figures.h"
#include "process.h"
#include "reports.h"

namespace overhead {
namespace {

/// Calls per batch: enough for a stable batch, few enough for instruments that cost 100 us per call.
constexpr int kFastCalls = 20'000;
constexpr int kSlowCalls = 300;

/// Limits of dispatch, in times of what the empty pair adds: armed, and while nothing is counted.
constexpr double kMostArmed = 0.5;
constexpr double kMostIdle = 0.1;
/// The same of keeping an event for --syscost_trace, above dispatch armed.
constexpr double kMostTraced = 0.08;

/// The most that the slowest round's bare call may take, in times of the fastest's, for limits to mean anything.
constexpr double kMostUnsteady = 1.5;

struct Sample {
  double getppid_ns = 0;
  double write_ns = 0;
  // The number that the instrument itself reports; 0 = it reports none.
  double seen_getppid_ns = 0;
  double seen_write_ns = 0;
};

Sample sample_of(const std::string& output) {
  std::optional<double> getppid = value_of(output, "getppid_ns");
  std::optional<double> write = value_of(output, "write_ns");
  if (!getppid || !write) throw std::runtime_error(output.substr(0, output.find('\n')));
  return {*getppid, *write, value_of(output, "seen_getppid_ns").value_or(0),
          value_of(output, "seen_write_ns").value_or(0)};
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
      {"kernel's dispatch check", nullptr, [] { return run_worker({}, "kernel_check", kFastCalls); }, {}, {}},
      {"dispatch detached", nullptr, [] { return run_worker({}, "dispatch:detached", kFastCalls); }, {}, {}},
      {"dispatch disarmed", nullptr, [] { return run_worker({}, "dispatch:disarmed", kFastCalls); }, {}, {}},
      {"dispatch armed", nullptr, [] { return run_worker({}, "dispatch:armed", kFastCalls); }, {}, {}},
      {"dispatch, traced", nullptr, [] { return run_worker({}, "traced:armed", kFastCalls); }, {}, {}},
      {"dispatch, two threads", nullptr, [] { return run_worker({}, "dispatch:beside", kFastCalls); }, {}, {}},
      {"dispatch-trap armed", nullptr, [] { return run_worker({}, "trap:armed", kFastCalls); }, {}, {}},
      {"seccomp, not selected", nullptr, [] { return run_worker({}, "unselected:armed", kFastCalls); }, {}, {}},
      {"seccomp disarmed", nullptr, [] { return run_worker({}, "seccomp:disarmed", kSlowCalls); }, {}, {}},
      {"seccomp armed", nullptr, [] { return run_worker({}, "seccomp:armed", kSlowCalls); }, {}, {}},
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
      instrument.added.push_back({under.getppid_ns - bare.getppid_ns, under.write_ns - bare.write_ns,
                                  under.seen_getppid_ns, under.seen_write_ns});
    } catch (const std::exception& error) {
      instrument.failure = error.what();
    }
  }
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

/// Whether the bare calls of the rounds took about the same: where they did not, what an instrument added is what
/// happened meanwhile.
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

/// Dispatch against its own limits, and what the two backends say the same calls took.
void report_dispatch(const std::vector<Instrument>& all) {
  const std::optional<double> armed = added_by(all, "dispatch armed");
  const std::optional<double> disarmed = added_by(all, "dispatch disarmed");
  const std::optional<double> pair = added_by(all, "empty enter+exit pair");
  const std::optional<double> check = added_by(all, "kernel's dispatch check");
  if (pair) {
    if (armed) judge("dispatch armed at most half of the empty pair", *armed <= kMostArmed * *pair);
    if (const std::optional<double> traced = added_by(all, "dispatch, traced"); traced && armed) {
      fmt::print("    an event of --syscost_trace: {:.1f} ns above dispatch armed, {:.2f} of the empty pair\n",
                 *traced - *armed, (*traced - *armed) / *pair);
      judge("an event of --syscost_trace at most 0.08 of the empty pair", *traced - *armed <= kMostTraced * *pair);
    }
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

struct Section {
  std::string_view name;
  void (*report)(int rounds);
};

/// In the order of the report.
constexpr std::array<Section, 9> kSections = {{{"calls", report_calls},
                                               {"profiles", report_profiles},
                                               {"many", report_many},
                                               {"windows", report_windows},
                                               {"loops", [](int) { report_loops(); }},
                                               {"tests", report_empty_tests},
                                               {"benchmarks", report_benchmarks},
                                               {"commands", report_commands},
                                               {"start-up", report_start_up}}};

struct Options {
  int rounds = 10;
  std::string_view only;  ///< The one section to run; empty = all.
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--rounds") {
      options.rounds = std::atoi(argv[i + 1]);
    } else if (flag == "--only") {
      options.only = argv[i + 1];
    } else {
      return std::nullopt;
    }
  }
  const bool is_section =
      options.only.empty() || std::any_of(kSections.begin(), kSections.end(),
                                          [&](const Section& section) { return section.name == options.only; });
  if (argc % 2 == 0 || options.rounds < 1 || !is_section) return std::nullopt;
  return options;
}

}  // namespace
}  // namespace overhead

int main(int argc, char** argv) {
  const std::optional<overhead::Options> options = overhead::parse(argc, argv);
  if (!options) {
    fmt::print(stderr, "usage: syscost_overhead [--rounds N] [--only SECTION]\nSECTION is one of");
    for (const overhead::Section& section : overhead::kSections) fmt::print(stderr, " {}", section.name);
    fmt::print(stderr, "\n");
    return 2;
  }
  try {
    for (const overhead::Section& section : overhead::kSections) {
      if (options->only.empty() || options->only == section.name) section.report(options->rounds);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "syscost_overhead: {}\n", error.what());
    return 2;
  }
  return 0;
}
