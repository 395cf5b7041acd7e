// SPDX-License-Identifier: MIT
//
// Traces: the output of tools beside us (--syscost_profile bpftrace) for each benchmark, from a separate process.
//
// That process runs before the one that counts: if a tool does not work, the program must end before anything else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/benchmark/counting_run.h"

namespace syscost::benchmark_adapter {

class Traces {
 public:
  /// Runs the process. Ends the program if the tools do not work; notes a problem if the process ends early.
  void gather(CountingRequest request);
  /// Call it when the counting backend is known.
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
