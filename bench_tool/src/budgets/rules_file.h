// SPDX-License-Identifier: MIT
//
// RulesFile: what a project's file says about the counts of its tests: limits, counts that may vary, and changes that
// are intended.
//
// It is a TOML file. The library that reads it calls itself for each part of a key and for each bracket, so a file of a
// stranger could use up the stack. So the bounds of the text are checked first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "budgets/budget.h"
#include "csv/problems.h"
#include "judge/accept.h"
#include "model/choice.h"

namespace syscost::bench::budgets {

/// The bounds of a TOML file. A file of ours has keys of one part and lists in tables.
inline constexpr std::size_t kMostTomlBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostKeyParts = 64;
inline constexpr std::size_t kMostNested = 16;

struct TomlExcess {
  std::size_t line = 0;  ///< From 1.
  const char* what = "";
};

/// The first place at which `text` exceeds a bound. Dots and brackets in texts and comments do not count.
std::optional<TomlExcess> find_excess(std::string_view text);

/// An entry of `volatile` or `tolerate`.
struct CountRule {
  std::size_t line = 0;
  std::string text;                          ///< As --volatile or --tolerate takes it.
  std::optional<model::TestPatterns> tests;  ///< None: of every test.
};

struct RulesFile {
  std::vector<Budget> budgets;
  std::vector<CountRule> volatiles;
  std::vector<CountRule> tolerances;
  std::vector<judge::Accept> accepts;
  bool gates_waits = false;
};

/// Reads `text` of the file `name`; every fault is noted in `problems`.
RulesFile parse_rules(const std::string& name, std::string_view text, csv::Problems& problems);

/// Reads the file.
RulesFile read_rules(const std::string& path, csv::Problems& problems);

}  // namespace syscost::bench::budgets
