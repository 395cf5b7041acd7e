// SPDX-License-Identifier: MIT
//
// The fuzzer's corpus on every machine, without a fuzzer: its own finds and the CSVs of the CLI tests, also cut short
// at many places.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "fuzz_reader.h"

namespace {

namespace fs = std::filesystem;

void read_any(const std::string& text) {
  syscost::bench::fuzz::read_any_bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

TEST(Corpus, IsReadWithoutBreakingAnInvariant) {
  std::size_t files = 0;
  for (const char* folder : {"tests/fuzz/bench/corpus", "tests/cli/data"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SYSCOST_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      SCOPED_TRACE(entry.path());
      read_any(text.str());
      for (std::size_t cut = 1; cut < 6; ++cut) read_any(text.str().substr(0, text.str().size() * cut / 6));
      ++files;
    }
  }
  EXPECT_GT(files, 30U);
}

}  // namespace
