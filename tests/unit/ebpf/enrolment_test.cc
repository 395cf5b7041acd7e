// SPDX-License-Identifier: MIT
//
// Which process is enrolled: the one that said its cookie, for as long as it lives, and no later one with its number.
// This loads the programs; if it may not, the tests skip with the reason.
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "../sanitized.h"
#include "backends/ebpf/loaded_programs.h"
#include "backends/ebpf/shared.h"
#include "os/confinement.h"
#include "os/descriptors.h"

namespace syscost::ebpf {
namespace {

/// A child that runs `body`, with the process id `wanted` unless it is 0; -1 where it cannot have that: containers deny
/// clone3.
pid_t start(const std::function<void()>& body, pid_t wanted = 0) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  if (wanted != 0) {
    arguments.set_tid = reinterpret_cast<std::uintptr_t>(&wanted);
    arguments.set_tid_size = 1;
  }
  const pid_t child = wanted == 0 ? fork() : static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
  if (child == 0) {
    body();
    _exit(0);
  }
  return child;
}

void wait_for(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

class Enrolment : public testing::Test {
 protected:
  struct Member {
    LoadedPrograms::ProcessSlot place;
    std::span<syscost_block> blocks;
    syscost_directory& directory() const { return blocks[0].head.directory; }
    std::uint64_t seen() const { return std::atomic_ref(directory().canaries_entered).load(); }
    void say_cookie() const { syscall(SYS_gettid, place.cookie, 0); }
    /// Calls of getppid that were counted for it; 0 before the first.
    std::uint64_t getppids(std::uint32_t cpus) const {
      const std::uint32_t slot = directory().slot_of[SYS_getppid];
      std::uint64_t sum = 0;
      for (std::uint32_t cpu = 0; slot != 0 && cpu < cpus; ++cpu) {
        sum += blocks[SYSCOST_FIRST_BANK + cpu].bank.cells[slot - 1].entries;
      }
      return sum;
    }
    void arm() const { std::atomic_ref(blocks[0].head.lanes[0].control).store(SYSCOST_CONTROL(1, 0)); }
  };

  void SetUp() override {
    Result<LoadedPrograms> loaded = LoadedPrograms::load();
    if (!loaded.ok()) GTEST_SKIP() << loaded.failure().reason << "; " << loaded.failure().how_to_fix;
    loaded_.emplace(std::move(loaded.value()));
    Result<std::vector<int>> links = open_links(loaded_->counting_programs());
    ASSERT_TRUE(links.ok()) << links.failure().reason;
    links_ = links.value();
  }
  void TearDown() override { close_each(links_); }

  Member member() {
    Result<std::vector<LoadedPrograms::ProcessSlot>> places = loaded_->make_slots(1);
    EXPECT_TRUE(places.ok());
    const LoadedPrograms::ProcessSlot place = places.value().front();
    void* start = mmap(nullptr, map_bytes(loaded_->cpu_count()), PROT_READ | PROT_WRITE, MAP_SHARED, place.map, 0);
    EXPECT_NE(start, MAP_FAILED);
    close(place.map);
    return {place, {static_cast<syscost_block*>(start), map_blocks(loaded_->cpu_count())}};
  }
  std::uint32_t refusal(const Member& member) const { return loaded_->refusal_of(member.place.process); }

  std::optional<LoadedPrograms> loaded_;
  std::vector<int> links_;
};

TEST_F(Enrolment, IsOfOneProcessEver) {
  const Member first = member();
  wait_for(start([&] { first.say_cookie(); }));
  EXPECT_EQ(first.seen(), 1U);
  EXPECT_EQ(refusal(first), SYSCOST_NOT_REFUSED);
  first.say_cookie();
  EXPECT_EQ(first.seen(), 1U) << "its cookie has enrolled a process that is gone";
  EXPECT_EQ(refusal(first), SYSCOST_REFUSED_SECOND);
}

TEST_F(Enrolment, IsDoneAgainByTheSameProcess) {
  const Member own = member();
  own.say_cookie();
  loaded_->dismiss(own.place.process);
  own.say_cookie();
  EXPECT_EQ(own.seen(), 2U);
}

TEST_F(Enrolment, IsRefusedToAProcessThatHasAPlace) {
  const Member first = member();
  const Member second = member();
  first.say_cookie();
  second.say_cookie();
  EXPECT_EQ(second.seen(), 0U);
  EXPECT_EQ(refusal(second), SYSCOST_REFUSED_ENROLLED);
}

TEST_F(Enrolment, TellsWhetherTheThreadIsTheOnlyOne) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer has a thread of its own";
  if (read_confinement().has_seccomp_filter) GTEST_SKIP() << "under a seccomp filter no thread counts as alone";
  const Member own = member();
  wait_for(start([&] {
    own.say_cookie();
    if (own.directory().is_alone != 1 || own.directory().threads_seen != 1) _exit(1);
    std::thread([&] { own.say_cookie(); }).join();
    if (own.directory().is_alone != 0 || own.directory().threads_seen != 2) _exit(2);
  }));
  EXPECT_EQ(own.seen(), 2U);
}

// As where the kernel skipped the run: what runs_to_ask_for() in programs.cc relies on.
TEST_F(Enrolment, OfAThreadThatNoExitWasSeenOfShowsAtItsNextCall) {
  const Member own = member();
  own.say_cookie();
  EXPECT_EQ(own.directory().entered_twice, 0U);
  close(links_[1]);
  syscall(SYS_getppid);
  own.say_cookie();
  EXPECT_GE(own.directory().entered_twice, 1U);
  const Result<std::vector<int>> again = open_links({loaded_->counting_programs()[1]});
  ASSERT_TRUE(again.ok());
  links_[1] = again.value()[0];
}

/// Numbers of processes that are equal to ours modulo the number of buckets, and free.
std::vector<pid_t> alike(std::size_t count) {
  std::vector<pid_t> found;
  for (pid_t pid = getpid() % SYSCOST_TARGET_BUCKETS + 2 * SYSCOST_TARGET_BUCKETS; found.size() < count;
       pid += SYSCOST_TARGET_BUCKETS) {
    if (pid > 32'000) break;  // pid_max is at least that
    if (kill(pid, 0) != 0) found.push_back(pid);
  }
  return found;
}

TEST_F(Enrolment, OfManyChildrenByOneCookieTakesOnePlaceInABucket) {
  const Member hoarder = member();
  const std::vector<pid_t> pids = alike(2 * SYSCOST_TARGET_WAYS);
  for (const pid_t pid : pids) {
    const pid_t child = start([&] { hoarder.say_cookie(); }, pid);
    if (child < 0) GTEST_SKIP() << "choosing a process id needs CAP_CHECKPOINT_RESTORE";
    wait_for(child);
  }
  EXPECT_EQ(hoarder.seen(), 1U);
  const Member own = member();
  own.say_cookie();
  EXPECT_EQ(own.seen(), 1U) << "its bucket is full";
}

TEST_F(Enrolment, ThatFindsItsBucketFullIsToldSo) {
  std::vector<pid_t> children;
  for (const pid_t pid : alike(SYSCOST_TARGET_WAYS)) {
    const Member other = member();
    const pid_t child = start(
        [&] {
          other.say_cookie();
          for (;;) pause();
        },
        pid);
    if (child < 0) GTEST_SKIP() << "choosing a process id needs CAP_CHECKPOINT_RESTORE";
    children.push_back(child);
    while (other.seen() == 0) usleep(100);
  }
  const Member own = member();
  own.say_cookie();
  EXPECT_EQ(own.seen(), 0U);
  EXPECT_EQ(refusal(own), SYSCOST_REFUSED_FULL);
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

TEST_F(Enrolment, DoesNotPassToTheNextProcessOfTheSameNumber) {
  const Member owner = member();
  owner.arm();
  const pid_t child = start([&] {
    owner.say_cookie();
    for (int i = 0; i < 7; ++i) syscall(SYS_getppid);
  });
  wait_for(child);
  EXPECT_EQ(owner.getppids(loaded_->cpu_count()), 7U);
  const auto stranger = [&] {
    for (int i = 0; i < 100; ++i) syscall(SYS_getppid);
    owner.say_cookie();
    for (int i = 0; i < 100; ++i) syscall(SYS_getppid);
  };
  const pid_t next = start(stranger, child);
  if (next < 0) GTEST_SKIP() << "choosing a process id needs CAP_CHECKPOINT_RESTORE";
  EXPECT_EQ(next, child);
  wait_for(next);
  EXPECT_EQ(owner.getppids(loaded_->cpu_count()), 7U) << "calls of another process that got the number";
}

// A process may write to its own map what it likes, while the programs use it: that is its own affair.
TEST_F(Enrolment, WithNonsenseInItsMapHarmsNoOther) {
  const Member victim = member();
  const Member hostile = member();
  const std::uint32_t cpus = loaded_->cpu_count();
  const pid_t child = start([&] {
    hostile.say_cookie();
    std::minstd_rand random(7);
    auto* words = reinterpret_cast<std::uint64_t*>(hostile.blocks.data());
    const std::size_t head = sizeof(syscost_head) / sizeof(std::uint64_t);
    const std::array<std::uint64_t, 6> likely{0, 1, ~0ULL, 1ULL << 32, SYSCOST_CONTROL(3, 1), SYSCOST_FOLLOW_PROCESS};
    for (int round = 0; round < 20'000; ++round) {
      for (int i = 0; i < 16; ++i) {
        const std::uint64_t any = static_cast<std::uint64_t>(random()) << 33 ^ random();
        words[random() % head] = random() % 2 != 0 ? any : likely[random() % likely.size()];
      }
      hostile.arm();
      syscall(SYS_getppid);
      syscall(static_cast<long>(700 + random() % 800));  // of no kernel's: a slot each, and an errno
    }
  });
  victim.say_cookie();
  victim.arm();
  int calls = 0;
  while (waitpid(child, nullptr, WNOHANG) == 0) {
    for (int i = 0; i < 1000; ++i) syscall(SYS_getppid);
    calls += 1000;
  }
  EXPECT_EQ(victim.getppids(cpus), static_cast<std::uint64_t>(calls));
  EXPECT_EQ(victim.directory().entered_twice, 0U);
  EXPECT_EQ(victim.seen(), 1U);
}

}  // namespace
}  // namespace syscost::ebpf
