// SPDX-License-Identifier: MIT
#include "budgets/budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "budgets/measures.h"
#include "budgets/read_budget.h"
#include "model/choice.h"

namespace syscost::bench::budgets {
namespace {

constexpr std::array<std::string_view, 9> kKeys = {"test", "program",    "measure", "of",    "per",
                                                   "max",  "max-growth", "fail",    "reason"};
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
      : file_(file), table_(table), in_(file, table, problems), problems_(problems) {}

  /// One budget, or one for each short key. None if there is a fault.
  std::vector<Budget> read() {
    const std::size_t problems_before = problems_.count();
    check_keys();
    out_.tests = in_.tests();
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
  void fault(const toml::node& node, std::string message) { in_.fault(node, std::move(message)); }
  std::optional<std::string> text(std::string_view key) { return in_.text(key); }

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
    if (of && !out_.measure->has_selector()) {
      fault(*table_.get("of"), fmt::format("{} is not of syscalls; leave `of` out", out_.measure->name));
      return;
    }
    if (!out_.measure->has_selector()) return;
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
  const TomlTable in_;
  csv::Problems& problems_;
  Budget out_;
};

}  // namespace

bool Budget::matches(std::string_view kind, std::string_view name, std::string_view of_program) const {
  return tests.matches({kind, name, of_program}, per != Per::test);
}

std::string Budget::title() const {
  return of.empty() ? std::string(measure->name) : fmt::format("{} of {}", measure->name, of);
}

std::vector<Budget> read_budget(const std::string& file, const toml::table& table, csv::Problems& problems) {
  return BudgetReader(file, table, problems).read();
}

}  // namespace syscost::bench::budgets
