// SPDX-License-Identifier: MIT
#include "figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "stats/significance.h"

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

Difference difference_of(const std::vector<double>& differences, const std::string& unit) {
  const auto [middle, interval] = syscost::bench::stats::median_interval(differences, 0.95);
  if (!interval) {
    return {fmt::format("{:+.2f} {}, no 95 % interval: that takes 6 pairs, not {}", middle, unit, differences.size()),
            std::nullopt};
  }
  return {fmt::format("{:+.2f} {}, 95 % interval [{:+.2f}, {:+.2f}] over {} pairs", middle, unit, interval->low,
                      interval->high, differences.size()),
          interval->contains(0)};
}

void judge(const std::string& limit, bool kept) {
  fmt::print("  {}: {}\n", limit, kept ? "kept" : "NOT KEPT");
}

}  // namespace overhead
