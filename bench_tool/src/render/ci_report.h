// SPDX-License-Identifier: MIT
//
// A verdict in the formats that CI systems read: JUnit (test reports), SARIF (code scanning) and GitHub's workflow
// commands (lines of a log that become annotations).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/test_locations.h"

namespace syscost::bench::render {

/// A rule that a case can break.
struct CiRule {
  std::string_view id;  ///< SARIF's is syscost/ID.
  const char* text;
};

struct CiFailure {
  std::string_view rule;
  std::string text;
  std::optional<model::Location> location;  ///< The line that causes it, if it is known: nearer than that of the test.
};

/// A test, or a limit.
struct CiCase {
  std::string name;
  std::string suite;  ///< JUnit's class.
  std::string test;
  std::optional<model::Location> location;
  std::vector<CiFailure> failures;
  std::string no_answer;      ///< Why it was not judged; "" if it was.
  std::string warning;        ///< A fault that does not fail the gate.
  std::string accepted = {};  ///< A change that would fail the gate but is intended, and why.
  std::string let_off = {};   ///< Why its verdict is not asked for.
  bool is_note = false;       ///< Its failures are notes, whatever the report's level is.
  // For a cause, in the place of the tests that have it.
  std::vector<CiCase> tests = {};
  std::string id = {};  ///< Names it in each run.
};

struct CiReport {
  std::string command;  ///< `bench compare`.
  std::span<const CiRule> rules;
  std::vector<CiCase> cases;
  std::vector<std::string> warnings;
  std::string totals;
  const char* level = "error";  ///< A failure's: `error` or `warning`.
};

/// A test case for each case. One that fails is a failure, one that was not judged is skipped.
std::string junit(const CiReport& report);
/// SARIF 2.1.0: a result for each failure. The tests of a cause are its related locations.
std::string sarif(const CiReport& report);
/// `::error file=...,line=...,title=...::...` for each case that fails, `::warning` for each that was not judged or has
/// a warning, and a `::notice` with the totals.
std::string github_commands(const CiReport& report);

}  // namespace syscost::bench::render
