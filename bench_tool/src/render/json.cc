// SPDX-License-Identifier: MIT
#include "render/json.h"

#include <algorithm>
#include <cmath>
#include <set>

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

/// An empty cell says that there is none.
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
                        {"kernel", text_json(data.text(context.kernel))},
                        {"commit", text_json(data.text(context.commit))},
                        {"build_id", text_json(data.text(context.build_id))},
                        {"build_type", text_json(data.text(context.build_type))},
                        {"backend", text_json(data.text(context.backend))},
                        {"selection", text_json(data.text(context.selection))},
                        {"filter", text_json(data.text(context.filter))},
                        {"program", text_json(data.text(context.program))}});
  }
  return {{"run", data.name}, {"files", data.files}, {"programs", std::move(programs)}};
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace syscost::bench::render
