// SPDX-License-Identifier: MIT
#include "stats/site_totals.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/lists.h"

namespace syscost::bench::stats {
namespace {

using model::Measured;
using model::SyscallRow;

void add_measured(std::optional<std::uint64_t>& sum, const Measured& number) {
  std::uint64_t total = 0;
  const bool fits = sum && number.has_value() && !__builtin_add_overflow(*sum, *number, &total);
  sum = fits ? std::optional(total) : std::nullopt;
}

}  // namespace

void SiteTotals::add(const model::Group& group, const model::SyscallChoice& choice) {
  std::vector<SyscallRow> rows;
  const model::RowStore& store = data_.rows_by_site();
  for (const std::uint32_t sample : group.samples) {
    rows.clear();
    store.of(sample, rows);
    for (const SyscallRow& row : rows) {
      const std::string& detail = data_.text(row.detail);
      const bool has_site = model::is_site(detail);
      const std::string& name = data_.text(row.syscall);
      const std::string& classes = data_.text(row.classes);
      if (!choice.matches(name, has_site ? std::string() : detail, classes)) continue;
      const auto [found, is_new] = entries_.try_emplace({row.syscall, row.detail});
      SiteTotal& total = found->second.total;
      if (is_new) {
        total.syscall = has_site || detail.empty() ? name : name + " " + detail;
        total.classes = classes;
        total.is_wait = model::has_class(classes, "wait");
        total.site = model::parse_site(detail);
      }
      if (found->second.tests.emplace(group.program, group.test).second) ++total.tests;
      add_measured(total.calls, row.calls.has_value() ? row.calls : row.entries);
      add_measured(total.errors, row.errors);
      add_measured(total.kernel_ns, row.latency_sum_ns);
      if (!total.errors) total.errnos.clear();  // the others alone are no sum
      if (!total.errors) continue;
      if (row.errnos == model::kNoName) continue;
      if (const auto errnos = model::parse_errnos(data_.text(row.errnos))) {
        for (const auto& [errno_name, count] : *errnos) total.errnos[std::string(errno_name)] += count;
      }
    }
  }
}

std::vector<SiteTotal> SiteTotals::all() const {
  std::vector<SiteTotal> all;
  all.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) all.push_back(entry.total);
  return all;
}

void sort_sites(std::vector<SiteTotal>& sites, std::string_view key) {
  using Number = std::optional<std::uint64_t>;
  const auto place = [](const SiteTotal& one) {
    return std::tuple(std::string_view(one.site.file), one.site.line, std::string_view(one.site.module),
                      one.site.offset, std::string_view(one.site.function), std::string_view(one.syscall));
  };
  const auto number = [&](const SiteTotal& one) {
    const auto& first = key == "calls" ? one.calls : key == "errors" ? one.errors : one.kernel_ns;
    return std::tuple<Number, Number>(first, one.calls);
  };
  std::stable_sort(sites.begin(), sites.end(), [&](const SiteTotal& a, const SiteTotal& b) {
    if (key != "name" && number(a) != number(b)) return number(a) > number(b);
    return place(a) < place(b);
  });
}

}  // namespace syscost::bench::stats
