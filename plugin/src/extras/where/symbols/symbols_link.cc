// SPDX-License-Identifier: MIT
#include "extras/where/symbols/symbols_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <span>
#include <utility>

#include "libc/clock_and_mutex.h"
#include "os/descriptors.h"
#include "os/detached_process.h"
#include "os/environment.h"
#include "os/own_calls.h"
#include "os/program_files.h"

namespace syscost::symbols {
namespace {

/// A file that ends the helper is not asked about again. After so many there will be no more helpers.
constexpr int kMostEnds = 3;
/// The helper ends itself before.
constexpr std::uint64_t kPatienceMs = (kMostSecondsForAnswer + 10) * 1000;

std::uint64_t now_ms() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(libc::SteadyClock::now().time_since_epoch()).count());
}

}  // namespace

SymbolsLink::SymbolsLink(std::pmr::memory_resource& memory, std::string_view helper_path)
    : memory_(memory), helper_path_(helper_path, &memory) {}

SymbolsLink::~SymbolsLink() {
  end();
}

Result<void> SymbolsLink::start() {
  if (helper_path_.empty()) {
    PathBuffer path{};
    find_installed(SYSCOST_SYMBOLS_FROM_LIBRARY, "../libexec/syscost/syscost-symbols", path);
    helper_path_ = path.data();
  }
  if (helper_path_.empty() || access(helper_path_.c_str(), X_OK) != 0) {
    const std::string place =
        helper_path_.empty() ? expected_installed_path(SYSCOST_SYMBOLS_FROM_LIBRARY) : std::string(helper_path_);
    return Failure{"syscost-symbols is missing or not executable; its place is " + place,
                   "install syscost as a whole (cmake --install; libdw-dev is needed to build it)"};
  }
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return errno_failure("open", "a socket to syscost-symbols", errno);
  }
  static_assert(kSocketDescriptor == kFirstPassedDescriptor);
  // The helper finds libdw as this process would.
  std::pmr::string library_path("LD_LIBRARY_PATH=", &memory_);
  const char* const value = variable("LD_LIBRARY_PATH");
  if (value != nullptr) library_path.append(value);
  const std::array<char*, 2> arguments{helper_path_.data(), nullptr};
  const std::array<char*, 2> environment{value != nullptr ? library_path.data() : nullptr, nullptr};
  const Result<DetachedProcess> started =
      start_detached(arguments.data(), environment.data(), std::span(&ends[1], 1), 0);
  close(ends[1]);
  if (!started.ok()) {
    close(ends[0]);
    return started.failure();
  }
  helper_ = started.value().process;
  session_ = started.value().session;
  owner_ = getpid();
  socket_ = keep_descriptor(ends[0]);
  return {};
}

/// The helper ends when its socket is closed. It is a child of this process only if this process adopts orphans; then
/// no wait() of the test may find it.
void SymbolsLink::end() {
  if (helper_ <= 0 || getpid() != owner_) return;
  close_descriptor(socket_);
  if (adopts_orphans()) {
    while (waitpid(helper_, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  end_own_session(session_);
  helper_ = 0;
}

void SymbolsLink::pause() {
  if (adopts_orphans()) end();
}

bool SymbolsLink::send_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// 0, or an errno: ECONNRESET = the helper ended.
int SymbolsLink::receive_all(char* into, std::size_t size, std::uint64_t deadline_ms) const {
  while (size > 0) {
    const std::uint64_t now = now_ms();
    if (now >= deadline_ms) return ETIMEDOUT;
    pollfd one{socket_, POLLIN, 0};
    if (poll(&one, 1, static_cast<int>(deadline_ms - now)) <= 0) continue;
    const ssize_t got = recv(socket_, into, size, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return got == 0 ? ECONNRESET : errno;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return 0;
}

Result<void> SymbolsLink::ask(std::string_view question, std::size_t count, Answer& answer) {
  const std::uint64_t deadline = now_ms() + kPatienceMs;
  std::uint32_t size = 0;
  int error = send_all(question) ? 0 : errno;
  if (error == 0) error = receive_all(reinterpret_cast<char*>(&size), sizeof size, deadline);
  if (error == 0 && size > kMaxAnswerBytes) error = EPROTO;
  std::pmr::string body(&memory_);
  if (error == 0) {
    body.resize(size);
    error = receive_all(body.data(), size, deadline);
  }
  if (error == 0 && !take_answer(body, count, answer)) error = EPROTO;
  if (error == 0) return {};
  if (error == EPROTO) {
    return Failure{"syscost-symbols and libsyscost.so are of different versions", "install both from the same build"};
  }
  if (error == ECONNRESET || error == EPIPE) {
    return Failure{"syscost-symbols, which finds functions and lines, has ended",
                   "run `dmesg` to see whether the kernel killed it, and look at the file's debug information"};
  }
  return errno_failure("talk to", "syscost-symbols", error);
}

Result<void> SymbolsLink::look_up(const Module& module, std::span<const Address> addresses, Answer& answer) {
  if (ends_ >= kMostEnds) return last_failure_;
  // A test may have closed every descriptor. The number may belong to the test by now.
  if (helper_ > 0 && !is_still_ours(socket_)) end();
  if (helper_ == 0) {
    if (Result<void> started = start(); !started.ok()) {
      last_failure_ = started.failure();
      ends_ = kMostEnds;
      return started;
    }
  }
  std::pmr::string question(&memory_);
  put_question(question, module.path, module.build_id, addresses);
  Result<void> asked = ask(question, addresses.size(), answer);
  if (asked.ok()) return {};
  answer.places.clear();
  end();
  ++ends_;
  last_failure_ = {asked.failure().reason + "; it was reading " + std::string(module.path), asked.failure().how_to_fix};
  return last_failure_;
}

}  // namespace syscost::symbols
