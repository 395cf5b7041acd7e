// SPDX-License-Identifier: MIT
#include "figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace overhead {

std::string beside(const std::string& program) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / program).string();
}

std::optional<double> value_of(const std::string& output, const std::string& key) {
  std::size_t at = output.find(key + " ");
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(output.c_str() + at + key.size() + 1, nullptr);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::pair<std::size_t, std::size_t> median_interval(std::size_t n) {
  // P(X <= k) for X ~ Binomial(n, 1/2), summed until it passes 2.5 %.
  double term = std::pow(0.5, static_cast<double>(n));
  double below = 0;
  std::size_t rank = 0;
  while (rank < n / 2 && below + term <= 0.025) {
    below += term;
    term *= static_cast<double>(n - rank) / static_cast<double>(rank + 1);
    ++rank;
  }
  rank = rank == 0 ? 0 : rank - 1;
  return {rank, n - 1 - rank};
}

void judge(const std::string& limit, bool kept) {
  fmt::print("  {}: {}\n", limit, kept ? "kept" : "NOT KEPT");
}

}  // namespace overhead
