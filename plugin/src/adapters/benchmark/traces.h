// SPDX-License-Identifier: MIT
//
// Traces: what tools beside us (--syscost_profile bpftrace) saw of each benchmark, from a process of its own.
//
// That process runs before the one that counts: a tool that cannot be had must end the program before anything else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/benchmark/counting_run.h"

namespace syscost::benchmark_adapter {

class Traces {
 public:
  /// Runs the process. Ends the program when the tools cannot be had; notes a problem when the process ends early.
  void gather(CountingRequest orders);
  /// Once it is known who counts.
  void write() const;

 private:
  struct Trace {
    std::string name;
    std::uint64_t repetition = 0;
    std::uint64_t iterations = 0;
    std::string text;
  };

  void hear(std::string_view line);
  std::uint64_t repetition_of(const std::string& name) const;

  std::vector<Trace> traces_;
  std::vector<std::string> names_;
  std::size_t running_ = 0;
  bool is_listed_ = false;
};

}  // namespace syscost::benchmark_adapter
