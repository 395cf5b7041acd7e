// SPDX-License-Identifier: MIT
//
// syscost-ebpf-helper: holds the pair of BPF programs that all measured processes of a user share.
//
// However many processes are measured, every syscall of the host should run one pair of programs, so somebody must hold
// it who is none of them: they end in any order, and are killed. libsyscost.so starts this when it measures by eBPF and
// nobody listens yet; it ends with its last client. Where its file has the capabilities (setcap
// cap_bpf,cap_perfmon+ep), ordinary users measure without having any themselves. It takes nothing from its caller but
// the socket: no option, no path, no variable decides what is loaded.
//
// With --for-everyone, started by an administrator as root, it serves all users and stays.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "backends/ebpf/helper/protocol.h"
#include "backends/ebpf/helper/server.h"

namespace syscost::ebpf {
namespace {

// A client is one or two descriptors.
void raise_limits() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int serve_everyone() {
  if (geteuid() != 0) {
    std::fputs("syscost-ebpf-helper: --for-everyone is for root, whom alone others trust\n", stderr);
    return 2;
  }
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const Address address = address_for_everyone();
  if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0 ||
      listen(listener, SOMAXCONN) != 0) {
    std::fprintf(stderr, "syscost-ebpf-helper: cannot listen: %s%s\n", std::strerror(errno),
                 errno == EADDRINUSE ? " (one serves everyone already)" : "");
    return 2;
  }
  Result<Pair> pair = Pair::load();
  if (!pair.ok()) {
    std::fprintf(stderr, "syscost-ebpf-helper: %s\n  fix: %s\n", pair.failure().reason.c_str(),
                 pair.failure().how_to_fix.c_str());
    return 2;
  }
  Server(listener, std::move(pair), Server::Clients::everyone).run();
  return 1;
}

bool is_listener(int descriptor) {
  int listens = 0;
  socklen_t size = sizeof listens;
  return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0 &&
         fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 && fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0;
}

int run(int count, char** arguments) {
  signal(SIGPIPE, SIG_IGN);
  raise_limits();
  if (count == 2 && std::string_view(arguments[1]) == kForEveryone) return serve_everyone();
  if (count != 1 || !is_listener(kListenerDescriptor)) {
    std::fputs(
        "syscost-ebpf-helper: part of syscost, started by the library it is installed with.\n"
        "As root, with --for-everyone, it stays and serves the processes of all users.\n",
        stderr);
    return 2;
  }
  Server(kListenerDescriptor, Pair::load(), Server::Clients::own_user).run();
  return 0;
}

}  // namespace
}  // namespace syscost::ebpf

int main(int count, char** arguments) {
  return syscost::ebpf::run(count, arguments);
}
