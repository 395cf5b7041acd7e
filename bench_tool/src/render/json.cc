// SPDX-License-Identifier: MIT
#include "render/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "csv/text.h"
#include "model/incomplete_run.h"

namespace syscost::bench::render {

Json to_json(double value) {
  if (value == std::floor(value) && std::abs(value) < 9.0e15) return static_cast<std::int64_t>(value);
  return value;
}

Json to_json(std::optional<std::uint64_t> value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const stats::Numbers& numbers) {
  if (!numbers) return nullptr;
  return {{"n", numbers->n},
          {"median", to_json(numbers->median)},
          {"min", to_json(numbers->min)},
          {"max", to_json(numbers->max)}};
}

Json classes_json(std::string_view classes) {
  Json list = Json::array();
  while (!classes.empty()) {
    std::string_view word = classes.substr(0, classes.find(';'));
    list.push_back(std::string(word));
    classes.remove_prefix(std::min(classes.size(), word.size() + 1));
  }
  return list;
}

namespace {

/// An empty cell means that there is no number.
Json text_json(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace

Json source_json(const model::Dataset& data) {
  std::set<std::uint32_t> used;
  for (const model::Sample& sample : data.samples) used.insert(sample.context);
  Json programs = Json::array();
  for (std::uint32_t index : used) {
    const model::Context& context = data.contexts[index];
    programs.push_back({{"file", data.files[context.file]},
                        {"run_id", text_json(data.text(context.run_id))},
                        {"started_at", text_json(data.text(context.started_at))},
                        {"label", text_json(data.text(context.label))},
                        {"host", text_json(data.text(context.host))},
                        {"kernel_release", text_json(data.text(context.kernel_release))},
                        {"commit", text_json(data.text(context.commit))},
                        {"build_id", text_json(data.text(context.build_id))},
                        {"build_type", text_json(data.text(context.build_type))},
                        {"backend", text_json(data.text(context.backend))},
                        {"selection", text_json(data.text(context.selection))},
                        {"filter", text_json(data.text(context.filter))},
                        {"program", text_json(data.text(context.program))}});
  }
  Json source = {{"run", data.name}, {"files", data.files}, {"programs", std::move(programs)}};
  // Only if there is one: most runs have none.
  Json crashed = Json::array();
  for (const model::Unfinished& one : model::unfinished_programs(data)) {
    crashed.push_back({{"program", one.program},
                       {"pid", one.pid},
                       {"run_id", one.run_id},
                       {"test", text_json(one.test)},
                       {"after", text_json(one.after)},
                       {"text", model::text_of(one)}});
  }
  if (!crashed.empty()) source["crashed"] = std::move(crashed);
  Json failed = Json::array();
  for (const model::FailedOutside& one : model::failed_outside_of_tests(data)) failed.push_back(one.program);
  if (!failed.empty()) source["failed_outside_of_tests"] = std::move(failed);
  return source;
}

std::string dump(const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + 1);
  // Beyond ASCII everything is inside a string.
  for (std::string_view left = text; !left.empty();) {
    const csv::Character one = csv::first_character(left);
    const std::uint32_t code = one.code;
    if (code < 0x7F || !csv::is_unseen(one.code)) {
      out += left.substr(0, one.bytes);
    } else if (code <= 0xFFFF) {
      out += fmt::format("\\u{:04x}", code);
    } else {  // a pair of UTF-16
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (code >> 10U), 0xDC00 + (code & 0x3FFU));
    }
    left.remove_prefix(one.bytes);
  }
  return out + '\n';
}

}  // namespace syscost::bench::render
