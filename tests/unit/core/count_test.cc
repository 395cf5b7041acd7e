// SPDX-License-Identifier: MIT
//
// A Count without a number must never let an assertion pass for the wrong reason.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <sstream>
#include <string>

#include "syscost/adapter.h"
#include "syscost/cost.h"

namespace syscost {
namespace {

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

Count without_number() {
  return Count(std::make_shared<const Unavailable>(Unavailable{"No backend works here.", "Grant CAP_BPF."}));
}

std::string printed(const Count& count) {
  std::ostringstream out;
  out << count;
  return out.str();
}

// True for the comparisons that hold between `count` and `other`, as a word of six letters.
template <class Other>
std::string holding(const Count& count, const Other& other) {
  std::string forward;
  forward += count == other ? '=' : '.';
  forward += count != other ? '!' : '.';
  forward += count < other ? '<' : '.';
  forward += count <= other ? 'l' : '.';
  forward += count > other ? '>' : '.';
  forward += count >= other ? 'g' : '.';
  // The mirrored operators must say the same.
  std::string mirrored;
  mirrored += other == count ? '=' : '.';
  mirrored += other != count ? '!' : '.';
  mirrored += other > count ? '<' : '.';
  mirrored += other >= count ? 'l' : '.';
  mirrored += other < count ? '>' : '.';
  mirrored += other <= count ? 'g' : '.';
  EXPECT_EQ(forward, mirrored);
  return forward;
}

constexpr const char* kIsEqual = "=..l.g";
constexpr const char* kIsLess = ".!<l..";
constexpr const char* kIsGreater = ".!..>g";

TEST(Count, ComparesWithSignedAndUnsigned) {
  Count three(3);
  EXPECT_EQ(holding(three, 3), kIsEqual);
  EXPECT_EQ(holding(three, 3U), kIsEqual);
  EXPECT_EQ(holding(three, std::uint64_t{3}), kIsEqual);
  EXPECT_EQ(holding(three, static_cast<signed char>(4)), kIsLess);
  EXPECT_EQ(holding(three, std::uint8_t{2}), kIsGreater);
}

TEST(Count, IsGreaterThanEveryNegativeNumber) {
  EXPECT_EQ(holding(Count(0), -1), kIsGreater);
  EXPECT_EQ(holding(Count(kHuge), -1), kIsGreater);
  EXPECT_EQ(holding(Count(kHuge), std::numeric_limits<std::int64_t>::min()), kIsGreater);
}

TEST(Count, IsExactAtTheEndsOfItsRange) {
  EXPECT_EQ(holding(Count(kHuge), kHuge), kIsEqual);
  EXPECT_EQ(holding(Count(kHuge - 1), kHuge), kIsLess);
  EXPECT_EQ(holding(Count(kHuge), std::numeric_limits<std::int64_t>::max()), kIsGreater);
  EXPECT_EQ(holding(Count(0), 0), kIsEqual);
}

TEST(Count, HoldsNoComparisonWithoutANumber) {
  adapter::set_unavailable_handler(nullptr);
  for (int other : {-1, 0, 1}) EXPECT_EQ(holding(without_number(), other), "......");
  EXPECT_EQ(holding(without_number(), kHuge), "......");
}

TEST(Count, ComparesWithAnotherCount) {
  EXPECT_EQ(holding(Count(3), Count(3)), kIsEqual);
  EXPECT_EQ(holding(Count(3), Count(4)), kIsLess);
  EXPECT_EQ(holding(Count(4), Count(3)), kIsGreater);
  adapter::set_unavailable_handler(nullptr);
  EXPECT_EQ(holding(Count(0), without_number()), "......");
  EXPECT_EQ(holding(without_number(), without_number()), "......");
}

TEST(Count, HoldsOnlyWhatALowerBoundProves) {
  const Count five_or_more = Count::at_least(5, 2);
  EXPECT_FALSE(five_or_more.has_value());
  EXPECT_FALSE(five_or_more.value().has_value());
  EXPECT_EQ(five_or_more.value_or(77), 77U);
  EXPECT_EQ(holding(five_or_more, -1), "....>g");
  EXPECT_EQ(holding(five_or_more, 4), "....>g");
  EXPECT_EQ(holding(five_or_more, 5), ".....g");
  EXPECT_EQ(holding(five_or_more, 6U), "......");
  EXPECT_EQ(holding(five_or_more, Count(4)), "....>g");
  EXPECT_EQ(holding(five_or_more, Count(5)), ".....g");
  EXPECT_EQ(holding(five_or_more, Count(6)), "......");
  EXPECT_EQ(holding(Count(4), five_or_more), "..<l..");
  EXPECT_EQ(holding(Count(5), five_or_more), "...l..");
  EXPECT_EQ(holding(Count(6), five_or_more), "......");
  EXPECT_EQ(holding(five_or_more, five_or_more), "......");
  EXPECT_EQ(holding(Count::at_least(0, 1), 0), ".....g");
}

TEST(Count, IsNotExcusedForLostEvents) {
  static bool was_asked;
  was_asked = false;
  adapter::set_unavailable_handler([](const Unavailable&) { return was_asked = true; });
  EXPECT_EQ(holding(Count::at_least(5, 2), 6), "......");
  EXPECT_FALSE(was_asked);
  adapter::set_unavailable_handler(nullptr);
}

TEST(Count, SaysThatItIsALowerBound) {
  EXPECT_EQ(printed(Count::at_least(5, 2)), "at least 5 (2 lost)");
  EXPECT_EQ(Count::at_least(5, 2).unavailable()->reason, "2 events were lost: at least 5.");
}

TEST(Count, MadeOfANullReasonIsNoZero) {
  adapter::set_unavailable_handler(nullptr);
  const Count count{std::shared_ptr<const Unavailable>()};
  EXPECT_FALSE(count.has_value());
  EXPECT_EQ(holding(count, 0), "......");
  EXPECT_EQ(printed(count).substr(0, 5), "n/a (");
}

TEST(Count, HoldsEveryComparisonWhenTheAdapterExcusedIt) {
  static std::string reason;
  adapter::set_unavailable_handler([](const Unavailable& why) {
    reason = why.reason;
    return true;
  });
  EXPECT_EQ(holding(without_number(), 1), "=!<l>g");
  EXPECT_EQ(reason, "No backend works here.");
  // A number needs no excuse.
  EXPECT_EQ(holding(Count(2), 1), kIsGreater);
  adapter::set_unavailable_handler([](const Unavailable&) { return false; });
  EXPECT_EQ(holding(without_number(), 1), "......");
  adapter::set_unavailable_handler(nullptr);
}

TEST(Count, HoldsEveryComparisonWhereTheNumberComesLaterAndSkipsNoTest) {
  static bool was_asked;
  was_asked = false;
  const Count later(std::make_shared<const Unavailable>(Unavailable{"Later.", "Wait.", false, /*comes_later=*/true}));
  EXPECT_EQ(holding(later, 1), "......") << "no framework, no verdict that may wait";
  adapter::set_unavailable_handler([](const Unavailable&) { return was_asked = true; });
  EXPECT_EQ(holding(later, 1), "=!<l>g");
  EXPECT_FALSE(was_asked);
  adapter::set_unavailable_handler(nullptr);
}

TEST(Count, SaysItsNumberOrWhyThereIsNone) {
  EXPECT_EQ(Count(5).value(), 5U);
  EXPECT_EQ(Count(5).value_or(9), 5U);
  EXPECT_EQ(Count(5).unavailable(), nullptr);
  EXPECT_TRUE(Count(0).has_value());
  EXPECT_EQ(without_number().value(), std::nullopt);
  EXPECT_EQ(without_number().value_or(9), 9U);
  ASSERT_NE(without_number().unavailable(), nullptr);
  EXPECT_EQ(without_number().unavailable()->how_to_fix, "Grant CAP_BPF.");
}

TEST(Count, PrintsItsNumberOrReasonAndRemedy) {
  EXPECT_EQ(printed(Count(1024)), "1024");
  EXPECT_EQ(printed(without_number()), "n/a (No backend works here; Grant CAP_BPF)");
  EXPECT_EQ(printed(Count(std::make_shared<const Unavailable>(Unavailable{"No", ""}))), "n/a (No)");
}

}  // namespace
}  // namespace syscost
