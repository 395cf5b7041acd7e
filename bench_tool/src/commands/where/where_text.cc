// SPDX-License-Identifier: MIT
//
// Sites for people: a table of work, one of waits.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "commands/shared/site_text.h"
#include "commands/shared/summary_tables.h"
#include "commands/where/where.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

using render::Align;
using render::Cells;
using stats::SiteTotal;
using Sum = std::optional<std::uint64_t>;

/// Lines of a table of work and one of waits beside their sites.
constexpr std::size_t kLinesAround = 10;

/// A line of a table.
struct SiteRow {
  SiteTotal total;
  std::string where;  ///< The site; for a sum over sites, its name.
  bool is_site = true;
};

std::optional<double> as_number(const Sum& sum) {
  return sum ? std::optional(static_cast<double>(*sum)) : std::nullopt;
}

std::string sum_cell(const Sum& sum) {
  return sum ? std::to_string(*sum) : render::kNotMeasured;
}

/// Blank for none, as in summary.
std::string errors_or_blank(const Sum& sum) {
  return sum == std::uint64_t{0} ? "" : sum_cell(sum);
}

void add_part(Sum& sum, const Sum& more) {
  sum = sum && more ? Sum(*sum + *more) : std::nullopt;
}

SiteRow sum_of(const std::vector<SiteTotal>& sites, std::size_t first, std::string where) {
  SiteRow row{{}, std::move(where), false};
  for (std::size_t i = first; i < sites.size(); ++i) {
    add_part(row.total.calls, sites[i].calls);
    add_part(row.total.errors, sites[i].errors);
    add_part(row.total.kernel_ns, sites[i].kernel_ns);
  }
  return row;
}

struct TableStyle {
  bool waits = false;
  bool has_tests = false;
  bool has_errors = false;
  bool markdown = false;
};

render::Table site_table(const std::vector<SiteRow>& rows, const Sum& whole_ns, const TableStyle& style,
                         std::size_t where_width) {
  const auto where = [&](const SiteRow& row) {
    if (!row.is_site) return row.where;
    if (!style.markdown) return fitted_site(row.total.site, where_width);
    return render::code_span(model::text_of(row.total.site));
  };
  render::ColumnTable<SiteRow> table({
      {{style.waits ? "% of waits" : "% of work", Align::right},
       [&](const SiteRow& row) { return share(as_number(row.total.kernel_ns), as_number(whole_ns)); }},
      {{style.waits ? "blocked" : "kernel", Align::right},
       [](const SiteRow& row) { return duration(as_number(row.total.kernel_ns)); }},
      {{"calls", Align::right}, [](const SiteRow& row) { return sum_cell(row.total.calls); }},
      {.head = {"errors", Align::right},
       .cell = [](const SiteRow& row) { return errors_or_blank(row.total.errors); },
       .is_shown = style.has_errors},
      {.head = {"tests", Align::right},
       .cell = [](const SiteRow& row) { return row.is_site ? std::to_string(row.total.tests) : ""; },
       .is_shown = style.has_tests},
      {{style.waits ? "wait" : "syscall"}, [](const SiteRow& row) { return row.total.syscall; }},
      {{"where", Align::left, Cells::markdown}, where},
  });
  for (const SiteRow& row : rows) table.add(row);
  return table.table();
}

/// The table of work or of waits; "" if there is none of it.
std::string sites_text(const std::vector<SiteTotal>& all, bool waits, bool has_tests, std::size_t most,
                       std::size_t width, bool markdown) {
  std::vector<SiteTotal> sites;
  std::copy_if(all.begin(), all.end(), std::back_inserter(sites),
               [&](const SiteTotal& one) { return one.is_wait == waits; });
  if (sites.empty()) return {};
  const SiteRow whole = sum_of(sites, 0, "all lines");
  std::vector<SiteRow> rows;
  const bool cuts = most != 0 && sites.size() > most + 1;
  const std::size_t shown = cuts ? most : sites.size();
  for (std::size_t i = 0; i < shown; ++i) rows.push_back({sites[i], "", true});
  if (cuts) rows.push_back(sum_of(sites, shown, fmt::format("{} more lines: --top 0", sites.size() - shown)));
  if (sites.size() > 1) rows.push_back(whole);
  TableStyle style{waits, has_tests, false, markdown};
  style.has_errors = std::any_of(sites.begin(), sites.end(), [](const SiteTotal& one) { return one.errors != 0U; });
  if (markdown) return site_table(rows, whole.total.kernel_ns, style, 0).markdown() + '\n';
  const render::Table table = site_table(rows, whole.total.kernel_ns, style, 0);
  if (width == 0 || table.width(2, 2) <= width) return table.text();
  // The last column gets what the others leave.
  std::vector<SiteRow> others = rows;
  for (SiteRow& row : others) {
    row.is_site = false;
    row.where.clear();
  }
  constexpr std::size_t kTitle = 5;  // `where`
  const std::size_t beside = site_table(others, whole.total.kernel_ns, style, 0).width(2, 2) - kTitle;
  return site_table(rows, whole.total.kernel_ns, style, std::max(width - std::min(width, beside), kTitle)).text();
}

std::string tables_of(const std::vector<SiteTotal>& sites, bool has_tests, const cli::Options& options) {
  const std::size_t most = most_sites(options, kLinesAround);
  const bool markdown = options.format == cli::Format::md;
  std::string out = sites_text(sites, false, has_tests, most, options.screen.width, markdown);
  return out + sites_text(sites, true, has_tests, most, options.screen.width, markdown);
}

std::string line(const std::string& text, const cli::Options& options) {
  if (options.format == cli::Format::md) return render::escaped_markdown(text) + "\n\n";
  return render::wrapped(text, options.screen.width, 2) + '\n';
}

}  // namespace

std::string show_where_text(const std::vector<SitedTest>& tests, const cli::Options& options,
                            const render::Paint& paint) {
  std::string out;
  for (const SitedTest& test : tests) {
    const stats::WindowSummary& window = test.window;
    if (test.sites.empty() && tests.size() > 1) continue;
    if (!out.empty() && options.format != cli::Format::md) out += '\n';
    std::string head;
    if (!window.loop.empty()) {
      head = fmt::format("  n={} of {}, sums", window.n, render::calls(window.iterations));
    } else if (window.n > 1) {
      head = fmt::format("  n={}, sums", window.n);
    }
    if (!window.counted_everything()) head += "  filter " + stats::filter_text(window);
    if (options.format == cli::Format::md) {
      out += render::code_span(window.name) + render::escaped_markdown(head) + "\n\n";
    } else {
      out += paint.bold(window.name) + head + '\n';
    }
    out += test.sites.empty() ? line(stats::no_calls_text(window), options) : tables_of(test.sites, false, options);
  }
  return out;
}

std::string summary_where_text(const SitedRun& run, const cli::Options& options, const render::Paint& paint) {
  const bool markdown = options.format == cli::Format::md;
  const std::size_t width = options.screen.width;
  std::string out = markdown ? line(run.source, options)
                             : paint.dim(width == 0 ? run.source : render::shortened_end(run.source, width)) + '\n';
  out += line(fmt::format("{} test{}, sums over all repetitions", run.tests, run.tests == 1 ? "" : "s"), options);
  return out + (markdown ? "" : "\n") + tables_of(run.sites, true, options);
}

}  // namespace syscost::bench::commands
