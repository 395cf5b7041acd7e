// SPDX-License-Identifier: MIT
//
// TomlTable: reads the keys of one table of a project's file, and notes each fault with its line. For the files of this
// folder alone, because the library behind it consists of headers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "csv/problems.h"
#include "model/choice.h"

// It is compiled without exceptions, so a fault is a value.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace syscost::bench::budgets {

class TomlTable {
 public:
  TomlTable(const std::string& file, const toml::table& table, csv::Problems& problems)
      : file_(file), table_(table), problems_(problems) {}

  const toml::table& table() const { return table_; }
  const toml::node* get(std::string_view key) const { return table_.get(key); }
  /// `syscost.toml:3`
  std::string where() const { return fmt::format("{}:{}", file_, table_.source().begin.line); }

  void fault(const toml::node& node, std::string message) const {
    problems_.add(file_, node.source().begin.line, std::move(message));
  }

  /// Refuses every other key of `an accept`.
  void check_keys(std::string_view of_what, const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table_) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      fault(node, fmt::format("no key {} in {}{}", key.str(), of_what, model::or_rather(key.str(), known)));
    }
  }

  std::optional<std::string> text(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    if (node->is_string()) return node->as_string()->get();
    fault(*node, fmt::format("{} is a text, in quotes", key));
    return std::nullopt;
  }

  /// The keys `test` and `program`; without them all tests.
  model::TestPatterns tests() const {
    model::TestPatterns out;
    out.program = text("program").value_or("*");
    const toml::node* node = table_.get("test");
    if (node == nullptr) return out;
    out.patterns.clear();
    if (node->is_string()) out.patterns = {node->as_string()->get()};
    bool is_list = node->is_array() && !node->as_array()->empty();
    if (is_list) {
      for (const toml::node& one : *node->as_array()) {
        is_list = is_list && one.is_string();
        if (one.is_string()) out.patterns.push_back(one.as_string()->get());
      }
    }
    if (!is_list && !node->is_string()) fault(*node, "test is a pattern of names, or a list of them: \"Log.*\"");
    if (std::any_of(out.patterns.begin(), out.patterns.end(),
                    [](const std::string& one) { return one.empty() || one == "!"; })) {
      fault(*node, "a pattern of test is empty; * means every test");
    }
    return out;
  }

 private:
  const std::string& file_;
  const toml::table& table_;
  csv::Problems& problems_;
};

}  // namespace syscost::bench::budgets
