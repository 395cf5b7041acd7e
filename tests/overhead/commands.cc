// SPDX-License-Identifier: MIT
//
// The cost of counting a whole command: `bench run` against strace, perf trace and bpftrace. Each runs dd twice, with
// few and with many calls. The difference of their CPU times belongs to the calls: it has no start and no report in it.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "figures.h"
#include "process.h"
#include "reports.h"

namespace overhead {
namespace {

/// dd makes a read and a write for each block.
constexpr int kCallsOfBlock = 2;
constexpr int kFewBlocks = 1'000;

/// `bench run` with ebpf adds at most this part of what strace -c adds.
constexpr double kMostOfStrace = 0.01;

struct Counter {
  std::string name;
  std::string tool;  ///< That must be installed.
  std::vector<std::string> prefix;
  int blocks = 0;  ///< Enough that the CPU time of the calls is well above that of a start.
  std::vector<double> ns_of_call;
  std::string failure;
};

/// The command that runs dd under `counter`. `bpftrace -c` takes dd and its arguments as one word, and dd by its path.
std::vector<std::string> command_of(const Counter& counter, int blocks) {
  const std::vector<std::string> dd = {"/usr/bin/dd", "if=/dev/zero", "of=/dev/null",
                                       "bs=1",        "status=none",  "count=" + std::to_string(blocks)};
  std::vector<std::string> command = counter.prefix;
  if (command.empty() || command.back() != "-c") {
    command.insert(command.end(), dd.begin(), dd.end());
    return command;
  }
  std::string text;
  for (const std::string& word : dd) text += (text.empty() ? "" : " ") + word;
  command.push_back(text);
  return command;
}

double cpu_ms_of(const std::vector<std::string>& command) {
  Process process(command);
  if (process.wait() != 0) throw std::runtime_error(process.output().substr(0, process.output().find('\n')));
  return process.cpu_ms();
}

double ns_of_call(const Counter& counter) {
  constexpr double kNsOfMs = 1e6;
  const double few = cpu_ms_of(command_of(counter, kFewBlocks));
  const double many = cpu_ms_of(command_of(counter, counter.blocks));
  return (many - few) * kNsOfMs / (kCallsOfBlock * (counter.blocks - kFewBlocks));
}

std::vector<Counter> counters(const std::string& csv) {
  constexpr int kManyBlocks = 400'000;
  constexpr int kSlowBlocks = 20'000;
  const std::vector<std::string> run = {beside("bench"), "run", "--csv=" + csv, "--process"};
  const auto with = [&](const char* backend) {
    std::vector<std::string> command = run;
    command.insert(command.end(), {std::string("--backend=") + backend, "--"});
    return command;
  };
  const std::string script =
      "tracepoint:raw_syscalls:sys_enter /comm == \"dd\"/ { @start[tid] = nsecs; } "
      "tracepoint:raw_syscalls:sys_exit /@start[tid]/ { @ns[args->id] = hist(nsecs - @start[tid]); "
      "delete(@start[tid]); }";
  return {{"bare", {}, {}, kManyBlocks, {}, {}},
          {"bench run, ebpf", {}, with("ebpf"), kManyBlocks, {}, {}},
          {"bench run, seccomp", {}, with("seccomp"), kSlowBlocks, {}, {}},
          {"bpftrace histogram", "bpftrace", {"bpftrace", "-e", script, "-c"}, kManyBlocks, {}, {}},
          {"perf trace -s", "perf", {"perf", "trace", "-s", "-o", "/dev/null", "--"}, kSlowBlocks, {}, {}},
          {"strace -f -c", "strace", {"strace", "-f", "-c", "-o", "/dev/null", "--"}, kSlowBlocks, {}, {}}};
}

/// Median of what the counter adds to a bare call; nothing where it did not run.
std::optional<double> added_by(const Counter& counter, const Counter& bare) {
  if (!counter.failure.empty() || counter.ns_of_call.empty() || bare.ns_of_call.empty()) return std::nullopt;
  return median(counter.ns_of_call) - median(bare.ns_of_call);
}

void print_counters(const std::vector<Counter>& all, int rounds) {
  fmt::print(
      "\ncommands: CPU time that counting a whole command adds to one call of dd, ns, median of {} runs in turns\n"
      "{:<24}{:>12}{:>18}\n",
      rounds, "counted by", "added", "of strace -f -c");
  const std::optional<double> strace = added_by(all.back(), all.front());
  for (const Counter& counter : all) {
    const std::optional<double> added = added_by(counter, all.front());
    if (!added) {
      fmt::print("{:<24}{:>12}  {}\n", counter.name, "n/a", counter.failure);
    } else if (&counter == &all.front()) {
      fmt::print("{:<24}{:>12.0f}  in all\n", counter.name, median(counter.ns_of_call));
    } else {
      fmt::print("{:<24}{:>+12.0f}{:>18}\n", counter.name, *added,
                 strace ? fmt::format("{:.4f}", *added / *strace) : "n/a");
    }
  }
  const std::optional<double> ours = added_by(all[1], all.front());
  if (ours && strace) judge("bench run, ebpf: at most a hundredth of strace -f -c", *ours <= kMostOfStrace * *strace);
}

}  // namespace

void report_commands(int rounds) {
  const std::string csv = "/tmp/syscost_overhead_" + std::to_string(getpid()) + "_commands.csv";
  std::vector<Counter> all = counters(csv);
  for (int round = 0; round < rounds; ++round) {
    for (Counter& counter : all) {
      if (!counter.failure.empty()) continue;
      if (!counter.tool.empty() && !is_installed(counter.tool)) {
        counter.failure = counter.tool + " is not installed";
        continue;
      }
      try {
        counter.ns_of_call.push_back(ns_of_call(counter));
      } catch (const std::exception& error) {
        counter.failure = error.what();
      }
      unlink(csv.c_str());
    }
  }
  print_counters(all, rounds);
}

}  // namespace overhead
