// SPDX-License-Identifier: MIT
//
// Changes of the kind that public projects made, with the calls of a model of each: what would stop a maintainer, and
// what would not.
#include "judge/direction.h"
#include "stats/repetitions.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <deque>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace syscost::bench::judge {
namespace {

/// `close 16 8, read 1 2` as calls before and after; `close 253/249 5`: 249 of 253 failed.
class Calls {
 public:
  explicit Calls(const std::string& text) {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
      std::istringstream words(part);
      CallCount call;
      std::string before;
      std::string after;
      words >> names_.emplace_back() >> before >> after;
      call.syscall = names_.back();
      read(before, call.before, call.failed_before);
      read(after.empty() ? before : after, call.after, call.failed_after);
      calls_.push_back(call);
    }
  }
  Direction direction() const { return direction_of(calls_); }

 private:
  static void read(const std::string& text, double& calls, double& failed) {
    std::size_t at = 0;
    calls = std::stod(text, &at);
    if (at < text.size()) failed = std::stod(text.substr(at + 1));
  }

  std::deque<std::string> names_;
  std::vector<CallCount> calls_;
};

struct Example {
  std::string calls;
  Word word;
  std::string reason = {};  ///< The first one.
  std::string note = {};
};

std::string first(const std::vector<std::string>& texts) {
  return texts.empty() ? "" : texts.front();
}

void expect(const std::vector<Example>& examples) {
  for (const Example& example : examples) {
    SCOPED_TRACE(example.calls);
    const Direction direction = Calls(example.calls).direction();
    EXPECT_EQ(direction.word, example.word) << first(direction.reasons);
    EXPECT_EQ(first(direction.reasons), example.reason);
    std::vector<std::string> notes = {direction.open.note, direction.mapped.note, direction.ring_note};
    std::erase(notes, "");
    EXPECT_EQ(first(notes), example.note);
  }
}

TEST(Direction, StopsWhatCostsMore) {
  expect({
      {"O_SYNC 1 0,fsync 0 1,openat 1", Word::red, "other syncs: O_SYNC 1 -> 0"},
      {"poll 0 51,pselect6 1 0,read 1,write 1", Word::red, "+50 waits"},
      {"close 1 16,openat 1 16,lseek 16,write 16", Word::red, "+15 opens"},
      {"ioctl 0/0 30/30,close 1,openat 1,write 30", Word::red, "+30 ioctl"},
      {"newfstatat 1 15,close 1,getdents64 2,openat 1", Word::red, "+14 look-ups"},
      {"brk 12 2,mmap 0 10,munmap 0 10,getrandom 1", Word::red, "+10 memory"},
      {"wait4 1 21,clone 1,pipe2 1,write 1", Word::red, "+20 processes and threads"},
      {"newfstatat 0 20,write 20", Word::red, "+20 look-ups"},
      {"rename 0 1,close 1,openat 1,write 1", Word::red, "+1 rename"},
      {"write 300 0,newfstatat 0 20", Word::red, "+20 look-ups"},
  });
}

TEST(Direction, StopsWhereFewerOrMoreSyncsAreMade) {
  expect({
      {"fsync 4 0,close 8,openat 8,read 12,write 8", Word::red, "fewer syncs: 4 -> 0"},
      {"fsync 20 2,close 1,openat 1,write 20", Word::red, "fewer syncs: 20 -> 2"},
      {"fsync 0 3,rename 0 3,close 3,openat 3,write 3", Word::red, "more syncs: 0 -> 3"},
      {"fsync 4/4 0,close 8,pipe2 4", Word::improved},
      {"msync 0 2,close 2,mmap 2,munmap 2,openat 2", Word::red, "more syncs: 0 -> 2"},
      {"fdatasync 0 10,fsync 10 0,close 1,openat 1,write 10", Word::exchanged},
      {"close 0 1,fsync 8 0,io_uring_enter 0 8,io_uring_setup 0 1,mmap 0 2,write 8 0", Word::red, "fewer syncs: 8 -> 0",
       "what went may be in io_uring, which is not counted: io_uring_enter 0 -> 8"},
  });
}

TEST(Direction, NamesDescriptorsThatStayOpen) {
  expect({
      {"close 16 8,shutdown 8,socketpair 8,write 8", Word::improved, "", "8 more stay open: close 16 -> 8"},
      {"brk 2 3,close 6 0,getdents64 12,getrandom 1,newfstatat 6,openat 6", Word::red, "+1 memory",
       "6 more stay open: close 6 -> 0"},
      {"close 6 0,flock 6/6,openat 6", Word::improved, "", "6 more stay open: close 6 -> 0"},
      {"close 0 6,eventfd2 3,timerfd_create 3,write 3", Word::improved},
      {"close 12 4,getdents64 24 8,newfstatat 12 4,openat 12 4", Word::improved},
      {"close 2 1,eventfd2 0 1,fcntl 4 0,pipe2 1 0,read 4,write 4", Word::exchanged},
  });
}

TEST(Direction, NamesMappingsThatStay) {
  expect({
      {"close 6,mmap 6,munmap 6 0,openat 6", Word::improved, "", "6 more may stay mapped: munmap 6 -> 0"},
      {"close 6,mmap 6,munmap 0 6,openat 6", Word::improved},
      {"brk 3,mmap 6 2,munmap 6 2", Word::improved},
      {"mmap 6 6,munmap 0 6/6", Word::improved},
  });
}

TEST(Direction, LetsOptionsAndHintsBeSet) {
  expect({
      {"setsockopt 0 4,accept4 4,close 8,connect 4,socket 4,write 4", Word::exchanged},
      {"madvise 0 3,close 3,mmap 3,munmap 3,openat 3", Word::exchanged},
      {"fadvise64 0 10,read 10,write 1 2", Word::red, "+1 data out"},
  });
}

TEST(Direction, LetsACallBeMadeAgainThatASignalEnded) {
  const auto word = [](double after, double interrupted) {
    CallCount read{"read", 0, after};
    read.interrupted = interrupted;
    return direction_of({read}).word;
  };
  EXPECT_EQ(word(1, 1), Word::exchanged);
  EXPECT_EQ(word(2, 1), Word::red);
  EXPECT_EQ(word(1, 0), Word::red);
}

TEST(Direction, LetsOneCallTakeThePlaceOfAnother) {
  expect({
      {"write 20 0,writev 0 1", Word::exchanged},
      {"accept 5 0,accept4 0 5,fcntl 15 0,close 10,connect 5,socket 5", Word::exchanged},
      {"write 300 1,close 1,futex 1,openat 1", Word::improved},
      {"getpid 25 1,write 25", Word::improved},
      {"close 253/249 5,getdents64 0 2,newfstatat 0 1,openat 0 1", Word::exchanged},
      {"lseek 15 0,pread64 0 15,read 15 0", Word::exchanged},
      {"close 1 0,getrandom 0 8,openat 1 0,read 8 0", Word::exchanged},
      {"clone 3 0,clone3 0 3,mmap 0 3,munmap 0 3,rt_sigprocmask 0 6,wait4 3", Word::exchanged},
      {"clone3 12 1,futex 12 49,rt_sigprocmask 25 3,mmap 1,mprotect 1,rt_sigaction 1", Word::exchanged},
      {"read 10 0,close 2,epoll_create1 1,epoll_ctl 1,epoll_wait 10,eventfd2 1,write 10", Word::improved},
      {"mmap 0 1,munmap 0 1,read 66 2,close 1,openat 1", Word::exchanged},
      {"mmap 10 0,munmap 10 0,read 0 10,close 10,newfstatat 10,openat 10", Word::exchanged},
      {"recvfrom 16 0,recvmmsg 0 2,sendto 16", Word::exchanged},
      {"copy_file_range 0 1,ftruncate 1 0,mmap 2 0,munmap 2 0", Word::exchanged},
      {"clock_nanosleep 5 0,futex 0 4,clone3 1,mmap 1,rt_sigprocmask 3,write 1", Word::exchanged},
      {"read 17 0,sendfile 0 1,write 16 0", Word::exchanged},
      {"poll 0 10,pselect6 10 0,read 10,write 10", Word::exchanged},
      {"fcntl 0 6,flock 6 0", Word::exchanged},
      {"fallocate 0 3,ftruncate 3 0,close 3,mmap 3,munmap 3,openat 3,unlink 3", Word::exchanged},
      {"close 6,openat 6", Word::same},
  });
}

// posix_spawn in the place of fork in a container of Docker, which denies clone3: the C library makes clone then.
TEST(Direction, CallsThatTheKernelDoesNotHaveAreNoWork) {
  std::vector<CallCount> calls = {{"clone", 3, 3},          {"mmap", 0, 3},  {"munmap", 0, 3},
                                  {"rt_sigprocmask", 0, 6}, {"wait4", 3, 3}, {"clone3"}};
  CallCount& clone3 = calls.back();
  clone3.absent = clone3.failed_after = 3;
  // A filter denied it: a backend that counts what the kernel did has no call.
  EXPECT_EQ(direction_of(calls).word, Word::exchanged);
  clone3.after = 3;
  EXPECT_EQ(direction_of(calls).word, Word::exchanged);
  // Without it the calls of the C library are more than before.
  calls.pop_back();
  EXPECT_EQ(direction_of(calls).word, Word::red);
}

// A newer kernel has a call that failed before: that is no growth.
TEST(Direction, CallsThatTheKernelHasNowAreNoGrowth) {
  CallCount membarrier{"membarrier", 1, 1};
  membarrier.failed_before = 1;
  membarrier.absent = -1;
  EXPECT_NE(direction_of({membarrier}).word, Word::red);
  // Other calls of it are.
  membarrier.after = 2;
  EXPECT_EQ(direction_of({membarrier}).word, Word::red);
}

TEST(Direction, KnowsFailuresThatSayThatItIsTooEarly) {
  EXPECT_TRUE(stats::is_too_early("recvfrom", "EAGAIN"));
  EXPECT_TRUE(stats::is_too_early("futex", "ETIMEDOUT"));
  EXPECT_TRUE(stats::is_too_early("flock", "EINTR"));
  EXPECT_FALSE(stats::is_too_early("flock", "EAGAIN")) << "somebody else has the lock: an answer";
  EXPECT_FALSE(stats::is_too_early("openat", "ENOENT"));
}

// docs/statistics.md, "Families of calls".
TEST(Families, AreThoseOfThePage) {
  std::ifstream page(SYSCOST_SOURCE_DIR "/docs/statistics.md");
  const std::map<std::string, std::string> called = {
      {"closes (judged by the descriptors that stay open)", "closes"},
      {"data (in or out, whichever became fewer)", "data"},
      {"options and hints (more of them are shown, and not red)", "options and hints"}};
  bool is_table = false;
  std::size_t listed = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("##")) is_table = line == "### Families of calls";
    if (!is_table || !line.starts_with("| ") || line.starts_with("| family")) continue;
    const std::size_t end = line.find(" | ");
    std::string family = line.substr(2, end - 2);
    if (const auto found = called.find(family); found != called.end()) family = found->second;
    for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', at)) {
      const std::size_t after = line.find('`', at + 1);
      const std::string syscall = line.substr(at + 1, after - at - 1);
      EXPECT_EQ(name_of(family_of(syscall)), family) << syscall;
      at = after + 1;
      ++listed;
    }
  }
  EXPECT_EQ(listed, 106U) << "all that families.cc has";
}

}  // namespace
}  // namespace syscost::bench::judge
