// SPDX-License-Identifier: MIT
#include "model/suggestion.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace syscost::bench::model {
namespace {

/// Characters after this many are ignored, because names can be long.
constexpr std::size_t kMostCompared = 200;

std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMostCompared)) {
    if (c == '*' || c == '?') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

/// How many characters must be put in, taken out, replaced, or swapped with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last.back();
}

/// How far `name` is from `wanted`; none where too far.
std::optional<std::size_t> farness(const std::string& wanted, const std::string& name) {
  if (name.find(wanted) != std::string::npos) return 0;
  const std::size_t allowed = wanted.size() < 4 ? 1 : std::max<std::size_t>(2, wanted.size() / 4);
  const std::size_t lengths = std::max(wanted.size(), name.size()) - std::min(wanted.size(), name.size());
  if (lengths > allowed) return std::nullopt;
  const std::size_t apart = distance(wanted, name);
  return apart <= allowed ? std::optional(apart) : std::nullopt;
}

}  // namespace

std::vector<std::string> suggestions(std::string_view wanted, const std::vector<std::string>& names, std::size_t most) {
  const std::string asked = folded(wanted);
  std::vector<std::pair<std::size_t, std::string>> near;
  if (asked.empty()) return {};
  for (const std::string& name : names) {
    if (const auto far = farness(asked, folded(name))) near.emplace_back(*far, name);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(most, near.size()); ++i) out.push_back(std::move(near[i].second));
  return out;
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names) {
  const std::vector<std::string> near = suggestions(wanted, names);
  if (near.empty()) return {};
  std::string text = "did you mean " + near.front();
  for (std::size_t i = 1; i < near.size(); ++i) text += (i + 1 == near.size() ? " or " : ", ") + near[i];
  return text + '?';
}

std::string or_rather(std::string_view wanted, const std::vector<std::string>& names) {
  const std::string question = did_you_mean(wanted, names);
  return question.empty() ? "" : "; " + question;
}

}  // namespace syscost::bench::model
