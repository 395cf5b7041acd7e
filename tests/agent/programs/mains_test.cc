// SPDX-License-Identifier: MIT
//
// A main() that does something unusual before its tests (its first argument), and a test that forbids the ways to read
// memory. Linked dynamically and statically.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

void call_ten_times() {
  for (int i = 0; i < 10; ++i) syscall(SYS_getppid);
}

/// Gives `action` to process_vm_readv, and EPERM to getpid.
bool forbid_reading(unsigned action) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(code), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// The rest of the main thread, a zombie, waits for the others.
bool has_main_ended() {
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/stat");
  std::string line;
  std::getline(file, line);
  return line.find(") Z") != std::string::npos;
}

TEST(Mains, First) {
  call_ten_times();
}
TEST(Mains, SetsGs) {
  if (getenv("SETS_GS") != nullptr) {
    unsigned long base = 0;
    syscall(SYS_arch_prctl, 0x1004, &base);  // ARCH_GET_GS
    syscall(SYS_arch_prctl, 0x1001, base);   // ARCH_SET_GS
  }
  call_ten_times();
}
TEST(Mains, Second) {
  if (getenv("CLEARS") != nullptr) clearenv();
  call_ten_times();
}
TEST(Mains, ForbidsReading) {
  if (const char* const action = getenv("FORBIDS"); action != nullptr) {
    ASSERT_TRUE(forbid_reading(std::string(action) == "kill" ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EACCES));
  }
  call_ten_times();
}
TEST(Mains, Third) {
  call_ten_times();
}

/// Starts `program` with one of its tests, as `way` says.
int start_other(const std::string& way, const char* program) {
  const std::string filter = "--gtest_filter=Mains.First";
  if (way == "system") return system((program + (" " + filter)).c_str());
  const pid_t child = way == "fork" ? fork() : 0;
  if (child == 0) {
    execl(program, program, filter.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "child") {
    const pid_t child = fork();
    if (child == 0) return RUN_ALL_TESTS();
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  if (way == "thread") {
    std::thread([] {
      while (!has_main_ended()) usleep(1000);
      exit(RUN_ALL_TESTS());
    }).detach();
    pthread_exit(nullptr);
  }
  if (way == "before" && start_other(argv[2], argv[3]) != 0) return 1;
  if (way == "after") return RUN_ALL_TESTS() + start_other(argv[2], argv[3]);
  if (way == "twice") {
    testing::GTEST_FLAG(filter) = "Mains.First";
    if (const int failed = RUN_ALL_TESTS(); failed != 0) return failed;
    testing::GTEST_FLAG(filter) = "*";
  }
  if (way == "clearenv") clearenv();
  if (way == "silent") {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  return RUN_ALL_TESTS();
}
