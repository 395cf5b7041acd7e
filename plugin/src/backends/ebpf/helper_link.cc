// SPDX-License-Identifier: MIT
#include "backends/ebpf/helper_link.h"

#include <linux/capability.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "core/confinement.h"
#include "core/detached_process.h"
#include "core/environment.h"
#include "core/installed_file.h"
#include "core/own_descriptors.h"

namespace syscost::ebpf {
namespace {

constexpr std::uint64_t kNeeded = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;
/// Loading and verifying takes 20 ms, on a machine with more to do than processors much longer.
constexpr timeval kPatience{.tv_sec = 20, .tv_usec = 0};
/// A helper that ends just when we come: begin again. Each time another one must have come and gone.
constexpr int kAttempts = 100;

/// A descriptor until it is given away.
class Socket {
 public:
  Socket() : fd_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    if (fd_ < 0) return;
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);  // of a connect to a full queue
  }
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }
  int give_away() { return std::exchange(fd_, -1); }

  /// 0 or an errno.
  int connect_to(const Address& address) const {
    return connect(fd_, reinterpret_cast<const sockaddr*>(&address.name), address.size) == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

/// Anybody can take a name; what a helper hands out is mapped and believed, so it must be root's or our own.
bool is_trusted(int socket, uid_t expected) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == expected;
}

std::string find_helper() {
  return find_installed(SYSCOST_HELPER_FROM_LIBRARY, "../libexec/syscost/syscost-ebpf-helper");
}

/// Why a process may not use its user's helper. Not only for starting it: what a process without rights gets must not
/// depend on whether one with rights happens to run beside it.
std::optional<Failure> missing_right(const std::string& path) {
  const Confinement here = read_confinement();
  if (holds(here.effective, CAP_BPF) && holds(here.effective, CAP_PERFMON)) return std::nullopt;
  if (!path.empty() && !here.no_new_privileges && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    return std::nullopt;
  }
  return Failure{
      "neither this process nor the helper's file has CAP_BPF and CAP_PERFMON",
      "grant them to syscost's helper, once for all programs and users: sudo setcap cap_bpf,cap_perfmon+ep " +
          (path.empty() ? helper_path() : path)};
}

/// Why starting the helper would be in vain or do harm.
std::optional<Failure> reason_not_to_start(const std::string& path) {
  if (path.empty() || access(path.c_str(), X_OK) != 0) {
    return Failure{"syscost-ebpf-helper is not there, or may not be executed: it belongs to " + helper_path(),
                   "install syscost as a whole (cmake --install), and move it as a whole"};
  }
  if (adopts_orphans()) {
    return Failure{
        "the helper would become a child of this process, which is what orphans come to, and be found by the "
        "test's wait()",
        "run the tests below an init process (docker run --init)"};
  }
  return std::nullopt;
}

/// The helper's: what is needed to find libbpf as we would.
std::vector<std::string> environment_of_helper() {
  std::vector<std::string> environment;
  if (const char* path = variable("LD_LIBRARY_PATH"); path != nullptr) {
    environment.push_back(std::string("LD_LIBRARY_PATH=") + path);
  }
  return environment;
}

enum class Start { connected, taken };

/// Makes `address` ours, connects `client` to it, and starts the helper behind it.
Result<Start> start_helper(const std::string& path, const Address& address, const Socket& client) {
  if (std::optional<Failure> reason = reason_not_to_start(path)) return *std::move(reason);
  const Socket listener;
  if (listener.get() < 0) return errno_failure("open", "a socket", errno);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0) {
    if (errno == EADDRINUSE) return Start::taken;
    return errno_failure("bind", "the eBPF helper's name", errno);
  }
  if (listen(listener.get(), SOMAXCONN) != 0) return errno_failure("listen for", "the eBPF helper", errno);
  // Connected before the helper runs, so that it never finds itself without a client.
  if (const int error = client.connect_to(address); error != 0) {
    return errno_failure("connect to", "the eBPF helper", error);
  }
  const Result<DetachedProcess> helper = start_detached({{path}, environment_of_helper(), {listener.get()}, kNeeded});
  if (!helper.ok()) return helper.failure();
  return Start::connected;
}

/// A connection to a helper that may be trusted; one that nobody listens to any more is not noticed.
Result<void> connect_or_start(const Socket& client, HelperLink::Obstacle& obstacle) {
  if (client.get() < 0) return errno_failure("open", "a socket", errno);
  if (client.connect_to(address_for_everyone()) == 0) {
    if (is_trusted(client.get(), 0)) return {};
    return Failure{"a process that is not root's calls itself the eBPF helper for everyone", "find it with: ss -xlp"};
  }
  const std::string path = find_helper();
  if (std::optional<Failure> missing = missing_right(path)) {
    obstacle = HelperLink::Obstacle::missing_rights;
    return *std::move(missing);
  }
  const Address own = address_of(geteuid());
  // Between another's bind and its listen the name is taken and nobody listens: an instant.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const int error = client.connect_to(own);
    if (error == 0) break;
    if (error != ECONNREFUSED) return errno_failure("connect to", "the eBPF helper", error);
    Result<Start> started = start_helper(path, own, client);
    if (!started.ok()) return started.failure();
    if (started.value() == Start::connected) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (is_trusted(client.get(), geteuid())) return {};
  return Failure{"another user's process, or none, answers in the name of this user's eBPF helper",
                 "find it with: ss -xlp"};
}

/// Failure with errno 0: the helper ended before it answered.
bool ask_on(int socket, Request request, Answer& answer, Passed& passed) {
  if (!send_message(socket, &request, sizeof request)) {
    if (errno == EPIPE || errno == ECONNRESET) errno = 0;
    return false;
  }
  if (receive_message(socket, &answer, sizeof answer, passed)) return true;
  if (errno == ECONNRESET) errno = 0;
  return false;
}

Failure silence(int error) {
  if (error == EAGAIN) {
    return {"the eBPF helper did not answer within " + std::to_string(kPatience.tv_sec) + " s",
            "look with ps what it waits for; on a loaded machine try again"};
  }
  if (error == 0) return {"the eBPF helper has ended", "dmesg may say who killed it; try again"};
  return errno_failure("talk to", "the eBPF helper", error);
}

void close_passed(const Passed& passed) {
  for (std::size_t i = 0; i < passed.count; ++i) close(passed.descriptors[i]);
}

}  // namespace

std::string helper_path() {
  return installed_place(SYSCOST_HELPER_FROM_LIBRARY);
}

Result<HelperLink> HelperLink::join(Place& place, Obstacle& obstacle) {
  obstacle = Obstacle::surroundings;
  for (int attempt = 0;; ++attempt) {
    Socket client;
    if (Result<void> connected = connect_or_start(client, obstacle); !connected.ok()) return connected.failure();
    Answer answer;
    Passed passed;
    if (!ask_on(client.get(), Request::join, answer, passed)) {
      if (errno == 0 && attempt < kAttempts) continue;
      return silence(errno);
    }
    obstacle = Obstacle::helper;
    if (answer.has_failed != 0 || passed.count != kMaxPassed) {
      close_passed(passed);
      return answer.has_failed != 0 ? failure_of(answer) : silence(EBADMSG);
    }
    place.cpu_count = answer.cpu_count;
    place.cookie = answer.cookie;
    const int* next = passed.descriptors.data();
    place.map = *next++;
    for (int& program : place.programs) program = *next++;
    for (int& link : place.links) link = *next++;
    return HelperLink(keep_descriptor(client.give_away()));
  }
}

HelperLink::HelperLink(HelperLink&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

HelperLink::~HelperLink() {
  close_descriptor(socket_);
}

Result<Passed> HelperLink::ask(Request request, std::size_t descriptors) const {
  if (!is_still_ours(socket_)) {
    return Failure{"the test closed the socket to the eBPF helper",
                   "do not close descriptors that the test did not open (close_range, closefrom)"};
  }
  Answer answer;
  Passed passed;
  if (!ask_on(socket_, request, answer, passed)) return silence(errno);
  if (answer.has_failed == 0 && passed.count == descriptors) return passed;
  close_passed(passed);
  return answer.has_failed != 0 ? failure_of(answer) : silence(EBADMSG);
}

void HelperLink::detach() {
  // A helper that is gone has taken its attachments off already.
  static_cast<void>(ask(Request::detach, 0).ok());
}

Result<ProgramDescriptors> HelperLink::attach() {
  Result<Passed> passed = ask(Request::attach, kProgramCount);
  if (!passed.ok()) return passed.failure();
  ProgramDescriptors links{};
  std::copy_n(passed.value().descriptors.begin(), links.size(), links.begin());
  return links;
}

}  // namespace syscost::ebpf
