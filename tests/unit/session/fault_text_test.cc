// SPDX-License-Identifier: MIT
//
// The words of --syscost_inject: what they mean, and which are refused.
#include "extras/faults/options/fault_rules.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace syscost::session {
namespace {

FaultRule rule(const std::string& text) {
  const Result<std::vector<InjectRequest>> read = parse_inject(text);
  EXPECT_TRUE(read.ok()) << read.failure().reason;
  return read.ok() ? read.value().at(0).rule : FaultRule{};
}

/// "" if it is taken.
std::string fault_complaint(const std::string& text) {
  const Result<std::vector<InjectRequest>> read = parse_inject(text);
  return read.ok() ? "" : read.failure().reason;
}

TEST(FaultText, TakesResultsThatACallCanHave) {
  EXPECT_EQ(rule("write:retval=7").result, 7);
  EXPECT_EQ(rule("write:retval=0x1f").result, 31);
  EXPECT_EQ(rule("write:retval=-4095").result, -4095);
  for (const char* value : {"-4096", "-9223372036854775808", "0x-5", "0x", "0x+5", " 1", "1 ", "9223372036854775808"}) {
    EXPECT_NE(fault_complaint("write:retval=" + std::string(value)).find("is no whole number"), std::string::npos)
        << value;
  }
}

TEST(FaultText, TakesChancesAsDecimalNumbers) {
  EXPECT_EQ(rule("write:EIO:chance=0.5").probability, 0.5);
  EXPECT_EQ(rule("write:EIO:chance=1").probability, 1);
  EXPECT_EQ(rule("write:EIO:chance=1e-3").probability, 1e-3);
  for (const char* value : {"", " 0.5", "0.5 ", "0x1p-1", "1.5", "-0.5", "nan", "inf", "0.5x", "+", "e"}) {
    EXPECT_NE(fault_complaint("write:EIO:chance=" + std::string(value)).find("is not from 0 to 1"), std::string::npos)
        << value;
  }
}

TEST(FaultText, TakesEachSubjectOnce) {
  for (const char* text :
       {"write:EIO:ENOSPC", "write:EIO:error=ENOSPC", "write:error=EIO:retval=3", "write:EIO:3:nth=2",
        "write:EIO:when=1:when=2", "write:EIO:path=/a:below=/b", "write:EIO:fd=1:fd=2",
        "write:delay_enter=1:delay_enter=2", "write:EIO:chance=1:seed=2:seed=3"}) {
    EXPECT_NE(fault_complaint(text).find("has two words for "), std::string::npos) << text;
  }
  EXPECT_EQ(fault_complaint(
                "write:EIO:3:delay_enter=1:delay_exit=2:fd=1:path=/a:kind=file:chance=1:seed=2:shorten=1:after=1"),
            "");
}

TEST(FaultText, RefusesThePathOfAllFiles) {
  for (const char* path : {"/", "//", "/.", "/a/..", "/../"}) {
    EXPECT_NE(fault_complaint("write:EIO:path=" + std::string(path)).find("names all files"), std::string::npos)
        << path;
    EXPECT_NE(fault_complaint("write:EIO:below=" + std::string(path)).find("names all files"), std::string::npos)
        << path;
  }
  EXPECT_EQ(rule("write:EIO:below=/tmp/").path, "/tmp/");
}

/// As a Fault does.
TEST(FaultText, RefusesCallsThatCannotFailIfTheyAreNamed) {
  for (const char* selector : {"exit_group", "write,exit_group", "*,exit", "rt_sigreturn,exit"}) {
    EXPECT_NE(fault_complaint(selector + std::string(":EIO")).find("cannot fail"), std::string::npos) << selector;
    EXPECT_NE(fault_of_forbidden(selector).find("cannot fail"), std::string::npos) << selector;
  }
  for (const char* selector : {"*", "%process", "*,!exit_group", "/exit|write/"}) {
    EXPECT_EQ(fault_complaint(selector + std::string(":EIO")), "") << selector;
  }
}

TEST(FaultText, RefusesWhatHitsNoCall) {
  EXPECT_NE(fault_complaint("getppid:EIO:kind=file").find("has a file"), std::string::npos);
  EXPECT_NE(fault_complaint("getppid:EIO:fd=3").find("has a file"), std::string::npos);
  EXPECT_NE(fault_complaint("getppid:EIO:after=3").find("reads or writes"), std::string::npos);
  EXPECT_NE(fault_complaint("fsync:shorten=3").find("can be shortened"), std::string::npos);
  for (const char* text : {"getppid,openat:EIO:path=/a", "getppid,read:EIO:after=3", "fsync,write:shorten=3:2"}) {
    EXPECT_EQ(fault_complaint(text), "") << text;
  }
}

/// Each syscall has numbers of its own, and a fault for them.
TEST(FaultText, RefusesMoreFaultsThanCanBeOpen) {
  EXPECT_EQ(fault_complaint("*:EIO"), "");
  EXPECT_EQ(fault_complaint("*:shorten=1:2"), "") << "few calls can be shortened";
  EXPECT_NE(fault_complaint("*:EIO:2").find("faults, and 127 can be open"), std::string::npos);
  EXPECT_EQ(fault_complaint("%file:EIO:2"), "");
  EXPECT_NE(fault_complaint("%file:EIO:2;%file:EIO:4;%file:EIO:6").find("faults, and 127 can be open"),
            std::string::npos);
}

TEST(FaultText, TakesDelaysUpToAnHour) {
  EXPECT_EQ(rule("write:delay_enter=3600s").delay_enter_ns, FaultRule::kMostDelayNs);
  EXPECT_NE(fault_complaint("write:delay_enter=3601s"), "");
  EXPECT_NE(fault_complaint("write:delay_exit=-1"), "");
}

}  // namespace
}  // namespace syscost::session
