// SPDX-License-Identifier: MIT
#include "otlp/reply_text.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "csv/printable.h"

namespace syscost::bench::otlp {
namespace {

constexpr std::size_t kMostShown = 300;

std::string shown(std::string_view text) {
  return csv::printable(text.substr(0, kMostShown)) + (text.size() > kMostShown ? "..." : "");
}

/// A number, or a string of digits: 64-bit numbers may be either.
std::uint64_t count_of(const nlohmann::json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  std::uint64_t count = 0;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), count);
  }
  return count;
}

}  // namespace

Answer parse_answer(Signal signal, const std::string& body) {
  Answer answer;
  if (body.find_first_not_of(" \t\r\n") == std::string::npos) return answer;
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) {
    answer.is_understood = false;
    answer.message = shown(body);
    return answer;
  }
  const auto partial = json.find("partialSuccess");
  if (partial == json.end() || !partial->is_object()) return answer;
  const char* const rejected = signal == Signal::traces ? "rejectedSpans" : "rejectedDataPoints";
  if (const auto count = partial->find(rejected); count != partial->end()) answer.rejected = count_of(*count);
  if (const auto text = partial->find("errorMessage"); text != partial->end() && text->is_string()) {
    answer.message = shown(text->get_ref<const std::string&>());
  }
  return answer;
}

std::string refusal_text(const std::string& body) {
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
  if (json.is_object()) {
    const auto text = json.find("message");
    if (text != json.end() && text->is_string()) return shown(text->get_ref<const std::string&>());
  }
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return shown(std::string_view(body).substr(begin, body.find_last_not_of(" \t\r\n") + 1 - begin));
}

}  // namespace syscost::bench::otlp
