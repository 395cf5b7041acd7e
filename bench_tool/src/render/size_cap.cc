// SPDX-License-Identifier: MIT
#include "render/size_cap.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace syscost::bench::render {
namespace {

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t times = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++times;
  return times;
}

/// The fence of a code block that the last line is in; "" outside of one.
std::string_view open_fence(std::string_view text) {
  std::string_view fence;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::string_view ticks = line.substr(0, std::min(line.find_first_not_of('`'), line.size()));
    if (ticks.size() >= 3 && (fence.empty() || ticks.size() >= fence.size())) fence = fence.empty() ? ticks : "";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return fence;
}

}  // namespace

std::string capped_markdown(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  constexpr std::size_t kForTheEnd = 400;
  const std::size_t room = most > kForTheEnd ? most - kForTheEnd : 0;
  const std::size_t end = room == 0 ? 0 : text.rfind('\n', room - 1) + 1;  // 0 where there is no line feed
  const std::string_view kept = std::string_view(text).substr(0, end);
  const std::size_t left_out = count_of(std::string_view(text).substr(end), "\n");
  std::string closing;
  if (const std::string_view fence = open_fence(kept); !fence.empty()) closing = std::string(fence) + '\n';
  const std::size_t open =
      count_of(kept, "<details>") - std::min(count_of(kept, "<details>"), count_of(kept, "</details>"));
  closing += '\n';
  for (std::size_t i = 0; i < open; ++i) closing += "</details>\n\n";
  closing += fmt::format(
      "**Cut: {} more line{} of {} bytes in all do not fit into {} bytes** (--max-bytes; --format json has "
      "everything).\n",
      left_out, left_out == 1 ? "" : "s", text.size(), most);
  return std::string(kept) + closing;
}

}  // namespace syscost::bench::render
