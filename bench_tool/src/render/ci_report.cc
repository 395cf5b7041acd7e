// SPDX-License-Identifier: MIT
#include "render/ci_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "csv/text.h"
#include "render/json.h"
#include "render/svg.h"

namespace syscost::bench::render {
namespace {

/// GitHub's escapes: a message ends at a line feed, a property also at a comma. Logs show the rest as a terminal does.
std::string escaped_github(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : csv::printable_lines(text)) {
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

/// A path as a URI reference: `src/log.cc`, `file:///src/log.cc`.
std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("/-._~+").find(c) != std::string_view::npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

Json location_json(const CiCase& one, const std::optional<model::Location>& location) {
  Json out = Json::object();
  if (location) {
    out["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(location->file)}}},
                               {"region", {{"startLine", std::max<std::uint64_t>(location->line, 1)}}}};
  }
  out["logicalLocations"] = Json::array({{{"fullyQualifiedName", one.name}, {"kind", "function"}}});
  return out;
}

/// Returns the location of `failure`, else of the first failure that has one, else of the test.
std::optional<model::Location> nearest_location(const CiCase& one, const CiFailure* failure) {
  if (failure != nullptr) return failure->location ? failure->location : one.location;
  const auto found = std::find_if(one.failures.begin(), one.failures.end(),
                                  [](const CiFailure& other) { return other.location.has_value(); });
  return found == one.failures.end() ? one.location : found->location;
}

/// The tests of a cause, each with its own failure; null if it is none.
Json related_json(const CiCase& one) {
  Json related = Json::array();
  for (const CiCase& test : one.tests) {
    Json location = location_json(test, nearest_location(test, nullptr));
    location["message"] = {{"text", test.name + ": " + test.failures.front().text}};
    related.push_back(std::move(location));
  }
  return related;
}

std::string texts_of(const CiCase& one) {
  std::vector<std::string_view> texts;
  for (const CiFailure& failure : one.failures) texts.emplace_back(failure.text);
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string rules_of(const CiCase& one) {
  std::vector<std::string_view> rules;
  for (const CiFailure& failure : one.failures) rules.push_back(failure.rule);
  return fmt::format("{}", fmt::join(rules, ", "));
}

}  // namespace

std::string junit(const CiReport& report) {
  std::string cases;
  std::size_t failures = 0;
  std::size_t skipped = 0;
  for (const CiCase& one : report.cases) {
    cases += fmt::format(R"(    <testcase classname="{}" name="{}")", escaped_xml(one.suite), escaped_xml(one.test));
    if (one.location) {
      cases += fmt::format(R"( file="{}" line="{}")", escaped_xml(one.location->file), one.location->line);
    }
    if (!one.failures.empty()) {
      ++failures;
      const std::string text = escaped_xml(texts_of(one));
      cases += fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                           escaped_xml(rules_of(one)), text, text);
    } else if (!one.no_answer.empty() || !one.let_off.empty()) {
      ++skipped;
      cases += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n",
                           escaped_xml(one.no_answer.empty() ? one.let_off : one.no_answer));
    } else if (!one.warning.empty() || !one.accepted.empty()) {
      cases += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n",
                           escaped_xml(one.warning.empty() ? one.accepted : one.warning));
    } else {
      cases += "/>\n";
    }
  }
  const std::string counts =
      fmt::format(R"(tests="{}" failures="{}" errors="0" skipped="{}")", report.cases.size(), failures, skipped);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}>\n  <testsuite name=\"syscost\" "
      "{}>\n{}  </testsuite>\n</testsuites>\n",
      escaped_xml(report.command), counts, counts, cases);
}

std::string sarif(const CiReport& report) {
  Json rules = Json::array();
  for (const CiRule& rule : report.rules) {
    rules.push_back({{"id", "syscost/" + std::string(rule.id)},
                     {"shortDescription", {{"text", rule.text}}},
                     {"defaultConfiguration", {{"level", report.level}}}});
  }
  Json results = Json::array();
  Json notes = Json::array();
  for (const CiCase& one : report.cases) {
    for (const CiFailure& failure : one.failures) {
      const auto rule = std::find_if(report.rules.begin(), report.rules.end(),
                                     [&](const CiRule& known) { return known.id == failure.rule; });
      const std::string id = "syscost/" + std::string(failure.rule);
      const bool is_cause = !one.tests.empty();
      const CiCase& place = is_cause ? one.tests.front() : one;
      results.push_back({{"ruleId", id},
                         {"ruleIndex", rule - report.rules.begin()},
                         {"level", one.is_note ? "note" : report.level},
                         {"message", {{"text", (is_cause ? "" : one.name + ": ") + failure.text}}},
                         {"locations", Json::array({location_json(place, nearest_location(one, &failure))})},
                         {"partialFingerprints", {{"syscostTest/v1", id + " " + (is_cause ? one.id : one.name)}}}});
      if (is_cause) results.back()["relatedLocations"] = related_json(one);
    }
    if (!one.accepted.empty()) {
      notes.push_back({{"level", "note"}, {"message", {{"text", one.name + ": " + one.accepted}}}});
    }
    if (one.warning.empty()) continue;
    notes.push_back({{"level", "warning"}, {"message", {{"text", one.name + ": " + one.warning}}}});
  }
  for (const std::string& warning : report.warnings) {
    notes.push_back({{"level", "warning"}, {"message", {{"text", warning}}}});
  }
  Json run = {
      {"tool", {{"driver", {{"name", "syscost bench"}, {"version", SYSCOST_VERSION}, {"rules", rules}}}}},
      {"invocations", Json::array({{{"executionSuccessful", true}, {"toolExecutionNotifications", std::move(notes)}}})},
      {"results", std::move(results)}};
  return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
               {"version", "2.1.0"},
               {"runs", Json::array({std::move(run)})}});
}

std::string github_commands(const CiReport& report) {
  std::string errors;
  std::string warnings;
  std::string notices;
  for (const CiCase& one : report.cases) {
    const std::string title = fmt::format("syscost: {}", one.name);
    if (!one.failures.empty()) {
      errors += command(one.is_note ? "notice" : report.level, title, nearest_location(one, nullptr), texts_of(one));
    } else if (!one.no_answer.empty() || !one.warning.empty()) {
      warnings += command("warning", title, one.location, one.no_answer.empty() ? one.warning : one.no_answer);
    } else if (!one.accepted.empty()) {
      notices += command("notice", title, one.location, one.accepted);
    }
  }
  for (const std::string& warning : report.warnings) warnings += command("warning", "syscost", {}, warning);
  return errors + warnings + notices + command("notice", "syscost", {}, report.totals);
}

}  // namespace syscost::bench::render
