// SPDX-License-Identifier: MIT
#include "commands/compare_ci.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "commands/gate.h"
#include "render/json.h"
#include "render/xml.h"

namespace syscost::bench::commands {
namespace {

using render::escaped_xml;
using render::Json;
using stats::Comparison;
using stats::WindowSummary;

struct Rule {
  std::string_view id;
  const char* text;
};

/// What a row can fail by.
constexpr std::array<Rule, 7> kRules = {{{"counts", "A test makes more syscalls, or one fails that did not"},
                                         {"wall", "A test takes longer"},
                                         {"cpu", "A test uses more processor time"},
                                         {"missing", "A test of OLD is not in NEW"},
                                         {"failed", "A test fails that did not, so its cost is not known"},
                                         {"skipped", "A test is skipped that was not, so its cost is not known"},
                                         {"crashed", "A test ended its process, so its cost is not known"}}};

const WindowSummary& window_of(const Comparison& row) {
  return row.new_window != nullptr ? *row.new_window : *row.old_window;
}

/// What a row fails by `word` with: `+99 write`, `wall 45.2 us -> 97.0 us, ...`.
std::string evidence(const Comparison& row, std::string_view word) {
  if (word == "counts") return "calls: " + breakdown(row);
  if (word == "wall") return "wall: " + time_cell(row, kWallTime, "");
  if (word == "cpu") return "cpu: " + time_cell(row, kCpuTime, "");
  if (word == "missing") return "missing: OLD has it, and NEW does not";
  return fmt::format("{} in NEW, and not in OLD: what it costs is not known", word);
}

std::string evidence_of_all(const Comparison& row, const std::vector<std::string_view>& by) {
  std::vector<std::string> pieces;
  pieces.reserve(by.size());
  for (const std::string_view word : by) pieces.push_back(evidence(row, word));
  return fmt::format("{}", fmt::join(pieces, "; "));
}

/// Why a row has no verdict.
std::string no_answer(const Comparison& row) {
  if (!stats::has_no_answer(row.verdict)) return "its times are not decided";
  return std::string(stats::to_string(row.verdict)) + (row.reason.empty() ? "" : ": " + row.reason);
}

/// `Log.Writes` as suite and test; anything else has no suite.
std::pair<std::string_view, std::string_view> parts_of(const Comparison& row) {
  const std::string_view name = row.name;
  const std::size_t dot = name.find('.');
  if (window_of(row).kind != "test" || dot == std::string_view::npos || name.find(" -> ") != std::string_view::npos) {
    return {window_of(row).kind, name};
  }
  return {name.substr(0, dot), name.substr(dot + 1)};
}

/// GitHub's escapes: a message ends at a line feed, a property also at a comma.
std::string escaped_github(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : text) {
    const bool is_escaped = c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
    out += is_escaped ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

std::string command(std::string_view word, const std::string& title, const std::optional<model::Location>& location,
                    const std::string& text) {
  std::string where;
  if (location) where = fmt::format("file={},line={},", escaped_github(location->file, true), location->line);
  return fmt::format("::{} {}title={}::{}\n", word, where, escaped_github(title, true), escaped_github(text, false));
}

Json location_json(const Comparison& row, const std::optional<model::Location>& location) {
  Json one = Json::object();
  if (location) {
    one["physicalLocation"] = {{"artifactLocation", {{"uri", location->file}}},
                               {"region", {{"startLine", std::max<std::uint64_t>(location->line, 1)}}}};
  }
  one["logicalLocations"] = Json::array({{{"fullyQualifiedName", row.name}, {"kind", "function"}}});
  return one;
}

}  // namespace

std::string compare_junit(const CompareResult& result, const model::TestLocations& locations) {
  std::string cases;
  std::size_t failures = 0;
  std::size_t skipped = 0;
  for (const Comparison& row : result.rows) {
    const auto [suite, test] = parts_of(row);
    cases += fmt::format(R"(    <testcase classname="{}" name="{}")", escaped_xml(suite), escaped_xml(test));
    if (const auto location = locations.find(row.name)) {
      cases += fmt::format(R"( file="{}" line="{}")", escaped_xml(location->file), location->line);
    }
    const std::vector<std::string_view> by = gate_failures(row, result.gate);
    if (!by.empty()) {
      ++failures;
      const std::string text = escaped_xml(evidence_of_all(row, by));
      cases += fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                           escaped_xml(fmt::format("{}", fmt::join(by, ", "))), text, text);
    } else if (lacks_answer(row, result.gate)) {
      ++skipped;
      cases += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", escaped_xml(no_answer(row)));
    } else {
      cases += "/>\n";
    }
  }
  const std::string counts =
      fmt::format(R"(tests="{}" failures="{}" errors="0" skipped="{}")", result.rows.size(), failures, skipped);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"bench compare\" {}>\n  <testsuite "
      "name=\"syscost\" "
      "{}>\n{}  </testsuite>\n</testsuites>\n",
      counts, counts, cases);
}

std::string compare_sarif(const CompareResult& result, const model::TestLocations& locations) {
  Json rules = Json::array();
  for (const Rule& rule : kRules) {
    rules.push_back({{"id", "syscost/" + std::string(rule.id)},
                     {"shortDescription", {{"text", rule.text}}},
                     {"defaultConfiguration", {{"level", "error"}}}});
  }
  Json results = Json::array();
  for (const Comparison& row : result.rows) {
    for (const std::string_view word : gate_failures(row, result.gate)) {
      const auto rule =
          std::find_if(kRules.begin(), kRules.end(), [&](const Rule& one) { return one.id == word; }) - kRules.begin();
      const std::string id = "syscost/" + std::string(word);
      results.push_back({{"ruleId", id},
                         {"ruleIndex", rule},
                         {"level", "error"},
                         {"message", {{"text", row.name + ": " + evidence(row, word)}}},
                         {"locations", Json::array({location_json(row, locations.find(row.name))})},
                         {"partialFingerprints", {{"syscostTest/v1", id + " " + row.name}}}});
    }
  }
  Json notes = Json::array();
  for (const std::string& warning : result.warnings) {
    notes.push_back({{"level", "warning"}, {"message", {{"text", warning}}}});
  }
  Json run = {
      {"tool", {{"driver", {{"name", "syscost bench"}, {"version", SYSCOST_VERSION}, {"rules", rules}}}}},
      {"invocations", Json::array({{{"executionSuccessful", true}, {"toolExecutionNotifications", std::move(notes)}}})},
      {"results", std::move(results)}};
  return render::dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                       {"version", "2.1.0"},
                       {"runs", Json::array({std::move(run)})}});
}

std::string compare_github(const CompareResult& result, const model::TestLocations& locations) {
  std::string out;
  std::string warnings;
  for (const Comparison& row : result.rows) {
    const std::vector<std::string_view> by = gate_failures(row, result.gate);
    const std::string title = fmt::format("syscost: {}", row.name);
    if (!by.empty()) {
      out += command("error", title, locations.find(row.name), evidence_of_all(row, by));
    } else if (lacks_answer(row, result.gate)) {
      warnings += command("warning", title, locations.find(row.name), no_answer(row));
    }
  }
  for (const std::string& warning : result.warnings) warnings += command("warning", "syscost", {}, warning);
  return out + warnings + command("notice", "syscost", {}, gate_line(result.rows, result.gate));
}

}  // namespace syscost::bench::commands
