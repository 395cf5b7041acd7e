// SPDX-License-Identifier: MIT
//
// How often compare's judgement misses or invents: `syscost_bench_simulation [COMPARISONS [SEED]]`.
//
// Prints the rates of docs/statistics.md. The same seed gives the same output; tests/unit/bench asserts the rates over
// fewer comparisons.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "simulation.h"

namespace {

using syscost::bench::simulation::AlarmsResult;
using syscost::bench::simulation::Around;
using syscost::bench::simulation::CallChange;
using syscost::bench::simulation::CpuResult;
using syscost::bench::simulation::DoubtsResult;
using syscost::bench::simulation::Lawless;
using syscost::bench::simulation::LawsResult;
using syscost::bench::simulation::Load;
using syscost::bench::simulation::Noise;
using syscost::bench::simulation::simulate_alarms;
using syscost::bench::simulation::simulate_counts;
using syscost::bench::simulation::simulate_cpu;
using syscost::bench::simulation::simulate_doubts;
using syscost::bench::simulation::simulate_laws;
using syscost::bench::simulation::simulate_steps;
using syscost::bench::simulation::simulate_times;
using syscost::bench::simulation::simulate_unusual;
using syscost::bench::simulation::StepsResult;
using syscost::bench::simulation::TimesResult;
using syscost::bench::simulation::TimesSetup;
using syscost::bench::simulation::to_string;
using syscost::bench::simulation::UnusualResult;
using syscost::bench::simulation::Varies;

std::string share(std::size_t part, std::size_t whole) {
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

void print_equal(std::size_t comparisons, std::uint64_t seed) {
  fmt::print("Nothing changed: {} comparisons of 50 tests; how many raise any alarm about a time (at most 5 %)\n",
             comparisons);
  fmt::print("{:<10} {:>5}  {:<26} {:>15}  {:>15}\n", "scatter", "", "samples", "any regression", "any improvement");
  for (const Noise kind : {Noise::normal, Noise::disturbed, Noise::ticks}) {
    for (const double noise : {0.03, 0.10}) {
      for (const std::size_t samples : {7U, 10U, 20U}) {
        const TimesResult result =
            simulate_times({.noise_kind = kind, .noise = noise, .samples = samples}, comparisons, seed);
        fmt::print("{:<10} {:>3.0f} %  {:<26} {:>15}  {:>15}\n", to_string(kind), 100 * noise,
                   fmt::format("{} against {}", samples, samples), share(result.with_false_regression, comparisons),
                   share(result.with_false_improvement, comparisons));
      }
    }
    const TimesResult result =
        simulate_times({.noise_kind = kind, .noise = 0.10, .has_looks = true}, comparisons, seed);
    fmt::print("{:<10} {:>3.0f} %  {:<26} {:>15}  {:>15}\n", to_string(kind), 10.0, "ab: up to four looks",
               share(result.with_false_regression, comparisons), share(result.with_false_improvement, comparisons));
  }
  const TimesResult result = simulate_times({.noise_kind = Noise::process}, comparisons, seed);
  fmt::print("{:<10} {:>3.0f} %  {:<26} {:>15}  {:>15}\n", to_string(Noise::process), 3.0, "10 against 10",
             share(result.with_false_regression, comparisons), share(result.with_false_improvement, comparisons));
}

void print_slowed(std::size_t comparisons, std::uint64_t seed) {
  fmt::print("\nOne test is slower, 10 against 10 samples: how often it is found (10 % at 3 %: at least 90 %)\n");
  fmt::print("{:<10} {:>6}  {:>8}  {:>9}  {:>13}\n", "scatter", "", "slowdown", "test alone", "one of 50");
  for (const Noise kind : {Noise::normal, Noise::disturbed, Noise::ticks}) {
    for (const double noise : {0.01, 0.03}) {
      for (const double slowdown : {1.05, 1.10, 1.20}) {
        TimesSetup setup{.noise_kind = kind, .noise = noise, .tests = 1, .slowdown = slowdown};
        const TimesResult alone = simulate_times(setup, comparisons, seed);
        setup.tests = 50;
        const TimesResult among = simulate_times(setup, comparisons, seed);
        fmt::print("{:<10} {:>4.0f} %  {:>6.0f} %  {:>10}  {:>13}\n", to_string(kind), 100 * noise,
                   100 * (slowdown - 1), share(alone.found, comparisons), share(among.found, comparisons));
      }
    }
  }
}

void print_cpu(std::size_t comparisons, std::uint64_t seed) {
  fmt::print(
      "\nBusy machine, 10 against 10 samples, 50 tests: any false regression; how often one test 10 % slower is "
      "found\n");
  fmt::print("{:<8} {:>10}  {:>10} {:>10}  {:>11} {:>10}  {:>14}\n", "test", "clock", "false wall", "false cpu",
             "found wall", "found cpu", "cpu not judged");
  struct Case {
    const char* test;
    double cpu_ns;
    const char* clock;
    double step_ns;
  };
  for (const Case& one :
       {Case{"20 us", 2e4, "1 us", 1e3}, Case{"100 us", 1e5, "1 us", 1e3}, Case{"1 ms", 1e6, "1 us", 1e3},
        Case{"1 ms", 1e6, "4 ms", 4e6}, Case{"20 ms", 2e7, "4 ms", 4e6}, Case{"1 s", 1e9, "4 ms", 4e6}}) {
    const CpuResult equal = simulate_cpu({.cpu_ns = one.cpu_ns, .step_ns = one.step_ns}, comparisons, seed);
    const CpuResult slowed =
        simulate_cpu({.cpu_ns = one.cpu_ns, .step_ns = one.step_ns, .slowdown = 1.1}, comparisons, seed);
    fmt::print("{:<8} {:>10}  {:>10} {:>10}  {:>11} {:>10}  {:>14}\n", one.test, one.clock,
               share(equal.false_by_wall, comparisons), share(equal.false_by_cpu, comparisons),
               share(slowed.found_by_wall, comparisons), share(slowed.found_by_cpu, comparisons),
               share(equal.not_judged, comparisons * 50));
  }
}

void print_counts(std::size_t comparisons, std::uint64_t seed) {
  fmt::print("\nCounts, {} comparisons of one test: how many end in `regressed`\n", comparisons);
  fmt::print("{:<28} {:>12}  {:>15}\n", "", "1 repetition", "10 repetitions");
  for (const CallChange change :
       {CallChange::added_to_a_syscall, CallChange::added_with_threads, CallChange::added_a_syscall,
        CallChange::added_in_one_sample, CallChange::added_errno, CallChange::replaced_by_volatile, CallChange::none}) {
    fmt::print("{:<28} {:>12}  {:>15}\n", to_string(change),
               share(simulate_counts(change, comparisons, 1, seed), comparisons),
               share(simulate_counts(change, comparisons, 10, seed), comparisons));
  }
}

void print_alarms(std::size_t suites, std::uint64_t seed) {
  fmt::print("\nFalse alarms of the next run, {} suites of 300 counts: a suite's mean\n", suites);
  fmt::print("{:<12} {:>10}  {:>6}  {:>18}\n", "runs seen", "estimated", "true", "within the bound");
  for (const std::size_t runs : {3U, 5U, 10U, 20U}) {
    const AlarmsResult result = simulate_alarms(runs, suites, seed);
    fmt::print("{:<12} {:>10.2f}  {:>6.2f}  {:>16.1f} %\n", runs, result.estimated / static_cast<double>(suites),
               result.came / static_cast<double>(suites), 100 * result.within_bound);
  }
}

void print_doubts(std::size_t gates, std::uint64_t seed) {
  fmt::print(
      "\nOne count in doubt, both sides run again: false reds of {} gates (at most 1 in 1000), further runs of a "
      "gate\n",
      gates);
  for (const Around around : {Around::quiet, Around::load, Around::drift, Around::alternates, Around::left_over}) {
    DoubtsResult all;
    for (const Varies varies : {Varies::by_one, Varies::by_2, Varies::by_4, Varies::by_10, Varies::heavy_tail}) {
      const DoubtsResult one = simulate_doubts(varies, around, 0, 1, gates / 5, seed);
      all.red += one.red;
      all.equal += one.equal;
      all.runs += one.runs;
    }
    fmt::print("{:<22} {:>5}  {:>5.1f}\n", to_string(around), all.red,
               static_cast<double>(all.runs) / static_cast<double>(gates - all.equal));
  }
  fmt::print("\nA change of a count, found by at most 40 further runs; K: counts in doubt in the gate\n");
  fmt::print("{:<12} {:>6}  {:>9} {:>9} {:>9}  {:>18}\n", "varies by", "change", "K = 1", "K = 10", "K = 100",
             "runs until, K = 1");
  struct Change {
    Varies varies;
    double more;
  };
  for (const Change& change : {Change{Varies::never, 1}, Change{Varies::by_one, 3}, Change{Varies::by_2, 100},
                               Change{Varies::by_4, 100}, Change{Varies::by_10, 100}, Change{Varies::heavy_tail, 11}}) {
    std::string line = fmt::format("{:<12} {:>6} ", to_string(change.varies), fmt::format("+{:.0f}", change.more));
    double runs = 0;
    for (const std::size_t doubts : {1U, 10U, 100U}) {
      const DoubtsResult one = simulate_doubts(change.varies, Around::quiet, change.more, doubts, gates / 10, seed);
      line += fmt::format(" {:>9}", share(one.red, gates / 10));
      if (doubts == 1) runs = static_cast<double>(one.runs) / static_cast<double>(gates / 10 - one.equal);
    }
    fmt::print("{}  {:>18.1f}\n", line, runs);
  }
}

void print_steps(std::size_t histories, std::uint64_t seed) {
  fmt::print("\nHistories of one test's time: which show a step, and of which it is at most a run off\n");
  fmt::print("{:<6} {:>6}  {:>10}  {:>14} {:>8}  {:>14} {:>8}\n", "runs", "noise", "no change", "5 % slower", "near",
             "10 % slower", "near");
  for (const std::size_t runs : {12U, 30U, 100U}) {
    for (const double noise : {0.01, 0.03, 0.10}) {
      const StepsResult equal = simulate_steps(runs, noise, 1, histories, seed);
      const StepsResult five = simulate_steps(runs, noise, 1.05, histories, seed);
      const StepsResult ten = simulate_steps(runs, noise, 1.10, histories, seed);
      fmt::print("{:<6} {:>4.0f} %  {:>10}  {:>14} {:>8}  {:>14} {:>8}\n", runs, 100 * noise,
                 share(equal.with_steps, histories), share(five.with_steps, histories), share(five.near, histories),
                 share(ten.with_steps, histories), share(ten.near, histories));
    }
  }
}

void print_unusual(std::uint64_t seed) {
  fmt::print(
      "\nOne syscall of a command that is watched, intervals of 1 s: called unusual in an hour, and of jumps found\n");
  fmt::print("{:<7} {:>8}  {:>7} {:>7} {:>6}  {:>8} {:>8} {:>8}\n", "load", "calls/s", "low", "medium", "high", "twice",
             "5 times", "20 times");
  constexpr std::size_t kIntervals = 36'000;
  for (const Load load : {Load::steady, Load::uneven, Load::bursty, Load::timer}) {
    for (const double mean : {1.0, 30.0, 1000.0}) {
      const UnusualResult twice = simulate_unusual(load, mean, 2, kIntervals, seed);
      const auto found = [&](double jump) {
        return fmt::format("{:.0f} %", 100 * simulate_unusual(load, mean, jump, kIntervals, seed).found);
      };
      fmt::print("{:<7} {:>8}  {:>7.1f} {:>7.1f} {:>6.1f}  {:>8} {:>8} {:>8}\n", to_string(load), mean,
                 twice.low_per_hour, twice.medium_per_hour, twice.high_per_hour, found(2), found(5), found(20));
    }
  }
}

void print_laws(std::size_t families, std::uint64_t seed) {
  fmt::print(
      "\nCounts without a law, {} families of 8, 32, 128, ...: how many a law is said of, other than a constant\n",
      families);
  fmt::print("{:<27} {:>8}  {:>8}  {:>8}  {:>8}  {:>8}\n", "counts", "3 sizes", "4 sizes", "5 sizes", "6 sizes",
             "8 sizes");
  for (const Lawless kind : {Lawless::random_to_2, Lawless::random_to_10, Lawless::random_to_10000,
                             Lawless::noisy_constant, Lawless::noisy_line, Lawless::noisy_blocks}) {
    std::string line = fmt::format("{:<27}", to_string(kind));
    for (const std::size_t sizes : {3U, 4U, 5U, 6U, 8U}) {
      const LawsResult result = simulate_laws(kind, sizes, families, seed);
      line += fmt::format(
          " {:>8} ", fmt::format("{:.2f} %", 100 * static_cast<double>(result.laws) / static_cast<double>(families)));
    }
    fmt::print("{}\n", line.substr(0, line.size() - 1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t comparisons = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (comparisons == 0) {
    fmt::print(stderr, "usage: syscost_bench_simulation [COMPARISONS [SEED]]\n");
    return 2;
  }
  print_equal(comparisons, seed);
  print_slowed(comparisons, seed);
  print_cpu(comparisons, seed);
  print_counts(comparisons, seed);
  print_alarms(comparisons, seed);
  print_doubts(50 * comparisons, seed);
  print_steps(comparisons, seed);
  print_unusual(seed);
  print_laws(10 * comparisons, seed);
}
