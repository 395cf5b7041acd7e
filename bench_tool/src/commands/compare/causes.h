// SPDX-License-Identifier: MIT
//
// Causes: what changed once and shows in many tests. A line of the program that makes more calls is a cause; where no
// line is known, the tests with the same change have one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "commands/shared/site_text.h"
#include "judge/verdict.h"
#include "render/ci_report.h"

namespace syscost::bench::commands {

struct Cause {
  std::string id;                               ///< The same while the change is the same: no line, no sum.
  std::string what;                             ///< `+2663 write`; `+1 openat, +1 read`; `missing`.
  std::optional<model::Site> site;              ///< The line that makes the calls.
  std::vector<const judge::Comparison*> tests;  ///< In the order of the rows.

  /// `src/log.cc:45 Log::write_all: +2663 write in 8 tests`, without their names.
  std::string headline(std::size_t width = 0) const;
  /// `src/log.cc:45 Log::write_all: +2663 write in 8 tests`; `+1 openat in 2 tests: Log.A, Log.B`.
  std::string text(std::size_t width = 0) const;
};

/// Chooses the changes that a cause may be made of.
using ChangeChoice = std::function<bool(const judge::Delta&)>;
/// Growth, and other syncs: what can make a test red.
bool is_costly(const judge::Delta& delta);
/// True if a line of the program makes such a change of the counts.
bool has_line(const judge::Comparison& row, const ChangeChoice& is_meant);

/// The causes of rows that fail, the one with most tests first. With another choice, those of other changes.
std::vector<Cause> causes_of(const std::vector<const judge::Comparison*>& failing, const cli::Gate& gate,
                             const ChangeChoice& is_meant = is_costly);

/// `causes: 2`, and a line for each cause. "" if there are as many causes as failing tests: then the rows of the tests
/// say the same.
std::string causes_text(const std::vector<Cause>& causes, std::size_t width);
/// The same as a list of Markdown.
std::string causes_markdown(const std::vector<Cause>& causes);
/// If more rows fail, people see so many of them: the causes stand for all.
inline constexpr std::size_t kMostRowsWithCauses = 20;

/// The text of `report`, in a format for CI, causes first. GitHub shows ten annotations of a step, and code
/// scanning a few thousand results: there one case stands for all tests of a cause. Readers of JUnit expect a case for
/// each test; its message begins with the cause.
std::string report_by_cause(cli::Report format, render::CiReport report, const std::vector<Cause>& causes);

}  // namespace syscost::bench::commands
