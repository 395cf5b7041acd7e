// SPDX-License-Identifier: MIT
//
// A name of its own for each test, where several tests of a program have one name: `opens`, `opens#2`.
//
// Frameworks allow equal names: of tests with other tags, in other files, or in other suites if name and suite are put
// together. Rows with one name would be added up as repetitions of one test. The number must be the same if only some
// of the tests run, in any order, or each in a process of its own. So it comes from all tests that the program has, in
// the order of their files and lines. Where a framework does not show them all, it is the order of their first runs.
//
// C++17, as adapters that are compiled in users' builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::names {

/// The features that tell a test from others of its name. Tests without any of it are taken for one.
struct TestPlace {
  const void* object = nullptr;  ///< The framework's, if it stays where it is.
  std::string file;
  std::uint64_t line = 0;
};

/// One thread.
class EqualNames {
 public:
  /// All tests of the program, chosen or not, in the order in which they were registered. Once, before the first of()
  /// if possible.
  void set_all(std::size_t count, const std::function<std::string(std::size_t)>& name_of,
               const std::function<TestPlace(std::size_t)>& place_of);

  /// False: numbers are in the order of the first runs.
  bool has_all() const { return has_all_; }

  /// The name of its own of a test that starts: `name`, or `name#2`.
  std::string of(const std::string& name, const TestPlace& place);

 private:
  struct Test {
    TestPlace place;
    std::string own_name;
    std::uint64_t starts = 0;
  };

  std::string free_name(const std::string& name);
  static Test* find(std::vector<Test>& tests, const TestPlace& place);

  bool has_all_ = false;
  /// Names that look the same in a file are one here. Only names with several tests, unless has_all_ is false.
  std::map<std::string, std::vector<Test>> tests_;
  std::set<std::string> taken_;  ///< Names that look like one of ours, and those that we gave.
};

}  // namespace syscost::names
