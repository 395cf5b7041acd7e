// SPDX-License-Identifier: MIT
//
// Document: what a command prints, in each of the formats that --format names.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>

#include "cli/options.h"
#include "csv/problems.h"

namespace syscost::bench::commands {

/// GitHub takes so many bytes for the summary of a step, and so many for a comment.
inline constexpr std::size_t kStepBytes = 1'000'000;
inline constexpr std::size_t kCommentBytes = 60'000;

/// How long Markdown may be: --max-bytes, else `taken`.
inline std::size_t most_bytes(const cli::Options& options, std::size_t taken) {
  return options.max_bytes == 0 ? taken : options.max_bytes;
}

/// Only the renderer of the format that was asked for is called.
struct Document {
  using Renderer = std::function<std::string()>;

  Renderer json;
  Renderer csv;
  Renderer markdown;
  Renderer text;
};

std::string rendered(const Document& document, const cli::Options& options);

/// Prints the document, then what was wrong with the input. Returns the exit code.
int print(const Document& document, const cli::Options& options, const csv::Problems& problems, std::ostream& out,
          std::ostream& err);

/// The texts of all of `parts`, an empty line between two.
template <class Parts, class Render>
std::string one_below_the_other(const Parts& parts, Render render) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : "\n") + render(part);
  return text;
}

}  // namespace syscost::bench::commands
