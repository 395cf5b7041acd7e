// SPDX-License-Identifier: MIT
//
// bench trace: the calls of one test, one by one, as --syscost_trace kept them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "render/terminal.h"
#include "trace/trace_file.h"

namespace syscost::bench::commands {

/// A trace, and what is shown of it.
struct ShownTrace {
  const trace::TraceFile& file;
  std::vector<const trace::Call*> calls;
};

int trace(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// The name of the test, or of the program in a trace without one.
std::string name_of(const trace::TraceFile& file);
/// From the trace's origin; negative for a call that began before.
std::int64_t at_ns(const trace::TraceFile& file, const trace::Call& call);
/// `AT_FDCWD, "app.log", O_RDONLY`
std::string arguments_text(const trace::TraceFile& file, const trace::Call& call);

/// `width` 0: any.
std::string trace_text(const ShownTrace& shown, const render::Paint& paint, std::size_t width);
std::string trace_csv(const ShownTrace& shown);
std::string trace_json(const ShownTrace& shown);

}  // namespace syscost::bench::commands
