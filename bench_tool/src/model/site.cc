// SPDX-License-Identifier: MIT
#include "model/site.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "model/row_parser.h"

namespace syscost::bench::model {
namespace {

constexpr std::string_view kAt = "at ";
constexpr std::string_view kUnknown = "unknown";

/// Reads all of `text`; nullopt if it is no number.
std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && rest == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// `Log::batch+3`. An operator may end with `+`, and never with digits.
void read_function(std::string_view text, Site& site) {
  const std::size_t plus = text.rfind('+');
  if (plus != std::string_view::npos && plus != 0) {
    site.line_in_function = number(text.substr(plus + 1), 10);
    if (site.line_in_function) text = text.substr(0, plus);
  }
  site.function = text;
}

/// `src/log.cc:17 Log::batch+3`: true if `text` is of this kind. A path may hold blanks and colons.
bool read_line(std::string_view text, Site& site) {
  for (std::size_t colon = 0; (colon = text.find(':', colon + 1)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find(' ', colon), text.size());
    const auto line = number(text.substr(colon + 1, end - colon - 1), 10);
    if (!line) continue;
    site.file = text.substr(0, colon);
    site.line = *line;
    if (end < text.size()) read_function(text.substr(end + 1), site);
    return true;
  }
  return false;
}

}  // namespace

bool is_site(std::string_view detail) {
  return detail.starts_with(kAt);
}

Site parse_site(std::string_view detail) {
  Site site;
  if (!is_site(detail)) {
    site.unknown = "no call stack";
    return site;
  }
  std::string_view text = detail.substr(kAt.size());
  if (text == kUnknown || text.starts_with("unknown: ")) {
    text.remove_prefix(kUnknown.size());
    site.unknown = text.empty() ? "no reason given" : text.substr(2);
    return site;
  }
  if (read_line(text, site)) return site;
  if (const std::size_t plus = text.rfind("+0x"); plus != std::string_view::npos && plus != 0) {
    site.offset = number(text.substr(plus + 3), 16);
    if (site.offset) {
      site.module = text.substr(0, plus);
      return site;
    }
  }
  const std::size_t blank = text.find(' ');
  site.module = text.substr(0, blank);
  if (blank != std::string_view::npos) site.function = text.substr(blank + 1);
  if (site.module.empty()) site.unknown = "an empty text";
  return site;
}

std::string place_of(const Site& site) {
  if (site.has_line()) return site.file + ':' + std::to_string(site.line);
  if (site.is_unknown()) return std::string(kUnknown);
  if (!site.offset) return site.module;
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, *site.offset, 16).ptr;
  return site.module + "+0x" + std::string(digits, end);
}

std::string text_of(const Site& site) {
  if (site.is_unknown()) return std::string(kUnknown) + ": " + site.unknown;
  return place_of(site) + (site.function.empty() ? "" : " " + site.function);
}

namespace {

using Rows = std::vector<const SyscallRow*>;

/// If a number is missing on one side, it is missing in the sum. A sum that is too large is as unknown.
Measured sum(const Rows& rows, Measured SyscallRow::*field) {
  std::uint64_t total = 0;
  for (const SyscallRow* row : rows) {
    const Measured& one = row->*field;
    if (!one.has_value() || __builtin_add_overflow(total, *one, &total) || total > Measured::kLargest) return {};
  }
  return Measured(total);
}

std::string sum_of_errnos(const Dataset& data, const Rows& rows, NameId SyscallRow::*field) {
  std::map<std::string, std::uint64_t, std::less<>> counts;
  for (const SyscallRow* row : rows) {
    const auto list = parse_errnos(data.text(row->*field));
    if (!list.has_value()) continue;
    for (const auto& [name, count] : *list) counts[std::string(name)] += count;
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : " ") + name + ":" + std::to_string(count);
  }
  return text;
}

SyscallRow folded_row(Dataset& data, const Rows& rows, NameId detail) {
  SyscallRow into = *rows.front();
  into.detail = detail;
  if (rows.size() == 1) return into;
  for (Measured SyscallRow::*field : kRowSums) into.*field = sum(rows, field);
  std::string histogram;
  for (const SyscallRow* row : rows) {
    // Empty if nothing was timed. An empty one changes neither the least nor the greatest value.
    if (const Measured& least = row->latency_min_ns; least.has_value()) {
      into.latency_min_ns = Measured(std::min(*least, into.latency_min_ns.value_or(*least)));
    }
    if (const Measured& most = row->latency_max_ns; most.has_value()) {
      into.latency_max_ns = Measured(std::max(*most, into.latency_max_ns.value_or(0)));
    }
    // A list may name a bucket twice.
    if (row->histogram != kNoName) histogram += (histogram.empty() ? "" : " ") + data.text(row->histogram);
  }
  into.histogram = data.names.intern(histogram);
  for (NameId SyscallRow::*list : {&SyscallRow::errnos, &SyscallRow::per_run_errnos}) {
    into.*list = data.names.intern(sum_of_errnos(data, rows, list));
  }
  return into;
}

/// Rows of one sample, with those of equal syscall and `detail_of` as one.
template <class DetailOf>
std::vector<SyscallRow> folded_rows(Dataset& data, const std::vector<SyscallRow>& rows, DetailOf detail_of) {
  std::map<std::pair<NameId, NameId>, std::size_t> first;
  std::vector<Rows> same;
  for (const SyscallRow& row : rows) {
    const auto [at, is_new] = first.try_emplace({row.syscall, detail_of(row)}, same.size());
    if (is_new) same.emplace_back();
    same[at->second].push_back(&row);
  }
  std::vector<SyscallRow> folded;
  folded.reserve(same.size());
  for (const Rows& one : same) folded.push_back(folded_row(data, one, detail_of(*one.front())));
  return folded;
}

}  // namespace

bool has_details(const Dataset& data) {
  std::vector<SyscallRow> rows;
  for (std::uint32_t sample = 0; sample < data.samples.size(); ++sample) {
    rows.clear();
    data.rows.of(sample, rows);
    if (std::any_of(rows.begin(), rows.end(), [](const SyscallRow& row) { return row.detail != kNoName; })) return true;
  }
  return false;
}

void fold_details(Dataset& data) {
  for (std::uint32_t sample = 0; sample < data.samples.size(); ++sample) {
    const std::vector<SyscallRow> rows = data.rows_of(sample);
    if (rows.empty()) continue;
    data.rows.replace(sample, folded_rows(data, rows, [](const SyscallRow&) { return kNoName; }));
  }
  data.index();
}

DetailedSyscalls detailed_syscalls(const Dataset& data, std::optional<NameId> run_id) {
  std::set<NameId> detailed;
  std::set<NameId> plain;
  std::vector<SyscallRow> rows;
  for (std::uint32_t sample = 0; sample < data.samples.size(); ++sample) {
    if (run_id && data.context(data.samples[sample]).run_id != *run_id) continue;
    rows.clear();
    data.rows.of(sample, rows);
    for (const SyscallRow& row : rows) (row.detail == kNoName ? plain : detailed).insert(row.syscall);
  }
  DetailedSyscalls names;
  for (const NameId id : detailed) names.detailed.insert(data.text(id));
  for (const NameId id : plain) {
    if (!detailed.contains(id)) names.plain.insert(data.text(id));
  }
  return names;
}

void fold_details(Dataset& data, const std::set<std::string>& syscalls) {
  for (std::uint32_t sample = 0; sample < data.samples.size(); ++sample) {
    const std::vector<SyscallRow> rows = data.rows_of(sample);
    if (rows.empty()) continue;
    data.rows.replace(sample, folded_rows(data, rows, [&](const SyscallRow& row) {
                        return syscalls.contains(data.text(row.syscall)) ? kNoName : row.detail;
                      }));
  }
  data.index();
}

std::set<std::string> fold_uneven_details(Dataset& one, Dataset& other) {
  const DetailedSyscalls of_one = detailed_syscalls(one);
  const DetailedSyscalls of_other = detailed_syscalls(other);
  const auto common = [](const std::set<std::string>& a, const std::set<std::string>& b) {
    std::set<std::string> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
    return both;
  };
  std::set<std::string> folded = common(of_one.detailed, of_other.plain);
  if (!folded.empty()) fold_details(one, folded);
  const std::set<std::string> in_other = common(of_other.detailed, of_one.plain);
  if (!in_other.empty()) fold_details(other, in_other);
  folded.insert(in_other.begin(), in_other.end());
  return folded;
}

void fold_sites(Dataset& data, bool keeps) {
  std::vector<bool> is_site_name(data.names.size());
  for (NameId id = 0; id < is_site_name.size(); ++id) is_site_name[id] = is_site(data.text(id));
  // Names that folding adds are lists.
  const auto has_site = [&](const SyscallRow& row) {
    return row.detail < is_site_name.size() && is_site_name[row.detail];
  };
  data.has_sites = false;
  RowStore folded;
  std::vector<SyscallRow> rows;
  for (std::uint32_t sample = 0; sample < data.samples.size(); ++sample) {
    rows.clear();
    data.rows.of(sample, rows);
    if (std::any_of(rows.begin(), rows.end(), has_site)) {
      data.has_sites = true;
      rows = folded_rows(data, rows, [&](const SyscallRow& row) { return has_site(row) ? kNoName : row.detail; });
    }
    for (const SyscallRow& row : rows) folded.append(row);
  }
  if (!data.has_sites) return;  // the runs with sites were left out
  if (keeps) data.site_rows = std::move(data.rows);
  data.keeps_sites = keeps;
  data.rows = std::move(folded);
  data.index();
}

}  // namespace syscost::bench::model
