// SPDX-License-Identifier: MIT
//
// Starts a program in odd surroundings: attack_start HOW[,HOW...] PROGRAM [ARGUMENT...]
//
// Things done before main() cannot be a case of the program itself. Each HOW is a word or NAME=NUMBER; kHows has all.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

bool limit(int resource, long number) {
  const rlim_t value = number < 0 ? RLIM_INFINITY : static_cast<rlim_t>(number);
  const rlimit both = {value, value};
  return syscall(SYS_prlimit64, 0, resource, &both, nullptr) == 0;
}

bool block(const std::vector<int>& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  if (signals.empty()) sigfillset(&set);
  return sigprocmask(SIG_BLOCK, &set, nullptr) == 0;
}

bool deny(const std::vector<long>& numbers, unsigned error) {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long number : numbers) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

bool lose_proc() {
  return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         umount2("/proc", MNT_DETACH) == 0;
}

bool adopt_nobody() {
  return setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0;
}

bool vanished_folder() {
  char folder[] = "/tmp/attack-XXXXXX";
  return mkdtemp(folder) != nullptr && chdir(folder) == 0 && rmdir(folder) == 0;
}

const std::map<std::string, std::function<bool(long)>> kHows = {
    {"nofile", [](long n) { return limit(RLIMIT_NOFILE, n); }},
    {"fsize", [](long n) { return limit(RLIMIT_FSIZE, n); }},
    {"as", [](long n) { return limit(RLIMIT_AS, n); }},
    {"stack", [](long n) { return limit(RLIMIT_STACK, n); }},
    {"memlock", [](long n) { return limit(RLIMIT_MEMLOCK, n); }},
    {"data", [](long n) { return limit(RLIMIT_DATA, n); }},
    {"sigpending", [](long n) { return limit(RLIMIT_SIGPENDING, n); }},
    {"nproc", [](long n) { return limit(RLIMIT_NPROC, n); }},
    {"user", [](long) { return adopt_nobody(); }},
    {"mdwe", [](long) { return prctl(65, 1, 0, 0, 0) == 0; }},
    {"undumpable", [](long) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0; }},
    {"sigsys_blocked", [](long) { return block({SIGSYS}); }},
    {"all_blocked", [](long) { return block({}); }},
    {"sigsys_ignored", [](long) { return signal(SIGSYS, SIG_IGN) != SIG_ERR; }},
    {"no_output", [](long) { return close(1) == 0 && close(2) == 0; }},
    {"no_descriptors", [](long) { return close(0) == 0 && close(1) == 0 && close(2) == 0; }},
    {"read_only_output", [](long) { return dup2(open("/dev/null", O_RDONLY), 1) == 1; }},
    {"no_proc", [](long) { return lose_proc(); }},
    {"vanished_folder", [](long) { return vanished_folder(); }},
    {"nameless", [](long) { return true; }},
    {"no_environment", [](long) { return clearenv() == 0; }},
    {"umask", [](long n) { return umask(static_cast<mode_t>(n)) <= 0777; }},
    {"compat_layout", [](long) { return personality(ADDR_COMPAT_LAYOUT) >= 0; }},
    {"read_implies_exec", [](long) { return personality(READ_IMPLIES_EXEC) >= 0; }},
    {"no_mprotect",
     [](long e) {
       return deny({SYS_pkey_mprotect, 462}, static_cast<unsigned>(e));
     }},
    {"no_getppid", [](long e) { return deny({SYS_getppid}, static_cast<unsigned>(e)); }},
    {"no_gettid", [](long e) { return deny({SYS_gettid}, static_cast<unsigned>(e)); }},
    {"no_memfd",
     [](long e) {
       return deny({SYS_memfd_create, SYS_memfd_secret}, static_cast<unsigned>(e));
     }},
    {"no_membarrier",
     [](long e) {
       return deny({SYS_membarrier, SYS_rseq}, static_cast<unsigned>(e));
     }},
    {"no_sockets",
     [](long e) {
       return deny({SYS_socket, SYS_connect, SYS_socketpair}, static_cast<unsigned>(e));
     }},
    {"no_signals", [](long e) { return deny({SYS_sigaltstack}, static_cast<unsigned>(e)); }},
    {"no_pidfd",
     [](long e) {
       return deny({SYS_pidfd_open, SYS_clone3, SYS_close_range}, static_cast<unsigned>(e));
     }},
    {"no_clocks",
     [](long e) {
       return deny({SYS_getrusage, SYS_sched_getaffinity}, static_cast<unsigned>(e));
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  std::istringstream hows(argv[1]);
  bool nameless = false;
  for (std::string how; std::getline(hows, how, ',');) {
    const auto equals = how.find('=');
    const std::string name = how.substr(0, equals);
    const auto found = kHows.find(name);
    if (found == kHows.end()) {
      std::fprintf(stderr, "attack_start: there is no way to start '%s'\n", name.c_str());
      return 64;
    }
    nameless = nameless || name == "nameless";
    if (!found->second(equals == std::string::npos ? 0 : std::atol(how.c_str() + equals + 1))) return 77;
  }
  const std::string path = argv[2];
  std::string empty;
  if (nameless) argv[2] = empty.data();
  execv(path.c_str(), argv + 2);
  return 66;
}
