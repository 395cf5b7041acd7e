// SPDX-License-Identifier: MIT
#include "scale/family_laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "scale/solve_law.h"
#include "stats/repetitions.h"

namespace syscost::bench::scale {
namespace {

using model::Measured;
using model::SyscallRow;

/// The columns that laws are looked for in. A line more is a column more. A call that moves no bytes has no row of
/// them.
constexpr std::array kColumns = {
    CountColumn{"calls", &SyscallRow::calls, &SyscallRow::per_run_calls, ""},
    CountColumn{"errors", &SyscallRow::errors, &SyscallRow::per_run_errors, "errors"},
    CountColumn{"bytes", &SyscallRow::bytes, &SyscallRow::per_run_bytes, "bytes"},
};
/// In the place of `calls`, if the backend sees only entries.
constexpr CountColumn kEntries = {"entries", &SyscallRow::entries, &SyscallRow::per_run_calls, "entries"};

/// A syscall, or the part of its calls that one detail has.
struct Key {
  model::NameId syscall = model::kNoName;
  model::NameId detail = model::kNoName;
  bool operator<(const Key& other) const { return std::tie(syscall, detail) < std::tie(other.syscall, other.detail); }
};

/// The counts of one repetition for a key.
struct Amount {
  std::optional<std::uint64_t> all = 0;      ///< nullopt: not measured.
  std::optional<std::uint64_t> per_run = 0;  ///< nullopt: not told apart.
};

/// One repetition at one size.
struct Repetition {
  std::size_t point = 0;
  std::int64_t iterations = 1;
  std::map<Key, Amount> amounts;
  bool is_counted = false;  ///< So that a missing row means 0.
};

void add(std::optional<std::uint64_t>& total, const Measured& number) {
  std::uint64_t all = 0;
  const bool fits = total && number.has_value() && !__builtin_add_overflow(*total, *number, &all);
  total = fits ? std::optional(all) : std::nullopt;
}

/// One column of all repetitions of a family.
class Table {
 public:
  Table(const model::Dataset& data, const std::vector<SizedGroup>& groups, const CountColumn& column)
      : data_(data), column_(column) {
    for (std::size_t point = 0; point < groups.size(); ++point) read(groups[point].group, point);
    for (Repetition& one : repetitions_) add_totals(one);
  }

  std::set<Key> keys() const {
    std::set<Key> keys;
    for (const Repetition& one : repetitions_) {
      for (const auto& [key, amount] : one.amounts) {
        // Calls of a syscall with details that have none themselves are in its total.
        if (key.detail != model::kNoName || amount.all.value_or(1) != 0) keys.insert(key);
      }
    }
    return keys;
  }

  /// True if each repetition that made the call tells its per-run part apart.
  bool tells_per_run(const Key& key) const {
    return column_.per_run_field != nullptr &&
           std::all_of(repetitions_.begin(), repetitions_.end(), [&](const auto& one) {
             const auto found = one.amounts.find(key);
             return found == one.amounts.end() || found->second.per_run.has_value();
           });
  }

  LawRow row_of(const Key& key, bool is_per_run, const Family& family) const;

 private:
  void read(const model::Group& group, std::size_t point);
  void add_totals(Repetition& one) const;

  const model::Dataset& data_;
  const CountColumn& column_;
  std::vector<Repetition> repetitions_;
  std::set<model::NameId> detailed_;  ///< Syscalls with details.
};

void Table::read(const model::Group& group, std::size_t point) {
  const stats::GroupRows rows(data_, group);
  const stats::RepetitionAggregator fold(data_, group, rows, true);
  for (std::size_t i = 0; i < group.samples.size(); ++i) {
    Repetition one;
    one.point = point;
    one.is_counted = fold.measures(i, &SyscallRow::calls) || fold.measures(i, &SyscallRow::entries);
    const model::Totals& totals = data_.samples[group.samples[i]].totals;
    if (fold.is_per_iteration()) {
      one.iterations = static_cast<std::int64_t>(totals.counted_iterations.value_or(totals.iterations.value_or(1)));
    }
    for (const SyscallRow& row : rows.of(i)) {
      Amount& amount = one.amounts[{row.syscall, row.detail}];
      add(amount.all, row.*column_.field);
      const bool tells = fold.is_per_iteration() && column_.per_run_field != nullptr;
      add(amount.per_run, tells ? row.*column_.per_run_field : Measured());
      if (row.detail != model::kNoName) detailed_.insert(row.syscall);
    }
    repetitions_.push_back(std::move(one));
  }
}

void Table::add_totals(Repetition& one) const {
  for (const model::NameId syscall : detailed_) {
    Amount total;
    bool has_any = false;
    for (const auto& [key, amount] : one.amounts) {
      if (key.syscall != syscall) continue;
      has_any = true;
      add(total.all, amount.all ? Measured(*amount.all) : Measured());
      add(total.per_run, amount.per_run ? Measured(*amount.per_run) : Measured());
    }
    if (has_any) one.amounts[{syscall, model::kNoName}] = total;
  }
}

LawRow Table::row_of(const Key& key, bool is_per_run, const Family& family) const {
  LawRow row;
  row.syscall = data_.text(key.syscall);
  row.detail = data_.text(key.detail);
  row.column = &column_;
  row.is_per_run = is_per_run;
  row.counts.sizes = family.sizes;
  row.counts.has_two = family.has_two;
  row.counts.values.resize(family.sizes.size());
  const bool leaves_out = !is_per_run && tells_per_run(key);
  std::vector<std::optional<std::pair<Rational, Rational>>> ranges(family.sizes.size());
  for (const Repetition& one : repetitions_) {
    const auto found = one.amounts.find(key);
    const Amount amount = found != one.amounts.end() ? found->second : Amount();
    const std::optional<std::uint64_t>& number = is_per_run ? amount.per_run : amount.all;
    if (!number || (found == one.amounts.end() && !one.is_counted)) {
      row.reason = "not measured at " + size_text(family, family.sizes[one.point]);
      return row;
    }
    const std::uint64_t less = leaves_out ? *amount.per_run : 0;
    const std::int64_t iterations = is_per_run ? 1 : std::max<std::int64_t>(one.iterations, 1);
    const auto value = rational(Wide{*number} - less, iterations);
    if (!value || value->num < 0 || value->num > kLargestCount) {
      row.reason = "too large at " + size_text(family, family.sizes[one.point]);
      return row;
    }
    if (family.is_per_iteration && !is_per_run) {
      row.counts.totals.push_back({one.point, static_cast<std::int64_t>(*number - less), iterations});
    }
    auto& range = ranges[one.point];
    if (!range) range = {*value, *value};
    if (value->value() < range->first.value()) range->first = *value;
    if (value->value() > range->second.value()) range->second = *value;
  }
  for (std::size_t point = 0; point < ranges.size(); ++point) {
    if (!ranges[point]) {
      row.reason = "not measured at " + size_text(family, family.sizes[point]);
      return row;
    }
    row.counts.values[point] = ranges[point]->second;
    if (ranges[point]->first == ranges[point]->second || row.counts.varies) continue;
    row.counts.varies = true;
    row.reason = fmt::format("counts vary: {}..{} at {}", text_of(ranges[point]->first), text_of(ranges[point]->second),
                             size_text(family, family.sizes[point]));
  }
  row.solved = solve(row.counts);
  if (row.solved.solution == Solution::law) row.reason.clear();
  return row;
}

double most(const LawRow& row) {
  double most = 0;
  for (const Rational& value : row.counts.values) most = std::max(most, value.value());
  return most;
}

}  // namespace

std::vector<LawRow> law_rows_of(const model::Dataset& data, const std::vector<SizedGroup>& groups,
                                const Family& family) {
  const auto has_calls = [&](const SizedGroup& one) {
    return std::all_of(one.group.samples.begin(), one.group.samples.end(), [&](std::uint32_t sample) {
      const model::Totals& totals = data.samples[sample].totals;
      return totals.calls.has_value() || !totals.entries.has_value();
    });
  };
  const bool counts_entries = !std::all_of(groups.begin(), groups.end(), has_calls);
  std::vector<LawRow> rows;
  for (const CountColumn& listed : kColumns) {
    const CountColumn& column = counts_entries && listed.field == &SyscallRow::calls ? kEntries : listed;
    const bool is_first = &listed == kColumns.data();
    const Table table(data, groups, column);
    for (const Key& key : table.keys()) {
      for (const bool is_per_run : {false, true}) {
        if (is_per_run && !table.tells_per_run(key)) continue;
        LawRow row = table.row_of(key, is_per_run, family);
        // Rows of zeros say nothing, except for calls that are all made once per run.
        if (most(row) > 0 || (is_first && !row.reason.empty())) rows.push_back(std::move(row));
      }
    }
  }
  // Most calls first. All rows of a syscall stay together.
  std::map<std::string, double> greatest;
  for (const LawRow& row : rows) {
    double& value = greatest[row.syscall];
    const bool is_of_calls = row.column == kColumns.data() || row.column == &kEntries;
    if (is_of_calls) value = std::max(value, most(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const LawRow& a, const LawRow& b) {
    return std::tuple(-greatest[a.syscall], std::string_view(a.syscall)) <
           std::tuple(-greatest[b.syscall], std::string_view(b.syscall));
  });
  return rows;
}

std::string LawRow::title() const {
  std::string text = detail.empty() ? syscall : syscall + " " + detail;
  if (!column->of.empty()) text += ", " + std::string(column->of);
  if (is_per_run) text += ", per run";
  return text;
}

namespace {

/// The family of the same name in OLD: of the same program, or of another one if each side has one of this name.
const Family* partner_of(const Family& family, const std::vector<Family>& old_families,
                         const std::vector<Family>& new_families) {
  const auto has_name = [&](const Family& other) { return other.key == family.key && other.has_two == family.has_two; };
  const bool is_only = std::count_if(old_families.begin(), old_families.end(), has_name) == 1 &&
                       std::count_if(new_families.begin(), new_families.end(), has_name) == 1;
  const auto found = std::find_if(old_families.begin(), old_families.end(), [&](const Family& other) {
    return has_name(other) && (is_only || other.program == family.program);
  });
  return found == old_families.end() ? nullptr : &*found;
}

const LawRow* find_row(const Family& family, const LawRow& wanted) {
  const auto found = std::find_if(family.rows.begin(), family.rows.end(), [&](const LawRow& row) {
    return row.syscall == wanted.syscall && row.detail == wanted.detail && row.is_per_run == wanted.is_per_run &&
           row.column->name == wanted.column->name;
  });
  return found == family.rows.end() ? nullptr : &*found;
}

/// True if `law` says the counts of both: then the sizes that ran differ, not the program.
bool explains(const LawRow& one, const LawRow& other) {
  const auto fits = [&](const Law& law) { return reproduces(law, other.counts); };
  return fits(one.solved.law) || std::any_of(one.solved.also.begin(), one.solved.also.end(), fits);
}

/// A row of zeros, for a syscall that a side does not make.
LawRow without_calls(const Family& family, const LawRow& like) {
  LawRow row;
  row.syscall = like.syscall;
  row.detail = like.detail;
  row.column = like.column;
  row.is_per_run = like.is_per_run;
  row.counts.sizes = family.sizes;
  row.counts.values.resize(family.sizes.size());
  row.counts.has_two = family.has_two;
  row.solved = solve(row.counts);
  return row;
}

std::optional<LawChange> change_of(const Family& old_family, const LawRow& old_row, const Family& new_family,
                                   const LawRow& new_row) {
  if (!old_row.has_law() || !new_row.has_law() || explains(old_row, new_row) || explains(new_row, old_row)) {
    return std::nullopt;
  }
  LawChange change{new_family.name,
                   new_row.title(),
                   text_of(old_row.solved.law, old_family.names, old_family.are_powers),
                   text_of(new_row.solved.law, new_family.names, new_family.are_powers),
                   rate_words(old_row.solved.law, old_family.names),
                   rate_words(new_row.solved.law, new_family.names)};
  if (change.old_rate.empty() || change.new_rate.empty()) change.old_rate = change.new_rate = "";
  return change;
}

/// Counts of other columns may be missing because they were not measured, so that only calls become 0.
bool is_of_calls(const LawRow& row) {
  return row.column->field == &model::SyscallRow::calls && !row.is_per_run;
}

}  // namespace

std::vector<LawChange> law_changes(const std::vector<Family>& old_families, const std::vector<Family>& new_families) {
  std::vector<LawChange> changes;
  for (const Family& new_family : new_families) {
    const Family* const old_family = partner_of(new_family, old_families, new_families);
    if (old_family == nullptr || old_family->rows.empty() || new_family.rows.empty()) continue;
    const auto add = [&](const LawRow& old_row, const LawRow& new_row) {
      if (auto change = change_of(*old_family, old_row, new_family, new_row)) changes.push_back(std::move(*change));
    };
    for (const LawRow& row : new_family.rows) {
      const LawRow* const old_row = find_row(*old_family, row);
      if (old_row != nullptr) add(*old_row, row);
      if (old_row == nullptr && is_of_calls(row) && row.detail.empty()) add(without_calls(*old_family, row), row);
    }
    for (const LawRow& row : old_family->rows) {
      const bool is_gone = find_row(new_family, row) == nullptr && is_of_calls(row) && row.detail.empty();
      if (is_gone) add(row, without_calls(new_family, row));
    }
  }
  return changes;
}

std::string text_of(const LawChange& change) {
  const bool has_rates = !change.old_rate.empty();
  return change.title + ": " + (has_rates ? change.old_rate : change.old_law) + " -> " +
         (has_rates ? change.new_rate : change.new_law);
}

}  // namespace syscost::bench::scale
