// SPDX-License-Identifier: MIT
//
// What the process that times asks of the one that counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace syscost::agent::benchmark {

struct Request {
  std::size_t call = 0;           ///< Which call of RunSpecifiedBenchmarks(), from 0. Earlier ones run no benchmark.
  std::size_t first = 0;          ///< Benchmarks before this position have their counts.
  std::vector<std::size_t> dead;  ///< Positions of benchmarks that ended a process.

  bool wants(std::size_t position) const {
    return position >= first && std::find(dead.begin(), dead.end(), position) == dead.end();
  }
  std::string text() const {
    std::string text = std::to_string(call) + " " + std::to_string(first);
    for (const std::size_t position : dead) text += " " + std::to_string(position);
    return text;
  }
  static Request from(const std::string& text) {
    std::istringstream words(text);
    Request request;
    words >> request.call >> request.first;
    for (std::size_t position = 0; words >> position;) request.dead.push_back(position);
    return request;
  }
};

}  // namespace syscost::agent::benchmark
