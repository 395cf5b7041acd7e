// SPDX-License-Identifier: MIT
#include "core/selector.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "allocation_counter.h"

namespace syscost {
namespace {

SyscallId id_of(std::string_view name) {
  std::optional<SyscallId> id = parse_syscall_name(name);
  EXPECT_TRUE(id.has_value()) << name;
  return id.value_or(kUnknownSyscall);
}

bool selects(std::string_view selector, std::string_view name) {
  Result<Selector> parsed = Selector::parse(selector);
  EXPECT_TRUE(parsed.ok()) << selector << ": " << parsed.failure().reason;
  return parsed.ok() && parsed.value().matches(id_of(name));
}

// "reason how_to_fix" of a selector that must be refused.
std::string refusal(std::string_view selector) {
  Result<Selector> parsed = Selector::parse(selector);
  EXPECT_FALSE(parsed.ok()) << selector;
  return parsed.ok() ? "" : parsed.failure().reason + " " + parsed.failure().how_to_fix;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Selector, ChoosesANameAndNothingElse) {
  EXPECT_TRUE(selects("write", "write"));
  EXPECT_FALSE(selects("write", "writev"));
  EXPECT_FALSE(selects("write", "read"));
}

TEST(Selector, ChoosesANameThroughEveryAbi) {
  EXPECT_TRUE(selects("write", "i386:write"));
  EXPECT_TRUE(selects("write", "x32:write"));
  EXPECT_FALSE(selects("write", "i386:read"));
}

TEST(Selector, ChoosesOneAbiWhenItIsNamed) {
  EXPECT_TRUE(selects("i386:write", "i386:write"));
  EXPECT_FALSE(selects("i386:write", "write"));
}

TEST(Selector, ChoosesNumbersWithoutAName) {
  EXPECT_TRUE(selects("syscall_1000", "syscall_1000"));
  EXPECT_FALSE(selects("syscall_1000", "syscall_1001"));
  // Neither has a name: that makes them no namesakes.
  EXPECT_FALSE(selects("syscall_1000", "i386:syscall_1000"));
  EXPECT_TRUE(selects("unknown", "unknown"));
}

TEST(Selector, ChoosesMembersOfAClass) {
  for (const ClassName& known : kSyscallClasses) {
    Result<Selector> parsed = Selector::parse("%" + std::string(known.word));
    ASSERT_TRUE(parsed.ok()) << known.word;
    for (std::uint32_t number = 0; number < 500; ++number) {
      SyscallId id{Abi::x86_64, number};
      EXPECT_EQ(parsed.value().matches(id), overlaps(syscall_classes(id), known.bit)) << known.word << ' ' << number;
    }
  }
}

TEST(Selector, ChoosesEverythingByAStar) {
  EXPECT_TRUE(selects("*", "read"));
  EXPECT_TRUE(selects("*", "syscall_1000"));
  EXPECT_TRUE(selects("*", "unknown"));
}

TEST(Selector, ChoosesByRegularExpression) {
  EXPECT_TRUE(selects("/^epoll_/", "epoll_wait"));
  EXPECT_TRUE(selects("/^epoll_/", "i386:epoll_wait"));
  EXPECT_FALSE(selects("/^epoll_/", "poll"));
  EXPECT_TRUE(selects("/poll/", "epoll_wait"));
  EXPECT_TRUE(selects("/^i386:/", "i386:write"));
  EXPECT_FALSE(selects("/^i386:/", "write"));
  EXPECT_TRUE(selects("/^syscall_/", "syscall_1000"));
}

TEST(Selector, TakesACommaWithinARegularExpressionAsPartOfIt) {
  EXPECT_TRUE(selects("/^p{0,1}read(v|64)$/,close", "pread64"));
  EXPECT_TRUE(selects("/^p{0,1}read(v|64)$/,close", "readv"));
  EXPECT_TRUE(selects("/^p{0,1}read(v|64)$/,close", "close"));
  EXPECT_TRUE(selects("close,/^p{0,1}readv$/", "readv"));
}

TEST(Selector, ReadsAListFromLeftToRight) {
  EXPECT_TRUE(selects("read,write", "read"));
  EXPECT_TRUE(selects("read,write", "write"));
  EXPECT_FALSE(selects("%desc,!close", "close"));
  EXPECT_TRUE(selects("%desc,!close", "read"));
  EXPECT_TRUE(selects("%desc,!close,close", "close"));
  EXPECT_FALSE(selects("close,!%desc", "close"));
  EXPECT_FALSE(selects("*,!/^epoll/", "epoll_wait"));
}

TEST(Selector, StartsFromAllWhenTheFirstTermRemoves) {
  EXPECT_FALSE(selects("!write", "write"));
  EXPECT_FALSE(selects("!write", "i386:write"));
  EXPECT_TRUE(selects("!write", "read"));
  EXPECT_TRUE(selects("!write", "syscall_1000"));
  EXPECT_TRUE(selects("!%file,openat", "openat"));
  EXPECT_FALSE(selects("!%file,openat", "stat"));
}

TEST(Selector, IgnoresBlanksAroundTerms) {
  EXPECT_TRUE(selects(" read , ! write ", "read"));
  EXPECT_FALSE(selects("* , ! write", "write"));
  EXPECT_TRUE(selects(" /^read$/ ,write", "read"));
}

TEST(Selector, RefusesAMisspeltNameAndSuggestsTheNearest) {
  EXPECT_TRUE(contains(refusal("wriet"), "'wriet' is not a known syscall. Did you mean 'write'?"));
  EXPECT_TRUE(contains(refusal("read,opennat"), "Did you mean 'openat'?"));
  EXPECT_TRUE(contains(refusal("pread"), "Did you mean 'pread64'?"));
  EXPECT_FALSE(contains(refusal("completely_different"), "Did you mean"));
}

TEST(Selector, RefusesAnUnknownClassAndSuggestsTheNearest) {
  EXPECT_TRUE(contains(refusal("%fil"), "'%fil' is not a class of syscalls. Did you mean '%file'?"));
  EXPECT_TRUE(contains(refusal("%"), "is not a class"));
  EXPECT_TRUE(contains(refusal("%File"), "Did you mean '%file'?"));
}

TEST(Selector, RefusesAClassWithoutItsPercentSign) {
  EXPECT_TRUE(contains(refusal("file"), "Did you mean '%file'?"));
  // Also a 32-bit syscall's name.
  EXPECT_TRUE(contains(refusal("signal"), "Did you mean '%signal'?"));
}

TEST(Selector, RefusesNamesThat64BitCodeNeverCalls) {
  EXPECT_TRUE(contains(refusal("waitpid"), "another ABI only"));
  EXPECT_TRUE(contains(refusal("waitpid"), "Write 'i386:waitpid' if that is meant."));
  EXPECT_TRUE(selects("i386:waitpid", "i386:waitpid"));
}

TEST(Selector, RefusesMalformedRegularExpressions) {
  EXPECT_TRUE(contains(refusal("/(/"), "malformed"));
  EXPECT_TRUE(contains(refusal("/[/"), "malformed"));
  EXPECT_TRUE(contains(refusal("/read"), "no closing /"));
  EXPECT_TRUE(contains(refusal("/"), "no closing /"));
  EXPECT_TRUE(contains(refusal("/read\\/"), "malformed"));
  EXPECT_TRUE(contains(refusal("//"), "is empty"));
  EXPECT_TRUE(contains(refusal("/^Write/"), "matches no syscall"));
  // Each of them would use up the stack of a thread.
  EXPECT_TRUE(contains(refusal("/" + std::string(300, 'a') + "/"), "it has 300 characters, and may have 256"));
  EXPECT_TRUE(contains(refusal("/((((a{99}){99}){99}){99})/"), "it repeats too much"));
  EXPECT_TRUE(contains(refusal("/(r)\\1/"), "it has a back reference"));
}

TEST(Selector, RefusesEmptyTerms) {
  for (const char* text : {"", " ", "!", ",", "read,", ",read", "read,,write", "read,!", "! ,read"}) {
    std::string text_of_refusal = refusal(text);
    EXPECT_TRUE(contains(text_of_refusal, "empty")) << text << ": " << text_of_refusal;
    EXPECT_TRUE(contains(text_of_refusal, "%file")) << "teaches the grammar";
  }
}

TEST(Selector, SurvivesAnyBytes) {
  for (const char* text : {"\xff\xfe", "%%", "!!write", "/\\", "/\\/", "/a/b/", "a/b", "*x", "i386:", "%file!"}) {
    EXPECT_FALSE(Selector::parse(text).ok()) << text;
  }
  EXPECT_FALSE(Selector::parse(std::string(100'000, 'a')).ok());
}

TEST(Selector, NeedsNoMallocWithoutARegularExpression) {
  std::array<std::byte, 1024> bytes;
  std::pmr::monotonic_buffer_resource memory(bytes.data(), bytes.size(), std::pmr::null_memory_resource());
  std::size_t before = test::allocation_count();
  {
    Result<Selector> parsed = Selector::parse("%desc,!close,i386:write,*", &memory);
    ASSERT_TRUE(parsed.ok());
    EXPECT_TRUE(parsed.value().matches({Abi::x86_64, 0}));
  }
  EXPECT_EQ(test::allocation_count(), before);
}

}  // namespace
}  // namespace syscost
