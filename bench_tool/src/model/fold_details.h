// SPDX-License-Identifier: MIT
//
// Details away: rows that tell calls of one syscall apart, added up to one row.
//
// A run with --syscost_detail beside one without: held against each other as they are, the plain run's row would be
// gone and each detail new. A run with --syscost_where: an edit moves lines, and moved lines must change no verdict.
// Rows of one window are disjoint, so their sum is the row that a plain run has.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "model/dataset.h"

namespace syscost::bench::model {

/// True when some `syscall` row says which calls of its syscall it holds. Sites are no such details: the loader folds
/// them.
bool has_details(const Dataset& data);

/// Adds the details of each syscall of a sample up into one row. Percentiles stay right: histograms add up too.
void fold_details(Dataset& data);

/// Which syscalls have rows with details, and which have rows without details only.
struct DetailedSyscalls {
  std::set<std::string> detailed;
  std::set<std::string> plain;
};
/// With `run_id`: in its rows.
DetailedSyscalls detailed_syscalls(const Dataset& data, std::optional<NameId> run_id = {});

/// As fold_details(), for these syscalls only.
void fold_details(Dataset& data, const std::set<std::string>& syscalls);

/// Two runs may have been asked for different details: folds those syscalls that have details in one of them, and rows
/// without details in the other. Returns their names.
std::set<std::string> fold_uneven_details(Dataset& one, Dataset& other);

/// Adds the sites of each syscall of a sample up into one row; other details stay. Sets Dataset::has_sites. If `keeps`,
/// the rows as they were become Dataset::site_rows.
void fold_sites(Dataset& data, bool keeps);

}  // namespace syscost::bench::model
