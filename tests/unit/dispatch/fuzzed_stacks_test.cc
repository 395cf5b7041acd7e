// SPDX-License-Identifier: MIT
//
// The corpus of the unwinder's fuzzer (tests/fuzz/unwind), and some thousand inputs by chance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "fuzz_unwind.h"

namespace syscost::dispatch {
namespace {

class FuzzedStacks : public testing::Test {
 protected:
  void SetUp() override {
    if (!fuzz::can_unwind()) GTEST_SKIP() << "this C library has no _dl_find_object";
  }
};

TEST_F(FuzzedStacks, OfTheCorpusBreakNothing) {
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(SYSCOST_UNWIND_CORPUS)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    fuzz::unwind_any_stack(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++files;
  }
  EXPECT_GT(files, 0U);
}

TEST_F(FuzzedStacks, UnchangedAreWhole) {
  for (std::uint8_t subject = 0; subject < 16; ++subject) fuzz::unwind_any_stack(&subject, 1);
}

TEST_F(FuzzedStacks, ChangedByChanceBreakNothing) {
  std::mt19937 random(42);
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 5000; ++i) {
    bytes.resize(random() % 60);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::uint8_t>(random()); });
    fuzz::unwind_any_stack(bytes.data(), bytes.size());
  }
}

}  // namespace
}  // namespace syscost::dispatch
