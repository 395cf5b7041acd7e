// SPDX-License-Identifier: MIT
#include "instruments.h"

#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "figures.h"
#include "process.h"

namespace overhead {
namespace {

/// Calls per batch: enough for a stable batch, few enough for instruments that cost 100 us per call.
constexpr int kFastCalls = 20'000;
constexpr int kSlowCalls = 300;

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

}  // namespace

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
      {"dispatch, 14 functions", nullptr, [] { return run_worker({}, "where:armed", kFastCalls); }, {}, {}},
      {"dispatch armed, fault", nullptr, [] { return run_worker({}, "fault:armed", kFastCalls); }, {}, {}},
      {"dispatch disarmed, fault", nullptr, [] { return run_worker({}, "fault:disarmed", kFastCalls); }, {}, {}},
      {"armed, fault elsewhere", nullptr, [] { return run_worker({}, "others:armed", kFastCalls); }, {}, {}},
      {"disarmed, fault elsewhere", nullptr, [] { return run_worker({}, "others:disarmed", kFastCalls); }, {}, {}},
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

}  // namespace overhead
