// SPDX-License-Identifier: MIT
#include "model/site.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "model/test_locations.h"

namespace syscost::bench::model {
namespace {

Site site(const std::string& text) {
  EXPECT_TRUE(is_site(text)) << text;
  return parse_site(text);
}

TEST(Site, HoldsFileLineAndFunction) {
  const Site one = site("at src/log.cc:17 Log::batch+3");
  EXPECT_EQ(one.file, "src/log.cc");
  EXPECT_EQ(one.line, 17U);
  EXPECT_EQ(one.function, "Log::batch");
  EXPECT_EQ(one.line_in_function, 3U);
  EXPECT_EQ(text_of(one), "src/log.cc:17 Log::batch");
}

TEST(Site, MayLackTheFirstLineOfItsFunction) {
  const Site one = site("at src/log.cc:17 Log::batch");
  EXPECT_EQ(one.line, 17U);
  EXPECT_FALSE(one.line_in_function);
  EXPECT_EQ(site("at src/log.cc:17").function, "");
}

TEST(Site, TakesAnOperatorForAFunctionAndNotForALine) {
  EXPECT_EQ(site("at a.cc:1 Vec::operator+").function, "Vec::operator+");
  EXPECT_EQ(site("at a.cc:1 Vec::operator++2").function, "Vec::operator+");
  EXPECT_EQ(site("at a.cc:1 Vec::operator++2").line_in_function, 2U);
  EXPECT_EQ(site("at a.cc:1 Vec::operator++").function, "Vec::operator++");
  EXPECT_EQ(site("at a.cc:1 f()::{lambda(int)#1}::operator()+4").function, "f()::{lambda(int)#1}::operator()");
}

TEST(Site, TakesBlanksAndColonsOfAPath) {
  const Site one = site("at /home/u/my src/a:b.cc:9 ns::f+0");
  EXPECT_EQ(one.file, "/home/u/my src/a:b.cc");
  EXPECT_EQ(one.line, 9U);
  EXPECT_EQ(one.function, "ns::f");
}

TEST(Site, HoldsModuleAndFunctionWithoutLines) {
  const Site one = site("at liblog.so Log::operator new");
  EXPECT_FALSE(one.has_line());
  EXPECT_EQ(one.module, "liblog.so");
  EXPECT_EQ(one.function, "Log::operator new");
  EXPECT_EQ(text_of(one), "liblog.so Log::operator new");
}

TEST(Site, HoldsModuleAndAddressWithoutSymbols) {
  const Site one = site("at libstdc++.so.6+0x1234");
  EXPECT_EQ(one.module, "libstdc++.so.6");
  EXPECT_EQ(one.offset, 0x1234U);
  EXPECT_EQ(text_of(one), "libstdc++.so.6+0x1234");
}

TEST(Site, SaysWhyItIsUnknown) {
  EXPECT_EQ(site("at unknown: no unwind information").unknown, "no unwind information");
  EXPECT_TRUE(site("at unknown").is_unknown());
  EXPECT_TRUE(parse_site("").is_unknown()) << "a call beyond the room for stacks";
  EXPECT_EQ(text_of(site("at unknown: too deep")), "unknown: too deep");
}

TEST(Site, IsNoDetailOfAnIoctl) {
  EXPECT_FALSE(is_site("TCGETS"));
  EXPECT_FALSE(is_site(""));
}

TEST(Site, TakesAnyText) {
  for (const char* text : {"at ", "at :", "at :1", "at  ", "at +0x", "at +0x1", "at a.cc:",
                           "at a.cc:99999999999999999999 f", "at a.cc:1 ", "at x+0xfffffffffffffffff", "at unknown:"}) {
    const Site one = site(text);
    EXPECT_FALSE(text_of(one).empty()) << text;
  }
}

TEST(Site, HasALocationIfItHasALine) {
  const std::optional<Location> one = location_of_site("my src/log.cc:17 Log::batch");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->file, "my src/log.cc");
  EXPECT_EQ(one->line, 17U);
  for (const char* text : {"liblog.so+0x1234", "liblog.so Log::batch", "a.cc:0 f", ""}) {
    EXPECT_FALSE(location_of_site(text)) << text;
  }
}

}  // namespace
}  // namespace syscost::bench::model
