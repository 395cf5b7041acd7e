// SPDX-License-Identifier: MIT
#include "core/selector.h"

#include <gtest/gtest.h>

#include "core/syscall_table.h"

namespace syscost {
namespace {

std::shared_ptr<const Filter> filter(std::string_view text) {
  return Filter::parse(text).value();
}
SyscallId id(std::string_view name) {
  return *parse_syscall_name(name);
}
/// The part of `wanted` that a run under `text` did not count.
std::string left_out(std::string_view text, std::string_view wanted) {
  return filter(text)->left_out(Selector::parse(wanted).value());
}

TEST(Filter, SelectsWhatItsSelectorMatchesInEveryTable) {
  EXPECT_TRUE(filter("write")->selects(id("write")));
  EXPECT_TRUE(filter("write")->selects(id("i386:write")));
  EXPECT_FALSE(filter("write")->selects(id("read")));
  EXPECT_TRUE(filter("%file,!open")->selects(id("openat")));
  EXPECT_FALSE(filter("%file,!open")->selects(id("open")));
  EXPECT_EQ(filter("%file,!open")->text(), "%file,!open");
}

TEST(Filter, TellsNumbersBeyondTheTablesApart) {
  EXPECT_TRUE(filter("syscall_5000")->selects({Abi::x86_64, 5000}));
  EXPECT_FALSE(filter("syscall_5000")->selects({Abi::x86_64, 5001}));
  EXPECT_TRUE(filter("syscall_5000")->may_select_beyond());
  EXPECT_TRUE(filter("!write")->may_select_beyond());
  EXPECT_TRUE(filter("unknown")->may_select_beyond());
  EXPECT_FALSE(filter("write,%file")->may_select_beyond());
  EXPECT_FALSE(filter("write,!syscall_5000")->may_select_beyond());
}

TEST(Filter, RefusesATypingError) {
  EXPECT_FALSE(Filter::parse("wriet").ok());
}

TEST(Filter, LeavesOutNothingOfItself) {
  for (const char* text :
       {"*", "write", "%file,!open", "/^epoll_/", "!%wait", "i386:write", "syscall_5000", "unknown"}) {
    EXPECT_EQ(left_out(text, text), "") << text;
  }
  EXPECT_EQ(left_out("%network", "sendto,recvfrom"), "");
}

TEST(Filter, NamesWhatItLeavesOut) {
  EXPECT_EQ(left_out("x32:write,i386:write", "write"), "write");
  EXPECT_EQ(left_out("%desc", "i386:getpid"), "i386:getpid");
  EXPECT_EQ(left_out("read", "write,%network,!%desc,!/./,close,open,stat"), "open, close, stat");
  EXPECT_EQ(left_out("write", "syscall_5000"), "syscall_5000");
  EXPECT_EQ(left_out("*,!syscall_5000", "*"), "syscall_5000");
  EXPECT_EQ(left_out("*,!syscall_700", "*"), "syscall_700");
  EXPECT_NE(left_out("write", "*").find("read, open, close and "), std::string::npos);
}

}  // namespace
}  // namespace syscost
