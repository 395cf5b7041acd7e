// SPDX-License-Identifier: MIT
#include "model/choice.h"

#include <gtest/gtest.h>

namespace syscost::bench {
namespace {

/// Which of a few syscalls `text` chooses, as "read write ioctl"; or its fault.
std::string chosen(std::string_view text) {
  struct Row {
    const char *name, *detail, *classes;
  };
  std::string fault;
  const auto choice = model::SyscallChoice::parse(text, fault);
  EXPECT_EQ(choice.has_value(), fault.empty());
  if (!choice) return fault;
  std::string out;
  for (const Row& row : {Row{"read", "", "desc"}, Row{"write", "", "desc"}, Row{"openat", "", "desc;file"},
                         Row{"ioctl", "TCGETS", "desc"}, Row{"epoll_wait", "", "desc;wait"}, Row{"getppid", "", ""}}) {
    if (choice->matches(row.name, row.detail, row.classes)) out += (out.empty() ? "" : " ") + std::string(row.name);
  }
  return out;
}

TEST(SyscallChoice, TakesNamesClassesAndExpressionsAsTheFilterDoes) {
  EXPECT_EQ(chosen(""), "read write openat ioctl epoll_wait getppid");
  EXPECT_EQ(chosen("*"), chosen(""));
  EXPECT_EQ(chosen("write"), "write");
  EXPECT_EQ(chosen("write, read"), "read write");
  EXPECT_EQ(chosen("%file"), "openat");
  EXPECT_EQ(chosen("/^epoll_|pp/"), "epoll_wait getppid");
  EXPECT_EQ(chosen("/^e{1,2}poll/"), "epoll_wait") << "a comma inside an expression is no separator";
  EXPECT_EQ(chosen("ioctl TCGETS"), "ioctl");
  EXPECT_EQ(chosen("ioctl FIONREAD"), "");
}

TEST(SyscallChoice, LetsLaterTermsOverruleEarlierOnes) {
  EXPECT_EQ(chosen("%desc,!%wait"), "read write openat ioctl");
  EXPECT_EQ(chosen("!%desc"), "getppid") << "removing first starts from all";
  EXPECT_EQ(chosen("!*,read"), "read");
  EXPECT_EQ(chosen("read,!read,read"), "read");
}

TEST(SyscallChoice, NamesTheTermThatIsNone) {
  EXPECT_TRUE(chosen("%files").starts_with("%files: no such class; there are %file %desc ")) << chosen("%files");
  EXPECT_EQ(chosen("/["), "/[: a regular expression stands between two slashes: /^epoll_/");
  EXPECT_EQ(chosen("/[/"), "/[/: not a regular expression, or too long a one, or one with a back reference");
  EXPECT_EQ(chosen("read,"), "a term is empty or negated twice");
  EXPECT_EQ(chosen("!!read"), "a term is empty or negated twice");
}

TEST(SyscallChoice, TakesNeitherTheStackNorLongWithHostileExpressionsAndNames) {
  std::string fault;
  for (const char* text : {"/a.*b/", "/[a-z]*_x/", "/a+$/", "/(a*)*b/", "/(a|aa)+$/", "/((a?){40}){40}b/"}) {
    const auto choice = model::SyscallChoice::parse(text, fault);
    if (!choice) continue;
    EXPECT_FALSE(choice->matches(std::string(model::kLongestSyscall, 'a') + "c", "", "")) << text;
  }
  const std::string parentheses = std::string(100'000, '(') + "a" + std::string(100'000, ')');
  for (const std::string& text : {"/" + parentheses + "/", std::string("/((((a{99}){99}){99}){99})/"),
                                  "/" + std::string(300, 'a') + "/", std::string("/(a)\\1/")}) {
    EXPECT_FALSE(model::SyscallChoice::parse(text, fault)) << text.substr(0, 40);
    EXPECT_LT(fault.size(), 200U);
  }
  const auto choice = model::SyscallChoice::parse("/a.*b/", fault);
  EXPECT_FALSE(choice->matches(std::string(400'000, 'a'), "", ""));
}

TEST(SyscallChoiceWithin, SaysWhetherAFilterCountedAllOfIt) {
  const auto is_within = [](const char* one, const char* whole) {
    std::string fault;
    return model::SyscallChoice::parse(one, fault)->is_within(*model::SyscallChoice::parse(whole, fault));
  };
  EXPECT_TRUE(is_within("write", "write"));
  EXPECT_TRUE(is_within("openat,open", "%file"));
  EXPECT_TRUE(is_within("%file,!openat", "%file"));
  EXPECT_TRUE(is_within("ioctl TCGETS", "ioctl"));
  EXPECT_TRUE(is_within("*", ""));
  EXPECT_TRUE(is_within("!%volatile", "!%volatile"));
  EXPECT_FALSE(is_within("getppid", "write"));
  EXPECT_FALSE(is_within("*", "write"));
  EXPECT_FALSE(is_within("!%volatile", "!getppid"));
  EXPECT_FALSE(is_within("/^write/", "write"));
  EXPECT_FALSE(is_within("ioctl TCGETS", "write"));
  EXPECT_FALSE(is_within("%file", "%file,!openat"));
}

}  // namespace
}  // namespace syscost::bench
