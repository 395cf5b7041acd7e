// SPDX-License-Identifier: MIT
//
// Packed rows come out as they went in, with any numbers.
#include "model/row_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace syscost::bench {
namespace {

using model::Measured;
using model::NameId;
using model::RowStore;
using model::SyscallRow;

auto texts_of(const SyscallRow& row) {
  return std::tie(row.sample, row.file, row.line, row.syscall, row.detail, row.classes, row.errnos, row.per_run_errnos,
                  row.histogram);
}

auto numbers_of(const SyscallRow& row) {
  std::vector<std::optional<std::uint64_t>> numbers;
  for (const Measured& one : {row.entries, row.calls, row.restarts, row.in_flight, row.no_return, row.carried_in,
                              row.denied, row.errors, row.per_run_calls, row.per_run_errors, row.latency_count,
                              row.latency_sum_ns, row.latency_min_ns, row.latency_max_ns}) {
    numbers.push_back(one.optional());
  }
  return numbers;
}

void expect_same(const std::vector<SyscallRow>& found, const std::vector<SyscallRow>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(texts_of(found[i]), texts_of(wanted[i])) << i;
    ASSERT_EQ(numbers_of(found[i]), numbers_of(wanted[i])) << i;
  }
}

/// Numbers that are missing, 0, alike, small, and as large as they may be.
SyscallRow any_row(std::mt19937_64& random) {
  SyscallRow row;
  const std::uint64_t before = random() % 3000;
  for (Measured SyscallRow::*number :
       {&SyscallRow::entries, &SyscallRow::calls, &SyscallRow::restarts, &SyscallRow::in_flight, &SyscallRow::no_return,
        &SyscallRow::carried_in, &SyscallRow::denied, &SyscallRow::errors, &SyscallRow::per_run_calls,
        &SyscallRow::per_run_errors, &SyscallRow::latency_count, &SyscallRow::latency_sum_ns,
        &SyscallRow::latency_min_ns, &SyscallRow::latency_max_ns}) {
    switch (random() % 6) {
      case 0:
        break;
      case 1:
        row.*number = Measured(0);
        break;
      case 2:
        row.*number = Measured(before);
        break;
      case 3:
        row.*number = Measured(Measured::kLargest);
        break;
      default:
        row.*number = Measured(random() >> (random() % 64) >> 1U);
    }
  }
  row.errnos = random() % 2 == 0 ? 0 : static_cast<NameId>(random() % 100'000);
  row.per_run_errnos = random() % 4 == 0 ? 1U : 0U;
  row.histogram = random() % 2 == 0 ? 0 : 0xFFFFFFFE;
  return row;
}

/// Rows of `samples` samples, some of which come back later.
std::vector<SyscallRow> many_rows(std::uint32_t samples, std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<SyscallRow> rows;
  std::uint32_t line = 1;
  for (std::uint32_t step = 0; rows.size() < count; ++step) {
    const std::uint32_t sample = step % samples;
    for (NameId call = 1; call <= 1 + random() % 40; ++call) {
      SyscallRow row = any_row(random);
      row.sample = sample;
      row.file = sample % 3;
      row.line = line += random() % 5 == 0 ? 100'000 : 1;
      row.syscall = call + step / samples * 1000;
      row.detail = static_cast<NameId>(random() % 3);
      row.classes = call % 4;
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<SyscallRow> of_sample(const std::vector<SyscallRow>& rows, std::uint32_t sample) {
  std::vector<SyscallRow> out;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
               [&](const SyscallRow& row) { return row.sample == sample; });
  return out;
}

TEST(RowStore, HandsOutWhatWasPutIn) {
  constexpr std::uint32_t kSamples = 50;
  const std::vector<SyscallRow> rows = many_rows(kSamples, 20'000);  // several blocks
  RowStore store;
  for (const SyscallRow& row : rows) ASSERT_FALSE(store.append(row).has_value());
  EXPECT_EQ(store.size(), rows.size());
  store.index(kSamples);
  EXPECT_FALSE(store.samples_to_check().empty()) << "they come back";
  for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
    std::vector<SyscallRow> found;
    store.of(sample, found);
    expect_same(found, of_sample(rows, sample));
  }
}

TEST(RowStore, HandsOutTheEarlierRowOfACallInsteadOfTakingItTwice) {
  RowStore store;
  SyscallRow row;
  for (row.line = 2, row.syscall = 1; row.syscall < 5; ++row.syscall, ++row.line) {
    ASSERT_FALSE(store.append(row).has_value());
  }
  row.syscall = 3;
  row.classes = 9;  // the classes are no part of the key
  const auto earlier = store.append(row);
  ASSERT_TRUE(earlier.has_value());
  EXPECT_EQ(earlier->line, 4U);
  row.detail = 1;
  EXPECT_FALSE(store.append(row).has_value());
  row.sample = 1;
  EXPECT_FALSE(store.append(row).has_value());
  EXPECT_EQ(store.size(), 6U);
}

TEST(RowStore, LeavesTheSamplesThatAreKeptAndPutsOthersInTheirPlace) {
  constexpr std::uint32_t kSamples = 6;
  const std::vector<SyscallRow> rows = many_rows(kSamples, 500);
  RowStore store;
  for (const SyscallRow& row : rows) store.append(row);
  store.keep({RowStore::kNoSample, 0, RowStore::kNoSample, 1, RowStore::kNoSample, 2});
  EXPECT_EQ(store.size(), of_sample(rows, 1).size() + of_sample(rows, 3).size() + of_sample(rows, 5).size());
  store.index(3);
  std::vector<SyscallRow> found;
  store.of(1, found);
  EXPECT_EQ(found.size(), of_sample(rows, 3).size());
  SyscallRow one;
  one.sample = 1;
  one.line = 77;
  store.replace(1, {one});
  store.index(3);
  found.clear();
  store.of(1, found);
  expect_same(found, {one});
  found.clear();
  store.of(2, found);
  EXPECT_EQ(found.size(), of_sample(rows, 5).size());
}

TEST(RowStore, DoesNotTakeARowForTheOneThatItReplaces) {
  RowStore store;
  SyscallRow row;
  row.line = 2;
  row.syscall = 1;
  store.append(row);
  store.index(1);
  row.line = 5;
  store.replace(0, {row});
  store.index(1);
  std::vector<SyscallRow> found;
  store.of(0, found);
  expect_same(found, {row});
  EXPECT_EQ(store.size(), 1U);
}

TEST(RowStore, HasNothingToCheckWhereASampleGoesOnInTheNextBlock) {
  constexpr std::uint32_t kRows = 20'000;  // several blocks
  RowStore store;
  SyscallRow row;
  for (std::uint32_t i = 1; i <= kRows; ++i) {
    row.line = row.syscall = i;
    row.latency_sum_ns = Measured(Measured::kLargest);
    row.latency_max_ns = Measured(Measured::kLargest);
    ASSERT_FALSE(store.append(row).has_value());
  }
  row.syscall = 7;  // of the first block
  const auto earlier = store.append(row);
  ASSERT_TRUE(earlier.has_value());
  EXPECT_EQ(earlier->line, 7U);
  store.index(1);
  EXPECT_TRUE(store.samples_to_check().empty());
}

}  // namespace
}  // namespace syscost::bench
