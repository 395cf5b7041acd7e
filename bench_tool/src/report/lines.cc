// SPDX-License-Identifier: MIT
#include "report/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/site.h"
#include "render/flame_graph.h"
#include "render/units.h"
#include "report/html.h"

namespace syscost::bench::report {
namespace {

constexpr std::size_t kMostLines = 40;
/// Thinner boxes cannot be seen, and thousands of them make a large file.
constexpr std::size_t kMostStacks = 2000;

std::optional<double> number(const std::optional<std::uint64_t>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::string flame(const std::vector<stats::SiteTotal>& sites) {
  std::vector<render::FoldedStack> stacks;
  for (const stats::SiteTotal& one : sites) {
    if (one.calls.value_or(0) == 0) continue;
    const model::Site& site = one.site;
    render::FoldedStack stack{{}, *one.calls};
    stack.frames.push_back(site.has_line() ? site.file : site.is_unknown() ? model::text_of(site) : site.module);
    if (!site.function.empty()) stack.frames.push_back(site.function);
    stack.frames.push_back(site.has_line() ? fmt::format("{} line {}", one.syscall, site.line) : one.syscall);
    stacks.push_back(std::move(stack));
  }
  if (stacks.empty()) return {};
  const auto by_calls = [](const render::FoldedStack& a, const render::FoldedStack& b) { return a.calls > b.calls; };
  std::stable_sort(stacks.begin(), stacks.end(), by_calls);
  std::string below;
  if (stacks.size() > kMostStacks) {
    below = fmt::format("<p class=\"quiet\">The {} lines with the most calls of {}.</p>\n", kMostStacks, stacks.size());
    stacks.resize(kMostStacks);
  }
  return "<h3>Flame graph</h3>\n<div class=\"wide picture\">" +
         render::flame_svg("Calls by file, function and line", stacks) + "</div>\n" + below;
}

}  // namespace

std::string lines_table(const std::vector<stats::SiteTotal>& sites, std::size_t most) {
  if (sites.empty()) return {};
  std::string out =
      "<div class=\"wide\"><table>\n<thead><tr><th>Line</th><th>Syscall</th><th class=\"n\">Calls</th>"
      "<th class=\"n\">Failed</th><th class=\"n\">In the kernel</th></tr></thead>\n<tbody>\n";
  const std::size_t shown = std::min(most, sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const stats::SiteTotal& one = sites[i];
    std::string errnos;
    for (const auto& [name, calls] : one.errnos)
      errnos += fmt::format("{}{} {}", errnos.empty() ? "" : ", ", calls, name);
    if (errnos.empty() && one.errors != 0) errnos = count_text(number(one.errors));
    out += fmt::format("<tr><td class=\"name\">{}</td><td class=\"call\">{}</td>", text(model::text_of(one.site)),
                       text(one.syscall)) +
           number_cell(count_text(number(one.calls))) + number_cell(text(errnos)) +
           number_cell(time_text(number(one.kernel_ns))) + "</tr>\n";
  }
  if (shown < sites.size()) {
    out += fmt::format("<tr class=\"total\"><td colspan=\"5\">and {} more lines</td></tr>\n", sites.size() - shown);
  }
  return out + "</tbody></table></div>\n";
}

std::string lines_section(const std::vector<stats::SiteTotal>& sites) {
  if (sites.empty()) return {};
  return "<p class=\"quiet\">The lines of the program that make the calls, with sums over all tests and "
         "repetitions.</p>\n" +
         lines_table(sites, kMostLines) + flame(sites);
}

}  // namespace syscost::bench::report
