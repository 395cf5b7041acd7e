// SPDX-License-Identifier: MIT
//
// ReportOptions: the options of `report` alone.
#pragma once

#include <string>
#include <vector>

namespace syscost::bench::cli {

struct ReportOptions {
  std::string output;                ///< A file, or `-` for stdout.
  std::string stamps;                ///< A stamp file, for pictures of GPU launches; empty = none.
  std::vector<std::string> compare;  ///< OLD and NEW; empty = nothing is compared.
};

}  // namespace syscost::bench::cli
