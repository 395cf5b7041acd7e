// SPDX-License-Identifier: MIT
#include "commands/outputs.h"

#include <sstream>

#include "render/output_file.h"

namespace syscost::bench::commands {

std::string write_outputs(const cli::Options& options, const WriteResult& write) {
  for (const cli::Output& output : options.outputs) {
    cli::Options its = options;
    its.format = output.format;
    its.report = output.report;
    std::ostringstream text;
    std::ostringstream notes;  // those of the main output say the same
    write(its, text, notes);
    const std::string all = text.str();
    // All outputs of one format begin alike: `## syscost`, `<?xml`, `{`.
    constexpr std::size_t kAlike = 2;
    const render::OutputKind kind{std::string_view(all).substr(0, kAlike), "output of bench in this format"};
    if (std::string fault = render::write_output(output.file, kind, all); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace syscost::bench::commands
