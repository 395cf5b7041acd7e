// SPDX-License-Identifier: MIT
//
// TestLocations: the file and line of each test, as GoogleTest lists them:
// `tests --gtest_list_tests --gtest_output=json:tests.json`.
//
// A row of our CSV does not say where its test is written; GoogleTest does, without running a test.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace syscost::bench::model {

struct Location {
  std::string file;  ///< Relative to the working directory where it lies below it.
  std::uint64_t line = 0;
};

/// The file and line of a site's text (text_of() in site.h): `src/log.cc:17 Log::batch`; none of `liblog.so+0x1234`.
std::optional<Location> location_of_site(std::string_view text);

class TestLocations {
 public:
  /// Reads `path`. Returns its fault as a sentence, or "". You may call it for several files.
  std::string load(const std::string& path);
  /// Finds a test by its name (`Suite.Test`). `Suite.Test, loop f` finds Suite.Test; `A -> B` finds B. None if no file
  /// lists the test.
  std::optional<Location> find(std::string_view test) const;

 private:
  std::map<std::string, Location, std::less<>> tests_;
};

}  // namespace syscost::bench::model
