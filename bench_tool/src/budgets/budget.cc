// SPDX-License-Identifier: MIT
#include "budgets/budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "budgets/amounts.h"
#include "budgets/toml_bounds.h"
#include "csv/input.h"
#include "model/group.h"
#include "model/suggestion.h"
#include "model/test_choice.h"

// The library consists of headers, and only this file compiles them. It is compiled without exceptions, so a fault is a
// value.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace syscost::bench::budgets {
namespace {

constexpr std::array<std::string_view, 9> kKeys = {"test", "program",    "measure", "of",    "per",
                                                   "max",  "max-growth", "fail",    "reason"};
constexpr std::array<std::string_view, 3> kTopKeys = {"budget", "tolerate", "volatile"};
constexpr std::array<std::pair<std::string_view, Per>, 3> kPer = {
    {{"test", Per::test}, {"program", Per::program}, {"run", Per::run}}};

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (const Measure& one : measures()) names.emplace_back(one.name);
  return names;
}

/// One `[[budget]]`.
class BudgetReader {
 public:
  BudgetReader(const std::string& file, const toml::table& table, csv::Problems& problems)
      : file_(file), table_(table), problems_(problems) {}

  /// One budget, or one for each short key. None if there is a fault.
  std::vector<Budget> read() {
    const std::size_t problems_before = problems_.count();
    check_keys();
    read_tests();
    out_.program = text("program").value_or("*");
    if (const toml::node* node = table_.get("fail")) {
      if (node->is_boolean()) {
        out_.fails = node->as_boolean()->get();
      } else {
        fault(*node, "fail is true or false");
      }
    }
    out_.reason = text("reason").value_or("");
    std::vector<Budget> budgets;
    for (const auto& [key, node] : table_) {
      if (const Measure* measure = measure_of_short_key(key.str())) {
        budgets.push_back(read_limit(measure, node.source().begin.line, &node, key.str()));
      }
    }
    if (budgets.empty()) {
      budgets.push_back(read_limit(named_measure(), table_.source().begin.line, table_.get("max"), "max"));
    }
    return problems_.count() == problems_before ? std::move(budgets) : std::vector<Budget>();
  }

 private:
  void fault(const toml::node& node, std::string message) {
    problems_.add(file_, node.source().begin.line, std::move(message));
  }

  std::optional<std::string> text(std::string_view key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    if (node->is_string()) return node->as_string()->get();
    fault(*node, fmt::format("{} is a text, in quotes", key));
    return std::nullopt;
  }

  void check_keys() {
    const std::vector<std::string> short_ones = short_keys();
    std::vector<std::string> known(kKeys.begin(), kKeys.end());
    known.insert(known.end(), short_ones.begin(), short_ones.end());
    for (const auto& [key, node] : table_) {
      const bool is_short = measure_of_short_key(key.str()) != nullptr;
      if (is_short && (table_.contains("measure") || table_.contains("max") || table_.contains("max-growth"))) {
        fault(node, fmt::format("{} says the measure and its max; leave measure, max and max-growth out", key.str()));
      } else if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        const std::string_view rest = key.str().starts_with("max_") ? key.str().substr(4) : key.str();
        const std::string_view refusal = refusal_of(rest);
        fault(node, fmt::format("no key {} in a budget{}", key.str(),
                                refusal.empty() ? model::or_rather(key.str(), known) : fmt::format(": {}", refusal)));
      }
    }
  }

  /// The common part, with this limit.
  Budget read_limit(const Measure* measure, std::size_t line, const toml::node* max, std::string_view key) {
    Budget common = out_;
    out_.where = fmt::format("{}:{}", file_, line);
    out_.measure = measure;
    if (measure != nullptr) {
      read_selector();
      read_per();
      read_limits(max, key);
    }
    return std::exchange(out_, std::move(common));
  }

  void read_tests() {
    out_.tests = {"*"};
    const toml::node* node = table_.get("test");
    if (node == nullptr) return;
    if (node->is_string()) {
      out_.tests = {node->as_string()->get()};
      return;
    }
    out_.tests.clear();
    bool is_list = node->is_array() && !node->as_array()->empty();
    if (is_list) {
      for (const toml::node& one : *node->as_array()) {
        is_list = is_list && one.is_string();
        if (one.is_string()) out_.tests.push_back(one.as_string()->get());
      }
    }
    if (!is_list) fault(*node, "test is a pattern of names, or a list of them: \"Log.*\"");
  }

  /// Null, with a fault, if it does not exist.
  const Measure* named_measure() {
    const toml::node* node = table_.get("measure");
    if (node == nullptr) {
      fault(table_, fmt::format("a budget needs a measure: {}", fmt::join(measure_names(), ", ")));
      return nullptr;
    }
    const std::string name = text("measure").value_or("");
    const Measure* found = find_measure(name);
    if (found != nullptr || !node->is_string()) return found;
    const std::string_view refusal = refusal_of(name);
    fault(*node, refusal.empty()
                     ? fmt::format("no measure {}{}; there are {}", name, model::or_rather(name, measure_names()),
                                   fmt::join(measure_names(), ", "))
                     : fmt::format("no measure {}: {}", name, refusal));
    return nullptr;
  }

  void read_selector() {
    const std::optional<std::string> of = text("of");
    if (of && !out_.measure->has_selector) {
      fault(*table_.get("of"), fmt::format("{} is not of syscalls; leave `of` out", out_.measure->name));
      return;
    }
    if (!out_.measure->has_selector) return;
    out_.of = of.value_or("");
    std::string wrong;
    const auto choice = model::SyscallChoice::parse(of ? std::string_view(*of) : out_.measure->default_of, wrong);
    if (choice) {
      out_.choice = *choice;
    } else {
      fault(*table_.get("of"), fmt::format("of: {}", wrong));
    }
  }

  void read_per() {
    const std::optional<std::string> per = text("per");
    if (!per) return;
    const auto* found = std::find_if(kPer.begin(), kPer.end(), [&](const auto& one) { return one.first == *per; });
    if (found == kPer.end()) {
      fault(*table_.get("per"), fmt::format("per is test, program or run, not \"{}\"", *per));
      return;
    }
    out_.per = found->second;
    if (out_.per != Per::test && (out_.measure->together == Together::nothing || out_.measure->needs_baseline)) {
      fault(*table_.get("per"),
            fmt::format("{} of several tests cannot be added up; leave `per` out", out_.measure->name));
    }
  }

  void read_limits(const toml::node* max, std::string_view key) {
    if (max != nullptr) out_.max = value(*max, key);
    if (const toml::node* node = table_.get("max-growth")) {
      Growth growth;
      const std::string written = node->is_string() ? node->as_string()->get() : "";
      if (const auto share = parse_share(written)) {
        growth.share = *share;
        growth.text = written;
      } else if (const auto absolute = value(*node, "max-growth")) {
        growth.value = *absolute;
        growth.text = value_text(out_.measure->unit, *absolute);
      }
      out_.max_growth = growth;
    }
    if (out_.measure->needs_baseline && !out_.max) out_.max = 0;
    if (out_.max_growth && out_.measure->needs_baseline) {
      fault(*table_.get("max-growth"), fmt::format("{} has no growth; give max", out_.measure->name));
    }
    if (out_.max_growth && !out_.measure->is_in_baseline) {
      fault(*table_.get("max-growth"), fmt::format("{} is in no baseline; give max", out_.measure->name));
    }
    if (max == nullptr && !out_.max && !out_.max_growth) fault(table_, "a budget needs a max or a max-growth");
  }

  /// A count is a number, a time a text with its unit.
  std::optional<double> value(const toml::node& node, std::string_view key) {
    if (out_.measure->unit == Unit::ns) {
      if (const auto ns = node.is_string() ? parse_time_ns(node.as_string()->get()) : std::nullopt) return ns;
      fault(node, fmt::format("{} of {} is a time with its unit{}: \"100 ms\"", key, out_.measure->name,
                              key == "max-growth" ? ", or a share (\"10%\")" : ""));
      return std::nullopt;
    }
    if (out_.measure->unit == Unit::bytes && node.is_string()) {
      if (const auto bytes = parse_bytes(node.as_string()->get())) return bytes;
      fault(node,
            fmt::format("{} of {} is a number of bytes, or a text with its unit: \"64 KiB\"", key, out_.measure->name));
      return std::nullopt;
    }
    const auto number = node.value<double>();
    if (number && std::isfinite(*number) && *number >= 0 && !node.is_string()) return number;
    fault(node, fmt::format("{} of {} is a number, 0 or more{}", key, out_.measure->name,
                            key == "max-growth" ? ", or a share (\"10%\")" : ""));
    return std::nullopt;
  }

  const std::string& file_;
  const toml::table& table_;
  csv::Problems& problems_;
  Budget out_;
};

void read_texts(const std::string& name, std::string_view key, const toml::node& node, std::vector<std::string>& out,
                csv::Problems& problems) {
  bool is_list = node.is_array();
  if (is_list) {
    for (const toml::node& one : *node.as_array()) {
      is_list = is_list && one.is_string();
      if (one.is_string()) out.push_back(one.as_string()->get());
    }
  }
  if (!is_list) problems.add(name, node.source().begin.line, fmt::format("{} is a list of texts in quotes", key));
}

}  // namespace

bool Budget::matches(std::string_view kind, std::string_view name, std::string_view of_program) const {
  // A program that is told apart by its folder is meant by its file name, too.
  if (!model::fits(program, of_program) && !model::fits(program, model::program_name(of_program))) return false;
  const bool is_named_by_kind = kind != "test" && kind != "loop" && kind != "benchmark";
  // A pattern says BM_Copy; the window is called `benchmark BM_Copy`.
  if (kind == "benchmark" && name.starts_with("benchmark ")) name.remove_prefix(std::string_view("benchmark ").size());
  bool is_in = tests.front().starts_with('!');
  for (std::string_view pattern : tests) {
    const bool removes = pattern.starts_with('!');
    if (removes) pattern.remove_prefix(1);
    if (is_named_by_kind && per == Per::test && !pattern.starts_with(model::kind_words(kind))) continue;
    if (model::fits(pattern, name)) is_in = !removes;
  }
  return is_in;
}

std::string Budget::title() const {
  return of.empty() ? std::string(measure->name) : fmt::format("{} of {}", measure->name, of);
}

namespace {

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

/// What to write for each of the assertions, as the end of a sentence.
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

BudgetFile parse_budgets(const std::string& name, std::string_view text, csv::Problems& problems) {
  BudgetFile out;
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
      read_texts(name, key.str(), node, key.str() == "volatile" ? out.volatiles : out.tolerances, problems);
    } else if (key.str() != "budget") {
      problems.add(
          name, line,
          fmt::format("no key {}{}", key.str(), model::or_rather(key.str(), {kTopKeys.begin(), kTopKeys.end()})));
    } else if (!node.is_array_of_tables()) {
      problems.add(name, line, "a budget needs its own [[budget]] line");
    } else {
      for (const toml::node& one : *node.as_array()) {
        for (Budget& budget : BudgetReader(name, *one.as_table(), problems).read()) {
          out.budgets.push_back(std::move(budget));
        }
      }
    }
  }
  return out;
}

BudgetFile read_budgets(const std::string& path, csv::Problems& problems) {
  const std::optional<std::string> text = csv::read_text(path, problems, kMostTomlBytes);
  return text ? parse_budgets(path, *text, problems) : BudgetFile();
}

}  // namespace syscost::bench::budgets
