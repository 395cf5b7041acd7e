// SPDX-License-Identifier: MIT
#include "findings/window_calls.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/site.h"
#include "stats/site_totals.h"

namespace syscost::bench::findings {
namespace {

using model::Measured;

bool is_among(Syscalls syscalls, std::string_view name) {
  return std::find(syscalls.begin(), syscalls.end(), name) != syscalls.end();
}

void add_to(std::optional<double>& sum, const stats::Numbers& number) {
  sum = sum && number ? std::optional(*sum + number->median) : std::nullopt;
}

void add_to(std::optional<double>& sum, const Measured& number, double divisor) {
  sum = sum && number.has_value() ? std::optional(*sum + static_cast<double>(*number) / divisor) : std::nullopt;
}

}  // namespace

std::string_view syscall_of(std::string_view name) {
  return name.substr(0, name.find(' '));
}

double CallSum::failed_with(std::string_view errno_name) const {
  const auto found = errnos.find(errno_name);
  return found == errnos.end() ? 0 : found->second;
}

WindowCalls::WindowCalls(const model::Dataset& data, const model::Group& group, const stats::WindowSummary& summary)
    : data_(data), group_(group), summary_(summary) {
  add_bytes();
}

void WindowCalls::add_bytes() {
  std::vector<model::SyscallRow> rows;
  for (const std::uint32_t sample : group_.samples) {
    const model::Totals& totals = data_.samples[sample].totals;
    has_bytes_ = has_bytes_ || totals.bytes_read.has_value() || totals.bytes_mapped.has_value();
    const std::uint64_t passes = totals.counted_iterations.value_or(totals.iterations.value_or(1));
    const double per_pass = summary_.is_per_iteration ? static_cast<double>(std::max<std::uint64_t>(passes, 1)) : 1;
    rows.clear();
    data_.rows.of(sample, rows);
    for (const model::SyscallRow& row : rows) {
      Bytes& bytes = bytes_[data_.text(row.syscall)];
      const double divisor = per_pass * static_cast<double>(group_.samples.size());
      add_to(bytes.moved, row.bytes, divisor);
      add_to(bytes.released, row.bytes_released, divisor);
      has_bytes_ = has_bytes_ || row.bytes.has_value();
    }
  }
}

CallSum WindowCalls::sum(Syscalls syscalls) const {
  CallSum out;
  double most = 0;
  std::set<std::string_view> seen;
  for (const stats::SyscallSummary& one : summary_.syscalls) {
    const std::string_view name = syscall_of(one.name);
    if (!is_among(syscalls, name)) continue;
    const double calls = one.count() ? one.count()->median : 0;
    out.calls += calls;
    add_to(out.errors, one.errors);
    add_to(out.kernel_ns, one.kernel_ns);
    for (const auto& [errno_name, spread] : one.errnos) out.errnos[errno_name] += spread.median;
    if (calls > most) {
      most = calls;
      out.most = name;
    }
    if (!seen.insert(name).second) continue;
    const auto bytes = bytes_.find(name);
    if (bytes == bytes_.end()) continue;
    const auto add = [](std::optional<double>& sum, const std::optional<double>& more) {
      sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
    };
    add(out.bytes, bytes->second.moved);
    add(out.bytes_released, bytes->second.released);
  }
  return out;
}

std::string WindowCalls::site_of(Syscalls syscalls) const {
  if (!data_.has_sites) return {};
  stats::SiteTotals totals(data_);
  totals.add(group_, {});
  std::vector<stats::SiteTotal> sites = totals.all();
  std::erase_if(sites, [&](const stats::SiteTotal& one) {
    return !is_among(syscalls, syscall_of(one.syscall)) || one.site.is_unknown();
  });
  if (sites.empty()) return {};
  stats::sort_sites(sites, "calls");
  return model::text_of(sites.front().site);
}

bool WindowCalls::has_results() const {
  return summary_.errors.has_value();
}

bool WindowCalls::has_bytes() const {
  return has_bytes_;
}

bool WindowCalls::has_times() const {
  return summary_.work_ns.has_value() || summary_.syscalls.empty() ||
         std::all_of(summary_.syscalls.begin(), summary_.syscalls.end(),
                     [](const stats::SyscallSummary& one) { return one.kernel_ns.has_value(); });
}

std::string_view WindowCalls::per() const {
  if (!summary_.is_per_iteration) return "";
  return summary_.loop.empty() ? " an iteration" : " a call";
}

}  // namespace syscost::bench::findings
