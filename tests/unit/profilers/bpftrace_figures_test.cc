// SPDX-License-Identifier: MIT
#include "extras/profilers/bpftrace/bpftrace_output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "extras/profilers/bpftrace/bpftrace_text.h"
#include "recorded.h"

namespace syscost::profilers {
namespace {

constexpr ScriptMaps kAll{true, true, true, true};

Result<Figures> figures(const std::string& text, const ScriptMaps& maps = kAll) {
  const Result<BpftraceOutput> output = parse_bpftrace_output(text);
  EXPECT_TRUE(output.ok());
  return figures_of(output.value(), maps);
}

TEST(BpftraceFigures, ReadsWhatSyslatPrints) {
  const Result<Figures> read = figures(recorded("syslat.txt"));
  ASSERT_TRUE(read.ok()) << read.failure().reason;
  ASSERT_EQ(read.value().syscalls.size(), 1U);
  const SyscallFigures& write = read.value().syscalls.front();
  EXPECT_EQ(write.number, 1);
  EXPECT_EQ(write.entries, 512'007U);
  EXPECT_EQ(write.returned, 512'007U);
  EXPECT_TRUE(write.has_errors);
  EXPECT_EQ(write.errors, (std::vector<std::pair<int, std::uint64_t>>{{9, 7}}));
  EXPECT_GT(write.latency_sum_ns, *write.latency_min_ns * 512'007);
  EXPECT_LT(write.latency_sum_ns, *write.latency_max_ns * 512'007);
  EXPECT_EQ(read.value().unread, 0U);
}

TEST(BpftraceFigures, LeaveEmptyWhatTheScriptDoesNotCount) {
  const Result<Figures> read = figures("@syscall_entries[1]: 5\n", {true, true, false, false});
  ASSERT_TRUE(read.ok());
  const SyscallFigures& write = read.value().syscalls.front();
  EXPECT_EQ(write.entries, 5U);
  EXPECT_EQ(write.returned, std::nullopt);
  EXPECT_EQ(write.latency_sum_ns, std::nullopt);
  EXPECT_FALSE(write.has_errors);
}

TEST(BpftraceFigures, SayZeroOfACallThatNeverReturned) {
  const Result<Figures> read = figures("@syscall_entries[0]: 5\n");
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read.value().syscalls.size(), 1U);
  EXPECT_EQ(read.value().syscalls.front().entries, 5U);
  EXPECT_EQ(read.value().syscalls.front().returned, 0U);
}

TEST(BpftraceFigures, AreRefusedWhenAnAgreedMapHoldsSomethingElse) {
  for (const auto& [map, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"@syscall_entries[1]", "@syscall_entries[1]: -5\n"},
           {"@syscall_entries[1]", "@syscall_entries[1]: five\n"},
           {"@syscall_entries[write]", "@syscall_entries[write]: 5\n"},
           {"@syscall_entries[]", "@syscall_entries: 5\n"},
           {"@syscall_entries[1, 2]", "@syscall_entries[1, 2]: 5\n"},
           {"@syscall_errors[1]", "@syscall_errors[1]: 5\n"},
           {"@syscall_errors[1, 0]", "@syscall_errors[1, 0]: 5\n"},
           {"@syscall_lat_ns[1]", "@syscall_lat_ns[1]: 5\n"},
           {"@syscall_lat_ns[1]", "@syscall_lat_ns[1]: \n(..., 0)     5 |@|\n\n"},
           {"@syscost_unread[]", "@syscost_unread: many\n"}}) {
    // After a map that is as it should be, and beside a map of the script's own.
    const Result<Figures> read = figures(std::string("@syscall_entries[0]: 3\n@own[write]: 5\n") + text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.failure().reason,
              std::string("the script's map ") + map + " does not hold the values that its name stands for");
    EXPECT_NE(read.failure().how_to_fix.find("docs/profiles.md"), std::string::npos);
  }
}

TEST(BpftraceFigures, TakeTheLastOfAMapThatIsPrintedTwice) {
  const Result<Figures> read = figures(
      "@syscall_entries[1]: 5\n@syscall_errors[1, 9]: 1\nhello\n@syscall_entries[1]: 9\n@syscall_errors[1, 9]: 2\n");
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read.value().syscalls.size(), 1U);
  EXPECT_EQ(read.value().syscalls.front().entries, 9U);
  EXPECT_EQ(read.value().syscalls.front().errors, (std::vector<std::pair<int, std::uint64_t>>{{9, 2}}));
}

TEST(BpftraceFigures, CountWhatCouldNotBeDecided) {
  EXPECT_EQ(figures("@syscost_unread: 4\n").value().unread, 4U);
  EXPECT_EQ(figures("@syscost_unread[7]: 4\n@syscost_unread[8]: 1\n").value().unread, 5U);
  EXPECT_EQ(figures("@syscost_unread: 4\n@syscost_unread: 6\n").value().unread, 6U) << "printed twice";
}

TEST(ScriptMaps, AreFoundInTheSourceAndNotInItsComments) {
  const ScriptMaps syslat = maps_of_source(
      "tracepoint:a:b { @syscall_entries[args->id] = count(); }\n"
      "/* @syscall_lat_ns */ // @syscall_errors\n");
  EXPECT_TRUE(syslat.has_syscalls);
  EXPECT_TRUE(syslat.has_entries);
  EXPECT_FALSE(syslat.has_latency);
  EXPECT_FALSE(syslat.has_errors);
  EXPECT_FALSE(maps_of_source("BEGIN { @x = 1; } /* not closed @syscall_entries").has_syscalls);
}

TEST(BpftraceText, WritesJsonThatOtherProgramsRead) {
  for (const char* name : {"values.txt", "stacks.txt", "syslat.txt"}) {
    const Result<BpftraceOutput> output = parse_bpftrace_output(recorded(name));
    const Result<Figures> read = figures_of(output.value(), kAll);
    const auto json = nlohmann::json::parse(to_json("x", output.value(), read.value().syscalls));
    EXPECT_EQ(json["maps"].size(), output.value().maps.size()) << name;
  }
  const Result<BpftraceOutput> output = parse_bpftrace_output(recorded("syslat.txt"));
  const auto json =
      nlohmann::json::parse(to_json("syslat", output.value(), figures_of(output.value(), kAll).value().syscalls));
  EXPECT_EQ(json["syscalls"][0]["syscall"], "write");
  EXPECT_EQ(json["syscalls"][0]["entries"], 512'007);
  EXPECT_EQ(json["syscalls"][0]["errors"]["EBADF"], 7);
}

TEST(BpftraceText, WritesStacksAsListsOfFrames) {
  const Result<BpftraceOutput> output = parse_bpftrace_output("@b[\n    f+1\n    g+2\n, cc1plus]: 2\n");
  const auto json = nlohmann::json::parse(to_json("x", output.value(), {}));
  EXPECT_EQ(json["maps"][0]["entries"][0]["key"][0], (nlohmann::json{"f+1", "g+2"}));
  EXPECT_EQ(json["maps"][0]["entries"][0]["key"][1], "cc1plus");
}

TEST(BpftraceText, ReplacesBytesThatAreNoUtf8) {
  const Result<BpftraceOutput> output = parse_bpftrace_output("@s: a\xff\x80z\n");
  EXPECT_TRUE(nlohmann::json::accept(to_json("x", output.value(), {})));
}

TEST(BpftraceText, NamesSyscallsAndDrawsTheirHistograms) {
  const Result<BpftraceOutput> output = parse_bpftrace_output(
      "@syscall_entries[1]: 5\n@syscall_errors[1, 9]: 2\n@syscall_lat_ns[1]: \n[512, 1K)   4 |@@@@|\n[1K, 2K)   1 |@|\n"
      "\n@syscall_max_ns[1]: 1500\n@syscall_total_ns[1]: 5000\n@other[x]: 3\n");
  const std::string text = to_summary(output.value(), figures_of(output.value(), kAll).value().syscalls);
  EXPECT_EQ(text,
            "  write: 5 entered, 5 returned, mean 1 us, at most 1.5 us, 2 EBADF\n"
            "    from   512 ns          4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
            "    from   1.0 us          1 |@@@@@@@@@@\n"
            "  @other[x]: 3\n");
}

TEST(BpftraceText, DrawsMapsOfTimesAsTimes) {
  const Result<BpftraceOutput> output = parse_bpftrace_output(
      "@off_ns: \n[4K, 8K)   4 |@@@@|\n\n@stack_ns[f]: 24105580\n@below_ns: -5\n@bytes: \n[4K, 8K)   4 |@@@@|\n\n");
  EXPECT_EQ(to_summary(output.value(), {}),
            "  @off_ns:\n"
            "    from      4.1 us          4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
            "  @stack_ns[f]: 24.1 ms\n"
            "  @below_ns: -5\n"
            "  @bytes:\n"
            "    from        4096          4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n");
}

TEST(ScriptSource, TellsACallOfExitFromWhatOnlyLooksLikeOne) {
  EXPECT_TRUE(maps_of_source("BEGIN { exit(); }").calls_exit);
  EXPECT_TRUE(maps_of_source("interval:s:1 {exit ()}").calls_exit);
  EXPECT_TRUE(maps_of_source("BEGIN { printf(\"http://x \\\" \"); exit(); }").calls_exit);
  EXPECT_FALSE(maps_of_source("BEGIN { printf(\"exit()\"); }").calls_exit);
  EXPECT_FALSE(maps_of_source("tracepoint:raw_syscalls:sys_exit /pid == $1/ { @a = count(); }").calls_exit);
  EXPECT_FALSE(maps_of_source("// exit() would end it\nkprobe:do_exit { @exit = count(); } ").calls_exit);
  EXPECT_FALSE(maps_of_source("uprobe:/lib/libc.so.6:exit /pid == $1/ { @a = count(); }").calls_exit);
}

}  // namespace
}  // namespace syscost::profilers
