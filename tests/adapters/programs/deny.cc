// SPDX-License-Identifier: MIT
//
// Runs a program under a seccomp profile like a container's: deny EPERM|ENOSYS WHAT[,WHAT...] PROGRAM [ARGUMENT...]
//
// WHAT is what a backend needs: bpf, prctl, seccomp, or dispatch, which is the one question of prctl's that arms
// Syscall User Dispatch. `bench run` needs ptrace for some programs, and uses pidfd_open.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr unsigned kSetDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH

void load(std::vector<sock_filter>& code, std::size_t offset) {
  code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)));
}

/// False for an unknown word.
bool add_rule(std::vector<sock_filter>& code, const std::string& what, unsigned answer) {
  const bool is_dispatch = what == "dispatch";
  static const std::map<std::string, unsigned> kNumbers = {
      {"bpf", SYS_bpf},       {"seccomp", SYS_seccomp},       {"prctl", SYS_prctl},   {"ptrace", SYS_ptrace},
      {"clone3", SYS_clone3}, {"pidfd_open", SYS_pidfd_open}, {"dispatch", SYS_prctl}};
  const auto number = kNumbers.find(what);
  if (number == kNumbers.end()) return false;
  const std::uint8_t steps = is_dispatch ? 3 : 1;
  load(code, offsetof(seccomp_data, nr));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number->second, 0, steps));
  if (is_dispatch) {
    load(code, offsetof(seccomp_data, args));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kSetDispatch, 0, 1));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, answer));
  return true;
}

long install(const sock_fprog& program) {
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 64;
  const unsigned answer = SECCOMP_RET_ERRNO | (std::strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM);
  std::vector<sock_filter> code;
  std::istringstream words(argv[2]);
  for (std::string word; std::getline(words, word, ',');) {
    if (add_rule(code, word, answer)) continue;
    std::fprintf(stderr,
                 "deny: cannot deny '%s'; there are bpf, prctl, ptrace, clone3, pidfd_open, seccomp, dispatch\n",
                 word.c_str());
    return 64;
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  // As root it stays able to gain privileges, as in a container.
  if (install(program) != 0 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || install(program) != 0)) {
    std::perror("deny: seccomp");
    return 65;
  }
  execvp(argv[3], argv + 3);
  std::perror("deny: execvp");
  return 66;
}
