// SPDX-License-Identifier: MIT
//
// Rules by which calls fail: which calls they hit, what the program sees, and which processes meet none.
#include "extras/faults/seccomp/fault_injector.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/extensions.h"
#include "no_wait_killable.h"
#include "os/own_calls.h"
#include "seccomp_faults.h"

namespace syscost::seccomp {
namespace {

TEST_F(SeccompFaults, FailTheNthCallAndNoOther) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              FaultRule rule = rule_for({SYS_getppid}, ENOSPC);
              rule.first = rule.last = 3;
              FaultId id;
              std::array<int, 5> errors{};
              backend.boundary(Lane::kProcess, Next::kArm);
              id = open_rule(backend, rule);
              for (int& error : errors) error = error_of_getppid();
              backend.extension<FaultInjector>()->close(id);
              backend.boundary(Lane::kProcess, Next::kDisarm);
              CallTable counted(&quiet_memory());
              backend.read(Lane::kProcess, counted);
              REQUIRE((errors == std::array<int, 5>{0, 0, ENOSPC, 0, 0}));
              REQUIRE(counted.at(kGetppid).entries == 5 && counted.at(kGetppid).altered == 1);
              REQUIRE(backend.capabilities().altered);
              REQUIRE(backend.extension<FaultInjector>()->counts(id).matches == 5);
              REQUIRE(backend.extension<FaultInjector>()->counts(id).hits == 1);
              REQUIRE(error_of_getppid() == 0);
              REQUIRE(backend.extension<FaultInjector>()->counts(id).matches == 5);
            }),
            0);
}

TEST_F(SeccompFaults, MayHaveAnyResult) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              for (const std::int64_t result : {std::int64_t{0}, std::int64_t{7}, std::int64_t{1} << 40}) {
                FaultRule rule = rule_for({SYS_lseek}, 0);
                rule.result = result;
                const FaultId id = open_rule(backend, rule);
                REQUIRE(syscall(SYS_lseek, -1, 0, 0) == result);
                backend.extension<FaultInjector>()->close(id);
              }
              REQUIRE(syscall(SYS_lseek, -1, 0, 0) == -1 && errno == EBADF);
            }),
            0);
}

TEST_F(SeccompFaults, OfOneThreadHitNoOther) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              const FaultId id = open_rule(backend, rule_for({SYS_getppid}, EIO));
              int other = -1;
              std::thread([&] { other = error_of_getppid(); }).join();
              REQUIRE(other == 0);
              REQUIRE(error_of_getppid() == EIO);
              REQUIRE(backend.extension<FaultInjector>()->counts(id).matches == 1);
            }),
            0);
}

TEST_F(SeccompFaults, OfTheProcessHitEveryThreadAndCountEachCallOnce) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              FaultRule rule = of_process(rule_for({SYS_getppid}, EIO));
              rule.first = 1001;
              const FaultId id = open_rule(backend, rule);
              std::atomic<int> failed{0};
              const auto body = [&] {
                for (int i = 0; i < 1000; ++i) failed += error_of_getppid() == EIO ? 1 : 0;
              };
              std::thread one(body);
              std::thread two(body);
              one.join();
              two.join();
              REQUIRE(failed == 1000);
              REQUIRE(backend.extension<FaultInjector>()->counts(id).matches == 2000);
            }),
            0);
}

TEST_F(SeccompFaults, MayNumberTheCallsOfEachThread) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              FaultRule rule = of_process(rule_for({SYS_getppid}, EIO));
              rule.first = rule.last = 2;
              rule.is_per_thread = true;
              constexpr int kThreads = 50;
              for (int opened = 0; opened < 3; ++opened) {
                const FaultId id = open_rule(backend, rule);
                const auto body = [] {
                  REQUIRE(error_of_getppid() == 0);
                  REQUIRE(error_of_getppid() == EIO);
                  REQUIRE(error_of_getppid() == 0);
                };
                std::vector<std::thread> threads;
                for (int i = 0; i < kThreads; ++i) threads.emplace_back(body);
                body();
                for (std::thread& thread : threads) thread.join();
                const FaultCounts counts = backend.extension<FaultInjector>()->counts(id);
                REQUIRE(counts.hits == kThreads + 1 && counts.matches == 3 * (kThreads + 1) && counts.unnumbered == 0);
                backend.extension<FaultInjector>()->close(id);
              }
            }),
            0);
}

TEST_F(SeccompFaults, TheInnermostAnswersAndOnlyWatchersSeeTheCallToo) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              FaultInjector& faults = *backend.extension<FaultInjector>();
              FaultRule watch = rule_for({SYS_getppid}, 0);
              watch.is_watch = watch.keeps_hits = true;
              const FaultId watch_id = open_rule(backend, watch);
              FaultRule outer = rule_for({SYS_getppid}, EIO);
              outer.first = outer.last = 2;
              const FaultId outer_id = open_rule(backend, outer);
              FaultRule inner = rule_for({SYS_getppid}, EPERM);
              inner.first = inner.last = 1;
              const FaultId inner_id = open_rule(backend, inner);
              REQUIRE(error_of_getppid() == EPERM);  // the outer one does not see it
              REQUIRE(error_of_getppid() == 0);      // its first
              faults.close(inner_id);
              REQUIRE(error_of_getppid() == EIO);  // its second
              faults.close(outer_id);
              REQUIRE(syscall(SYS_getppid, 1, 2, 3, 4, 5, 6) > 0);
              REQUIRE(faults.counts(watch_id).hits == 4);
              const std::vector<FaultHit> hits = faults.hits(watch_id);
              REQUIRE(hits.size() == 4 && !hits[0].result.has_value());
              REQUIRE(hits[3].number == SYS_getppid && hits[3].thread == static_cast<std::uint32_t>(getpid()));
              REQUIRE((hits[3].arguments == std::array<std::uint64_t, 6>{1, 2, 3, 4, 5, 6}));
            }),
            0);
}

TEST_F(SeccompFaults, APlaceThatIsUsedAgainHasCountsOfItsOwn) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              FaultInjector& faults = *backend.extension<FaultInjector>();
              const FaultId first = open_rule(backend, rule_for({SYS_getppid}, EIO));
              REQUIRE(error_of_getppid() == EIO);
              faults.close(first);
              const FaultId second = open_rule(backend, rule_for({SYS_getuid}, EIO));
              REQUIRE(faults.counts(second).matches == 0 && faults.counts(first).matches == 0);
              REQUIRE(error_of_getppid() == 0);
              faults.close(first);  // again: it is no longer there
              REQUIRE(syscall(SYS_getuid) == -1);
            }),
            0);
}

TEST_F(SeccompFaults, FindAFreePlaceInWhateverOrderTheyCloseAndAskTheNewestFirst) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              FaultInjector& faults = *backend.extension<FaultInjector>();
              std::deque<FaultId> open;
              // Always three open, and the oldest closes first.
              for (std::uint32_t i = 1; i <= 3 * kFaultRules; ++i) {
                open.push_back(open_rule(backend, rule_for({SYS_getppid}, static_cast<int>(i))));
                REQUIRE(error_of_getppid() == static_cast<int>(i));
                if (open.size() < 3) continue;
                faults.close(open.front());
                open.pop_front();
                REQUIRE(error_of_getppid() == static_cast<int>(i));
              }
              while (open.size() < kFaultRules) open.push_back(open_rule(backend, rule_for({SYS_getuid}, EIO)));
              REQUIRE(!faults.open(rule_for({SYS_getuid}, EIO)).ok());
              faults.close(open[kFaultRules / 2]);
              open_rule(backend, rule_for({SYS_getuid}, EPERM));
              REQUIRE(syscall(SYS_getuid) == -1 && errno == EPERM);
            }),
            0);
}

TEST_F(SeccompFaults, AreNotMetByChildrenOfAnyKind) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              const FaultId id = open_rule(backend, of_process(rule_for({SYS_getppid, SYS_openat, SYS_wait4}, EIO)));
              const FaultId own = open_rule(backend, rule_for({SYS_getppid}, EIO));
              const auto is_free = [] { _exit(error_of_getppid()); };
              const auto ends_well = [](pid_t child) {
                int status = -1;
                return child > 0 && syscall(SYS_waitid, P_PID, child, nullptr, WEXITED | WNOWAIT, nullptr) == 0 &&
                       syscall(SYS_wait4, child, &status, 0, nullptr) == -1;
              };
              const auto status_of = [&](pid_t child) {
                backend.extension<FaultInjector>()->close(id);
                int status = -1;
                waitpid(child, &status, 0);
                return status;
              };
              const pid_t forked = fork();
              if (forked == 0) is_free();
              const pid_t shares_memory = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): the case
              if (shares_memory == 0) _exit(error_of_getppid());
              const pid_t executes = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
              if (executes == 0) {
                execl("/bin/true", "true", nullptr);
                _exit(1);
              }
              for (const pid_t child : {forked, shares_memory, executes}) REQUIRE(ends_well(child));
              REQUIRE(backend.extension<FaultInjector>()->counts(own).matches == 0);
              REQUIRE(backend.extension<FaultInjector>()->counts(id).matches == 3);
              for (const pid_t child : {forked, shares_memory, executes}) REQUIRE(status_of(child) == 0);
            }),
            0);
}

TEST_F(SeccompFaults, AForkChildHasNoPartInThem) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              FaultInjector& faults = *backend.extension<FaultInjector>();
              const FaultId id = open_rule(backend, rule_for({SYS_getppid}, EIO));
              REQUIRE(in_child([&] {
                        REQUIRE(!faults.open(rule_for({SYS_getppid}, EIO)).ok());
                        REQUIRE(faults.counts(id).matches == 0 && faults.hits(id).empty());
                        faults.end_own_work(faults.begin_own_work());
                        faults.close(id);
                        REQUIRE(error_of_getppid() == 0);
                      }) == 0);
              REQUIRE(error_of_getppid() == EIO);
            }),
            0);
}

/// Mappings of memory without a file that processes can share.
int shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) found += line.find("/dev/zero") != line.npos ? 1 : 0;
  return found;
}

// One with fewer rights than its parent must not change what calls of its parent return.
TEST_F(SeccompFaults, AForkChildHasNoMemoryThatTheSupervisorReads) {
  EXPECT_EQ(in_child([] {
              const int before = shared_mappings();
              const std::unique_ptr<Backend> backend = open_here();
              REQUIRE(shared_mappings() == before + 1);
              REQUIRE(in_child([&] {
                        REQUIRE(shared_mappings() == before);
                        // So it must not touch it.
                        REQUIRE(!backend->acquire_lane().has_value());
                        backend->boundary(Lane::kProcess, Next::kArm);
                        CallTable table(&quiet_memory());
                        backend->read(Lane::kProcess, table);
                        ProgramTables children(&quiet_memory());
                        backend->extension<ProgramReader>()->read_programs(children);
                        REQUIRE(backend->losses().lost == 0 && backend->hidden_losses().ok());
                        begin_own_session(getpid());
                        end_own_session(getpid());
                      }) == 0);
            }),
            0);
}

TEST_F(SeccompFaults, AreForgottenByAProgramThatReplacesTheMeasuredOne) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              open_rule(backend, of_process(rule_for({SYS_openat, SYS_mmap, SYS_read}, EIO)));
              execl("/nonexistent", "nonexistent", nullptr);
              REQUIRE(open("/dev/null", O_RDONLY) == -1 && errno == EIO);  // it has not replaced it
              execl("/bin/true", "true", nullptr);
            }),
            0);
}

TEST_F(SeccompFaults, SyscostsOwnWorkMeetsNone) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              FaultInjector& faults = *backend.extension<FaultInjector>();
              const FaultId id = open_rule(backend, of_process(rule_for({SYS_getppid}, EIO)));
              void* const outer = faults.begin_own_work();
              void* const inner = faults.begin_own_work();
              faults.end_own_work(inner);
              REQUIRE(error_of_getppid() == 0);
              int other = 0;
              std::thread([&] { other = error_of_getppid(); }).join();
              REQUIRE(other == EIO);
              faults.end_own_work(outer);
              REQUIRE(error_of_getppid() == EIO);
              REQUIRE(faults.counts(id).matches == 2);
            }),
            0);
}

TEST_F(SeccompFaults, MayBeForOneDescriptor) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              const int one = open("/dev/null", O_WRONLY);
              const int other = open("/dev/null", O_WRONLY);
              FaultRule rule = rule_for({SYS_write, SYS_dup2, SYS_openat, SYS_getppid}, EIO);
              rule.descriptor = one;
              const FaultId id = open_rule(backend, rule);
              REQUIRE(write(one, "x", 1) == -1 && write(other, "x", 1) == 1);
              REQUIRE(dup2(other, one) == -1);
              REQUIRE(syscall(SYS_openat, one, "/dev/null", O_RDONLY) >= 0);  // a folder to begin in
              REQUIRE(error_of_getppid() == 0);
              REQUIRE(backend.extension<FaultInjector>()->counts(id).matches == 2);
            }),
            0);
}

TEST_F(SeccompFaults, SeeCallsThatAFilterLeavesOutOfTheCounts) {
  EXPECT_EQ(in_child([] {
              const auto filter = Filter::parse("getuid");
              const auto backend =
                  open_backend(BackendRequest{.filter = filter.value().get()}.add(UnselectedCallsWish{}));
              REQUIRE(backend.ok());
              open_rule(*backend.value(), rule_for({SYS_getppid}, EIO));
              REQUIRE(entries_of(*backend.value(), kGetppid, [] { REQUIRE(error_of_getppid() == EIO); }) == 0);
              REQUIRE(entries_of(*backend.value(), kGetuid, [] { repeat(3, SYS_getuid); }) == 3);
            }),
            0);
  EXPECT_EQ(in_child([] {
              const auto filter = Filter::parse("getuid");
              const auto backend = open_here(filter.value().get());
              const Result<FaultId> id = backend->extension<FaultInjector>()->open(rule_for({SYS_getppid}, EIO));
              REQUIRE(!id.ok() && id.failure().how_to_fix.find("--syscost_filter") != std::string::npos);
            }),
            0);
}

TEST_F(SeccompFaults, AreRefusedWhereASignalCouldMakeACallMeetThemTwice) {
  EXPECT_EQ(in_child([] {
              deny_wait_killable();
              const auto backend = open_here();
              const Result<FaultId> id = backend->extension<FaultInjector>()->open(rule_for({SYS_getppid}, EIO));
              REQUIRE(!id.ok() && id.failure().is_beyond_backend);
              REQUIRE(id.failure().how_to_fix.find("5.19") != std::string::npos);
              REQUIRE(error_of_getppid() == 0);
            }),
            0);
}

TEST(SeccompFaultRules, ThatNeedTheProcessesMemoryOrTheCallsEndAreRefused) {
  const auto reason = [](const std::function<void(FaultRule&)>& change) {
    FaultRule rule = rule_for({SYS_write}, EIO);
    change(rule);
    const Result<void> possible = check_fault(rule);
    return possible.ok() ? std::string() : possible.failure().reason;
  };
  const auto says = [&](const std::function<void(FaultRule&)>& change, const std::string& part) {
    EXPECT_NE(reason(change).find(part), std::string::npos) << reason(change);
  };
  EXPECT_EQ(reason([](FaultRule&) {}), "");
  EXPECT_EQ(reason([](FaultRule& rule) { rule.descriptor = 3; }), "");
  EXPECT_EQ(reason([](FaultRule& rule) { rule.delay_exit_ns = 5; }), "");  // no call is made: it is one delay
  says([](FaultRule& rule) { rule.path = "/tmp"; }, "which file");
  says([](FaultRule& rule) { rule.kinds = 2; }, "which file");
  says([](FaultRule& rule) { rule.most_bytes = 1; }, "shorten");
  says([](FaultRule& rule) { rule.after_bytes = 1; }, "how many bytes");
  says([](FaultRule& rule) { rule.result = -512; }, "the kernel's own");
  says(
      [](FaultRule& rule) {
        rule.result.reset();
        rule.delay_exit_ns = 5;
      },
      "the end of a call");
}

}  // namespace
}  // namespace syscost::seccomp
