// SPDX-License-Identifier: MIT
#include "adapters/benchmark/flags.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "adapters/benchmark/hooks.h"
#include "libc/symbols.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
namespace {

std::map<std::string, std::string>& noted() {
  static auto* const flags = new std::map<std::string, std::string>;
  return *flags;
}

bool is_true(const std::string& value) {
  return value.find_first_of("0fFnN") != 0 && value != "off" && value != "OFF" && value != "Off";
}

}  // namespace

void note_flags(int argc, char** argv) {
  const std::string prefix = "--benchmark_";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.compare(0, prefix.size(), prefix) != 0) continue;
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(prefix.size(), equals - std::min(equals, prefix.size()));
    noted()[name] = equals == std::string::npos ? "true" : argument.substr(equals + 1);
  }
}

std::string flag_value(const std::string& name) {
  const auto at = noted().find(name);
  if (at != noted().end()) return at->second;
  std::string variable = "BENCHMARK_";
  for (const char c : name) variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  const char* value = adapter::variable(variable.c_str());
  return value != nullptr ? value : "";
}

bool is_listing() {
  const std::string value = flag_value("list_tests");
  return !value.empty() && is_true(value);
}

bool is_interleaving() {
  const std::string value = flag_value("enable_random_interleaving");
  return !value.empty() && is_true(value);
}

std::int64_t asked_repetitions() {
  return std::max<std::int64_t>(1, SYSCOST_LIBC(strtoll)(flag_value("repetitions").c_str(), nullptr, 10));
}

void set_flags(const std::vector<std::string>& flags) {
  // Google Benchmark keeps a pointer to the first.
  static const std::string program = [] {
    const std::vector<std::string> arguments = adapter::started_with();
    return arguments.empty() ? std::string("benchmark") : arguments.front();
  }();
  std::vector<std::string> words = flags;
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size()) + 1;
  real_initialize(&argc, argv.data());
}

}  // namespace syscost::benchmark_adapter
