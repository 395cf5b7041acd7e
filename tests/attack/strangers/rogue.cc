// SPDX-License-Identifier: MIT
//
// A client of the eBPF helper that turns against it: attack_rogue ROLE [NUMBER]
//
// It is an ordinary measured process until it has its place. Then it does its worst with what it holds: it looks for
// its descriptors, mappings and sockets by what the kernel says of them. Where it speaks to the helper it uses the
// protocol's own types, and gives up where it gets no answer: an attack that the helper does not understand is none.
// It says `r` when the damage is done and stays until its standard input ends.
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "backends/ebpf/helper/protocol.h"
#include "raw.h"
#include "syscost/syscost.h"

namespace {

using conformance::raw;

void say(const char* word) {
  if (write(STDOUT_FILENO, word, std::strlen(word)) < 0) _exit(4);
}

void stay() {
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

/// Has a place at the helper from here on; ends the process where it gets none.
std::unique_ptr<syscost::Scope> join() {
  auto scope = std::make_unique<syscost::Scope>(syscost::Reach::process);
  const syscost::Cost cost = syscost::measure([] { raw(SYS_getppid); }, syscost::Reach::process);
  if (cost.available() && cost.entries("getppid").value_or(0) == 1) return scope;
  std::fprintf(stderr, "attack_rogue: no place: %s\n", (std::ostringstream() << cost).str().c_str());
  _exit(3);
}

/// The descriptors that are what `kind` says: "bpf-prog", "bpf_link", "bpf-map", "socket:".
std::vector<int> descriptors(const std::string& kind) {
  std::vector<int> found;
  for (int fd = 3; fd < 4096; ++fd) {
    std::array<char, 256> target{};
    const std::string name = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(name.c_str(), target.data(), target.size() - 1) <= 0) continue;
    if (std::strstr(target.data(), kind.c_str()) != nullptr) found.push_back(fd);
  }
  return found;
}

long bpf(int command, bpf_attr& request) {
  return raw(SYS_bpf, command, &request, sizeof request);
}

/// Everything that a descriptor of a program, a link or a map allows; how much of it worked.
int misuse_descriptors(int times) {
  int worked = 0;
  for (const int program : descriptors("bpf-prog")) {
    for (int i = 0; i < times; ++i) {
      for (const char* name : {"sys_enter", "sys_exit", "signal_deliver"}) {
        bpf_attr request = {};
        request.raw_tracepoint.name = reinterpret_cast<std::uintptr_t>(name);
        request.raw_tracepoint.prog_fd = static_cast<std::uint32_t>(program);
        worked += bpf(BPF_RAW_TRACEPOINT_OPEN, request) >= 0 ? 1 : 0;
        request = {};
        request.link_create.prog_fd = static_cast<std::uint32_t>(program);
        request.link_create.attach_type = BPF_TRACE_RAW_TP;
        worked += bpf(BPF_LINK_CREATE, request) >= 0 ? 1 : 0;
      }
    }
  }
  for (const int link : descriptors("bpf_link")) {
    bpf_attr request = {};
    request.link_detach.link_fd = static_cast<std::uint32_t>(link);
    worked += bpf(BPF_LINK_DETACH, request) == 0 ? 1 : 0;
  }
  for (const int map : descriptors("bpf-map")) {
    bpf_attr request = {};
    request.map_fd = static_cast<std::uint32_t>(map);
    worked += bpf(BPF_MAP_FREEZE, request) == 0 ? 1 : 0;
    for (std::uint32_t key = 0; key < 64; ++key) {
      std::vector<char> value(std::size_t{4} << 20U, '\xa5');
      request = {};
      request.map_fd = static_cast<std::uint32_t>(map);
      request.key = reinterpret_cast<std::uintptr_t>(&key);
      request.value = reinterpret_cast<std::uintptr_t>(value.data());
      worked += bpf(BPF_MAP_UPDATE_ELEM, request) == 0 ? 1 : 0;
      worked += bpf(BPF_MAP_DELETE_ELEM, request) == 0 ? 1 : 0;
    }
  }
  return worked;
}

struct Mapping {
  std::uint64_t* begin = nullptr;
  std::size_t words = 0;
};

/// The memory that it shares with the programs.
std::vector<Mapping> shared_with_programs() {
  std::vector<Mapping> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::array<char, 8> rights{};
    if (line.find("bpf-map") == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, rights.data()) != 3 || rights[1] != 'w') continue;
    found.push_back({reinterpret_cast<std::uint64_t*>(begin), (end - begin) / sizeof(std::uint64_t)});
  }
  return found;
}

/// Writes what hurts most into every word the programs read: all ones, small numbers, noise, numbers just beyond
/// tables.
void scribble(std::atomic<bool>& stop) {
  const std::vector<Mapping> mappings = shared_with_programs();
  if (mappings.empty()) std::fprintf(stderr, "attack_rogue: nothing is shared\n");
  std::uint64_t noise = 88172645463325252U;
  bool first = true;
  for (int round = 0; !stop; ++round) {
    for (const Mapping& mapping : mappings) {
      for (std::size_t i = 0; i < mapping.words; ++i) {
        noise ^= noise << 13U;
        noise ^= noise >> 7U;
        noise ^= noise << 17U;
        const std::uint64_t values[] = {~std::uint64_t{0},  noise, noise & 0xff, 0x0000000100000001U,
                                        1U << (noise % 31), 0};
        static_cast<volatile std::uint64_t*>(mapping.begin)[i] = values[round % 6];
      }
    }
    // In its own windows, regardless of the answer.
    for (int i = 0; i < 200; ++i) {
      raw(SYS_getppid);
      raw(SYS_close, -1);
      raw(static_cast<long>(noise % 1200) + 100000);
    }
    if (first) say("r");
    first = false;
  }
}

using syscost::ebpf::Answer;
using syscost::ebpf::Question;
using syscost::ebpf::Request;

bool send_question(int fd, Request request) {
  Question question;
  question.request = request;
  return send(fd, &question, sizeof question, MSG_DONTWAIT | MSG_NOSIGNAL) == ssize_t{sizeof question};
}

bool is_answered(int fd, Request request) {
  if (!send_question(fd, request)) return false;
  pollfd answered{fd, POLLIN, 0};
  Answer answer;
  return poll(&answered, 1, 5000) == 1 && recv(fd, &answer, sizeof answer, MSG_DONTWAIT) == ssize_t{sizeof answer};
}

/// The connection on which the helper answers; ends the process where there is none.
int connection() {
  for (const int fd : descriptors("socket:")) {
    if (is_answered(fd, Request::report)) return fd;
  }
  std::fputs("attack_rogue: the helper answers on no socket\n", stderr);
  _exit(3);
}

/// Fills the socket to the helper and reads no answer. It sends questions first, then bytes that are no question.
void flood(int times) {
  const int fd = connection();
  for (int i = 0; i < times * 10; ++i) send_question(fd, i % 2 == 0 ? Request::report : Request::attach);
  std::vector<char> message(std::size_t{200} * 1024, 'A');
  for (int i = 0; i < times; ++i) {
    const char byte = static_cast<char>(i);
    send(fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    send(fd, message.data(), static_cast<std::size_t>(i) * 37 % message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    // As many descriptors as one message can hold, with an invalid request.
    std::array<int, 250> passed{};
    passed.fill(STDIN_FILENO);
    iovec part{message.data(), 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof passed)] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof passed);
    std::memcpy(CMSG_DATA(rights), passed.data(), sizeof passed);
    sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

/// Sends detach and attach in turns, as the library does around loops.
void toggle(std::atomic<bool>& stop) {
  const int fd = connection();
  bool first = true;
  while (!stop) {
    for (const Request request : {Request::detach, Request::attach, Request::join, Request::attach}) {
      if (!is_answered(fd, request)) _exit(3);
    }
    if (first) say("r");
    first = false;
  }
}

/// `times` children connect to the helper and leave without end, faster than it can accept them; or they ask for a
/// place before they leave.
void knock(int times, bool joins) {
  sockaddr_un name{};
  socklen_t size = sizeof name;
  if (getpeername(connection(), reinterpret_cast<sockaddr*>(&name), &size) != 0) _exit(3);
  const pid_t parent = getpid();
  for (int i = 0; i < times; ++i) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent) {
      const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
      const bool is_connected = connect(fd, reinterpret_cast<const sockaddr*>(&name), size) == 0;
      if (joins && is_connected) is_answered(fd, Request::join);
      close(fd);
    }
    _exit(0);
  }
}

/// Follows a measured process of its own and notes what it says by gettid: the secret with which it enrols.
std::vector<std::array<std::uint64_t, 2>> secrets_of(pid_t child) {
  std::vector<std::array<std::uint64_t, 2>> secrets;
  int status = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  while (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 && waitpid(child, &status, 0) == child &&
         WIFSTOPPED(status)) {
    if (WSTOPSIG(status) == SIGUSR2) break;  // it has its place
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
    user_regs_struct registers = {};
    ptrace(PTRACE_GETREGS, child, nullptr, &registers);
    if (registers.orig_rax == SYS_gettid && registers.rdi != 0) secrets.push_back({registers.rdi, registers.rsi});
  }
  ptrace(PTRACE_DETACH, child, nullptr, nullptr);
  return secrets;
}

/// `times` children say a measured process's secret and end; then one more says it, lives, and makes 3000 calls while
/// that process counts. The process prints what it then counts; it made no call itself.
void steal(int times) {
  int cue[2] = {-1, -1};
  if (pipe(cue) != 0) _exit(4);
  const pid_t measured = fork();
  if (measured == 0) {
    close(cue[1]);
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    auto scope = join();
    raise(SIGUSR2);
    char byte = 0;
    while (read(cue[0], &byte, 1) > 0) {
    }
    const syscost::Cost cost = scope->stop();
    std::printf("%llu", static_cast<unsigned long long>(cost.entries("getppid").value_or(0)));
    std::fflush(stdout);
    stay();
    _exit(0);
  }
  const auto secrets = secrets_of(measured);
  if (secrets.empty()) std::fprintf(stderr, "attack_rogue: no secret was said\n");
  for (int i = 0; i < times + 1; ++i) {
    const pid_t child = static_cast<pid_t>(raw(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) {
      for (const auto& secret : secrets) raw(SYS_gettid, secret[0], secret[1]);
      if (i == times) conformance::repeat_raw(3000, 0, SYS_getppid);
      raw(SYS_exit_group, 0);
    }
    waitpid(child, nullptr, 0);
  }
  close(cue[0]);
  close(cue[1]);
  waitpid(measured, nullptr, 0);
}

/// A child keeps the memory with the counts, and the connection, of a process that executes `program` in an open
/// window, or makes its calls itself where that is null. How many words of that memory hold `calls` in the end, the
/// child prints.
[[noreturn]] void watch(const char* calls, const char* program) {
  cpu_set_t one;  // a word holds the calls of one CPU
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) _exit(4);
  const auto scope = join();
  const std::vector<Mapping> shared = shared_with_programs();
  if (shared.empty()) _exit(3);
  for (const Mapping& mapping : shared) {
    if (madvise(mapping.begin, mapping.words * sizeof *mapping.begin, MADV_DOFORK) != 0) _exit(4);
  }
  int end[2] = {-1, -1};
  if (pipe(end) != 0) _exit(4);
  if (raw(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr) != 0) {
    close(end[0]);
    if (program != nullptr) execl(program, program, "make", calls, nullptr);
    conformance::repeat_raw(std::atoi(calls), 0, SYS_getppid);
    _exit(program != nullptr ? 4 : 0);
  }
  close(end[1]);
  char byte = 0;
  while (read(end[0], &byte, 1) > 0) {
  }
  std::ptrdiff_t seen = 0;
  for (const Mapping& mapping : shared) {
    seen += std::count(mapping.begin, mapping.begin + mapping.words, std::strtoull(calls, nullptr, 10));
  }
  say((std::to_string(seen) + " words").c_str());
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string role = argv[1];
  const int number = argc > 2 ? std::atoi(argv[2]) : 1;
  if (role == "make") {
    say(("as " + std::to_string(raw(SYS_geteuid)) + ", ").c_str());
    conformance::repeat_raw(number, 0, SYS_getppid);
    return 0;
  }
  if (role == "watch") watch(argv[2], argc > 3 ? argv[3] : nullptr);
  if (role == "steal") {
    steal(number);
    return 0;
  }
  const auto scope = join();
  std::atomic<bool> stop{false};
  if (role == "misuse") {
    std::fprintf(stderr, "%d\n", misuse_descriptors(number));
    say("r");
    stay();
  } else if (role == "flood") {
    flood(number);
    say("r");
    stay();
  } else if (role == "knock" || role == "join") {
    knock(number, role == "join");
    say("r");
    stay();
  } else if (role == "scribble" || role == "toggle") {
    std::thread worker([&] { role == "scribble" ? scribble(stop) : toggle(stop); });
    stay();
    stop = true;
    _exit(0);
  } else {
    return 2;
  }
  _exit(0);
}
