// SPDX-License-Identifier: MIT
//
// syscost-ebpf-helper: holds the pair of BPF programs that all measured processes of a user share.
//
// However many processes are measured, every syscall of the host should run only one pair of programs. A measured
// process cannot hold that pair, because measured processes end in any order, and are killed. libsyscost.so starts this
// helper when it measures by eBPF and no helper listens yet; it ends some seconds after its last client. If its file
// has the capabilities (setcap cap_bpf,cap_perfmon+ep), ordinary users can measure without having any themselves; then
// it ends with its last client. It takes only the socket from its caller: no option, no path and no variable decides
// what is loaded.
//
// The socket is one of two. Where it listens, it must be the one that the user's processes of our control group look
// for. So a user has one helper in a control group, and if its rights come from its file, a few in all: each pair of
// programs slows down the host. Where it is connected, the process at the other end has the helper for itself and says
// what the programs look for: not with rights of the helper's file, by which a user could have any number of them.
//
// With --for-everyone, started by an administrator as root, it serves all users and stays.
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "backends/ebpf/attachment.h"
#include "backends/ebpf/helper/help.h"
#include "backends/ebpf/helper/protocol.h"
#include "backends/ebpf/helper/server.h"

namespace syscost::ebpf {
namespace {

/// Each has a pair of programs, which slows down each syscall of the host. More than a user has sessions and services.
constexpr int kHelpersOfAUser = 16;

// A client is one or two descriptors.
void raise_limits() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

/// The file's CAP_DAC_READ_SEARCH is for the numbers of events alone.
bool give_up_reading_all_files() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return false;
  const __u32 others = ~CAP_TO_MASK(CAP_DAC_READ_SEARCH);
  __user_cap_data_struct& set = sets[CAP_TO_INDEX(CAP_DAC_READ_SEARCH)];
  set.effective &= others;
  set.permitted &= others;
  set.inheritable &= others;
  return syscall(SYS_capset, &header, sets.data()) == 0;
}

int fail(const char* what) {
  std::fprintf(stderr, "syscost-ebpf-helper: cannot %s: %s\n", what, std::strerror(errno));
  return 2;
}

/// Only processes of root may put a socket there, so its name can be trusted.
bool make_folder() {
  if (mkdir(kFolderForEveryone, 0755) != 0 && errno != EEXIST) return false;
  struct stat folder {};
  if (lstat(kFolderForEveryone, &folder) != 0) return false;
  errno = EPERM;
  return S_ISDIR(folder.st_mode) && folder.st_uid == 0 && (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Held while we serve. The kernel releases the lock however we end; the socket's file would stay.
bool is_the_only_one(const Address& address) {
  const std::string path = std::string(address.name.sun_path) + ".lock";
  const int lock = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  return lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0;
}

int serve_everyone() {
  if (geteuid() != 0) {
    std::fputs("syscost-ebpf-helper: --for-everyone requires root, because other users accept only a helper of root\n",
               stderr);
    return 2;
  }
  const Address address = address_for_everyone();
  if (!make_folder())
    return fail("use /run/syscost: it must be a folder that belongs to root and that only root can write to");
  if (!is_the_only_one(address)) return fail("start: another helper already serves everyone");
  unlink(address.name.sun_path);
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  refuse_descriptors(listener);
  ask_for_senders(listener);
  if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0 ||
      chmod(address.name.sun_path, 0666) != 0 || listen(listener, SOMAXCONN) != 0) {
    return fail("listen");
  }
  Result<LoadedPrograms> pair = LoadedPrograms::load();
  if (!pair.ok()) {
    std::fprintf(stderr, "syscost-ebpf-helper: %s\n  fix: %s\n", pair.failure().reason.c_str(),
                 pair.failure().how_to_fix.c_str());
    return 2;
  }
  Server(listener, Server::Clients::everyone, std::move(pair.value())).run();
  return 1;
}

enum class Given { nothing, listener, connection };

/// The kind of the descriptor that we were started with.
Given look_at(int descriptor) {
  int listens = 0;
  int type = 0;
  socklen_t size = sizeof listens;
  socklen_t type_size = sizeof type;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
      getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &type_size) != 0 || type != SOCK_SEQPACKET ||
      fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0 || fcntl(descriptor, F_SETFL, O_NONBLOCK) != 0) {
    return Given::nothing;
  }
  sockaddr_un name{};
  socklen_t name_size = sizeof name;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &name_size) != 0) return Given::nothing;
  if (listens == 0) {
    const bool is_pair = name.sun_family == AF_UNIX && name_size == sizeof name.sun_family;
    return is_pair && getauxval(AT_SECURE) == 0 ? Given::connection : Given::nothing;
  }
  const Address own = address_of(geteuid());
  const bool is_own = name_size == own.size && std::memcmp(&name, &own.name, own.size) == 0;
  return is_own ? Given::listener : Given::nothing;
}

/// Whether we are one of the few that a user may have by the rights of the file. The name goes when we end. The names
/// are of the network namespace; in one that the user made, the file gives no rights.
bool is_one_of_few() {
  const int mark = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  for (int number = 0; number < kHelpersOfAUser; ++number) {
    const Address address = address_of_mark(geteuid(), number);
    if (bind(mark, reinterpret_cast<const sockaddr*>(&address.name), address.size) == 0) return true;
  }
  return false;
}

int serve_own_user() {
  constexpr auto kOwn = Server::Clients::own_user;
  if (getauxval(AT_SECURE) == 0) {
    Server(kSocketDescriptor, kOwn).run();
  } else if (is_one_of_few()) {
    // It makes room for a helper in another control group at once.
    Server(kSocketDescriptor, Server::Clients::own_user_while_any).run();
  } else {
    Server(kSocketDescriptor, kOwn,
           Failure{"this user measures in " + std::to_string(kHelpersOfAUser) +
                       " other control groups now, or a process of someone else has taken the names of such helpers",
                   "run the tests in fewer control groups (containers, systemd units, sessions) at once; see with "
                   "`ss -xap | grep syscost-helper` who has the names; or let root start one helper for all: "
                   "syscost-ebpf-helper --for-everyone"})
        .run();
  }
  return 0;
}

int run(int count, char** arguments) {
  signal(SIGPIPE, SIG_IGN);
  raise_limits();
  if (count == 2 && std::string_view(arguments[1]) == kForEveryone) return serve_everyone();
  if (count == 2 && std::string_view(arguments[1]) == "--help") {
    return std::fputs(kHelperHelp, stdout) < 0 || std::fflush(stdout) != 0 ? 2 : 0;
  }
  const Given given = count == 1 ? look_at(kSocketDescriptor) : Given::nothing;
  if (given == Given::nothing) {
    std::fputs(
        "syscost-ebpf-helper: part of syscost, started by the library it is installed with.\n"
        "As root, with --for-everyone, it stays and serves the processes of all users.\n",
        stderr);
    return 2;
  }
  read_event_numbers();
  if (getauxval(AT_SECURE) != 0 && !give_up_reading_all_files()) return fail("give up CAP_DAC_READ_SEARCH");
  if (given == Given::listener) return serve_own_user();
  Server(kSocketDescriptor, Server::Clients::one).run();
  return 0;
}

}  // namespace
}  // namespace syscost::ebpf

int main(int count, char** arguments) {
  return syscost::ebpf::run(count, arguments);
}
