// SPDX-License-Identifier: MIT
#include "findings/window_calls.h"

#include <algorithm>
#include <vector>

#include "model/site.h"
#include "stats/sites.h"

namespace syscost::bench::findings {
namespace {

bool is_among(Syscalls syscalls, std::string_view name) {
  return std::find(syscalls.begin(), syscalls.end(), name) != syscalls.end();
}

void add_to(std::optional<double>& sum, const stats::Numbers& number) {
  sum = sum && number ? std::optional(*sum + number->median) : std::nullopt;
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
    : data_(data), group_(group), summary_(summary) {}

CallSum WindowCalls::sum(Syscalls syscalls) const {
  CallSum out;
  double most = 0;
  for (const stats::SyscallSummary& one : summary_.syscalls) {
    const std::string_view name = syscall_of(one.name);
    if (!is_among(syscalls, name)) continue;
    const double calls = one.count() ? one.count()->median : 0;
    out.calls += calls;
    add_to(out.errors, one.errors);
    add_to(out.kernel_ns, one.kernel_ns);
    for (const auto& [errno_name, spread] : one.errnos.value_or(stats::ErrnoNumbers())) {
      out.errnos[errno_name] += spread.median;
    }
    if (calls > most) {
      most = calls;
      out.most = name;
    }
    add_to(out.bytes, one.bytes);
    add_to(out.bytes_released, one.bytes_released);
  }
  return out;
}

std::string WindowCalls::site_of(Syscalls syscalls) const {
  if (!data_.keeps_sites) return {};
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
  return summary_.bytes_read || summary_.bytes_mapped ||
         std::any_of(summary_.syscalls.begin(), summary_.syscalls.end(),
                     [](const stats::SyscallSummary& one) { return one.bytes || one.bytes_released; });
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
