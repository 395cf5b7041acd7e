// SPDX-License-Identifier: MIT
//
// Site: the line of the program that makes a call.
//
// A run with --syscost_where writes a `syscall` row for each syscall and site; the column `detail` names the site.
// Lines move with every edit, so no verdict depends on a site: the loader adds the sites of a syscall up
// (fold_details.h), and commands read them only to say which line made a call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace syscost::bench::model
