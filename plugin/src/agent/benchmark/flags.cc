// SPDX-License-Identifier: MIT
#include "agent/benchmark/flags.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "agent/benchmark/reporters.h"
#include "agent/common/variables.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::agent::benchmark {
namespace {

constexpr std::string_view kPrefix = "--benchmark_";

std::string variable_of(const std::string& name) {
  std::string variable = "BENCHMARK_";
  for (const char c : name) variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return variable;
}

/// The name in `--benchmark_NAME=value`; empty where it is another argument.
std::string name_in(std::string_view argument) {
  if (!argument.starts_with(kPrefix)) return {};
  return std::string(
      argument.substr(kPrefix.size(), argument.find('=') - std::min(argument.find('='), kPrefix.size())));
}

std::map<std::string, std::string>& preload() {
  static auto* const its = new std::map<std::string, std::string>;
  return *its;
}

}  // namespace

std::string flag_value(const std::string& name) {
  const char* const from_environment = adapter::variable(variable_of(name).c_str());
  std::string value = from_environment != nullptr ? from_environment : "";
  for (const std::string& argument : adapter::started_with()) {
    if (name_in(argument) != name) continue;
    const std::size_t equals = argument.find('=');
    value = equals == std::string::npos ? "true" : argument.substr(equals + 1);
  }
  return value;
}

std::int64_t asked_repetitions() {
  return std::max<std::int64_t>(1, std::strtoll(flag_value("repetitions").c_str(), nullptr, 10));
}

const std::map<std::string, std::string>& counting_flags() {
  static const auto* const flags = new std::map<std::string, std::string>{
      {"min_time", reporters().has_skips ? "2s" : "2"},  // since 1.8 it warns if there is no unit
      {"min_warmup_time", "0"},
      {"repetitions", std::to_string(asked_repetitions() + 1)},
      {"enable_random_interleaving", "false"},
      {"report_aggregates_only", "false"},
      {"display_aggregates_only", "false"},
      {"dry_run", "false"},
      {"perf_counters", ""},
      {"out", ""},
  };
  return *flags;
}

void CountingEnvironment::note_preload() {
  for (const char* const name : {"LD_PRELOAD", kPreloadVariable, kNotesVariable, "ASAN_OPTIONS"}) {
    if (const char* const value = std::getenv(name); value != nullptr) preload()[name] = value;
  }
}

CountingEnvironment::CountingEnvironment() {
  std::map<std::string, std::string> wanted = preload();
  for (const auto& [name, value] : counting_flags()) wanted[variable_of(name)] = value;
  for (const auto& [name, value] : wanted) {
    const char* const before = std::getenv(name.c_str());
    was_set_[name] = before != nullptr;
    before_[name] = before != nullptr ? before : "";
    setenv(name.c_str(), value.c_str(), 1);
  }
}

CountingEnvironment::~CountingEnvironment() {
  for (const auto& [name, value] : before_) {
    if (was_set_[name]) {
      setenv(name.c_str(), value.c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
}

void change_arguments(int argc, char** argv) {
  const auto& flags = counting_flags();
  for (int i = 1; i < argc; ++i) {
    const auto flag = flags.find(name_in(argv[i]));
    if (flag == flags.end()) continue;
    auto* const argument = new std::string(std::string(kPrefix) + flag->first + "=" + flag->second);
    argv[i] = argument->data();
  }
}

}  // namespace syscost::agent::benchmark
