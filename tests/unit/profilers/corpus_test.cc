// SPDX-License-Identifier: MIT
//
// The parser fuzzer's corpus on every machine, without a fuzzer: its own finds and what bpftrace printed, also cut
// short at every byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz_output.h"

namespace {

namespace fs = std::filesystem;

void read_any(const std::string& text, std::size_t size) {
  syscost::profilers::fuzz::read_any_output(reinterpret_cast<const std::uint8_t*>(text.data()), size);
}

TEST(BpftraceCorpus, IsReadWithoutBreakingAnInvariant) {
  // Whole; and its beginning cut at every byte, which for long texts would say the same again and again.
  constexpr std::size_t kCuts = 600;
  std::size_t files = 0;
  for (const char* folder : {"tests/fuzz/bpftrace/corpus", "tests/unit/profilers/data"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SYSCOST_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      SCOPED_TRACE(entry.path());
      read_any(text, text.size());
      for (std::size_t size = 0; size < std::min(text.size(), kCuts); ++size) read_any(text, size);
      ++files;
    }
  }
  EXPECT_GE(files, 9U) << "the corpus and the recorded outputs";
}

}  // namespace
