// SPDX-License-Identifier: MIT
//
// The facts that are proven of the libc that is here.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "backends/dispatch/patches.h"
#include "backends/dispatch/sites.h"
#include "opened.h"

#if SYSCOST_HAS_ZYDIS
#include <Zydis/Zydis.h>
#endif

namespace syscost::dispatch {
namespace {

/// Each function of libc that the unwind tables know.
std::vector<Function> functions_of_libc() {
  std::vector<Function> all;
  const Text text = libc_text();
  for (const unsigned char* at = text.begin; at < text.end;) {
    const std::optional<Function> function = find_function(at);
    if (function.has_value()) all.push_back(*function);
    at = function.has_value() ? function->end : at + 1;
  }
  return all;
}

/// Where other threads were running, a test before these has left bridges: this takes them away.
class LibcSites : public testing::Test {
 protected:
  void SetUp() override {
    if (Patches::obstacle().empty()) OpenedDispatch();
  }
};

TEST_F(LibcSites, AreNearlyAllProven) {
  const Text text = libc_text();
  ASSERT_NE(text.begin, nullptr);
  const Sites sites = prove_sites(text, find_function);
  EXPECT_GT(sites.total(), 200U);
  // 0.96 of glibc 2.36, 0.95 of 2.41, as Debian builds them.
  EXPECT_GE(static_cast<double>(sites.proven.size()), 0.9 * static_cast<double>(sites.total()));
  RecordProperty("proven", static_cast<int>(sites.proven.size()));
  RecordProperty("sites", static_cast<int>(sites.total()));
  for (const Site& site : sites.proven) {
    EXPECT_EQ(site.displaced + site.displaced_bytes + 2, site.return_address);
    EXPECT_EQ(site.return_address[-2], 0x0f);
    EXPECT_EQ(site.return_address[-1], 0x05);
    EXPECT_GE(site.displaced_bytes, site.bridge == nullptr ? kJumpBytes : kShortJumpBytes);
    if (site.bridge == nullptr) continue;
    EXPECT_LE(site.bridge - site.displaced - 2, 127);
    EXPECT_GE(site.bridge - site.displaced - 2, -128);
  }
}

TEST_F(LibcSites, HaveReadAmongThem) {
  const Sites sites = prove_sites(libc_text(), find_function);
  const auto* const read_begin = reinterpret_cast<const unsigned char*>(&::read);
  const std::optional<Function> function = find_function(read_begin);
  ASSERT_TRUE(function.has_value());
  const bool has_call = !read_code(*function, libc_text()).calls.empty();
  if (!has_call) GTEST_SKIP() << "read makes its call elsewhere in this libc";
  EXPECT_TRUE(std::any_of(sites.proven.begin(), sites.proven.end(), [&](const Site& site) {
    return site.displaced >= function->begin && site.displaced < function->end;
  }));
}

/// Another look at all code: no direct jump leads into a bridge, and nothing falls into one.
TEST_F(LibcSites, HaveBridgesThatNoJumpReaches) {
  const Text text = libc_text();
  std::map<const unsigned char*, const Site*> bridges;
  const Sites sites = prove_sites(text, find_function);
  for (const Site& site : sites.proven) {
    if (site.bridge != nullptr) bridges[site.bridge] = &site;
  }
  auto bridge_at = [&](const unsigned char* target) {
    const auto next = bridges.upper_bound(target);
    return next != bridges.begin() && target < std::prev(next)->first + kJumpBytes;
  };
  for (const Function& function : functions_of_libc()) {
    for (const unsigned char* at = function.begin; at < function.end;) {
      const Instruction here = decode(at, function.end);
      if (here.bytes == 0) break;
      const unsigned char* const next = at + here.bytes;
      const bool is_direct = here.flow == Flow::jump || here.flow == Flow::branch ||
                             (here.flow == Flow::call && (*at == 0xe8 || at[1] == 0xe8));
      if (is_direct) {
        const bool is_long = *at == 0xe8 || *at == 0xe9 || (here.bytes >= 6 && next[-5] >= 0x80);
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): the processor extends the sign, too
        std::int32_t distance = static_cast<std::int8_t>(next[-1]);
        if (is_long || here.bytes >= 5) __builtin_memcpy(&distance, next - 4, 4);
        EXPECT_FALSE(bridge_at(next + distance)) << std::hex << at - text.begin;
      }
      if (!here.never_goes_on()) {
        EXPECT_FALSE(bridge_at(next)) << std::hex << at - text.begin;
      }
      at = next;
    }
  }
}

#if SYSCOST_HAS_ZYDIS
Flow flow_of(const ZydisDecodedInstruction& decoded) {
  switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return Flow::call;
    case ZYDIS_CATEGORY_COND_BR:
      return Flow::branch;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return decoded.opcode == 0xff ? Flow::indirect_jump : Flow::jump;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_INTERRUPT:
      return Flow::kernel;
    case ZYDIS_CATEGORY_RET:
      return Flow::ends;
    default:
      return decoded.mnemonic == ZYDIS_MNEMONIC_UD2 || decoded.mnemonic == ZYDIS_MNEMONIC_HLT ? Flow::ends : Flow::next;
  }
}

using Instructions = LibcSites;

/// All that Zydis knows as well must be known the same; fewer nops may be known as nops.
void expect_same(const Instruction& ours, const ZydisDecodedInstruction& decoded) {
  EXPECT_EQ(ours.bytes, decoded.length);
  EXPECT_EQ(ours.flow, flow_of(decoded));
  const bool is_relative = (decoded.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0;
  EXPECT_TRUE(ours.flow != Flow::next || ours.is_relative == is_relative);
  EXPECT_TRUE(!ours.is_nop || decoded.mnemonic == ZYDIS_MNEMONIC_NOP);
}

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += {kDigits[bytes[i] >> 4], kDigits[bytes[i] & 15], ' '};
  }
  return text;
}

TEST_F(Instructions, AreDecodedAsZydisDoes) {
  ZydisDecoder decoder;
  ASSERT_TRUE(ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
  std::size_t compared = 0;
  std::size_t unknown = 0;
  for (const Function& function : functions_of_libc()) {
    for (const unsigned char* at = function.begin; at < function.end;) {
      ZydisDecodedInstruction decoded;
      const auto left = static_cast<std::size_t>(function.end - at);
      if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, at, left, &decoded))) break;
      const Instruction ours = decode(at, function.end);
      if (ours.bytes == 0) {
        ++unknown;
      } else {
        ++compared;
        expect_same(ours, decoded);
        EXPECT_EQ(ours.is_nop, decoded.mnemonic == ZYDIS_MNEMONIC_NOP);
        ASSERT_FALSE(HasFailure()) << hexadecimal(at, decoded.length);
      }
      at += decoded.length;
    }
  }
  EXPECT_GT(compared, 100'000U);
  EXPECT_LT(unknown, compared / 1000);
  RecordProperty("unknown", static_cast<int>(unknown));
}

/// Other libraries have other instructions, and what is not an instruction must not make the decoder read beyond the
/// end.
TEST_F(Instructions, OfRandomBytesAreDecodedAsZydisDoes) {
  ZydisDecoder decoder;
  ASSERT_TRUE(ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
  constexpr unsigned char kBegins[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x64, 0x48, 0x41, 0x4c,
                                       0x0f, 0x0f, 0x0f, 0xc5, 0xc4, 0x62, 0xff, 0xf7, 0xf6, 0xc7};
  std::mt19937_64 random(1);
  for (int i = 0; i < 300'000; ++i) {
    unsigned char bytes[16];
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    for (std::uint64_t k = 0, count = random() % 4; k < count; ++k) bytes[k] = kBegins[random() % sizeof kBegins];
    const std::size_t left = random() % 4 == 0 ? 1 + random() % kLongestInstruction : kLongestInstruction;
    const Instruction ours = decode(bytes, bytes + left);
    ASSERT_LE(ours.bytes, left);
    ZydisDecodedInstruction decoded;
    const bool is_known = ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, bytes, left, &decoded));
    if (ours.bytes == 0 || !is_known) continue;
    expect_same(ours, decoded);
    ASSERT_FALSE(HasFailure()) << hexadecimal(bytes, decoded.length);
  }
}
#endif

}  // namespace
}  // namespace syscost::dispatch
