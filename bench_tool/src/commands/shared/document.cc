// SPDX-License-Identifier: MIT
#include "commands/shared/document.h"

namespace syscost::bench::commands {

std::string rendered(const Document& document, const cli::Options& options) {
  switch (options.format) {
    case cli::Format::json:
      return document.json();
    case cli::Format::csv:
      return document.csv();
    case cli::Format::md:
      return document.markdown();
    case cli::Format::text:
      break;
  }
  return document.text();
}

int print(const Document& document, const cli::Options& options, const csv::Problems& problems, std::ostream& out,
          std::ostream& err) {
  out << rendered(document, options);
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
