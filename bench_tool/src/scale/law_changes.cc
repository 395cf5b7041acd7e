// SPDX-License-Identifier: MIT
#include "scale/law_changes.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace syscost::bench::scale {
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
