// SPDX-License-Identifier: MIT
//
// A test program that is asked for a list of its tests, or for help, runs none of them. Its exit code may be the number
// of tests (Catch2 2).
//
// Needs no function of the C++ library.
#pragma once

#include <cstring>
#include <initializer_list>

namespace syscost::agent {

/// True where `argument` is the flag `name`, and its value, if it has one, is none of the words for false.
inline bool is_flag(const char* argument, const char* name) {
  const std::size_t size = std::strlen(name);
  if (std::strncmp(argument, name, size) != 0) return false;
  if (argument[size] == '\0') return true;
  return argument[size] == '=' && (argument[size + 1] == '\0' || std::strchr("0fFnN", argument[size + 1]) == nullptr);
}

/// True where one of a test program's arguments asks for a list, for help or for a number. `mark`: of kFrameworkMarks,
/// the program's; null where it is not known. Catch2 and doctest have one-letter flags for that, which other programs
/// have for something else.
inline bool asks_for_list(char* const* arguments, const char* mark) {
  if (arguments == nullptr || *arguments == nullptr) return false;
  const auto is_of = [&](const char* framework) { return mark != nullptr && std::strstr(mark, framework) != nullptr; };
  const auto is_one_of = [](const char* argument, std::initializer_list<const char*> words) {
    for (const char* const word : words) {
      if (std::strcmp(argument, word) == 0) return true;
    }
    return false;
  };
  for (++arguments; *arguments != nullptr; ++arguments) {
    for (const char* const name :
         {"--gtest_list_tests", "--benchmark_list_tests", "--list-tests", "--list-tags", "--list-reporters",
          "--list-listeners", "--list-test-names-only", "--list-test-cases", "--list-test-suites",
          "--dt-list-test-cases", "--dt-list-test-suites", "--dt-list-reporters"}) {
      if (is_flag(*arguments, name)) return true;
    }
    if (is_one_of(*arguments, {"--help", "-ltc", "-lts", "-lr", "-dt-ltc", "-dt-lts", "-dt-lr"})) return true;
    if (is_of("Catch") && is_one_of(*arguments, {"-l", "-t", "-h", "-?", "--libidentify"})) return true;
    if (!is_of("doctest")) continue;
    if (is_one_of(*arguments, {"-h", "-?", "-v", "-c", "-nr", "-dt-h", "-dt-?", "-dt-v", "-dt-c", "-dt-nr"}))
      return true;
    for (const char* const name :
         {"--version", "--count", "--no-run", "--dt-help", "--dt-version", "--dt-count", "--dt-no-run"}) {
      if (is_flag(*arguments, name)) return true;
    }
  }
  return false;
}

}  // namespace syscost::agent
