// SPDX-License-Identifier: MIT
//
// Many measured processes at once: a call should cost each what it costs one that is alone, because all share a pair of
// programs.
#include <fmt/format.h>

#include <csignal>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "figures.h"
#include "process.h"
#include "reports.h"

namespace overhead {
namespace {

constexpr int kMany = 32;

double getppid_ns(const char* mode) {
  Process process({beside("overhead_worker"), mode, "20000"});
  const int status = process.wait();
  const std::optional<double> ns = value_of(process.output(), "getppid_ns");
  if (status != 0 || !ns) throw std::runtime_error(process.output().substr(0, process.output().find('\n')));
  return *ns;
}

/// Processes that are measured and wait; the milliseconds that opening took are appended to `open_ms`.
std::vector<std::unique_ptr<Process>> start_others(int count, std::vector<double>& open_ms) {
  std::vector<std::unique_ptr<Process>> others;
  for (int i = 0; i < count; ++i) {
    others.push_back(std::make_unique<Process>(std::vector<std::string>{beside("overhead_worker"), "stay", "1"}));
    Process& process = *others.back();
    const bool is_ready = process.read_until("ready");
    const std::optional<double> ms = value_of(process.output(), "open_ms");
    if (!is_ready || !ms) throw std::runtime_error(process.output().substr(0, process.output().find('\n')));
    open_ms.push_back(*ms);
  }
  return others;
}

}  // namespace

void report_many(int rounds) {
  std::vector<double> first_ms;
  std::vector<double> further_ms;
  std::vector<double> alone_ns;
  std::vector<double> beside_ns;
  std::vector<double> unmeasured_ns;
  fmt::print("\n{} processes measured at once, ns added to a getppid, median of the rounds\n", kMany);
  try {
    for (int round = 0; round < rounds; ++round) {
      const double bare = getppid_ns("bare");
      alone_ns.push_back(getppid_ns("armed") - bare);
      std::vector<double> open_ms;
      const std::vector<std::unique_ptr<Process>> others = start_others(kMany - 1, open_ms);
      beside_ns.push_back(getppid_ns("armed") - bare);
      unmeasured_ns.push_back(getppid_ns("bare") - bare);
      first_ms.push_back(open_ms.front());
      further_ms.insert(further_ms.end(), open_ms.begin() + 1, open_ms.end());
      for (const auto& other : others) other->signal(SIGKILL);
    }
  } catch (const std::runtime_error& error) {
    fmt::print("  n/a  {}\n", error.what());
    return;
  }
  const double alone = median(alone_ns);
  const double beside_others = median(beside_ns);
  fmt::print(
      "  armed, alone {:+.0f}; armed, beside {} others {:+.0f}: {:.2f} times; not measured, beside them {:+.0f}\n",
      alone, kMany - 1, beside_others, beside_others / alone, median(unmeasured_ns));
  fmt::print("  opening the backend: the first process {:.1f} ms, each further one {:.1f} ms\n", median(first_ms),
             median(further_ms));
}

}  // namespace overhead
