// SPDX-License-Identifier: MIT
//
// FaultsOptions: the options of `faults` alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace syscost::bench::cli {

struct FaultsOptions {
  std::string calls;                ///< A selector; empty = the list of syscost/call_errors.h.
  std::vector<std::string> errors;  ///< `ENOSPC`, `SHORT`; empty = the table's.
  bool is_lasting = false;          ///< Each later call of the syscall fails as well.
  bool has_every_call = false;      ///< Not only the first of each call site.
  std::size_t sample = 0;           ///< 0 = all.
  std::uint64_t seed = 1;
  std::size_t jobs = 1;
  unsigned timeout_s = 10;
  std::string framework;        ///< `googletest`, `catch2`, `doctest`; empty = found.
  std::string folder = "auto";  ///< --cwd
  bool has_own_tmp = false;     ///< --private-tmp
  bool has_no_lines = false;
  std::string state;                 ///< File; empty = none.
  std::vector<std::string> fail_on;  ///< Words of outcomes, or `any`.
  bool lists_errors = false;         ///< --errors: print the table instead.
};

}  // namespace syscost::bench::cli
