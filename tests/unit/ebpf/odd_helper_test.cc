// SPDX-License-Identifier: MIT
//
// A helper that is odd: it holds a pair that counts, but what it says of missed runs is not what ours says. Programs
// are loaded here, in a network namespace of the test's own, and the test skips with the reason where they may not be.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "../namespaces.h"
#include "../sanitized.h"
#include "backends/ebpf/ebpf_backend.h"
#include "backends/ebpf/helper/protocol.h"
#include "backends/ebpf/loaded_programs.h"
#include "backends/ebpf/missed_runs.h"
#include "in_child.h"

namespace syscost::ebpf {
namespace {

/// How the helper differs from a normal one.
struct Oddity {
  std::function<std::vector<int>(const LoadedPrograms&)> files = [](const LoadedPrograms& pair) {
    return open_run_files(pair.programs());
  };
  std::uint64_t missed_before = 0;            ///< Its answer to `join`.
  std::vector<std::uint64_t> missed_after{};  ///< Its answers to each `report`; a question beyond the last gets none.
};

[[noreturn]] void serve_one(int listener, const Oddity& oddity) {
  const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  Result<LoadedPrograms> pair = LoadedPrograms::load();
  if (!pair.ok()) _exit(1);
  Result<std::vector<LoadedPrograms::ProcessSlot>> places = pair.value().make_slots(1);
  const std::vector<int> programs = pair.value().counting_programs();
  const Result<std::vector<int>> links = open_links(programs);
  if (!places.ok() || !links.ok()) _exit(1);
  std::size_t reports = 0;
  for (Question question; receive_message(client, &question, sizeof question, nullptr);) {
    Answer answer;
    PassedDescriptors passed;
    if (question.request == Request::join) {
      answer.cpu_count = pair.value().cpu_count();
      answer.cookie = places.value()[0].cookie;
      answer.missed_runs = oddity.missed_before;
      answer.map_count = 1;
      passed.add(places.value()[0].map);
      for (const int file : oddity.files(pair.value())) passed.add(file);
    } else if (question.request == Request::detach) {
      close(links.value()[1]);  // no exit is seen, as where the kernel skips these runs
    } else if (question.request == Request::attach) {
      if (!open_links({programs[1]}).ok()) _exit(1);
    } else {
      if (reports == oddity.missed_after.size()) _exit(0);
      answer.missed_runs = oddity.missed_after[reports++];
    }
    send_message(client, &answer, sizeof answer, passed);
  }
  _exit(0);
}

class OddHelper : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_unshare(CLONE_NEWNET)) GTEST_SKIP() << "a network namespace cannot be made here: needs CAP_SYS_ADMIN";
    const Result<std::unique_ptr<Backend>> tried = open_backend();
    if (!tried.ok()) GTEST_SKIP() << tried.failure().reason << "; " << tried.failure().how_to_fix;
  }

  static std::string with_helper(const Oddity& oddity, const std::function<std::string(Backend&)>& body) {
    return InChild([&]() -> std::string {
             if (unshare(CLONE_NEWNET) != 0) return "no network namespace";
             const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
             const Address own = address_of(geteuid());
             if (bind(listener, reinterpret_cast<const sockaddr*>(&own.name), own.size) != 0 ||
                 listen(listener, 8) != 0) {
               return "the helper's name is taken";
             }
             const pid_t helper = fork();
             if (helper == 0) serve_one(listener, oddity);
             close(listener);
             Result<std::unique_ptr<Backend>> opened = open_backend();
             std::string said = opened.ok() ? opened.value()->arrangement() : opened.failure().reason;
             if (said.find("shares") == 0) said = body(*opened.value());
             kill(helper, SIGKILL);
             return said;
           })
        .said();
  }
};

std::string hidden_losses_of(Backend& backend) {
  const Result<std::uint64_t> losses = backend.hidden_losses();
  return losses.ok() ? std::to_string(losses.value()) : losses.failure().reason;
}

// The helper counts from when it loaded the programs. A process that came later did not lose what was lost before.
TEST_F(OddHelper, RunsThatWereMissedBeforeAProcessCameAreNotItsLosses) {
  const Oddity had_losses{.files = [](const LoadedPrograms&) { return std::vector<int>(); },
                          .missed_before = 1000,
                          .missed_after = {1000, 1003}};
  EXPECT_EQ(with_helper(had_losses,
                        [](Backend& backend) {
                          const std::string first = hidden_losses_of(backend);
                          return first + " then " + hidden_losses_of(backend);
                        }),
            "0 then 3");
}

TEST_F(OddHelper, MissedRunsThatGoBackAreNotBelieved) {
  const Oddity forgets{
      .files = [](const LoadedPrograms&) { return std::vector<int>(); }, .missed_before = 1000, .missed_after = {999}};
  const std::string said = with_helper(forgets, hidden_losses_of);
  EXPECT_NE(said.find("became smaller"), std::string::npos) << said;
}

TEST_F(OddHelper, IsNotAskedWhereItsFilesTell) {
  EXPECT_EQ(with_helper({}, miscounts), "");
}

// Then the process asks the helper, even if it passed files. missed_runs_test.cc has more files of the wrong kind.
TEST_F(OddHelper, WithoutFilesOrWithOthersIsAsked) {
  const std::vector<std::function<std::vector<int>(const LoadedPrograms&)>> odd = {
      [](const LoadedPrograms&) { return std::vector<int>(); },
      [](const LoadedPrograms& pair) {
        std::vector<int> files = open_run_files(pair.programs());
        files.back() = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
        return files;
      },
      [](const LoadedPrograms&) {  // that no one ever writes to
        std::array<int, 2> ends{};
        static_cast<void>(pipe2(ends.data(), O_CLOEXEC));
        return std::vector<int>(3, ends[0]);
      },
  };
  for (const auto& files : odd) {
    EXPECT_EQ(with_helper({.files = files, .missed_before = 7, .missed_after = {7}}, miscounts), "");
  }
}

/// Closes the files of all programs but the one that sees entries; its file has the lowest number.
bool close_files_of_other_programs() {
  std::set<int> files;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.find("/fdinfo/") != std::string::npos) files.insert(std::stoi(entry.path().filename()));
  }
  if (files.size() != 3) return false;
  files.erase(files.begin());
  for (const int file : files) close(file);
  return true;
}

void be_interrupted(Backend& backend) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, nullptr);
  sigset_t blocked;
  sigset_t none;
  sigemptyset(&none);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  raise(SIGUSR1);
  count_getppids(backend, [&] { sigsuspend(&none); });
}

void miss_an_exit(Backend& backend) {
  static_cast<void>(backend.detach().ok());
  call_ten_times();
  static_cast<void>(backend.attach().ok());
}

void go_under_a_filter(Backend&) {
  sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const sock_fprog filter{1, &allow};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

// Its entries show that no run of another program can be missing. If they do not, all files are read; one of them
// is closed here, and the helper is asked.
TEST_F(OddHelper, AThreadThatWasAlwaysAloneLooksAtEntriesOnly) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer has a thread of its own";
  const std::vector<std::function<void(Backend&)>> doubts = {
      [](Backend&) { std::thread([] { syscall(SYS_getppid); }).join(); },
      be_interrupted,
      miss_an_exit,
      go_under_a_filter,
  };
  for (const auto& begin_to_doubt : doubts) {
    EXPECT_EQ(with_helper({.missed_after = {1000}},
                          [&](Backend& backend) -> std::string {
                            if (!close_files_of_other_programs()) return "there are not three files";
                            const std::string before = miscounts(backend) + miscounts(backend);
                            begin_to_doubt(backend);
                            return before + hidden_losses_of(backend);
                          }),
              "1000");
  }
}

class RunFilesOfPrograms : public OddHelper {
 protected:
  /// In a child, with a pair that has a number for each program beside its own.
  static std::string with_files(
      const std::function<std::string(const LoadedPrograms&, const std::vector<int>&, RunFiles&)>& body) {
    return InChild([&]() -> std::string {
             const Result<LoadedPrograms> pair = LoadedPrograms::load();
             if (!pair.ok()) return pair.failure().reason;
             std::vector<int> numbers;
             for (const int program : pair.value().programs()) numbers.push_back(dup(program));
             RunFiles files(open_run_files(numbers));
             const std::optional<std::uint64_t> missed = files.read(Runs::of_all);
             const Result<std::uint64_t> asked = missed_runs(numbers);
             if (!missed || !asked.ok() || *missed != asked.value()) return "it reads what the kernel does not say";
             return body(pair.value(), numbers, files);
           })
        .said();
  }
};

TEST_F(RunFilesOfPrograms, AreReadByAUserWhoMayNotOpenThem) {
  EXPECT_EQ(with_files([](const LoadedPrograms&, const std::vector<int>&, RunFiles& files) -> std::string {
              if (setgid(65534) != 0 || setuid(65534) != 0) return "cannot become another user";
              return files.read(Runs::of_all).has_value() ? "" : "not read";
            }),
            "");
}

TEST_F(RunFilesOfPrograms, EndWithTheNumberThatTheyAreOf) {
  EXPECT_EQ(with_files([](const LoadedPrograms&, const std::vector<int>& numbers, RunFiles& files) -> std::string {
              close(numbers[1]);
              return files.read(Runs::of_all).has_value() ? "still read" : "";
            }),
            "");
}

TEST_F(RunFilesOfPrograms, AreReadForEntriesAloneIfThatIsEnough) {
  EXPECT_EQ(with_files([](const LoadedPrograms&, const std::vector<int>& numbers, RunFiles& files) -> std::string {
              close(numbers[1]);
              if (!files.read(Runs::of_entries).has_value()) return "another one is read";
              close(numbers[0]);
              return files.read(Runs::of_entries).has_value() ? "it is not read" : "";
            }),
            "");
}

TEST_F(RunFilesOfPrograms, AreOfTheirProgramAlone) {
  EXPECT_EQ(with_files([](const LoadedPrograms& pair, const std::vector<int>& numbers, RunFiles& files) -> std::string {
              dup2(pair.programs()[0], numbers[1]);
              return files.read(Runs::of_all).has_value() ? "another program's is read" : "";
            }),
            "");
}

TEST_F(RunFilesOfPrograms, AreNotTakenWhereTheyWouldHaveLowNumbers) {
  EXPECT_EQ(with_files([](const LoadedPrograms&, const std::vector<int>& numbers, RunFiles&) -> std::string {
              const std::vector<int> opened = open_run_files(numbers);
              const rlimit few{64, 64};
              if (setrlimit(RLIMIT_NOFILE, &few) != 0) return "no limit";
              RunFiles low(opened);
              return low.read(Runs::of_all).has_value() || fcntl(opened[0], F_GETFD) >= 0 ? "they are kept" : "";
            }),
            "");
}

}  // namespace
}  // namespace syscost::ebpf
