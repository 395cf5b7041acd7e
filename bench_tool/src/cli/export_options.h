// SPDX-License-Identifier: MIT
//
// ExportOptions: the options of `export` alone.
#pragma once

#include <string>

namespace syscost::bench::cli {

struct ExportOptions {
  std::string format;       ///< `openmetrics` or `csv`, on standard output; empty = the OpenTelemetry protocol.
  std::string otlp;         ///< A file, `-` for stdout, or an address; empty = the variables of OpenTelemetry.
  std::string only;         ///< `traces` or `metrics`; empty = both.
  double timeout_s = 60;    ///< For all requests and waits together.
  bool is_dry_run = false;  ///< Prints the requests and sends nothing.
};

}  // namespace syscost::bench::cli
