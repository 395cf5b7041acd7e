// SPDX-License-Identifier: MIT
//
// The messages between a measured process and the eBPF helper.
//
// They go over a SOCK_SEQPACKET socket, so that a message is whole or not there. The socket also shows that the client
// lives: the kernel closes it however the process ends, and then the client's place ends. An address holds the hash of
// the BPF object and this protocol's version: builds that differ do not meet.
//
// A request is one Question, without descriptors: the helper accepts none (server.h). An answer is one Answer. The
// answer to `join` brings the maps that the process may write, and files that show only missed runs (missed_runs.h).
// The helper gives nothing else away.
#pragma once

#include <sys/types.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "backends/ebpf/program_request.h"
#include "os/descriptors.h"
#include "os/errors.h"

namespace syscost::ebpf {

inline constexpr int kProtocolVersion = 7;

enum class Request : char {
  join = 'J',    ///< A place; attached.
  detach = 'D',  ///< Stops counting the process until it asks for `attach`.
  attach = 'A',  ///< To be counted again; the process must enrol again.
  report = 'R',  ///< Whether the process is enrolled, and the missed runs for those that have no files.
};

struct Question {
  Request request{};
  /// To `join`, of a helper that serves this process alone: what its programs look for.
  std::uint8_t ioctls = 0;
  std::uint8_t rule_count = 0;
  std::uint8_t driver_thread_count = 0;
  std::uint8_t files = 0;
  std::array<std::uint32_t, kMostProgramGroups> wanted{};
  std::array<RequestRule, kMaxRequestRules> rules{};
  std::array<std::array<char, kMaxThreadName + 1>, kMaxDriverThreads> driver_threads{};
};
Question join_question(const ProgramRequest& request);
/// Believes no number in it.
ProgramRequest request_of(const Question& question);

struct Answer {
  std::uint32_t has_failed = 0;
  std::uint32_t cpu_count = 0;
  std::uint64_t cookie = 0;
  std::uint64_t missed_runs = 0;   ///< To `join` and `report`: of the programs, since they were loaded.
  std::uint32_t refusal = 0;       ///< enum syscost_refusal: why the process is not enrolled.
  std::uint32_t map_count = 0;     ///< To `join`: the first of the descriptors. The others are the files.
  std::array<char, 480> reason{};  ///< Of a failure, ending in 0.
  std::array<char, 480> how_to_fix{};
};

/// The socket that the helper is started with.
inline constexpr int kSocketDescriptor = 3;
/// Its argument where an administrator starts it, as root, for all users.
inline constexpr std::string_view kForEveryone = "--for-everyone";

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};
/// Where the helper of `user` and of the calling thread's control group (shares.h) listens: a name in the
/// network namespace, which goes when its socket does.
Address address_of(uid_t user);
/// The address of the number-th helper of `user`, in all control groups, that has its rights from its file.
Address address_of_mark(uid_t user, int number);
/// Where the one for everyone does: a file in a folder that only root can write to.
inline constexpr const char* kFolderForEveryone = "/run/syscost";
Address address_for_everyone();

/// From Linux 6.16 on: a process that sends descriptors to `socket`, or to a connection that it will accept, gets
/// EPERM. To be called before it has a name: a connection has what its listener had when it began.
void refuse_descriptors(int socket);
/// Whether the kernel does that.
bool refuses_descriptors(int socket);

/// From here on, messages to `socket`, and to connections that it will accept, tell their sender. To be called before
/// anyone can send: a message that is sent before has no sender, so it would be taken for another process's.
void ask_for_senders(int socket);

/// Sends at once or not at all. False: errno says why.
bool send_message(int socket, const void* message, std::size_t size, const PassedDescriptors& passed = {});
/// Receives a message of just that size, and its descriptors as receive_passing() does. False when the other end is
/// gone (errno 0), or errno says why.
bool receive_message(int socket, void* message, std::size_t size, PassedDescriptors* passed);

Answer failed_answer(const Failure& failure);
Failure failure_of(const Answer& answer);

}  // namespace syscost::ebpf
