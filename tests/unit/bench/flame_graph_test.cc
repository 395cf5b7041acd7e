// SPDX-License-Identifier: MIT
#include "render/svg.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace syscost::bench::render {
namespace {

std::size_t times(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

class Picture : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "syscost-picture-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(Picture, ReplacesAPictureAndNothingElse) {
  const std::string path = folder_ / "a.svg";
  EXPECT_EQ(write_picture(path, svg_head(1, 2) + "</svg>"), "");
  EXPECT_EQ(write_picture(path, svg_head(3, 4) + "</svg>"), "");
  EXPECT_EQ(text_of(path), svg_head(3, 4) + "</svg>");
  std::ofstream(folder_ / "out.csv") << "schema_version,";
  EXPECT_NE(write_picture(folder_ / "out.csv", svg_head(3, 4)).find("is no picture of bench"), std::string::npos);
  EXPECT_EQ(text_of(folder_ / "out.csv"), "schema_version,");
}

TEST_F(Picture, IsNotWrittenThroughALink) {
  std::ofstream(folder_ / "other");
  std::filesystem::create_symlink(folder_ / "other", folder_ / "a.svg");
  EXPECT_NE(write_picture(folder_ / "a.svg", svg_head(1, 2)), "");
  EXPECT_EQ(text_of(folder_ / "other"), "");
}

TEST_F(Picture, MayGoToNoFileAtAll) {
  EXPECT_EQ(write_picture("/dev/null", svg_head(1, 2)), "");
}

TEST(FlameGraph, ReadsFoldedStacks) {
  const auto stack = parse_folded("main;Log::batch;operator new(unsigned long);write src/log.cc:17 100");
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->calls, 100U);
  ASSERT_EQ(stack->frames.size(), 4U);
  EXPECT_EQ(stack->frames[2], "operator new(unsigned long)");
  EXPECT_EQ(stack->frames[3], "write src/log.cc:17");
}

TEST(FlameGraph, RefusesOtherLines) {
  for (const char* line : {"", "main", "main ", " 1", "main -1", "main 1x", "main 99999999999999999999"}) {
    EXPECT_FALSE(parse_folded(line)) << line;
  }
}

TEST(FlameGraph, JoinsStacksWithTheSameBeginning) {
  const std::string svg = flame_svg("title", {{{"main", "f", "write"}, 3}, {{"main", "g"}, 1}});
  EXPECT_EQ(times(svg, "<g>"), 5U) << "all, main, f, write, g";
  EXPECT_NE(svg.find("<title>main: 4 calls (100.0 %)</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>write: 3 calls (75.0 %)</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>g: 1 call (25.0 %)</title>"), std::string::npos);
}

TEST(FlameGraph, WritesNamesThatAreNoMarkup) {
  const std::string svg = flame_svg("<t>", {{{"f<int>", "a&\"b"}, 1}});
  EXPECT_EQ(svg.find("f<int>"), std::string::npos);
  EXPECT_NE(svg.find("f&lt;int&gt;"), std::string::npos);
  EXPECT_EQ(svg.find("a&\""), std::string::npos);
}

TEST(FlameGraph, SaysWhatIsTooNarrow) {
  const std::string svg = flame_svg("t", {{{"wide"}, 1'000'000}, {{"narrow"}, 1}});
  EXPECT_EQ(times(svg, "<g>"), 2U);
  EXPECT_NE(svg.find("1000001 calls; a box is as wide as the calls from it are many; 1 are too narrow"),
            std::string::npos);
}

TEST(FlameGraph, DrawsAStackOfAnyDepth) {
  EXPECT_EQ(times(flame_svg("t", {{std::vector<std::string>(100'000, "f"), 1}}), "<g>"), 501U);
}

}  // namespace
}  // namespace syscost::bench::render
