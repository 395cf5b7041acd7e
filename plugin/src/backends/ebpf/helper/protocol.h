// SPDX-License-Identifier: MIT
//
// What a measured process and the eBPF helper say to each other.
//
// Over a socket in the kernel's abstract namespace, SOCK_SEQPACKET, so that a message is whole or not there. The socket
// also is the client's life line: the kernel closes it however the process ends, and with it ends its place. The name
// holds the hash of the BPF object and this protocol's version: builds that differ do not meet.
//
// A request is one byte. An answer is one Answer, with descriptors when it succeeded: to `join` the map, the programs
// and the attachments, to `attach` the attachments, to `detach` none.
#pragma once

#include <sys/types.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/result.h"

namespace syscost::ebpf {

inline constexpr int kProtocolVersion = 1;

enum class Request : char { join = 'J', detach = 'D', attach = 'A' };

struct Answer {
  std::uint32_t has_failed = 0;
  std::uint32_t cpu_count = 0;
  std::uint64_t cookie = 0;
  std::array<char, 480> reason{};  ///< Of a failure, ending in 0.
  std::array<char, 480> how_to_fix{};
};

inline constexpr std::size_t kMaxPassed = 7;
struct Passed {
  std::array<int, kMaxPassed> descriptors{};
  std::size_t count = 0;
};

/// Of the helper: the listening socket that it is started with.
inline constexpr int kListenerDescriptor = 3;
/// Its argument where an administrator starts it, as root, for all users.
inline constexpr std::string_view kForEveryone = "--for-everyone";

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};
/// Where `user`'s helper listens.
Address address_of(uid_t user);
/// Where the one for everyone does.
Address address_for_everyone();

/// Sends at once or not at all. False: errno says why.
bool send_message(int socket, const void* message, std::size_t size, const Passed& passed = {});
/// Receives a message of just that size: its descriptors, which are close-on-exec, belong to the caller. False when the
/// other end is gone (errno 0), or errno says why.
bool receive_message(int socket, void* message, std::size_t size, Passed& passed);

Answer failed_answer(const Failure& failure);
Failure failure_of(const Answer& answer);

}  // namespace syscost::ebpf
