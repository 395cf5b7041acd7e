// SPDX-License-Identifier: MIT
#include "session/tools/findings.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace syscost::session {
namespace {

using profilers::Artifact;
using profilers::LatencyBucket;
using profilers::Output;
using profilers::SyscallFigures;
using profilers::TimeFigure;
using Number = std::optional<std::uint64_t>;

/// If one stretch does not know a number, the sum is unknown.
void add(Number& sum, const Number& number) {
  sum = sum.has_value() && number.has_value() ? Number(*sum + *number) : std::nullopt;
}

template <class Pick>
void pick(Number& into, const Number& number, Pick pick) {
  if (into.has_value() && number.has_value()) into = pick(*into, *number);
  if (!into.has_value()) into = number;
}

void add_latency(std::vector<LatencyBucket>& sum, const std::vector<LatencyBucket>& part) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const LatencyBucket& bucket : sum) counts[bucket.lower_ns] += bucket.count;
  for (const LatencyBucket& bucket : part) counts[bucket.lower_ns] += bucket.count;
  sum.clear();
  for (const auto& [lower_ns, count] : counts) sum.push_back({lower_ns, count});
}

void add_figures(SyscallFigures& sum, const SyscallFigures& part) {
  add(sum.entries, part.entries);
  add(sum.returned, part.returned);
  sum.has_errors = sum.has_errors && part.has_errors;
  std::map<int, std::uint64_t> errors(sum.errors.begin(), sum.errors.end());
  for (const auto& [error, count] : part.errors) errors[error] += count;
  sum.errors.assign(errors.begin(), errors.end());
  add_latency(sum.latency, part.latency);
  add(sum.latency_sum_ns, part.latency_sum_ns);
  pick(sum.latency_min_ns, part.latency_min_ns, [](auto a, auto b) { return std::min(a, b); });
  pick(sum.latency_max_ns, part.latency_max_ns, [](auto a, auto b) { return std::max(a, b); });
}

/// "syslat.txt", as part 2: "syslat.2.txt".
std::string numbered(const std::string& name, int part) {
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  return name.substr(0, dot) + "." + std::to_string(part) + name.substr(dot);
}

std::string headed(std::string summary, int part) {
  return "  part " + std::to_string(part) + ":\n" + std::move(summary);
}

void add_times(std::vector<TimeFigure>& whole, std::vector<TimeFigure> part) {
  for (TimeFigure& figure : part) {
    const auto same =
        std::find_if(whole.begin(), whole.end(), [&](const TimeFigure& one) { return one.name == figure.name; });
    if (same == whole.end()) {
      whole.push_back(std::move(figure));
    } else if (figure.is_sum) {
      for (const profilers::TimeRow& row : figure.rows) same->rows.front().total_ns += row.total_ns;
      if (!figure.note.empty()) same->note += "; then " + figure.note;
    } else {
      same->rows.insert(same->rows.end(), figure.rows.begin(), figure.rows.end());
    }
  }
}

void add_output(Output& whole, Output part, int number) {
  for (Artifact& artifact : part.artifacts) {
    whole.artifacts.push_back({numbered(artifact.name, number), std::move(artifact.content)});
  }
  // A stretch in which nothing happened has no text. Each other stretch has a text of its own, and files.
  const auto has_said = [](const Output& one) {
    return !one.summary.empty() && (!one.counts_syscalls || !one.syscalls.empty());
  };
  if (number == 2) whole.summary = has_said(whole) ? headed(std::move(whole.summary), 1) : std::string();
  if (has_said(part)) {
    if (!whole.summary.empty() && !whole.summary.ends_with('\n')) whole.summary += '\n';
    whole.summary += headed(std::move(part.summary), number);
  }
  whole.counts_syscalls = whole.counts_syscalls && part.counts_syscalls;
  whole.lost_events += part.lost_events;
  add_times(whole.times, std::move(part.times));
  // A stretch with lost events has no sums, so the whole has none.
  if (whole.lost_events > 0) std::erase_if(whole.times, [](const TimeFigure& figure) { return figure.is_sum; });
  for (SyscallFigures& figures : part.syscalls) {
    const auto same = std::find_if(whole.syscalls.begin(), whole.syscalls.end(),
                                   [&](const SyscallFigures& one) { return one.number == figures.number; });
    if (same == whole.syscalls.end()) {
      whole.syscalls.push_back(std::move(figures));
    } else {
      add_figures(*same, figures);
    }
  }
}

void fill_gaps(SyscallFigures& figures, const SyscallFigures& other) {
  if (!figures.entries.has_value()) figures.entries = other.entries;
  if (!figures.returned.has_value()) figures.returned = other.returned;
  if (!figures.has_errors && other.has_errors) {
    figures.errors = other.errors;
    figures.has_errors = true;
  }
  if (!figures.latency.empty() || other.latency.empty()) return;
  figures.latency = other.latency;
  figures.latency_sum_ns = other.latency_sum_ns;
  figures.latency_min_ns = other.latency_min_ns;
  figures.latency_max_ns = other.latency_max_ns;
}

}  // namespace

void add_part(Findings& whole, Findings part) {
  if (whole.empty()) {
    whole = std::move(part);
    return;
  }
  for (std::size_t i = 0; i < std::min(whole.size(), part.size()); ++i) {
    ProfilerOutputs& tool = whole[i];
    ++tool.parts;
    for (Output& output : part[i].outputs) {
      const auto same = std::find_if(tool.outputs.begin(), tool.outputs.end(),
                                     [&](const Output& one) { return one.script == output.script; });
      if (same == tool.outputs.end()) {
        tool.outputs.push_back(std::move(output));
      } else {
        add_output(*same, std::move(output), tool.parts);
      }
    }
  }
}

std::vector<SyscallFigures> all_figures(const ProfilerOutputs& findings) {
  std::map<int, SyscallFigures> by_number;
  for (const Output& output : findings.outputs) {
    for (const SyscallFigures& figures : output.syscalls) {
      auto [at, is_new] = by_number.try_emplace(figures.number, figures);
      if (!is_new) fill_gaps(at->second, figures);
    }
  }
  std::vector<SyscallFigures> all;
  for (auto& [number, figures] : by_number) all.push_back(std::move(figures));
  return all;
}

void remove_framework_writes(ProfilerOutputs& findings, int count) {
  if (count <= 0) return;
  for (Output& output : findings.outputs) {
    std::erase_if(output.syscalls, [&](const SyscallFigures& figures) {
      const Number seen = figures.entries.has_value() ? figures.entries : figures.returned;
      return figures.number == SYS_write && seen == static_cast<std::uint64_t>(count);
    });
  }
}

}  // namespace syscost::session
