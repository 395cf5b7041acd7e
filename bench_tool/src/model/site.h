// SPDX-License-Identifier: MIT
//
// Site: the line of the program that makes a call, and rows with sites or other details, added up to one row.
//
// A run with --syscost_where writes a `syscall` row for each syscall and site; the column `detail` names the site.
// Lines move with every edit, so no verdict depends on a site: the loader adds the sites of a syscall up, and commands
// read them only to say which line made a call.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/dataset.h"

namespace syscost::bench::model {

/// One of these, in the order of how much is known:
///
///     at src/log.cc:17 Log::batch+3      file, line and function; the function begins 3 lines before
///     at src/log.cc:17 Log::batch        its first line is unknown
///     at liblog.so Log::batch            a module and a function
///     at liblog.so+0x1234                a module and an address in it
///     at unknown: no unwind information  nothing, and why
struct Site {
  std::string file;  ///< Relative to the source tree, or absolute. Empty: no line is known.
  std::uint64_t line = 0;
  std::string function;                           ///< Without parameters.
  std::optional<std::uint64_t> line_in_function;  ///< Lines after the function's first.
  std::string module;                             ///< Only if there is no file.
  std::optional<std::uint64_t> offset;            ///< Only if there is no function.
  std::string unknown;                            ///< Why nothing is known; empty where something is.

  bool has_line() const { return !file.empty(); }
  bool is_unknown() const { return file.empty() && module.empty(); }
};

/// True if the cell `detail` of a `syscall` row names a site.
bool is_site(std::string_view detail);

/// Reads a cell for which is_site() is true. An empty cell is a call without a stack: its site is unknown.
Site parse_site(std::string_view detail);

/// `src/log.cc:17`, `liblog.so`, `liblog.so+0x1234`, `unknown`.
std::string place_of(const Site& site);

/// `src/log.cc:17 Log::batch`, `liblog.so+0x1234`, `unknown: no unwind information`.
std::string text_of(const Site& site);

/// True when some `syscall` row says which calls of its syscall it holds. Sites are no such details: the loader folds
/// them.
bool has_details(const Dataset& data);

/// Adds the details of each syscall of a sample up into one row. Percentiles stay right: histograms add up too.
///
/// If a run with --syscost_detail were compared with one without as they are, the plain run's row would be gone and
/// each detail new. Rows of one window are disjoint, so their sum is the row that a plain run has.
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

/// Adds the sites of each syscall of a sample up into one row; other details stay. An edit moves lines, and moved lines
/// must change no verdict. Sets Dataset::has_sites. If `keeps`, the rows as they were become Dataset::site_rows.
void fold_sites(Dataset& data, bool keeps);

}  // namespace syscost::bench::model
