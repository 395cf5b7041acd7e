// SPDX-License-Identifier: MIT
//
// A/A: one benchmark, linked with syscost::benchmark and not linked. Counting happens in another process, so the times
// of an iteration must be the same, even with a flag that asks for counts.
//
// Two processes of one binary differ by more than two repetitions in one. So a sample is a process, the median of its
// repetitions; processes run in pairs, the order within a pair alternates, and what is reported is the median of the
// pairs' differences with its interval.
#include <fmt/format.h>
#include <unistd.h>

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

constexpr const char* kBareProgram = "overhead_benchmark_bare";
constexpr const char* kLinked = "overhead_benchmark_linked";

/// The time of an iteration of one process of `program`, the median of its repetitions.
double iteration_ns(const std::string& program, const std::vector<std::string>& flags) {
  std::vector<std::string> command = {beside(program), "--benchmark_format=json", "--benchmark_min_time=0.03",
                                      "--benchmark_repetitions=9"};
  command.insert(command.end(), flags.begin(), flags.end());
  Process process(command);
  if (process.wait() != 0) throw std::runtime_error(program + " failed: " + process.output());
  const std::string& output = process.output();
  const std::size_t at = output.find("\"BM_Getppid_median\"");
  const std::optional<double> value =
      at == std::string::npos ? std::nullopt : value_of(output.substr(at), "\"real_time\":");
  if (!value) throw std::runtime_error(program + " printed no median");
  return *value;
}

void report_pairs(const std::string& asked, const std::vector<std::string>& flags_of_linked, int pairs) {
  std::vector<double> bare;
  std::vector<double> differences;
  for (int pair = 0; pair < pairs; ++pair) {
    const bool linked_first = pair % 2 == 1;
    double linked = linked_first ? iteration_ns(kLinked, flags_of_linked) : 0;
    bare.push_back(iteration_ns(kBareProgram, {}));
    if (!linked_first) linked = iteration_ns(kLinked, flags_of_linked);
    differences.push_back(linked - bare.back());
  }
  const Difference difference = difference_of(differences, "ns");
  fmt::print("  {}: not linked {:.2f} ns; linked {}\n", asked, median(bare), difference.text);
  if (difference.contains_zero) judge("  the interval contains 0", *difference.contains_zero);
}

}  // namespace

void report_benchmarks(int rounds) {
  fmt::print("\na Google Benchmark of getppid, time of an iteration\n");
  if (!is_installed(beside(kBareProgram)) || !is_installed(beside(kLinked))) {
    fmt::print("  n/a  built without Google Benchmark (Debian: libbenchmark-dev)\n");
    return;
  }
  const int pairs = 2 * rounds;
  report_pairs("no flag", {}, pairs);
  const std::string csv = "/tmp/syscost_overhead_" + std::to_string(getpid()) + ".csv";
  try {
    report_pairs("--syscost_csv", {"--syscost_csv=" + csv}, pairs);
  } catch (...) {
    std::filesystem::remove(csv);
    throw;
  }
  std::filesystem::remove(csv);
}

}  // namespace overhead
