// SPDX-License-Identifier: MIT
//
// The fuzzer's corpus on every machine, without a fuzzer: its own finds and the CSVs of the CLI tests, also cut short
// at many places.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "fuzz_reader.h"
#include "fuzz_sched.h"
#include "fuzz_trace.h"

namespace {

namespace fs = std::filesystem;

void read_any(const std::string& text) {
  syscost::bench::fuzz::read_any_bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void read_any_trace(const std::string& text) {
  syscost::bench::fuzz::read_any_trace(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

void read_any_sched(const std::string& text) {
  syscost::bench::fuzz::read_any_sched(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

TEST(Corpus, OfSchedulersEventsIsReadWithoutBreakingAnInvariant) {
  std::size_t files = 0;
  for (const char* folder : {"tests/fuzz/sched/corpus", "tests/cli/data/sched"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SYSCOST_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = text_of(entry.path());
      SCOPED_TRACE(entry.path());
      // Each line left out, and twice.
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
        read_any_sched(text.substr(0, at) + text.substr(next));
        read_any_sched(text.substr(0, next) + text.substr(at));
        at = next;
      }
      read_any_sched(text);
      ++files;
    }
  }
  EXPECT_GT(files, 10U);
}

TEST(Corpus, OfTracesIsReadWithoutBreakingAnInvariant) {
  std::size_t files = 0;
  for (const char* folder : {"tests/fuzz/trace/corpus", "tests/cli/data/traces"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SYSCOST_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = text_of(entry.path());
      SCOPED_TRACE(entry.path());
      // Cut and changed at each byte.
      for (std::size_t at = 0; at <= text.size(); ++at) {
        read_any_trace(text.substr(0, at));
        std::string changed = text;
        if (at < text.size()) changed[at] = static_cast<char>(changed[at] ^ 0x2b);
        read_any_trace(changed);
      }
      ++files;
    }
  }
  EXPECT_GT(files, 10U);
}

TEST(Corpus, IsReadWithoutBreakingAnInvariant) {
  std::size_t files = 0;
  for (const char* folder : {"tests/fuzz/bench/corpus", "tests/cli/data"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SYSCOST_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = text_of(entry.path());
      SCOPED_TRACE(entry.path());
      read_any(text);
      for (std::size_t cut = 1; cut < 6; ++cut) read_any(text.substr(0, text.size() * cut / 6));
      ++files;
    }
  }
  EXPECT_GT(files, 30U);
}

}  // namespace
