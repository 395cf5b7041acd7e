// SPDX-License-Identifier: MIT
#include "model/test_locations.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "csv/input.h"
#include "model/site.h"

namespace syscost::bench::model {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMostLine = INT32_MAX;  // of a compiler; SARIF takes no more

std::string relative(const std::string& file) {
  std::error_code unknown;
  const std::filesystem::path here = std::filesystem::current_path(unknown);
  const std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  if (unknown || !path.is_absolute()) return path.generic_string();
  const std::filesystem::path below = path.lexically_relative(here);
  const bool is_below = !below.empty() && *below.begin() != "..";
  return (is_below ? below : path).generic_string();
}

}  // namespace

std::string TestLocations::load(const std::string& path) {
  const std::string hint = "write it with `TESTS --gtest_list_tests --gtest_output=json:FILE`";
  csv::Problems unread;
  const std::optional<std::string> text = csv::read_text(path, unread);
  if (!text) return fmt::format("--locations {}: cannot be read; {}", path, hint);
  try {
    const Json json = Json::parse(*text);
    for (const Json& suite : json.at("testsuites")) {
      for (const Json& test : suite.at("testsuite")) {
        if (!test.contains("file") || !test.contains("line")) continue;  // of a GoogleTest before 1.11
        const std::string name = suite.at("name").get<std::string>() + "." + test.at("name").get<std::string>();
        const Json& line = test.at("line");
        if (!line.is_number_unsigned() || line.get<std::uint64_t>() > kMostLine) {
          return fmt::format("--locations {}: \"line\" of {} is no number of a line; {}", path, name, hint);
        }
        tests_[name] = {relative(test.at("file").get<std::string>()), line.get<std::uint64_t>()};
      }
    }
  } catch (const Json::exception&) {
    return fmt::format("--locations {}: not GoogleTest's list of tests as JSON; {}", path, hint);
  }
  return {};
}

std::optional<Location> location_of_site(std::string_view text) {
  Site site = parse_site("at " + std::string(text));
  if (!site.has_line() || site.line == 0 || site.line > kMostLine) return std::nullopt;
  return Location{std::move(site.file), site.line};
}

std::optional<Location> TestLocations::find(std::string_view test) const {
  if (const std::size_t arrow = test.rfind(" -> "); arrow != std::string_view::npos) test.remove_prefix(arrow + 4);
  // `Log.Write, loop f`, `Log.Write (log_tests)`
  const auto found = tests_.find(test.substr(0, test.find_first_of(", (")));
  return found == tests_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace syscost::bench::model
