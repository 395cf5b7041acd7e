// SPDX-License-Identifier: MIT
//
// The helper for names and lines, when something is not as it should be.
#include "extras/where/symbols/symbols_link.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "../sanitized.h"
#include "csv/temporary_folder.h"

namespace syscost::symbols {
namespace {

using syscost::testing::TemporaryFolder;

class Symbols : public ::testing::Test {
 protected:
  Result<void> ask(const std::string& path, const std::string& build_id = {}) {
    const std::vector<Address> addresses{{0x1000, false}};
    return link_.look_up({path, build_id, std::pmr::get_default_resource()}, addresses, answer_);
  }
  std::string reason() const { return std::string(answer_.reason); }

  SymbolsLink link_{*std::pmr::get_default_resource()};
  Answer answer_{std::pmr::get_default_resource()};
};

TEST_F(Symbols, RefuseAFileThatHasChanged) {
  ASSERT_TRUE(ask("/proc/self/exe", "00112233").ok());
  EXPECT_EQ(reason(), "has changed since the program loaded it");
  EXPECT_TRUE(answer_.places.empty());
}

TEST_F(Symbols, RefuseAFileThatHasVanishedOrIsNone) {
  ASSERT_TRUE(ask("/nowhere/liblog.so").ok());
  EXPECT_EQ(reason(), "cannot be opened: No such file or directory");
  ASSERT_TRUE(ask("/dev/zero").ok());
  EXPECT_EQ(reason(), "is no longer a file");
}

TEST_F(Symbols, SurviveFilesOfNoise) {
  const TemporaryFolder folder;
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same noise each time
  const std::string program = syscost::testing::read_file(std::filesystem::canonical("/proc/self/exe"));
  for (int round = 0; round < 20; ++round) {
    std::string bytes = program.substr(0, 1 << 20);
    for (int i = 0; i < 2000; ++i) bytes[random() % (round < 10 ? 4096 : bytes.size())] = static_cast<char>(random());
    if (round % 2 == 0)
      bytes.replace(0, 4,
                    "\x7f"
                    "ELF");
    const std::string file = folder.file("noise" + std::to_string(round));
    syscost::testing::write_file(file, bytes);
    const Result<void> asked = ask(file);
    // A reader that crashes ends the helper, and nothing else.
    EXPECT_TRUE(asked.ok() || asked.failure().reason.find("has ended") != std::string::npos) << asked.failure().reason;
  }
}

TEST_F(Symbols, StartAnotherHelperWhenOneWasKilledAndGiveUpAfterThree) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(ask("/nowhere").ok());
    ASSERT_GT(link_.helper(), 0);
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, link_.helper(), 0));
    kill(link_.helper(), SIGKILL);
    pollfd one{pidfd, POLLIN, 0};
    poll(&one, 1, -1);
    close(pidfd);
    const Result<void> asked = ask("/nowhere");
    ASSERT_FALSE(asked.ok());
    EXPECT_EQ(asked.failure().reason,
              "syscost-symbols, which finds functions and lines, has ended; it was reading /nowhere");
  }
  EXPECT_FALSE(ask("/nowhere").ok());
  EXPECT_EQ(link_.helper(), 0);
}

TEST_F(Symbols, LeaveNoChildThatAWaitCouldFind) {
  ASSERT_TRUE(ask("/nowhere").ok());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(Symbols, AreReadByAProcessThatCanOnlyRead) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer makes calls that the helper's filter would deny";
  ASSERT_TRUE(ask("/nowhere").ok());
  const std::string status = syscost::testing::read_file("/proc/" + std::to_string(link_.helper()) + "/status");
  EXPECT_NE(status.find("NoNewPrivs:\t1\n"), std::string::npos) << status;
  EXPECT_NE(status.find("Seccomp:\t2\n"), std::string::npos) << status;
  // CAP_DAC_READ_SEARCH or nothing.
  EXPECT_TRUE(status.find("CapPrm:\t0000000000000004\n") != std::string::npos ||
              status.find("CapPrm:\t0000000000000000\n") != std::string::npos)
      << status;
}

TEST_F(Symbols, SayThatTheHelperIsMissing) {
  SymbolsLink link(*std::pmr::get_default_resource(), "/nowhere/syscost-symbols");
  const std::vector<Address> addresses{{1, false}};
  const Result<void> asked = link.look_up({"/nowhere", "", std::pmr::get_default_resource()}, addresses, answer_);
  ASSERT_FALSE(asked.ok());
  EXPECT_EQ(asked.failure().reason,
            "syscost-symbols is missing or not executable; its place is /nowhere/syscost-symbols");
}

TEST_F(Symbols, SayThatLibdwIsMissing) {
  const TemporaryFolder folder;
  syscost::testing::write_file(folder.file("libdw.so.1"), "no library");
  setenv("LD_LIBRARY_PATH", folder.path().c_str(), 1);
  const Result<void> asked = ask("/proc/self/exe");
  unsetenv("LD_LIBRARY_PATH");
  ASSERT_TRUE(asked.ok());
  EXPECT_NE(reason().find("libdw.so.1 cannot be loaded"), std::string::npos) << reason();
  EXPECT_NE(reason().find("apt-get install libdw1"), std::string::npos) << reason();
}

TEST_F(Symbols, TakeNoAnswerThatMakesNoSense) {
  std::pmr::string message;
  Answer good(std::pmr::get_default_resource());
  good.places.emplace_back(std::pmr::get_default_resource()).frames.emplace_back(std::pmr::get_default_resource());
  put_answer(message, good);
  const std::string body(message.substr(sizeof(std::uint32_t)));
  EXPECT_TRUE(take_answer(body, 1, answer_));
  EXPECT_FALSE(take_answer(body, 2, answer_));
  EXPECT_FALSE(take_answer(body + "x", 1, answer_));
  for (std::size_t size = 0; size < body.size(); ++size) EXPECT_FALSE(take_answer(body.substr(0, size), 1, answer_));
}

}  // namespace
}  // namespace syscost::symbols
