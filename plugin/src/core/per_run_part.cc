// SPDX-License-Identifier: MIT
#include "core/per_run_part.h"

#include <algorithm>
#include <cmath>

#include "syscost/counting.h"

namespace syscost {
namespace {

/// The same table of each pass; null if a pass has none.
struct Tables {
  std::vector<std::uint64_t> iterations;
  std::vector<const CallTable*> tables;
};

/// How many of the counts that `count_of` reads from a syscall's tallies, one for each pass, come once per run. A pass
/// without a tally counts 0.
template <class CountOf>
std::optional<std::uint64_t> per_run_of(const Tables& passes, SyscallId id, CountOf count_of) {
  std::vector<std::uint64_t> counts;
  for (const CallTable* table : passes.tables) {
    const Tally* tally = table == nullptr ? nullptr : table->find(id);
    counts.push_back(tally == nullptr ? 0 : count_of(*tally));
  }
  return adapter::figure_of(passes.iterations, counts).per_run;
}

std::optional<std::map<int, std::uint64_t>> per_run_errors(const Tables& passes, SyscallId id, const Tally& tally) {
  std::map<int, std::uint64_t> per_run;
  for (const ErrnoCounts::Entry& error : tally.errors) {
    const auto part = per_run_of(passes, id, [&](const Tally& one) { return one.errors.count(error.error); });
    if (!part.has_value()) return std::nullopt;
    if (*part > 0) per_run.emplace(error.error, *part);
  }
  return per_run;
}

PerRunParts parts_of(const Tables& passes, const detail::Measured& measured) {
  PerRunParts parts;
  for (const auto& [id, tally] : *passes.tables.back()) {
    const auto calls = per_run_of(passes, id, [&](const Tally& one) {  //
      return measured.calls ? one.calls : one.entries;
    });
    if (!calls.has_value()) continue;
    PerRunPart& part = parts[id];
    part.calls = *calls;
    if (measured.bytes != BytesKnown::none) {
      part.bytes = per_run_of(passes, id, [](const Tally& one) { return one.bytes; });
    }
    if (measured.errors) part.errors = per_run_errors(passes, id, tally);
  }
  return parts;
}

bool are_exact(const std::vector<CountedPass>& passes) {
  return !passes.empty() && std::all_of(passes.begin(), passes.end(), [](const CountedPass& pass) {
    return pass.iterations > 0 && pass.cost->lost + pass.cost->late == 0;
  });
}

}  // namespace

PerRunParts per_run_parts(const std::vector<CountedPass>& passes) {
  if (!are_exact(passes)) return {};
  Tables tables;
  for (const CountedPass& pass : passes) {
    tables.iterations.push_back(pass.iterations);
    tables.tables.push_back(&pass.cost->table);
  }
  return parts_of(tables, passes.back().cost->measured);
}

ProgramPerRunParts program_per_run_parts(const std::vector<CountedPass>& passes) {
  ProgramPerRunParts parts;
  if (!are_exact(passes)) return parts;
  for (const ProgramTables::Entry& other : passes.back().cost->programs) {
    Tables tables;
    for (const CountedPass& pass : passes) {
      const auto found = std::find_if(pass.cost->programs.begin(), pass.cost->programs.end(),
                                      [&](const ProgramTables::Entry& one) { return one.program == other.program; });
      tables.iterations.push_back(pass.iterations);
      tables.tables.push_back(found == pass.cost->programs.end() ? nullptr : &found->table);
    }
    parts.emplace(other.program, parts_of(tables, passes.back().cost->measured));
  }
  return parts;
}

namespace adapter {

Figure figure_of(const std::vector<std::uint64_t>& iterations, const std::vector<std::uint64_t>& counts) {
  const auto long_iterations = static_cast<double>(iterations.back());
  const auto long_count = static_cast<double>(counts.back());
  Figure figure{long_count / long_iterations, std::nullopt};
  if (iterations.front() >= iterations.back()) return figure;
  const double slope =
      (long_count - static_cast<double>(counts.front())) / (long_iterations - static_cast<double>(iterations.front()));
  const double start = long_count - slope * long_iterations;
  // Counts are whole: a line that misses each count by less than half a call fits.
  const double per_run = std::round(start);
  if (slope < 0 || per_run < 0) return figure;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const double expected = start + slope * static_cast<double>(iterations[i]);
    if (std::abs(expected - static_cast<double>(counts[i])) >= 0.5) return figure;
  }
  figure.per_run = static_cast<std::uint64_t>(per_run);
  figure.per_iteration = (long_count - per_run) / long_iterations;
  return figure;
}

}  // namespace adapter
}  // namespace syscost
