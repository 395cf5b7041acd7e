// SPDX-License-Identifier: MIT
//
// Which call sites are proven safe to patch: by made-up code, and in libc.
#include "backends/dispatch/sites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace syscost::dispatch {
namespace {

using Bytes = std::vector<unsigned char>;

const Bytes kMov1 = {0xb8, 1, 0, 0, 0};        // mov $1,%eax
const Bytes kXor = {0x31, 0xc0};               // xor %eax,%eax
const Bytes kSyscall = {0x0f, 0x05};           //
const Bytes kRet = {0xc3};                     //
const Bytes kNop5 = {0x0f, 0x1f, 0x44, 0, 0};  //
const Bytes kNop4 = {0x0f, 0x1f, 0x40, 0};     //
const Bytes kUnknown = {0x06};                 // no instruction of 64-bit code
const Bytes kJumpIndirect = {0xff, 0xe0};      // jmp *%rax
const Bytes kReturnsFromSignal = {0x48, 0xc7, 0xc0, 15, 0, 0, 0};

Bytes join(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Functions and what lies between them, from the beginning of a page on.
class Code {
 public:
  Code() { text_.reserve(sizeof memory_); }

  Code& function(const Bytes& bytes, bool has_landing_pads = false) {
    const std::size_t begin = text_.size();
    gap(bytes);
    functions_.push_back({memory_ + begin, memory_ + text_.size(), has_landing_pads});
    return *this;
  }
  Code& gap(const Bytes& bytes) {
    text_.insert(text_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  /// So that what comes next begins at `offset`.
  Code& fill(std::size_t offset) { return gap(Bytes(offset - text_.size(), 0x06)); }

  Sites prove() {
    std::fill(std::begin(memory_), std::end(memory_), static_cast<unsigned char>(0x06));
    std::copy(text_.begin(), text_.end(), std::begin(memory_));
    known_functions_ = functions_;
    auto find = [](const unsigned char* address) -> std::optional<Function> {
      for (const Function& function : known_functions_) {
        if (address >= function.begin && address < function.end) return function;
      }
      return std::nullopt;
    };
    return prove_sites({memory_, std::end(memory_)}, find);
  }

  static std::ptrdiff_t offset(const unsigned char* address) { return address - memory_; }

 private:
  alignas(4096) static inline unsigned char memory_[8192];
  static inline std::vector<Function> known_functions_;
  Bytes text_;
  std::vector<Function> functions_;
};

/// The offset of the one bridge; -1 = none, -2 = not one site.
std::ptrdiff_t bridge_of(Code code) {
  const Sites sites = code.prove();
  if (sites.total() != 1) return -2;
  if (sites.proven.empty() || sites.proven[0].bridge == nullptr) return -1;
  return Code::offset(sites.proven[0].bridge);
}

/// Why the one site is refused, or "proven".
std::string verdict(Code code) {
  const Sites sites = code.prove();
  if (sites.total() != 1) return std::to_string(sites.total()) + " sites";
  for (std::size_t i = 0; i < kRefusals; ++i) {
    if (sites.refused[i] != 0) return describe(static_cast<Refusal>(i));
  }
  return "proven";
}

const Bytes kRead = join({kXor, kSyscall, kRet});

TEST(Sites, AreProvenByALongInstructionBeforeTheSyscall) {
  const Sites sites = Code().fill(64).function(join({kMov1, kSyscall, kRet})).prove();
  ASSERT_EQ(sites.proven.size(), 1U);
  const Site& site = sites.proven[0];
  EXPECT_EQ(Code::offset(site.displaced), 64);
  EXPECT_EQ(site.displaced_bytes, 5U);
  EXPECT_EQ(Code::offset(site.return_address), 64 + 7);
  EXPECT_EQ(site.bridge, nullptr);
  EXPECT_FALSE(site.is_split);
}

TEST(Sites, ThatCrossACacheLineAreMarked) {
  const Sites sites = Code().fill(61).function(join({kMov1, kSyscall, kRet})).prove();
  ASSERT_EQ(sites.proven.size(), 1U);
  EXPECT_TRUE(sites.proven[0].is_split);
  EXPECT_TRUE(Code().fill(127).function(kRead).gap(kNop5).function(kRet).prove().proven.at(0).is_split);
}

TEST(Sites, ThatCrossACacheLineTakeABridgeWhereThereIsOne) {
  const Sites sites = Code().fill(61).function(join({kMov1, kSyscall, kRet})).gap(kNop5).function(kRet).prove();
  ASSERT_EQ(sites.proven.size(), 1U);
  EXPECT_FALSE(sites.proven[0].is_split);
  EXPECT_EQ(Code::offset(sites.proven[0].bridge), 61 + 8);
}

TEST(Sites, AreRefusedWhereTheInstructionMayNotMove) {
  const std::string moves = describe(Refusal::cannot_move);
  EXPECT_EQ(verdict(Code().fill(64).function(join({{0x8b, 0x05, 0, 0, 0, 0}, kSyscall, kRet}))), moves);  // rip
  EXPECT_EQ(verdict(Code().fill(64).function(join({{0xe8, 0, 0, 0, 0}, kSyscall, kRet}))), moves);        // call
  EXPECT_EQ(verdict(Code().fill(64).function(join({{0x0f, 0x84, 0, 0, 0, 0}, kSyscall, kRet}))), moves);  // je
  EXPECT_EQ(verdict(Code().fill(64).function(join({kSyscall, kRet}))), moves);
  EXPECT_EQ(verdict(Code().fill(64).function(join({kMov1, {0xf4}, kSyscall, kRet}))), moves);  // hlt
}

TEST(Sites, AreRefusedInCodeThatIsNotUnderstood) {
  const std::string unknown = describe(Refusal::unknown_code);
  EXPECT_EQ(verdict(Code().fill(64).gap(join({kMov1, kSyscall, kRet}))), unknown);
  EXPECT_EQ(verdict(Code().fill(64).function(join({kUnknown, kMov1, kSyscall, kRet}))), unknown);
  // A breakpoint that a debugger has left
  EXPECT_EQ(verdict(Code().fill(64).function(join({{0xcc}, kMov1, kSyscall, kRet}))), unknown);
}

TEST(Sites, AreProvenBeforeCodeThatIsNotUnderstood) {
  EXPECT_EQ(verdict(Code().fill(64).function(join({kMov1, kSyscall, kUnknown}))), "proven");
}

TEST(Sites, AreProvenRightAfterTheEndOfAFunction) {
  EXPECT_EQ(verdict(Code().fill(64).function(kMov1).gap(join({kSyscall, kRet}))), "proven");
  EXPECT_EQ(verdict(Code().fill(64).function(join({kMov1, kRet})).gap(join({kSyscall, kRet}))),
            describe(Refusal::unknown_code));
}

TEST(Sites, AreNotInTheMiddleOfAnInstruction) {
  EXPECT_EQ(verdict(Code().fill(64).function(join({{0xb8, 0x0f, 0x05, 0, 0}, kRet}))), "0 sites");
}

TEST(Sites, AreRefusedWhereUnwindersKnowThem) {
  EXPECT_EQ(verdict(Code().fill(64).function(join({kReturnsFromSignal, kSyscall}))), describe(Refusal::ends_a_signal));
}

// ---- bridges --------------------------------------------------------------------------------------------------------

TEST(Bridges, AreFoundBetweenFunctions) {
  EXPECT_EQ(bridge_of(Code().fill(64).function(kRead).gap(kNop5).function(kRet)), 64 + 5);
  EXPECT_EQ(bridge_of(Code().fill(64).function(kRead).gap(Bytes(5, 0xcc)).function(kRet)), 64 + 5);
  EXPECT_EQ(bridge_of(Code().fill(64).function(kRet).gap(kNop5).function(kRead)), 64 + 1);
  // After another function
  EXPECT_EQ(bridge_of(Code().fill(64).function(kRead).gap({0x90}).function(kRet).gap(kNop5).function(kRet)), 64 + 7);
}

TEST(Bridges, AreFoundInsideAFunction) {
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kRead, kNop5, kRet}))), 64 + 5);
  // After a jump
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kXor, kSyscall, {0xeb, 5}, kNop5, kRet}))), 64 + 6);
}

TEST(Bridges, AreSharedByNoTwoSites) {
  Code code;
  code.fill(64).function(join({kXor, kSyscall, kXor, kSyscall, kRet})).gap(join({kNop5, kNop5})).function(kRet);
  const Sites sites = code.prove();
  ASSERT_EQ(sites.proven.size(), 2U);
  EXPECT_EQ(std::abs(sites.proven[0].bridge - sites.proven[1].bridge), 5);
  Code narrow;
  narrow.fill(64).function(join({kXor, kSyscall, kXor, kSyscall, kRet})).gap(join({kNop5, kNop4})).function(kRet);
  EXPECT_EQ(narrow.prove().proven.size(), 1U);
}

constexpr std::ptrdiff_t kNone = -1;

TEST(Bridges, NeedFiveBytesNearby) {
  EXPECT_EQ(bridge_of(Code().fill(64).function(kRead)), kNone);
  EXPECT_EQ(bridge_of(Code().fill(64).function(kRead).gap(kNop4).function(kRet)), kNone);
  const Bytes many(122, 0x99);  // cltd
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kXor, kSyscall, many, kRet})).gap(kNop5).function(kRet)), 191);
  EXPECT_EQ(bridge_of(Code()
                          .fill(64)
                          .function(join({kXor, kSyscall, many, {0x99}, {0x99}, {0x99}, kRet}))
                          .gap(kNop5)
                          .function(kRet)),
            kNone);
}

TEST(Bridges, AreNotWhereCodeFallsInto) {
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kXor, kSyscall, kNop5, kRet}))), kNone);
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kXor, kSyscall})).gap(kNop5).function(kRet)), kNone);
  // A call may return
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kXor, kSyscall, {0xe8, 0, 1, 0, 0}})).gap(kNop5).function(kRet)),
            kNone);
  // A branch may not be taken
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kXor, kSyscall, {0x74, 0x20}})).gap(kNop5).function(kRet)), kNone);
  // The end of the function before is not known
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kUnknown, kRet})).gap(kNop5).function(kRead)), kNone);
}

TEST(Bridges, AreNotWhereSomethingJumps) {
  // Short, to the first and to the last of the five
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({{0x74, 5}, kRead, kNop5, kRet}))), kNone);
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({{0x74, 9}, kRead, kNop5, kRet}))), kNone);
  // To what comes after them
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({{0x74, 10}, kRead, kNop5, kRet}))), 64 + 7);
  // Backwards
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kRead, kNop5, {0xeb, 0xf9}}))), kNone);
  // Long, conditional, and a call; from a function far away
  for (const Bytes& opcode : {Bytes{0xe9}, Bytes{0x0f, 0x8f}, Bytes{0xe8}}) {
    const std::size_t at = 1024;
    const auto distance = static_cast<int>(64 + 5 + 2) - static_cast<int>(at + opcode.size() + 4);
    Bytes jump = opcode;
    for (int i = 0; i < 4; ++i) jump.push_back(static_cast<unsigned char>(distance >> 8 * i));
    EXPECT_EQ(
        bridge_of(Code().fill(64).function(kRead).gap(kNop5).function(kRet).fill(at).function(join({jump, kRet}))),
        kNone);
    // The same bytes in an immediate are no jump.
    Bytes immediate = {0x48, 0xb8};
    immediate.insert(immediate.end(), jump.begin(), jump.end());
    immediate.resize(10);
    const std::size_t later = at - 2;
    EXPECT_EQ(bridge_of(Code().fill(64).function(kRead).gap(kNop5).function(kRet).fill(later).function(
                  join({immediate, kRet}))),
              64 + 5);
    // Unless nothing is known of that code.
    EXPECT_EQ(bridge_of(Code().fill(64).function(kRead).gap(kNop5).function(kRet).fill(later).gap(immediate)), kNone);
  }
}

/// At each place of the text a jump into a bridge is seen: what looks for it reads many bytes at once.
TEST(Bridges, AreNotWhereSomethingJumpsFromAnywhere) {
  for (std::size_t at = 96; at < 8192 - 5; at += at < 400 || at > 7900 ? 1 : 61) {
    Bytes jump = {0xe9};
    const auto distance = static_cast<int>(64 + 5) - static_cast<int>(at + 5);
    for (int i = 0; i < 4; ++i) jump.push_back(static_cast<unsigned char>(distance >> 8 * i));
    Code code;
    code.fill(64).function(kRead).gap(kNop5).function(kRet).fill(at).function(jump);
    ASSERT_EQ(bridge_of(code), kNone) << at;
    // Among many others
    Code crowded;
    crowded.fill(64).function(kRead).gap(kNop5).function(kRet).fill(88);
    Bytes many;
    while (many.size() < at - 88) many.push_back(many.size() % 8 < 4 ? 0xe8 : 0);
    crowded.gap(many).function(jump);
    ASSERT_EQ(bridge_of(crowded), kNone) << at;
  }
}

TEST(Bridges, AreNotInsideAFunctionThatJumpsWhereItLikes) {
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kRead, kNop5, kJumpIndirect}))), kNone);
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kRead, kNop5, kRet}), true)), kNone);
  // Between functions no label is left before padding.
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kXor, kSyscall, kJumpIndirect})).gap(kNop5).function(kRet)), 70);
}

TEST(Bridges, AreNotInsideAFunctionThatIsEnteredByOneThatJumpsWhereItLikes) {
  const Bytes enters = {0xe9, 0x00, 0xfc, 0xff, 0xff};  // to 1024 bytes before its end
  const std::size_t at = 64 + 1024 + 2 - enters.size();
  EXPECT_EQ(bridge_of(Code().fill(64).function(join({kRead, kNop5, kRet})).fill(at).function(enters)), 64 + 5);
  EXPECT_EQ(
      bridge_of(Code().fill(64).function(join({kRead, kNop5, kRet})).fill(at).function(join({enters, kJumpIndirect}))),
      kNone);
}

TEST(Bridges, AreNotInRoomThatOtherPatchersWereGiven) {
  EXPECT_EQ(bridge_of(Code().fill(64).function(kRead).gap(Bytes(14, 0x90)).function(kRet)), kNone);
  EXPECT_EQ(bridge_of(Code().fill(64).function(kRead).gap(join({{0x90}, kNop5})).function(kRet)), 64 + 5);
}

TEST(Bridges, AreNotWhereUnknownCodeMayBe) {
  EXPECT_EQ(bridge_of(Code().fill(64).function(kRead).gap(join({kNop5, kRet, kNop5})).function(kRet)), kNone);
  EXPECT_EQ(bridge_of(Code().fill(64).function(kRead).gap(kNop5)), kNone);
}

}  // namespace
}  // namespace syscost::dispatch
