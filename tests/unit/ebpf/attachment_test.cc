// SPDX-License-Identifier: MIT
//
// Which process holds the programs, and that calls are counted once: with any children, with /proc moved away, and if
// another process attaches the programs a second time. It loads the programs; if it may not, it skips with the reason.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "../namespaces.h"
#include "../sanitized.h"
#include "backends/ebpf/ebpf_backend.h"
#include "backends/ebpf/loaded_programs.h"
#include "in_child.h"
#include "os/confinement.h"
#include "os/descriptors.h"

namespace syscost::ebpf {
namespace {

enum class Held {
  by_the_common_helper,
  by_a_helper_of_its_own,
  by_a_helper_that_counts_children,
  by_the_process,
  by_the_process_on_perf_events,
};

bool is_held_by_the_process(Held held) {
  return held == Held::by_the_process || held == Held::by_the_process_on_perf_events;
}

Result<std::unique_ptr<Backend>> open_held(Held held) {
  if (held == Held::by_the_process_on_perf_events) use_attachment(Attachment::perf_events);
  if (is_held_by_the_process(held)) {
    // A helper would become a child of ours, so we start none. The new network namespace hides all others.
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (unshare(CLONE_NEWNET) != 0) return errno_failure("get", "a network namespace", errno);
  }
  BackendRequest request;
  request.details.ioctls = held == Held::by_a_helper_of_its_own;
  if (held == Held::by_a_helper_that_counts_children) request.add(OtherProgramsWish{});
  return open_backend(request);
}

class HeldPrograms : public testing::TestWithParam<Held> {
 protected:
  void SetUp() override {
    const Result<std::unique_ptr<Backend>> tried = open_backend();
    if (!tried.ok()) GTEST_SKIP() << tried.failure().reason << "; " << tried.failure().how_to_fix;
    if (is_held_by_the_process(GetParam()) && !can_unshare(CLONE_NEWNET)) {
      GTEST_SKIP() << "a network namespace cannot be made here: needs CAP_SYS_ADMIN";
    }
    if (GetParam() == Held::by_the_process_on_perf_events && !has_tracefs()) {
      GTEST_SKIP() << "no tracefs: mount -t tracefs nodev /sys/kernel/tracing";
    }
  }

  /// Runs `body` in a child that has opened a backend.
  static std::string with_backend(const std::function<std::string(Backend&)>& body) {
    return InChild([&]() -> std::string {
             Result<std::unique_ptr<Backend>> opened = open_held(GetParam());
             return opened.ok() ? body(*opened.value()) : opened.failure().reason;
           })
        .said();
  }
};

TEST_P(HeldPrograms, IsNoDescriptorOfTheProcess) {
  EXPECT_EQ(with_backend([](Backend&) -> std::string {
              std::string found;
              for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
                std::error_code error;
                const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
                if (target.find("bpf") != std::string::npos) found += target + " ";
              }
              return found;
            }),
            "");
}

// A loop takes the programs off and puts them back on. A child that closes nothing must not keep them on.
TEST_P(HeldPrograms, IsNotKeptByAChildThatRanNoForkHandler) {
  EXPECT_EQ(with_backend([](Backend& backend) -> std::string {
              const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
              if (child == 0) {
                for (;;) pause();
              }
              std::string wrong = miscounts(backend);
              if (!backend.detach().ok()) wrong += "not detached; ";
              if (count_getppids(backend, call_ten_times) != 0) wrong += "counts while it is detached; ";
              if (!backend.attach().ok()) wrong += "not attached; ";
              wrong += miscounts(backend);
              kill(child, SIGKILL);
              waitpid(child, nullptr, 0);
              return wrong;
            }),
            "");
}

TEST_P(HeldPrograms, IsFoundWithoutProc) {
  EXPECT_EQ(with_backend([](Backend& backend) -> std::string {
              std::string folder = "/tmp/syscost-empty-XXXXXX";
              if (mkdtemp(folder.data()) == nullptr) return "no empty folder";
              const bool is_inside = chdir(folder.c_str()) == 0 && rmdir(folder.c_str()) == 0 && chroot(".") == 0;
              if (!is_inside) return "";  // an ordinary user cannot
              std::string wrong;
              for (int i = 0; i < 2; ++i) {
                if (!backend.detach().ok()) wrong += "not detached; ";
                if (!backend.attach().ok()) wrong += "not attached; ";
                wrong += miscounts(backend);
              }
              return wrong;
            }),
            "");
}

TEST_P(HeldPrograms, ThatFindsTooFewDescriptorsNamesTheLimit) {
  for (const rlim_t limit : {8, 10, 14}) {
    const std::string said = InChild([&]() -> std::string {
                               const rlimit few{limit, limit};
                               setrlimit(RLIMIT_NOFILE, &few);
                               const Result<std::unique_ptr<Backend>> opened = open_held(GetParam());
                               return opened.ok() ? "" : opened.failure().reason + "; " + opened.failure().how_to_fix;
                             }).said();
    if (!said.empty()) {
      EXPECT_NE(said.find("EMFILE"), std::string::npos) << said;
      EXPECT_NE(said.find("ulimit -n"), std::string::npos) << said;
    }
  }
}

// Alike with helpers of one's own.
class Place : public HeldPrograms {};

TEST_P(Place, IsHadAgainByWhoRetired) {
  EXPECT_EQ(with_backend([](Backend& backend) -> std::string {
              backend.retire();
              if (backend.hidden_losses().ok()) return "counts on";
              Result<std::unique_ptr<Backend>> next = open_held(GetParam());
              if (!next.ok()) return next.failure().reason;
              const bool is_copy = next.value()->arrangement().find("another copy") != std::string::npos;
              return is_copy ? next.value()->arrangement() : miscounts(*next.value());
            }),
            "");
}

TEST_P(Place, NeedsNoFreeDescriptor) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer asks by a pipe whether memory can be read, and has no descriptor";
  EXPECT_EQ(with_backend([](Backend& backend) -> std::string {
              while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) {
              }
              const std::string wrong = miscounts(backend);
              // Programs in a queue are reached by copies.
              return is_held_by_the_process(GetParam()) && wrong.find("EMFILE") != std::string::npos ? "" : wrong;
            }),
            "");
}

std::string name_of_held(const testing::TestParamInfo<Held>& info) {
  switch (info.param) {
    case Held::by_the_common_helper:
      return "HeldByTheCommonHelper";
    case Held::by_a_helper_of_its_own:
      return "HeldByAHelperOfItsOwn";
    case Held::by_a_helper_that_counts_children:
      return "HeldByAHelperThatCountsChildren";
    case Held::by_the_process:
      return "HeldByTheProcess";
    case Held::by_the_process_on_perf_events:
      return "HeldByTheProcessOnPerfEvents";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Each, Place,
                         testing::Values(Held::by_the_common_helper, Held::by_the_process,
                                         Held::by_the_process_on_perf_events),
                         name_of_held);
INSTANTIATE_TEST_SUITE_P(Each, HeldPrograms,
                         testing::Values(Held::by_the_common_helper, Held::by_a_helper_of_its_own,
                                         Held::by_a_helper_that_counts_children, Held::by_the_process,
                                         Held::by_the_process_on_perf_events),
                         name_of_held);

// ---- the programs attached a second time ----------------------------------------------------------------------------

/// A second attachment of the first program, on_sys_enter, for a process that holds its programs itself; -1 if it holds
/// none.
int attach_again() {
  for (int socket = 3; socket < 1024; ++socket) {
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(32 * sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    if (recvmsg(socket, &header, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0) continue;
    const cmsghdr* rights = CMSG_FIRSTHDR(&header);
    if (rights == nullptr) continue;
    std::vector<int> parked((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(parked.data(), CMSG_DATA(rights), parked.size() * sizeof(int));
    const Result<std::vector<int>> links =
        open_links({parked.front()});  // fails where those are attachments themselves
    close_each(parked);
    if (links.ok()) return links.value().front();
  }
  return -1;
}

class SecondAttachment : public HeldPrograms {};
INSTANTIATE_TEST_SUITE_P(Each, SecondAttachment, testing::Values(Held::by_the_process), name_of_held);

class OnPerfEvents : public HeldPrograms {};
INSTANTIATE_TEST_SUITE_P(Each, OnPerfEvents, testing::Values(Held::by_the_process_on_perf_events), name_of_held);

TEST_P(OnPerfEvents, WithoutTracefsIsRefusedWithTheReason) {
  const std::string said =
      InChild([]() -> std::string {
        if (unshare(CLONE_NEWNS) != 0 || mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "skip";
        for (const char* folder : {"/sys/kernel/tracing", "/sys/kernel/debug"}) {
          if (mount("none", folder, "tmpfs", 0, nullptr) != 0) return "skip";
        }
        const Result<std::unique_ptr<Backend>> opened = open_held(GetParam());
        return opened.ok() ? "opened" : opened.failure().reason + "; " + opened.failure().how_to_fix;
      }).said();
  if (said == "skip") GTEST_SKIP() << "mounts are denied here";
  EXPECT_NE(said.find("tracefs is not mounted at /sys/kernel/tracing"), std::string::npos) << said;
  EXPECT_NE(said.find("mount -t tracefs"), std::string::npos) << said;
}

TEST_P(OnPerfEvents, ASecondAttachmentIsRefusedByTheKernel) {
  EXPECT_EQ(with_backend([](Backend& backend) -> std::string {
              if (attach_again() >= 0) return "a second attachment";
              return miscounts(backend);
            }),
            "");
}

TEST_P(SecondAttachment, VoidsWhatWasCounted) {
  EXPECT_EQ(with_backend([](Backend& backend) -> std::string {
              if (std::string wrong = miscounts(backend); !wrong.empty()) return wrong;
              if (attach_again() < 0) return "no second attachment";
              call_ten_times();
              const Result<std::uint64_t> losses = backend.hidden_losses();
              return losses.ok() ? "nothing is said" : losses.failure().reason;
            }),
            "syscost's BPF programs were attached a second time, and calls were counted twice");
}

TEST_P(SecondAttachment, VoidsWhatWasCountedAlsoWhenItIsGoneBeforeTheWindowEnds) {
  EXPECT_EQ(with_backend([](Backend& backend) -> std::string {
              if (std::string wrong = miscounts(backend); !wrong.empty()) return wrong;
              const std::uint64_t counted = count_getppids(backend, [] {
                const int link = attach_again();
                call_ten_times();
                close(link);
              });
              if (counted != 20) return "it was not counted twice, but " + std::to_string(counted) + " times";
              const Result<std::uint64_t> losses = backend.hidden_losses();
              return losses.ok() ? "nothing is said" : losses.failure().reason;
            }),
            "syscost's BPF programs were attached a second time, and calls were counted twice");
}

}  // namespace
}  // namespace syscost::ebpf
