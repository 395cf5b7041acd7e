// SPDX-License-Identifier: MIT
#include "extras/profilers/bpftrace/bpftrace_output.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "recorded.h"

namespace syscost::profilers {
namespace {

BpftraceOutput parsed(const std::string& text) {
  Result<BpftraceOutput> output = parse_bpftrace_output(text);
  EXPECT_TRUE(output.ok()) << output.failure().reason;
  return output.ok() ? std::move(output.value()) : BpftraceOutput{};
}

/// The entry of map `name` with `key`; the last one, where a map was printed twice.
const MapValue* find(const BpftraceOutput& output, std::string_view name, std::string_view key = "") {
  const MapValue* found = nullptr;
  for (const TracedMap& map : output.maps) {
    for (const MapEntry& entry : map.entries) {
      if (map.name == name && entry.key == key) found = &entry.value;
    }
  }
  return found;
}

template <class Value>
void expect_value(const BpftraceOutput& output, std::string_view name, std::string_view key, const Value& value) {
  const MapValue* found = find(output, name, key);
  ASSERT_NE(found, nullptr) << name << "[" << key << "]";
  ASSERT_TRUE(std::holds_alternative<Value>(*found)) << name << "[" << key << "]: kind " << found->index();
  EXPECT_EQ(std::get<Value>(*found), value) << name << "[" << key << "]";
}

using Buckets = std::vector<HistogramBucket>;

TEST(BpftraceOutput, ReadsScalarsOfEveryKind) {
  const BpftraceOutput output = parsed(recorded("values.txt"));
  expect_value(output, "@count", "", std::int64_t{1});
  expect_value(output, "@i", "", std::int64_t{-5});
  expect_value(output, "@u", "", ~std::uint64_t{0});
  expect_value(output, "@s", "", std::string("he]: llo, x"));
  expect_value(output, "@avg", "", std::int64_t{5});
  expect_value(output, "@st", "", Statistics{1, 5, 5});
  expect_value(output, "@tup", "", std::string("(1, x, (2, 3))"));
}

TEST(BpftraceOutput, ReadsKeysOfSeveralPartsAndWithStringsThatLookLikeTheirEnd) {
  const BpftraceOutput output = parsed(recorded("values.txt"));
  expect_value(output, "@avg2", "1, x", std::int64_t{7});
  expect_value(output, "@st2", "z", Statistics{1, 9, 9});
  expect_value(output, "@mn", "3", std::int64_t{-9});
  expect_value(output, "@enum", "-1", std::int64_t{1});
  expect_value(output, "@k", "a, b, 1", std::int64_t{7});
  expect_value(output, "@k", "c]: d, 2", std::int64_t{8});
  EXPECT_EQ(key_parts("1, -9"), (std::vector<std::string_view>{"1", "-9"}));
  EXPECT_TRUE(key_parts("").empty());
}

TEST(BpftraceOutput, ReadsHistogramsWithNegativeSingleAndSuffixedBuckets) {
  const BpftraceOutput output = parsed(recorded("values.txt"));
  const MapValue* value = find(output, "@h");
  ASSERT_NE(value, nullptr);
  const auto& buckets = std::get<Buckets>(*value);
  ASSERT_EQ(buckets.size(), 34U);
  EXPECT_EQ(buckets[0], (HistogramBucket{std::nullopt, 0, 1}));
  EXPECT_EQ(buckets[1], (HistogramBucket{0, 1, 1}));
  EXPECT_EQ(buckets[2], (HistogramBucket{1, 2, 1}));
  EXPECT_EQ(buckets[3], (HistogramBucket{2, 4, 1}));
  EXPECT_EQ(buckets[12], (HistogramBucket{1024, 2048, 1}));
  EXPECT_EQ(buckets[22], (HistogramBucket{1 << 20, 1 << 21, 1}));
  EXPECT_EQ(buckets[33], (HistogramBucket{std::int64_t{1} << 31, std::int64_t{1} << 32, 4}));
  EXPECT_EQ(total_count(buckets), 10U);
}

TEST(BpftraceOutput, ReadsLinearHistogramsWithOpenEnds) {
  const BpftraceOutput output = parsed(recorded("values.txt"));
  const auto& buckets = std::get<Buckets>(*find(output, "@l"));
  ASSERT_EQ(buckets.size(), 12U);
  EXPECT_EQ(buckets.front(), (HistogramBucket{std::nullopt, 0, 1}));
  EXPECT_EQ(buckets[6], (HistogramBucket{50, 60, 1}));
  EXPECT_EQ(buckets.back(), (HistogramBucket{100, std::nullopt, 1}));
  expect_value(output, "@l2", "q, 4", Buckets{{2000, 3000, 1}});
  expect_value(output, "@big", "", Buckets{{2048, 3072, 1}});
}

TEST(BpftraceOutput, KeepsEmptyMapsApartFromMissingOnes) {
  const BpftraceOutput output = parsed(recorded("values.txt"));
  expect_value(output, "@z", "", std::string());  // zeroed: printed without a bucket
  expect_value(output, "@z2", "1", std::int64_t{0});
  EXPECT_EQ(find(output, "@e"), nullptr);  // cleared: not printed
}

TEST(BpftraceOutput, KeepsPrintedLines) {
  const BpftraceOutput output = parsed(recorded("values.txt"));
  EXPECT_EQ(output.lines, (std::vector<std::string>{"Attaching 1 probe...", "hello 3", "no newline", "12", "5"}));
}

TEST(BpftraceOutput, ReadsStacksAsKeys) {
  const BpftraceOutput output = parsed(recorded("stacks.txt"));
  expect_value(output, "@a",
               "\n    __schedule+1560\n    schedule_idle+30\n    cpu_startup_entry+37\n    rest_init+204\n",
               std::int64_t{1});
  expect_value(output, "@b", "\n    __schedule+1560\n    schedule+35\n, cc1plus", std::int64_t{2});
  expect_value(output, "@c", "bpftrace, \n    epoll_wait+19\n, 5", Buckets{{2, 4, 1}});
  expect_value(output, "@c", "swapper/0, , 5", Buckets{{2, 4, 1}});
  expect_value(output, "@e", "", std::int64_t{2});  // no user stack
  expect_value(output, "@t", "\n    epoll_wait+19\n, \n    __schedule+1560\n", std::int64_t{3});
}

TEST(BpftraceOutput, ReadsStacksAsValues) {
  const BpftraceOutput output = parsed(recorded("stacks.txt"));
  expect_value(output, "@d", "0", std::string("__schedule+1560\nschedule_idle+30"));
  expect_value(output, "@v", "", std::string("__schedule+1560\nschedule+35\nschedule_timeout+119"));
}

TEST(BpftraceOutput, CountsLostEvents) {
  EXPECT_EQ(parsed(recorded("lost_events.txt")).lost_events, 12866U);
  EXPECT_EQ(parsed("Lost 3 events\nLost 4 events\n").lost_events, 7U);
}

TEST(BpftraceOutput, KeepsTheWarningThatAMapWasFull) {
  const BpftraceOutput output = parsed(recorded("full_map.txt"));
  expect_value(output, "@a", "1", std::int64_t{1});
  EXPECT_NE(std::find(output.lines.begin(), output.lines.end(),
                      "full.bt:1:39-52: WARNING: Failed to map_update_elem: Argument list too long (-7)"),
            output.lines.end());
}

// 0.23 leaves out the space in which 0.17 ends the line before a value, and its histograms go on to 2^63.
TEST(BpftraceOutput, ReadsHistogramsOf023) {
  const BpftraceOutput output = parsed(recorded("values_0.23.txt"));
  const MapValue* values = find(output, "@h");
  ASSERT_TRUE(values != nullptr && std::holds_alternative<Buckets>(*values));
  const auto& buckets = std::get<Buckets>(*values);
  EXPECT_EQ(buckets.front(), (HistogramBucket{std::nullopt, 0, 1}));
  EXPECT_EQ(buckets.back(), (HistogramBucket{std::int64_t{4} << 60, std::nullopt, 1}));
  expect_value(output, "@count", "", std::int64_t{1});
  expect_value(output, "@k", "c]: d, 2", std::int64_t{8});
  // Every map of 0.17 is there, and no line of a map was taken for a printed one.
  const BpftraceOutput before = parsed(recorded("values.txt"));
  ASSERT_EQ(output.maps.size(), before.maps.size());
  for (std::size_t i = 0; i < output.maps.size(); ++i) {
    EXPECT_EQ(output.maps[i].name, before.maps[i].name);
    EXPECT_EQ(output.maps[i].entries.size(), before.maps[i].entries.size()) << before.maps[i].name;
  }
  EXPECT_EQ(output.lines.size(), before.lines.size());
}

TEST(BpftraceOutput, ReadsStacksOf023) {
  const BpftraceOutput output = parsed(recorded("stacks_0.23.txt"));
  expect_value(output, "@c", "true, \n, 5", Buckets{{2, 4, 1}});
  expect_value(output, "@d", "14", std::string("__schedule+1560\nschedule+35"));
  EXPECT_EQ(output.lines, std::vector<std::string>{"Attaching 1 probe..."});
}

TEST(BpftraceOutput, TakesAKeysEndForOneOnlyWhereAValueFollows) {
  const BpftraceOutput output = parsed("@s[1]: abc]:\n@h[a]:]:\n[2, 4)                 1 |@@|\n\n");
  expect_value(output, "@s", "1", std::string("abc]:"));
  expect_value(output, "@h", "a]:", Buckets{{2, 4, 1}});
}

TEST(BpftraceOutput, RefusesTextThatEndsInTheMiddleOfALine) {
  const std::string whole = recorded("syslat.txt");
  const Result<BpftraceOutput> cut = parse_bpftrace_output(std::string_view(whole).substr(0, whole.size() - 3));
  EXPECT_FALSE(cut.ok());
}

TEST(BpftraceOutput, NeverReadsAHistogramThatIsCutShort) {
  const std::string whole = recorded("syslat.txt");
  const auto full = std::get<Buckets>(*find(parsed(whole), "@syscall_lat_ns", "1"));
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Result<BpftraceOutput> cut = parse_bpftrace_output(std::string_view(whole).substr(0, size));
    if (!cut.ok()) {
      ++refused;
      continue;
    }
    const MapValue* value = find(cut.value(), "@syscall_lat_ns", "1");
    if (value != nullptr) {
      EXPECT_EQ(std::get<Buckets>(*value), full) << size;
    }
  }
  EXPECT_GT(refused, whole.size() / 2);
}

TEST(BpftraceOutput, RefusesAHistogramThatHoldsSomethingElse) {
  const std::string start = "@h: \n[1]      5 |@@@|\n";
  EXPECT_TRUE(parse_bpftrace_output(start + "\n").ok());
  for (const char* line : {"[2, 4)    x |@@@|\n\n", "hello\n\n", "[2, 4)   5 |@@\n\n", "[2Q, 4)   5 |@@|\n\n",
                           "[2, 4)   -5 |@@|\n\n", "[9223372036854775807K, 4)   5 |@@|\n\n", "[2,4)   5 |@@|\n\n"}) {
    EXPECT_FALSE(parse_bpftrace_output(start + line).ok()) << line;
  }
}

TEST(BpftraceOutput, RefusesAKeyThatNeverEnds) {
  EXPECT_FALSE(parse_bpftrace_output("@a[\n    schedule+35\n").ok());
  EXPECT_FALSE(parse_bpftrace_output("@a[1]: \n").ok());
}

TEST(BpftraceOutput, TakesAddressesForText) {
  EXPECT_EQ(parsed("mail me @home\n@ home\n@x\n").lines.size(), 3U);
  EXPECT_TRUE(parsed("").maps.empty());
}

}  // namespace
}  // namespace syscost::profilers
