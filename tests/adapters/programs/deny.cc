// SPDX-License-Identifier: MIT
//
// Runs a program under a seccomp profile like a container's: deny EPERM|ENOSYS SYSCALL[,SYSCALL...] PROGRAM
// [ARGUMENT...]
//
// SYSCALL is bpf, prctl or seccomp: what backends need.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

std::vector<unsigned> numbers_of(const std::string& names) {
  std::vector<unsigned> numbers;
  const auto has = [&](const char* name) {
    return ("," + names + ",").find(std::string(",") + name + ",") != std::string::npos;
  };
  if (has("bpf")) numbers.push_back(SYS_bpf);
  if (has("prctl")) numbers.push_back(SYS_prctl);
  if (has("seccomp")) numbers.push_back(SYS_seccomp);
  return numbers;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 64;
  const unsigned answer = SECCOMP_RET_ERRNO | (std::strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM);
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned number : numbers_of(argv[2])) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, answer));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  // As root it stays able to gain privileges, as in a container.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0 &&
      (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)) {
    std::perror("deny: seccomp");
    return 65;
  }
  execvp(argv[3], argv + 3);
  std::perror("deny: execvp");
  return 66;
}
