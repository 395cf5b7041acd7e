// SPDX-License-Identifier: MIT
//
// ExportOptions: the options of `export` alone.
#pragma once

#include <string>

namespace syscost::bench::cli {

struct ExportOptions {
  std::string otlp;         ///< A file, `-` for stdout, or an address; empty = the variables of OpenTelemetry.
  std::string only;         ///< `traces` or `metrics`; empty = both.
  double timeout_s = 60;    ///< Of all requests and waits together.
  bool is_dry_run = false;  ///< Says what would be sent.
};

}  // namespace syscost::bench::cli
