// SPDX-License-Identifier: MIT
//
// Loads CSV text as the loader does, for tests of what becomes of it.
#pragma once

#include <sstream>
#include <string>

#include "csv_text.h"
#include "model/loader.h"

namespace syscost::bench::testing {

struct Loaded {
  model::Dataset data;
  std::string problems;  ///< As they are printed.
};

/// Loads a file `f.csv` that holds `first_line` and `rows`.
inline Loaded load(const std::string& rows, const model::LoadOptions& options = {},
                   const std::string& first_line = header()) {
  csv::Problems problems;
  Loaded result{model::load_text("f.csv", first_line + rows, options, problems), ""};
  std::ostringstream out;
  problems.print(out);
  result.problems = out.str();
  return result;
}

}  // namespace syscost::bench::testing
