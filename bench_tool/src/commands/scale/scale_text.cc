// SPDX-License-Identifier: MIT
//
// scale for people: for each family a table of laws, and one of fixed costs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "commands/scale/scale.h"
#include "commands/shared/run_notes.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

using render::Align;
using render::Cells;
using scale::Family;
using scale::LawRow;

constexpr std::size_t kFewSizes = 8;
/// Times that are off by more, on average, do not follow the curve.
constexpr double kLargeError = 0.5;

/// `n = 8, 64, 512`; `12 sizes, n = 8..1048576`.
std::string sizes_text(const Family& family) {
  if (family.sizes.empty()) return "no sizes";
  if (family.has_two)
    return fmt::format("{} sizes of {} and {}", family.sizes.size(), family.names[0], family.names[1]);
  if (family.sizes.size() > kFewSizes) {
    return fmt::format("{} sizes, {} = {}..{}", family.sizes.size(), family.names[0], family.sizes.front()[0],
                       family.sizes.back()[0]);
  }
  std::vector<std::int64_t> sizes;
  for (const scale::Size& size : family.sizes) sizes.push_back(size[0]);
  return fmt::format("{} = {}", family.names[0], fmt::join(sizes, ", "));
}

std::string sizes_of_family(const Family& family) {
  std::string text = sizes_text(family);
  if (family.is_per_iteration) text += ", per iteration";
  if (!family.refusal.empty()) text += ": n/a, " + family.refusal;
  return text;
}

/// `O(n log n)` with the name of the size.
std::string complexity_text(scale::Complexity complexity, const std::string& name) {
  std::string text(scale::to_string(complexity));
  for (std::size_t at = text.find('n'); at != std::string::npos; at = text.find('n', at + name.size())) {
    text.replace(at, 1, name);
  }
  return text;
}

/// The curve of a complexity: `n log n`.
std::string curve_text(scale::Complexity complexity, const std::string& name) {
  const std::string text = complexity_text(complexity, name);
  return text.substr(2, text.size() - 3);
}

}  // namespace

std::string complexity_cell(const Family& family, const scale::TimeRow& row) {
  if (!row.fit) return "n/a: " + row.reason;
  if (row.fit->error > kLargeError) {
    return fmt::format("n/a: the best complexity, {}, has an error of {:.0f} % (RMS)",
                       complexity_text(row.fit->complexity, family.names[0]), 100 * row.fit->error);
  }
  if (!row.fit->is_stable()) {
    return fmt::format("n/a: {} with all sizes, {} without the largest",
                       complexity_text(row.fit->complexity, family.names[0]),
                       complexity_text(row.fit->without_largest, family.names[0]));
  }
  std::string text = complexity_text(row.fit->complexity, family.names[0]) + ": ";
  text += render::duration(row.fit->coefficient_ns);
  if (row.fit->complexity != scale::Complexity::constant) {
    text += " * " + curve_text(row.fit->complexity, family.names[0]);
  }
  return text + fmt::format(", error {:.0f} % (RMS)", 100 * row.fit->error);
}

namespace {

render::Table law_table(const Family& family) {
  render::Table table({{"syscall", Align::left, Cells::names}, {"law", Align::left, Cells::names}});
  for (const LawRow& row : family.rows) table.add_row({row.title(), law_cell(family, row)});
  for (const scale::TimeRow& row : family.times) {
    if (row.points.empty()) continue;
    table.add_row({std::string(row.title), complexity_cell(family, row)});
  }
  return table;
}

/// Sizes that no test ran are marked.
std::string from_cell(const Family& family, double n) {
  const auto largest = static_cast<double>(family.sizes.back()[0]);
  if (n > 1e15) return "never";
  return fmt::format("{}{}", render::count(n), n > largest ? "*" : "");
}

render::Table amortised_table(const Family& family, const std::vector<Amortised>& all) {
  render::Table table({{"", Align::left, Cells::names},
                       {"fixed", Align::right},
                       {"grows by", Align::right},
                       {"10 % from", Align::right},
                       {"1 % from", Align::right}});
  for (const Amortised& one : all) {
    const std::string curve = curve_text(one.curve, family.names[0]);
    std::string fixed = one.is_time ? render::duration(one.fixed) : render::count(one.fixed);
    if (one.is_time) {
      const double half = 100 * (one.fixed_high - one.fixed_low) / 2 / one.fixed;
      fixed += fmt::format(" +-{:.0f} %", half);
    }
    const std::string growing =
        (one.is_time ? render::duration(one.growing) : fmt::format("{:.6g}", one.growing)) + " * " + curve;
    table.add_row(
        {one.title, fixed, growing, from_cell(family, one.tenth_from), from_cell(family, one.hundredth_from)});
  }
  return table;
}

/// Notes under the tables, a line each.
std::string remarks_below(const Family& family, const std::vector<Amortised>& amortised) {
  std::string text;
  for (const LawRow& row : family.rows) {
    if (!row.has_law() || row.solved.also.empty()) continue;
    text += fmt::format("{}: {} reproduces these counts, too\n", row.title(),
                        scale::text_of(row.solved.also.front(), family.names, family.are_powers));
  }
  for (const std::string& one : family.left_out) text += "left out: " + one + '\n';
  const auto is_beyond = [&](const Amortised& one) {
    return one.hundredth_from > static_cast<double>(family.sizes.back()[0]);
  };
  if (std::any_of(amortised.begin(), amortised.end(), is_beyond)) text += "*: beyond the sizes that ran\n";
  return text;
}

bool is_numbered(const Family& family) {
  return family.refusal.starts_with("numbered");
}

/// Which families are numbered, and how tests get sizes into their names; "" if none needs it.
std::string hint(const ScaledRun& run) {
  constexpr std::size_t kFewNames = 3;
  std::vector<std::string> names;
  for (const Family& family : run.families) {
    if (is_numbered(family)) names.push_back(family.name);
  }
  if (names.empty()) return {};
  const std::size_t more = names.size() - std::min(names.size(), kFewNames);
  names.resize(names.size() - more);
  return fmt::format(
      "n/a, numbered 0, 1, 2, ... without sizes: {}{}; to get sizes, give INSTANTIATE_TEST_SUITE_P a function that "
      "names them\n",
      fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string indented(const std::string& lines) {
  std::string out;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size() - 1) + 1;
    out += (end - begin > 1 ? "  " : "") + lines.substr(begin, end - begin);
    begin = end;
  }
  return out;
}

}  // namespace

std::string scale_text(const ScaledRun& run, const cli::Options& options, const render::Paint& paint) {
  const std::size_t width = options.screen.width;
  std::string out = render::wrapped(run_line(run.data) + '\n', width, 2);
  for (const Family& family : run.families) {
    if (is_numbered(family)) continue;
    const std::string title = render::wrapped(family.name + ": " + sizes_of_family(family) + '\n', width, 2);
    out += family.refusal.empty() ? '\n' + paint.bold(title.substr(0, title.size() - 1)) + '\n' : '\n' + title;
    std::string body;
    if (const render::Table laws = law_table(family); !laws.empty()) body += laws.text();
    const std::vector<Amortised> amortised = amortised_of(family);
    if (!amortised.empty()) body += '\n' + amortised_table(family, amortised).text();
    if (const std::string below = remarks_below(family, amortised); !below.empty()) {
      body += (amortised.empty() ? "" : "\n") + below;
    }
    out += render::wrapped(indented(body), width, 4);
  }
  if (const std::string below = hint(run); !below.empty()) out += '\n' + render::wrapped(below, width, 2);
  return out;
}

std::string scale_markdown(const ScaledRun& run) {
  std::string out = render::escaped_lines(run_line(run.data) + '\n');
  for (const Family& family : run.families) {
    if (is_numbered(family)) continue;
    out += "\n### " + render::code_span(family.name) + "\n\n" + render::escaped_lines(sizes_of_family(family) + '\n');
    if (const render::Table laws = law_table(family); !laws.empty()) out += '\n' + laws.markdown();
    const std::vector<Amortised> amortised = amortised_of(family);
    if (!amortised.empty()) out += '\n' + amortised_table(family, amortised).markdown();
    const std::string below = remarks_below(family, amortised);
    if (!below.empty()) out += '\n';
    for (std::size_t begin = 0; begin < below.size();) {
      const std::size_t end = below.find('\n', begin) + 1;
      out += "- " + render::escaped_lines(below.substr(begin, end - begin));
      begin = end;
    }
  }
  if (const std::string below = hint(run); !below.empty()) out += '\n' + render::escaped_lines(below);
  return out;
}

}  // namespace syscost::bench::commands
