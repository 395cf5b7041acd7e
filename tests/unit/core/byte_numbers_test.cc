// SPDX-License-Identifier: MIT
#include "core/bytes.h"

#include <gtest/gtest.h>

#include <sys/syscall.h>

#include <cerrno>
#include <memory_resource>
#include <optional>

namespace syscost {
namespace {

constexpr std::nullopt_t kNone = std::nullopt;

class ByteNumbersTest : public ::testing::Test {
 protected:
  Tally& add(std::uint32_t number, std::uint64_t calls, std::uint64_t bytes, Abi abi = Abi::x86_64) {
    Tally& tally = table_.at({abi, number});
    tally.calls = calls;
    tally.bytes = bytes;
    return tally;
  }

  CallTable table_{std::pmr::get_default_resource()};
};

TEST_F(ByteNumbersTest, KnowsBytesOfSyscallsThatMoveThem) {
  Tally& tally = add(SYS_read, 3, 70);
  tally.short_calls = 2;
  const ByteNumbers numbers = byte_numbers({Abi::x86_64, SYS_read}, tally, BytesKnown::all);
  EXPECT_EQ(numbers.bytes, 70U);
  EXPECT_EQ(numbers.short_calls, 2U);
  EXPECT_EQ(numbers.released, kNone);
  EXPECT_EQ(byte_numbers({Abi::x86_64, SYS_readv}, tally, BytesKnown::all).short_calls, kNone);
  EXPECT_EQ(byte_numbers({Abi::x86_64, SYS_close}, tally, BytesKnown::all).bytes, kNone);
  EXPECT_EQ(byte_numbers({Abi::x86_64, SYS_read}, tally, BytesKnown::none).bytes, kNone);
}

TEST_F(ByteNumbersTest, KnowsOfCallsThatOpenHowManySyncOrNameFilesOfTheKernel) {
  Tally& tally = add(SYS_openat, 3, 0);
  tally.kernel_files = 2;
  tally.sync_opens = 1;
  const auto of = [&](SyscallId id, BytesKnown known) { return byte_numbers(id, tally, known); };
  EXPECT_EQ(of({Abi::x86_64, SYS_openat}, BytesKnown::all).kernel_files, 2U);
  EXPECT_EQ(of({Abi::x86_64, SYS_openat}, BytesKnown::all).sync_opens, 1U);
  EXPECT_EQ(of({Abi::x86_64, 437}, BytesKnown::all).sync_opens, 1U);
  EXPECT_EQ(of({Abi::x86_64, 437}, BytesKnown::but_foreign_lengths).sync_opens, kNone) << "its flags are in memory";
  EXPECT_EQ(of({Abi::x86_64, SYS_openat}, BytesKnown::all).bytes, kNone);
  EXPECT_EQ(of({Abi::x86_64, SYS_openat}, BytesKnown::none).kernel_files, kNone);
  EXPECT_EQ(of({Abi::i386, 295}, BytesKnown::but_foreign_lengths).kernel_files, kNone);
  EXPECT_EQ(of({Abi::x86_64, SYS_creat}, BytesKnown::all).kernel_files, kNone);
}

TEST_F(ByteNumbersTest, KnowsNoLengthsOfAForeignAbiWithoutItsArguments) {
  constexpr SyscallId kForeignRead{Abi::i386, 3};
  constexpr SyscallId kForeignMap{Abi::i386, 192};
  const Tally& tally = add(3, 1, 5, Abi::i386);
  EXPECT_EQ(byte_numbers(kForeignRead, tally, BytesKnown::but_foreign_lengths).bytes, 5U);
  EXPECT_EQ(byte_numbers(kForeignRead, tally, BytesKnown::but_foreign_lengths).short_calls, kNone);
  EXPECT_EQ(byte_numbers(kForeignMap, tally, BytesKnown::but_foreign_lengths).bytes, kNone);
  EXPECT_EQ(byte_numbers(kForeignMap, tally, BytesKnown::all).bytes, 5U);
}

TEST_F(ByteNumbersTest, AddsUpByDirection) {
  add(SYS_read, 1, 1);
  add(SYS_write, 1, 10);
  add(SYS_sendfile, 1, 100);
  add(SYS_mmap, 1, 4096);
  Tally& remapped = add(SYS_mremap, 2, 8192);
  remapped.bytes_released = 4096;
  add(SYS_munmap, 1, 0).bytes_released = 12288;
  const ByteTotals totals = byte_totals(table_, BytesKnown::all);
  EXPECT_EQ(totals.read, 101U);
  EXPECT_EQ(totals.written, 110U);
  EXPECT_EQ(totals.mapped, 12288U);
  EXPECT_EQ(totals.unmapped, 16384U);
}

TEST_F(ByteNumbersTest, HasNoTotalWithACallOfWhichNothingSaysHowMuch) {
  add(SYS_read, 1, 1);
  add(SYS_mmap, 1, 4096);
  Tally& messages = add(SYS_sendmmsg, 1, 0);
  EXPECT_EQ(byte_totals(table_, BytesKnown::all).read, kNone);
  EXPECT_EQ(byte_totals(table_, BytesKnown::all).written, kNone);
  EXPECT_EQ(byte_totals(table_, BytesKnown::all).mapped, 4096U);
  // One that failed moved nothing.
  messages.errors.add(EBADF);
  EXPECT_EQ(byte_totals(table_, BytesKnown::all).read, 1U);
}

TEST_F(ByteNumbersTest, TotalsOfNothingAreZeroAndUnmeasuredOnesEmpty) {
  EXPECT_EQ(byte_totals(table_, BytesKnown::all).read, 0U);
  EXPECT_EQ(byte_totals(table_, BytesKnown::none).read, kNone);
}

}  // namespace
}  // namespace syscost
