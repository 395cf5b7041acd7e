// SPDX-License-Identifier: MIT
//
// The cost of measuring a syscall: ours against an empty pair of eBPF programs, strace, perf trace, bpftrace and
// syscount.
//
// Absolute times change with the machine and the hour. So every instrument runs once per round, in an order that
// rotates, next to a bare run. The report compares the time that each adds to one call. The report gives medians over
// the rounds and ratios of medians. An instrument that is missing or does not work here is listed with the reason.
//
// usage: syscost_overhead [--rounds N] [--only SECTION]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include "reports.h"

namespace overhead {
namespace {

struct Section {
  std::string_view name;
  void (*report)(int rounds);
};

/// In the order of the report.
constexpr std::array<Section, 10> kSections = {{{"calls", report_calls},
                                                {"switches", report_switches},
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
