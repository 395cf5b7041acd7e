// SPDX-License-Identifier: MIT
#include "budgets/rules_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "budgets/read_budget.h"
#include "csv/input.h"
#include "model/choice.h"

namespace syscost::bench::budgets {
namespace {

/// Where the text that begins at `at`, with its first quote, ends. It may have no end, which the library will say.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view three = text.substr(at, 3);
  const bool is_long = three.size() == 3 && three[1] == quote && three[2] == quote;
  for (at += is_long ? 3 : 1; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == '\n' && !is_long) {
      return at;
    } else if (text[at] == quote && (!is_long || text.substr(at, 3) == three)) {
      at += is_long ? 3 : 1;
      // Up to two quotes may stand before the three that end it.
      for (int more = 0; is_long && more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
      return at;
    }
  }
  return text.size();
}

}  // namespace

std::optional<TomlExcess> find_excess(std::string_view text) {
  std::size_t dots = 0;  // since a key or value began
  std::size_t nested = 0;
  const auto here = [&](std::size_t at, const char* what) {
    const auto begin = text.begin();
    const auto lines = std::count(begin, begin + static_cast<std::ptrdiff_t>(at), '\n');
    return TomlExcess{static_cast<std::size_t>(lines) + 1, what};
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_text(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.' && ++dots >= kMostKeyParts) return here(at, "a key has more than 64 parts");
    if (std::string_view("=,{}[]\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '[' || c == '{') ++nested;
    if ((c == ']' || c == '}') && nested > 0) --nested;
    if (nested > kMostNested) return here(at, "more than 16 lists or tables inside each other");
    ++at;
  }
  return std::nullopt;
}

namespace {

constexpr std::array<std::string_view, 5> kTopKeys = {"accept", "budget", "gate-waits", "tolerate", "volatile"};

/// `{ test = "Net.*", of = "read", by = "5%" }`; `volatile` has no `by`.
std::optional<CountRule> read_table(const TomlTable& in, bool has_amount) {
  const std::string_view what = has_amount ? "a tolerance" : "an entry of volatile";
  in.check_keys(what, has_amount ? std::vector<std::string>{"test", "program", "of", "by"}
                                 : std::vector<std::string>{"test", "program", "of"});
  CountRule rule{in.table().source().begin.line, in.text("of").value_or("*"), in.tests()};
  if (in.get("test") == nullptr && in.get("program") == nullptr) rule.tests.reset();
  if (!has_amount) return rule;
  const toml::node* by = in.get("by");
  if (by != nullptr && by->is_string()) {
    rule.text += "=" + by->as_string()->get();
  } else if (by != nullptr && by->is_number()) {
    rule.text += fmt::format("={}", *by->value<double>());
  } else {
    in.fault(in.table(),
             "a tolerance says by how many calls the counts may differ, or by which share: by = 3, by = \"5%\"");
    return std::nullopt;
  }
  return rule;
}

void read_count_rules(const std::string& name, std::string_view key, const toml::node& node,
                      std::vector<CountRule>& out, csv::Problems& problems) {
  const auto refuse = [&](const toml::node& where) {
    problems.add(
        name, where.source().begin.line,
        fmt::format("{} is a list of texts in quotes, or of tables such as {{ test = \"Net.*\", of = \"read\"{} }}",
                    key, key == "tolerate" ? ", by = 3" : ""));
  };
  if (!node.is_array()) return refuse(node);
  for (const toml::node& one : *node.as_array()) {
    if (one.is_string()) {
      out.push_back({one.source().begin.line, one.as_string()->get(), std::nullopt});
    } else if (one.is_table()) {
      if (auto rule = read_table({name, *one.as_table(), problems}, key == "tolerate")) out.push_back(*std::move(rule));
    } else {
      refuse(one);
    }
  }
}

std::optional<judge::Accept> read_accept(const TomlTable& in, csv::Problems& problems) {
  const std::size_t problems_before = problems.count();
  in.check_keys("an accept", {"test", "program", "what", "reason"});
  judge::Accept accept;
  accept.where = in.where();
  accept.is_in_file = true;
  accept.tests = in.tests();
  if (in.get("test") == nullptr) in.fault(in.table(), "an accept needs a test: a pattern of names, such as \"Log.*\"");
  const std::optional<std::string> what = in.text("what");
  if (what) {
    if (const std::string fault = accept.changes.read(*what); !fault.empty())
      in.fault(*in.get("what"), "what: " + fault);
  }
  accept.reason = judge::reason_text(in.text("reason").value_or(""));
  const toml::node* reason = in.get("reason");
  if (reason == nullptr || (reason->is_string() && accept.reason.empty())) {
    in.fault(reason != nullptr ? *reason : in.table(),
             "an accept needs a reason: why the change is intended, for those who read the result");
  }
  return problems.count() == problems_before ? std::optional(std::move(accept)) : std::nullopt;
}

/// The budget that limits what an assertion of Renacer's limits; the page for the others.
std::string instead_of(const toml::table& assertion) {
  const std::string type = assertion["type"].value_or(std::string());
  const auto number = [&](std::string_view key) { return assertion[key].value<std::int64_t>(); };
  if (const auto ms = number("max_duration_ms"); ms && type == "critical_path") {
    return fmt::format("max_wall = \"{} ms\"", *ms);
  }
  if (const auto spans = number("max_spans"); spans && type == "span_count") {
    return fmt::format("max_calls = {} and per = \"program\"", *spans);
  }
  if (const auto bytes = number("max_bytes"); bytes && type == "memory_usage") {
    return fmt::format("max_peak_memory = {} and per = \"program\"", *bytes);
  }
  return {};
}

/// The budgets to write in the place of the assertions, as the end of a sentence.
std::string instead_of_assertions(const toml::node& node) {
  std::string text;
  if (const toml::array* assertions = node.as_array()) {
    for (const toml::node& one : *assertions) {
      const std::string budget = one.is_table() ? instead_of(*one.as_table()) : "";
      const std::size_t line = one.source().begin.line;
      if (!budget.empty()) text += fmt::format("{} line {}: {}", text.empty() ? "" : ";", line, budget);
    }
  }
  return "; write a [[budget]] for each instead (docs/gate.md)" + (text.empty() ? "" : ":" + text);
}

}  // namespace

RulesFile parse_rules(const std::string& name, std::string_view text, csv::Problems& problems) {
  RulesFile out;
  if (const std::optional<TomlExcess> excess = find_excess(text)) {
    problems.add(name, excess->line, fmt::format("{}: no budget needs that, so the file is not read", excess->what));
    return out;
  }
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    problems.add(name, parsed.error().source().begin.line, std::string(parsed.error().description()));
    return out;
  }
  for (const auto& [key, node] : parsed.table()) {
    const std::size_t line = node.source().begin.line;
    if (key.str() == "assertion") {
      problems.add(name, line, fmt::format("[[assertion]] belongs to Renacer{}", instead_of_assertions(node)));
    } else if (key.str() == "volatile" || key.str() == "tolerate") {
      read_count_rules(name, key.str(), node, key.str() == "volatile" ? out.volatiles : out.tolerances, problems);
    } else if (key.str() == "gate-waits") {
      if (!node.is_boolean()) problems.add(name, line, "gate-waits is true or false");
      out.gates_waits = node.value_or(false);
    } else if (key.str() != "budget" && key.str() != "accept") {
      problems.add(
          name, line,
          fmt::format("no key {}{}", key.str(), model::or_rather(key.str(), {kTopKeys.begin(), kTopKeys.end()})));
    } else if (!node.is_array_of_tables()) {
      const bool is_budget = key.str() == "budget";
      problems.add(name, line,
                   fmt::format("{} needs its own [[{}]] line", is_budget ? "a budget" : "an accept", key.str()));
    } else {
      for (const toml::node& one : *node.as_array()) {
        if (key.str() == "accept") {
          if (auto accept = read_accept({name, *one.as_table(), problems}, problems)) {
            out.accepts.push_back(*std::move(accept));
          }
          continue;
        }
        for (Budget& budget : read_budget(name, *one.as_table(), problems)) out.budgets.push_back(std::move(budget));
      }
    }
  }
  return out;
}

RulesFile read_rules(const std::string& path, csv::Problems& problems) {
  const std::optional<std::string> text = csv::read_text(path, problems, kMostTomlBytes);
  return text ? parse_rules(path, *text, problems) : RulesFile();
}

}  // namespace syscost::bench::budgets
