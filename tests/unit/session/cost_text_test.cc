// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <iterator>
#include <memory>

#include "core/cost_data.h"
#include "core/site_names.h"
#include "extras/where/core/call_stack.h"
#include "syscost/counting.h"

namespace syscost::adapter {
namespace {

Cost sample() {
  auto data = std::make_shared<detail::CostData>(std::pmr::get_default_resource());
  Tally& writes = data->table.at({Abi::x86_64, SYS_write});
  writes.entries = 7;
  writes.calls = 5;
  writes.restarts = 1;
  writes.no_return = 2;
  writes.carried_in = 3;
  writes.denied = 4;
  writes.bytes = 70;
  writes.bytes_released = 4096;
  writes.short_calls = 2;
  writes.kernel_files = 8;
  writes.sync_opens = 9;
  writes.altered = 6;
  data->measured.altered = true;
  data->measured.bytes = BytesKnown::but_foreign_lengths;
  writes.errors.add(EINTR, 1);
  writes.errors.add(EBADF, 2);
  writes.latency.add(520);
  writes.latency.add(70);
  Tally& foreign = data->table.at({Abi::i386, 4});
  foreign.entries = foreign.calls = 1;
  data->programs.at("odd;>. name").at({Abi::x86_64, SYS_write}).entries = 11;
  data->programs.at("b").at({Abi::x86_64, SYS_read}).entries = 12;
  SyscallId request{Abi::x86_64, SYS_ioctl};
  request.detail = {.file = FileKind::character_device,
                    .is_driver_thread = true,
                    .has_command = true,
                    .device = 195U << 20 | 255,
                    .request = 0xc030'462b,
                    .command = 0x40,
                    .status = 0x51};
  data->table.at(request).calls = 6;
  data->late = 8;
  data->lost = 9;
  return Cost(std::move(data));
}

TEST(CostText, ComesBackAsItWas) {
  const Cost before = sample();
  const std::string text = to_text(before);
  EXPECT_EQ(text.find_first_of("\t\n"), std::string::npos) << text;
  const Cost after = cost_from_text(text);
  ASSERT_TRUE(after.available()) << after;
  const detail::CostData& data = *detail::CostAccess::data(after);
  const Tally& writes = *data.table.find({Abi::x86_64, SYS_write});
  EXPECT_EQ(writes.entries, 7U);
  EXPECT_EQ(writes.calls, 5U);
  EXPECT_EQ(writes.restarts, 1U);
  EXPECT_EQ(writes.no_return, 2U);
  EXPECT_EQ(writes.carried_in, 3U);
  EXPECT_EQ(writes.denied, 4U);
  EXPECT_EQ(writes.bytes, 70U);
  EXPECT_EQ(writes.bytes_released, 4096U);
  EXPECT_EQ(writes.short_calls, 2U);
  EXPECT_EQ(writes.kernel_files, 8U);
  EXPECT_EQ(writes.sync_opens, 9U);
  EXPECT_EQ(writes.altered, 6U);
  EXPECT_TRUE(data.measured.altered);
  EXPECT_EQ(data.measured.bytes, BytesKnown::but_foreign_lengths);
  EXPECT_EQ(writes.errors.count(EINTR), 1U);
  EXPECT_EQ(writes.errors.count(EBADF), 2U);
  EXPECT_EQ(writes.latency.count(), 2U);
  EXPECT_EQ(writes.latency.sum_ns(), 590U);
  EXPECT_EQ(writes.latency.min_ns(), 70U);
  EXPECT_EQ(writes.latency.max_ns(), 520U);
  EXPECT_EQ(writes.latency.dense().bucket_count(histogram_bucket(520)), 1U);
  EXPECT_EQ(data.table.find({Abi::i386, 4})->calls, 1U);
  ASSERT_EQ(std::distance(data.programs.begin(), data.programs.end()), 2);
  EXPECT_EQ(data.programs.begin()->program, "odd;>. name");
  EXPECT_EQ(data.programs.begin()->table.find({Abi::x86_64, SYS_write})->entries, 11U);
  EXPECT_EQ(std::next(data.programs.begin())->table.find({Abi::x86_64, SYS_read})->entries, 12U);
  EXPECT_EQ(data.table.size(), 3U);
  for (const auto& [id, tally] : detail::CostAccess::data(before)->table) EXPECT_NE(data.table.find(id), nullptr);
  EXPECT_EQ(data.late, 8U);
  EXPECT_EQ(data.lost, 9U);
  EXPECT_EQ(to_text(after), text);
}

TEST(CostText, CarriesTheSitesOfCalls) {
  auto data = std::make_shared<detail::CostData>(std::pmr::get_default_resource());
  SyscallId write{Abi::x86_64, SYS_write};
  write.detail.origin = number_of_site("at src/log.cc:17 Log::batch+3; or @1:2:so");
  data->table.at(write).calls = 5;
  const std::string text = to_text(Cost(std::move(data)));
  const Cost after = cost_from_text(text);
  ASSERT_TRUE(after.available()) << text;
  EXPECT_EQ(detail::CostAccess::data(after)->table.find(write)->calls, 5U);
  EXPECT_FALSE(
      cost_from_text("5 1 1 1 1 1 2 0 0 ;0 1 0 0 0 0 0 0 0 0 0 7 0 5 0 0 0 0 0 0 0 0 |||0 0 0 0 .").available())
      << "a site without a text";
}

TEST(CostText, KeepsWhatWasNotMeasuredUnknown) {
  auto data = std::make_shared<detail::CostData>(std::pmr::get_default_resource());
  data->measured = {.entries = true, .calls = false, .errors = false, .latency = false};
  const Cost after = cost_from_text(to_text(Cost(std::move(data))));
  EXPECT_EQ(after.entries().value(), 0U);
  EXPECT_FALSE(after.calls().has_value());
  EXPECT_FALSE(after.kernel_ns().has_value());
}

TEST(CostText, IsNoNumberWhenItWasCutOrIsSomethingElse) {
  const std::string text = to_text(sample());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(cost_from_text(text.substr(0, size)).available()) << text.substr(0, size);
  }
  for (const char* bad : {"", "4 1 1 1 1 1 0 0 0 .", "hello", "5 1 1 1 1 1 2 0 0 x.", "5 1 1 1 1 1 3 0 0 .",
                          "5 1 1 1 1 1 2 0 0 ;9 9 ."}) {
    EXPECT_FALSE(cost_from_text(bad).available()) << bad;
  }
}

TEST(CostSum, AddsEveryPartAndKeepsAReason) {
  const Cost twice = sum({sample(), sample()});
  EXPECT_EQ(detail::CostAccess::data(twice)->table.find({Abi::x86_64, SYS_write})->calls, 10U);
  EXPECT_EQ(twice.lost().value(), 34U);  // late ones are lost to the counts too
  const Cost none = sum({sample(), Cost(Unavailable{"Because.", ""})});
  ASSERT_FALSE(none.available());
  EXPECT_EQ(none.unavailable()->reason, "Because.");
}

}  // namespace
}  // namespace syscost::adapter
