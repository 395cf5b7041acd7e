// SPDX-License-Identifier: MIT
//
// bench scale: how the counts and times of a family of tests grow with their sizes.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "model/dataset.h"
#include "render/terminal.h"
#include "scale/families.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int scale_run(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// The families of a RUN.
struct ScaledRun {
  model::Dataset data;
  std::vector<scale::Family> families;
};

/// A line of the table of fixed costs: a count or a time that has a fixed part and a part that grows.
struct Amortised {
  std::string title;  ///< `read`, `wall`
  bool is_time = false;
  std::string_view unit;  ///< `ns`, or the column: `calls`
  double fixed = 0;       ///< Calls, or ns.
  double fixed_low = 0;   ///< The interval of 95 %; of calls the number itself.
  double fixed_high = 0;
  double growing = 0;  ///< For each unit of the curve.
  scale::Complexity curve = scale::Complexity::linear;
  double tenth_from = 0;      ///< The n from which the fixed part is at most 10 % of the whole.
  double hundredth_from = 0;  ///< At most 1 %.
};

std::vector<Amortised> amortised_of(const scale::Family& family);

/// The text on a count: `ceil(n/4096)`, `no law: ...`, `n/a: ...`.
std::string law_cell(const scale::Family& family, const scale::LawRow& row);
/// The same of a time: `O(n): 500 ns * n, error 0 % (RMS)`, `n/a: ...`.
std::string complexity_cell(const scale::Family& family, const scale::TimeRow& row);
/// `law`, `too_few`, `no_law`, `varies` or `not_measured`.
std::string_view status_of(const scale::LawRow& row);

std::string scale_text(const ScaledRun& run, const cli::Options& options, const render::Paint& paint);
std::string scale_markdown(const ScaledRun& run);
std::string scale_json(const std::vector<ScaledRun>& runs);
std::string scale_csv(const std::vector<ScaledRun>& runs);

}  // namespace syscost::bench::commands
