// SPDX-License-Identifier: MIT
#include "syscost/cost.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <memory_resource>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "allocation_counter.h"
#include "core/cost_data.h"
#include "core/syscall_table.h"

namespace syscost {
namespace {

std::shared_ptr<detail::CostData> new_data() {
  return std::make_shared<detail::CostData>(std::pmr::get_default_resource());
}

Tally& add_calls(detail::CostData& data, std::string_view name, std::uint64_t calls) {
  Tally& tally = data.table.at(*parse_syscall_name(name));
  tally.entries += calls;
  tally.calls += calls;
  return tally;
}

// 1024 write, 3 openat (1 ENOENT, 1 EACCES), 2 futex of which one was restarted and one is in flight
std::shared_ptr<detail::CostData> sample() {
  std::shared_ptr<detail::CostData> data = new_data();
  add_calls(*data, "write", 1024).latency.add(500);
  Tally& openat = add_calls(*data, "openat", 3);
  openat.errors.add(ENOENT);
  openat.errors.add(EACCES);
  openat.latency.add(1000);
  Tally& futex = add_calls(*data, "futex", 1);
  futex.entries += 2;
  futex.restarts = 1;
  return data;
}

// Details are for rows. The counts that code reads are the same with details and without.
TEST(Cost, AddsDetailsUp) {
  std::shared_ptr<detail::CostData> data = new_data();
  SyscallId request = *parse_syscall_name("ioctl");
  for (std::uint32_t number : {1U, 2U, 3U}) {
    request.detail = {.file = FileKind::pipe, .request = number};
    Tally& tally = data->table.at(request);
    tally.entries = tally.calls = number;
    tally.errors.add(ENOTTY);
  }
  Cost cost(data);
  EXPECT_EQ(cost.calls("ioctl"), 6);
  EXPECT_EQ(cost.errors("ioctl", ENOTTY), 3);
  EXPECT_EQ(cost.calls("*"), 6);
  EXPECT_EQ(cost.calls("!ioctl"), 0);
  EXPECT_EQ(cost.to_string(), "6 ioctl (3 ENOTTY)");
  ASSERT_EQ(cost.syscalls().size(), 1U);
  EXPECT_EQ(cost.syscalls().front().name, "ioctl");
  EXPECT_EQ(cost.syscalls().front().calls, 6U);
}

TEST(Cost, CountsWhatASelectorChooses) {
  Cost cost(sample());
  EXPECT_TRUE(cost.available());
  EXPECT_EQ(cost.unavailable(), nullptr);
  EXPECT_EQ(cost.calls("write"), 1024);
  EXPECT_EQ(cost.calls(), 1028);
  EXPECT_EQ(cost.entries("*"), 1030);
  EXPECT_EQ(cost.entries("futex"), 3);
  EXPECT_EQ(cost.calls("%file"), 3);
  EXPECT_EQ(cost.calls("%desc,!write"), 3);
  EXPECT_EQ(cost.calls("close"), 0);
}

// A machine without a backend, or with another one, must not hide it.
TEST(Cost, NamesAMistakeFirst) {
  const std::shared_ptr<detail::CostData> only_entries = sample();
  only_entries->measured.calls = false;
  for (const Cost& cost : {Cost(sample()), Cost(only_entries), Cost(Unavailable{"No backend.", "Get one."})}) {
    const Count calls = cost.calls("getpidd");
    ASSERT_NE(calls.unavailable(), nullptr);
    EXPECT_TRUE(calls.unavailable()->is_mistake) << calls;
    EXPECT_NE(calls.unavailable()->reason.find("getpidd"), std::string::npos) << calls;
  }
  EXPECT_FALSE(Cost(only_entries).calls("getpid").unavailable()->is_mistake);
  EXPECT_TRUE(Cost(sample()).errors("write", -1).unavailable()->is_mistake);
}

TEST(Cost, CountsErrorsByErrno) {
  Cost cost(sample());
  EXPECT_EQ(cost.errors(), 2);
  EXPECT_EQ(cost.errors("write"), 0);
  EXPECT_EQ(cost.errors("openat", ENOENT), 1);
  EXPECT_EQ(cost.errors("*", EACCES), 1);
  EXPECT_EQ(cost.errors("*", EBADF), 0);
}

TEST(Cost, SumsKernelTimeExactly) {
  Cost cost(sample());
  EXPECT_EQ(cost.kernel_ns(), 1500);
  EXPECT_EQ(cost.kernel_ns("openat"), 1000);
}

TEST(Cost, TakesATypingErrorForNoNumber) {
  Cost cost(sample());
  Count count = cost.calls("wriet");
  EXPECT_FALSE(count.has_value());
  ASSERT_NE(count.unavailable(), nullptr);
  EXPECT_NE(count.unavailable()->how_to_fix.find("'write'"), std::string::npos);
  EXPECT_FALSE(cost.errors("*", -ENOENT).has_value());
  EXPECT_FALSE(cost.errors("*", 0).has_value());
}

TEST(Cost, WithoutNumbersAnswersNothing) {
  Cost cost(Unavailable{"No backend works here.", "Grant CAP_BPF."});
  EXPECT_FALSE(cost.available());
  ASSERT_NE(cost.unavailable(), nullptr);
  for (const Count& count :
       {cost.calls(), cost.entries(), cost.errors(), cost.errors("*", ENOENT), cost.kernel_ns(), cost.lost()}) {
    ASSERT_FALSE(count.has_value());
    EXPECT_EQ(count.unavailable()->reason, "No backend works here.");
  }
  EXPECT_TRUE(cost.syscalls().empty());
  EXPECT_EQ(cost.to_string(), "n/a (No backend works here)");
}

TEST(Cost, MovedFromIsNotTakenForZero) {
  Cost cost(sample());
  Cost moved = std::move(cost);
  EXPECT_EQ(moved.calls("write"), 1024);
  EXPECT_FALSE(cost.calls().has_value());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  EXPECT_FALSE(cost.lost().has_value());   // NOLINT
  EXPECT_EQ(cost.to_string(), "n/a (nothing was measured)");
}

TEST(Cost, AnswersNothingForWhatTheBackendDoesNotMeasure) {
  std::shared_ptr<detail::CostData> data = sample();
  data->measured = {.entries = false, .calls = true, .errors = false, .latency = false};
  Cost cost(data);
  EXPECT_EQ(cost.calls("write"), 1024);
  EXPECT_FALSE(cost.entries("write").has_value());
  EXPECT_FALSE(cost.errors("write").has_value());
  EXPECT_FALSE(cost.errors("write", ENOENT).has_value());
  EXPECT_FALSE(cost.kernel_ns("write").has_value());
  std::shared_ptr<detail::CostData> entries_only = sample();
  entries_only->measured = {.entries = true, .calls = false, .errors = false, .latency = false};
  EXPECT_FALSE(Cost(entries_only).calls().has_value());
  EXPECT_EQ(Cost(entries_only).entries("write"), 1024);
}

// An ordinary user must not be sent to the one backend that needs a privilege.
TEST(Cost, NamesABackendWithoutPrivilegeForWhatTheBackendCannotSee) {
  const SyscallId unseen[] = {*parse_syscall_name("rt_sigreturn")};
  std::shared_ptr<detail::CostData> data = sample();
  data->measured.uncountable = unseen;
  const Unavailable why = *Cost(data).calls("rt_sigreturn").unavailable();
  EXPECT_EQ(why.reason, "The backend in use cannot see rt_sigreturn.");
  EXPECT_NE(why.how_to_fix.find("--syscost_backend dispatch, or ebpf"), std::string::npos) << why.how_to_fix;
  EXPECT_EQ(Cost(data).calls("write"), 1024);
}

TEST(Cost, AnswersNothingForWhatTheFilterLeavesOut) {
  std::shared_ptr<detail::CostData> data = sample();
  data->filter = Filter::parse("write,%network").value();
  Cost cost(data);
  EXPECT_EQ(cost.calls("write"), 1024);
  EXPECT_EQ(cost.calls("sendto"), 0) << "it was counted, and did not happen";
  EXPECT_EQ(cost.kernel_ns("write,%network"), 500);
  for (const Count& count : {cost.calls(), cost.entries("*"), cost.errors("openat", ENOENT), cost.calls("write,read"),
                             cost.kernel_ns("!%network"), cost.calls("syscall_5000"), cost.calls("i386:read")}) {
    EXPECT_FALSE(count.has_value());
  }
  EXPECT_EQ(cost.calls("openat").unavailable()->reason, "--syscost_filter write,%network leaves out openat.");
  EXPECT_NE(cost.calls().unavailable()->reason.find(" more."), std::string::npos);
  EXPECT_TRUE(cost.lost().has_value());
}

TEST(Cost, PrintsWhatTheFilterLetThrough) {
  std::shared_ptr<detail::CostData> data = new_data();
  data->filter = Filter::parse("%network").value();
  EXPECT_EQ(Cost(data).to_string(), "no syscalls (only %network counted)");
}

TEST(Cost, AnswersUnderAFilterWithoutMalloc) {
  std::shared_ptr<detail::CostData> data = sample();
  data->filter = Filter::parse("/^w/,%network").value();
  Cost cost(data);
  EXPECT_EQ(cost.calls("write"), 1024);
  std::size_t before = test::allocation_count();
  bool right = cost.calls("write,sendto") == 1024;
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_TRUE(right);
}

TEST(Cost, SaysWhatWasLost) {
  std::shared_ptr<detail::CostData> data = sample();
  EXPECT_EQ(Cost(data).lost(), 0);
  data->late = 2;
  data->lost = 3;
  EXPECT_EQ(Cost(data).lost(), 5);
  EXPECT_NE(Cost(data).to_string().find("; 5 lost"), std::string::npos);
}

TEST(Cost, GivesNoNumberWhereEventsWereLost) {
  for (bool is_late : {true, false}) {
    std::shared_ptr<detail::CostData> data = sample();
    (is_late ? data->late : data->lost) = 1;
    Cost cost(data);
    for (const Count& count :
         {cost.calls("openat"), cost.entries(), cost.errors("openat"), cost.errors("*", ENOENT), cost.kernel_ns()}) {
      EXPECT_FALSE(count.has_value());
    }
    EXPECT_FALSE(cost.calls("close") == 0);
    EXPECT_FALSE(cost.calls("close") <= 7);
    EXPECT_TRUE(cost.calls("openat") >= 3);
    EXPECT_FALSE(cost.calls("openat") >= 4);
  }
}

TEST(Cost, ListsSyscallsByEntries) {
  std::vector<SyscallCost> list = Cost(sample()).syscalls();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].name, "write");
  EXPECT_EQ(list[0].latency.count(), 1U);
  // Equal entries: in order of number.
  EXPECT_EQ(list[1].name, "futex");
  EXPECT_EQ(list[2].name, "openat");
  EXPECT_EQ(list[1].restarts, 1U);
  EXPECT_EQ(list[1].in_flight, 1U);
  for (const SyscallCost& cost : list) {
    EXPECT_EQ(cost.entries, cost.calls + cost.restarts + cost.in_flight + cost.no_return) << cost.name;
  }
  ASSERT_EQ(list[2].errors.size(), 2U);
  EXPECT_EQ(list[2].errors[0].number, ENOENT);
  EXPECT_EQ(list[2].errors[1].number, EACCES);
}

TEST(Cost, PrintsOneLineForPeople) {
  EXPECT_EQ(Cost(sample()).to_string(), "1024 write, 2 futex (1 in flight), 3 openat (1 ENOENT, 1 EACCES)");
  EXPECT_EQ(Cost(new_data()).to_string(), "no syscalls");
  std::ostringstream out;
  out << Cost(new_data());
  EXPECT_EQ(out.str(), "no syscalls");
}

TEST(Cost, PrintsTheBusiestSixAndCountsTheRest) {
  std::shared_ptr<detail::CostData> data = new_data();
  std::uint64_t calls = 9;
  for (const char* name : {"read", "write", "open", "close", "stat", "fstat", "lstat", "poll"}) {
    add_calls(*data, name, calls--);
  }
  EXPECT_EQ(Cost(data).to_string(), "9 read, 8 write, 7 open, 6 close, 5 stat, 4 fstat, and 2 more");
}

TEST(Cost, PrintsCallsThatDidNotReturnOrWereNotEntered) {
  std::shared_ptr<detail::CostData> data = new_data();
  Tally& exit = data->table.at(*parse_syscall_name("exit_group"));
  exit.entries = exit.no_return = 1;
  EXPECT_EQ(Cost(data).to_string(), "1 exit_group");
  data->table.at(*parse_syscall_name("read")).carried_in = 1;
  data->table.at(*parse_syscall_name("write")).denied = 2;
  EXPECT_EQ(Cost(data).to_string(), "1 exit_group, 0 read (1 from before), 0 write (2 denied)");
}

TEST(Cost, LeavesOutTalliesWithoutAnyNumber) {
  std::shared_ptr<detail::CostData> data = new_data();
  data->table.at(*parse_syscall_name("read"));
  EXPECT_EQ(Cost(data).to_string(), "no syscalls");
  EXPECT_TRUE(Cost(data).syscalls().empty());
}

TEST(Cost, AnswersAnAssertionWithoutMalloc) {
  Cost cost(sample());
  EXPECT_EQ(cost.calls("write"), 1024);  // the quiet memory exists from here on
  std::size_t before = test::allocation_count();
  bool right = cost.calls("%desc,!close") <= 2000 && cost.errors("openat", ENOENT) == 1 && cost.lost() == 0;
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_TRUE(right);
}

}  // namespace
}  // namespace syscost
