// SPDX-License-Identifier: MIT
//
// The picture of a launch: that it is XML, holds what it should, and stays small however large the launch.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "csv/problems.h"
#include "gpu_stamps/show_stamps.h"
#include "gpu_stamps/stamps_reader.h"

namespace syscost::bench::gpu_stamps {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string picture_of(const std::string& name) {
  csv::Problems problems;
  const auto launches = read_stamps(std::string(SYSCOST_GPU_DATA) + "/" + name, problems);
  return stamps_svg(analyze(launches.front()));
}

/// Every element that opens closes, in order.
bool is_balanced(const std::string& svg) {
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-z]+)[^>]*?(/?)>");
  for (std::sregex_iterator it(svg.begin(), svg.end(), tag), end; it != end; ++it) {
    if ((*it)[3].length() != 0) continue;
    if ((*it)[1].length() == 0) {
      open.push_back((*it)[2]);
    } else {
      if (open.empty() || open.back() != (*it)[2]) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

TEST(Picture, HasABarForEachBlockAndMarksTheLateOne) {
  const std::string svg = picture_of("warps.csv");
  EXPECT_TRUE(is_balanced(svg));
  EXPECT_EQ(count(svg, "<title>block "), 24U + 96U);
  EXPECT_EQ(count(svg, "with a straggler"), 1U);
}

TEST(Picture, OfThreadsHasACellForEach) {
  const std::string svg = picture_of("early_return.csv");
  EXPECT_TRUE(is_balanced(svg));
  EXPECT_EQ(count(svg, ", thread "), 256U);
}

TEST(Picture, SaysWhatItCannotDraw) {
  const std::string svg = picture_of("kernelretsnoop.csv");
  EXPECT_TRUE(is_balanced(svg));
  EXPECT_EQ(count(svg, "No timeline: it needs the entry, the exit and the SM of every stamp."), 1U);
  EXPECT_EQ(count(svg, "device not recorded; by how much the timer steps is not recorded"), 1U);
  EXPECT_EQ(count(svg, ">SM "), 0U) << "a row of the timeline that is not there";
  // Both are said only where they are so.
  const std::string whole = picture_of("warps.csv");
  EXPECT_GT(count(whole, ">SM "), 0U);
  EXPECT_EQ(count(whole, "No timeline"), 0U);
  EXPECT_EQ(count(whole, "not recorded"), 0U);
}

TEST(Picture, EscapesNames) {
  gpu::StampedLaunch launch;
  launch.gpu_kernel = "sum<int, 4>&\x01";
  const std::string svg = stamps_svg(analyze(launch));
  EXPECT_TRUE(is_balanced(svg));
  EXPECT_NE(svg.find("sum&lt;int, 4&gt;&amp;\\x01"), std::string::npos);
}

TEST(Picture, OfAHundredThousandWarpsStaysSmall) {
  gpu::StampedLaunch launch;
  launch.level = gpu::Level::warp;
  launch.timer_step_ns = 32;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    gpu::Stamp stamp;
    stamp.block = gpu::Extent3{i, 0, 0};
    stamp.warp = 0;
    stamp.sm = i % 132;
    stamp.entry_ns = 1000 + i / 1056 * 3000;
    stamp.exit_ns = *stamp.entry_ns + 2900 + i % 7 * 64;
    launch.scopes.push_back(stamp);
  }
  const std::string svg = stamps_svg(analyze(launch));
  EXPECT_TRUE(svg.find("a cell is the longest of 13") != std::string::npos);
  EXPECT_LT(svg.size(), std::size_t{8} << 20);
}

}  // namespace
}  // namespace syscost::bench::gpu_stamps
