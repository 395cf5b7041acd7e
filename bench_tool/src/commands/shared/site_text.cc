// SPDX-License-Identifier: MIT
#include "commands/shared/site_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "judge/site_changes.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;
using judge::Delta;
using stats::SiteChange;

/// A shorter name of a function says too little.
constexpr std::size_t kShortestFunction = 12;

std::string signed_count(double more) {
  return fmt::format("{}{}", more < 0 ? '-' : '+', render::count(std::abs(more)));
}

std::string range(const stats::Spread& count) {
  return render::count(std::optional(count));
}

std::string amount_of(const SiteChange& change) {
  if (change.kind == SiteChange::Kind::in_new) return range(change.new_count);
  if (change.is_exact()) return signed_count(change.more());
  return range(change.old_count) + " -> " + range(change.new_count);
}

std::string remark_of(const SiteChange& change) {
  switch (change.kind) {
    case SiteChange::Kind::is_new:
      return "(new)";
    case SiteChange::Kind::gone:
      return "(gone)";
    case SiteChange::Kind::in_new:
      return "";
    case SiteChange::Kind::changed:
      break;
  }
  return change.is_exact() ? fmt::format("({} -> {})", range(change.old_count), range(change.new_count)) : "";
}

bool is_explained(const Delta& delta) {
  const bool has_changed = delta.change == judge::Change::grew || delta.change == judge::Change::shrank;
  return has_changed && (delta.is_gated() || delta.is_new_wait) && !delta.sites.empty();
}

/// `and 3 more lines`, with what they come to.
SiteLine rest_of(std::string count, const std::vector<SiteChange>& sites, std::size_t first) {
  const bool is_in_new = sites.front().kind == SiteChange::Kind::in_new;
  double sum = 0;
  bool is_exact = true;
  for (std::size_t i = first; i < sites.size(); ++i) {
    sum += is_in_new ? sites[i].new_count.median : sites[i].more();
    is_exact = is_exact && sites[i].is_exact();
  }
  const std::size_t hidden = sites.size() - first;
  const std::string amount = !is_exact ? "" : is_in_new ? render::count(sum) : sum == 0 ? "+0" : signed_count(sum);
  return {std::move(count), amount, std::nullopt, fmt::format("at {} more line{}", hidden, hidden == 1 ? "" : "s")};
}

/// The file relative to the working directory, if it lies there.
std::optional<std::string> path_in_checkout(const std::string& file) {
  std::error_code unknown;
  const fs::path here = fs::current_path(unknown);
  if (unknown) return std::nullopt;
  fs::path path = fs::path(file).lexically_normal();
  if (path.is_absolute()) path = path.lexically_relative(here);
  if (path.empty() || *path.begin() == "..") return std::nullopt;
  return fs::is_regular_file(path, unknown) ? std::optional(path.generic_string()) : std::nullopt;
}

}  // namespace

std::string fitted_site(const model::Site& site, std::size_t width) {
  std::string text = model::text_of(site);
  if (width == 0 || render::display_width(text) <= width) return text;
  if (!site.has_line()) return render::shortened_middle(text, width);
  model::Site shorter = site;
  shorter.file = site.file.substr(site.file.rfind('/') + 1);
  text = model::text_of(shorter);
  if (render::display_width(text) <= width || site.function.empty()) return text;
  const std::size_t place = render::display_width(model::place_of(shorter)) + 1;
  const std::size_t room = std::max(width - std::min(width, place), kShortestFunction);
  return model::place_of(shorter) + ' ' + render::shortened_middle(site.function, room);
}

std::string SiteLine::text(std::size_t width) const {
  const std::string tail = remark.empty() ? "" : (amount.empty() ? "" : " ") + remark;
  if (!site) return amount + tail;
  const std::string head = amount + " at ";
  const std::size_t beside = render::display_width(head) + render::display_width(tail);
  return head + fitted_site(*site, width == 0 ? 0 : std::max<std::size_t>(width - std::min(width, beside), 1)) + tail;
}

std::string SiteLine::markdown() const {
  const std::string tail = remark.empty() ? "" : " " + render::escaped_markdown(remark);
  if (!site) return amount + tail;
  return amount + " at " + render::code_span(model::text_of(*site)) + tail;
}

std::vector<SiteLine> site_lines(const judge::Comparison& row, std::size_t most) {
  std::vector<SiteLine> lines;
  for (const Delta& delta : row.deltas) {
    if (!is_explained(delta)) continue;
    std::string count = delta.syscall;
    if (!delta.errno_name.empty()) count += " " + delta.errno_name;
    if (delta.is_per_run) count += " (per run)";
    if (delta.sites.front().kind == SiteChange::Kind::in_new) count += " in NEW";
    const bool has_all = most == 0 || delta.sites.size() <= most + 1;
    const std::size_t shown = has_all ? delta.sites.size() : most;
    for (std::size_t i = 0; i < shown; ++i) {
      lines.push_back({count, amount_of(delta.sites[i]), delta.sites[i].site, remark_of(delta.sites[i])});
    }
    if (!has_all) lines.push_back(rest_of(count, delta.sites, shown));
    if (const double left = judge::unexplained(delta); left != 0) {
      lines.push_back({count, signed_count(left), std::nullopt, "at lines with counts that vary"});
    }
  }
  return lines;
}

std::string site_block(const std::vector<SiteLine>& lines, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  std::string out;
  const std::string* before = nullptr;
  for (const SiteLine& line : lines) {
    const std::string head = line.count + ": ";
    const bool is_same = before != nullptr && *before == line.count;
    before = &line.count;
    const std::size_t used = kIndent + render::display_width(head);
    out += std::string(kIndent, ' ') + (is_same ? std::string(used - kIndent, ' ') : head) +
           line.text(width == 0 ? 0 : std::max<std::size_t>(width - std::min(width, used), 1)) + '\n';
  }
  return out;
}

std::string site_list(const std::vector<std::string>& names, const std::vector<std::vector<SiteLine>>& lines) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (lines[i].empty()) continue;
    out += "- " + render::code_span(names[i]) + '\n';
    for (const SiteLine& line : lines[i]) {
      out += "  - " + render::escaped_markdown(line.count) + ": " + line.markdown() + '\n';
    }
  }
  return out.empty() ? out : out + '\n';
}

std::string site_sentence(const std::vector<SiteLine>& lines) {
  std::string out;
  const std::string* before = nullptr;
  for (const SiteLine& line : lines) {
    const bool is_same = before != nullptr && *before == line.count;
    out += out.empty() ? "" : is_same ? ", " : "; ";
    out += (is_same ? "" : line.count + ": ") + line.text();
    before = &line.count;
  }
  return out;
}

std::optional<model::Location> line_here(const model::Site& site) {
  if (!site.has_line()) return std::nullopt;
  if (auto path = path_in_checkout(site.file)) return model::Location{*std::move(path), site.line};
  return std::nullopt;
}

std::optional<model::Location> grown_line(const judge::Comparison& row) {
  std::vector<const SiteChange*> grown;
  for (const Delta& delta : row.deltas) {
    if (!is_explained(delta) || !delta.is_gated() || delta.change != judge::Change::grew) continue;
    for (const SiteChange& one : delta.sites) {
      // If the lines of OLD are unknown, this line has grown for certain only if it alone makes more calls than all
      // did.
      const bool has_grown =
          one.kind == SiteChange::Kind::in_new ? one.more() > delta.old_count.median : one.more() > 0;
      if (one.site.has_line() && has_grown) grown.push_back(&one);
    }
  }
  std::stable_sort(grown.begin(), grown.end(),
                   [](const SiteChange* a, const SiteChange* b) { return a->more() > b->more(); });
  for (const SiteChange* one : grown) {
    if (auto line = line_here(one->site)) return line;
  }
  return std::nullopt;
}

}  // namespace syscost::bench::commands
