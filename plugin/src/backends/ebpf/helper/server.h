// SPDX-License-Identifier: MIT
//
// Server: gives measured processes places at one pair of programs, for as long as there are any, and a moment longer:
// the tests of ctest come one after the other, and the kernel needs 100 ms to verify the programs again.
//
// The programs are attached exactly while some client wants to be counted. A client gets only the maps it may write.
// Programs and attachments stay here, so that no client can attach them a second time, or keep them attached. A client
// is gone when its socket is closed, which the kernel does however the client ends, or when its process has ended and
// only a child of it keeps the socket.
//
// Clients are not trusted: nothing they send or write is believed, no descriptor is taken from them, and none of them
// can make the others wait. A client is a process: a message that another process sends over its connection, such as a
// child that inherited it, is ignored.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/ebpf/helper/protocol.h"
#include "backends/ebpf/helper/shares.h"
#include "backends/ebpf/loaded_programs.h"

namespace syscost::ebpf {

// A connection to a client.
//
// A message can bring descriptors (SCM_RIGHTS). The process that drops the last reference to a file waits until the
// file is closed: a socket with SO_LINGER as long as its owner wrote there, a file of FUSE or NFS until its server
// answers. All clients would wait with the helper. So it never drops such a reference:
// - From Linux 6.16 on no one can send it descriptors (refuse_descriptors() in protocol.h).
// - Before, it looks at a message first, and leaves one with descriptors in the queue. A child of the helper closes its
//   connections: the child still holds them when the helper closes its own copies, and then ends. A task that ends does
//   not linger. If its end waits all the same, no one waits for it.

/// Who sent a message, as the kernel says. Where the process is out of our sight, its number is 0.
struct Sender {
  pid_t process = 0;
  uid_t user = 0;
};

enum class Arrival {
  nothing,
  question,
  nonsense,
  descriptors,  ///< A message with descriptors, which stays in the queue: nothing after it can be read.
  end,          ///< The other end is gone.
};

/// So long the helper of a user stays after its last client. Its programs are loaded then, but not attached.
inline constexpr std::chrono::seconds kStaysAfterTheLast{5};

/// Takes the next message, and no descriptor. `may_bring_descriptors`: unless refuses_descriptors(). `sender` is of a
/// question or of nonsense.
Arrival receive_question(int connection, bool may_bring_descriptors, Question& question, Sender& sender);

/// Closes connections that may have descriptors in their queues, without waiting for any of them.
class Closer {
 public:
  void add(int connection) { connections_.push_back(connection); }
  /// Closes them, or if there are too many children already, leaves them to a later call.
  void close_all();
  bool empty() const { return connections_.empty(); }

 private:
  bool may_have_child() const;
  void reap();

  std::vector<int> connections_;
  std::size_t children_ = 0;  ///< That have not ended.
};

class Server {
 public:
  enum class Clients {
    own_user,            ///< Those of the user that we run as; ends kStaysAfterTheLast after the last.
    own_user_while_any,  ///< The same; ends with the last.
    everyone,            ///< All users'; does not end.
    one,                 ///< The process that started us, which alone may say what the programs look for.
  };

  /// `socket` listens, or for `one` is connected to it.
  Server(int socket, Clients clients);
  /// With a pair that is loaded already, or a reason why there is none; others load theirs when the first client asks
  /// for a place.
  Server(int socket, Clients clients, Result<LoadedPrograms> pair);

  /// Returns when the last client is gone; for `own_user` kStaysAfterTheLast later, if there is no further client, and
  /// if few places were needed, because their memory stays, too.
  void run();

 private:
  using Clock = std::chrono::steady_clock;
  struct Client {
    int socket = -1;
    int process = -1;  ///< A pidfd; -1 where the process is out of our sight.
    pid_t number = 0;  ///< Of the process; 0 where it is out of our sight.
    uid_t user = 0;
    std::optional<uid_t> speaks_as;  ///< Who sent its first message.
    Clock::time_point since;
    std::optional<std::uint32_t> place;
    Question joining;  ///< Its question, while `is_joining`.
    bool is_joining = false;
    bool is_counted = false;
    bool is_gone = false;
  };

  void accept_clients();
  void add_client(int socket);
  void read_request(Client& client);
  static bool is_from(Client& client, const Sender& sender);
  void serve(Client& client, const Question& question);
  std::size_t places_of_a_guest() const;
  std::optional<Failure> why_no_place(const Client& client, std::size_t joining_of_user, std::size_t joining) const;
  void serve_joining();
  void welcome(Client& client, const LoadedPrograms::ProcessSlot& place);
  Answer report(const Client& client) const;
  void answer(Client& client, const Answer& message, const PassedDescriptors& passed = {});
  void refuse(Client& client, const Failure& failure) { answer(client, failed_answer(failure)); }
  Result<std::vector<LoadedPrograms::ProcessSlot>> take_slots(std::size_t count);
  bool wants_spare_slot() const;
  void make_spare_slot();
  int milliseconds_to_wait() const;
  bool is_for_own_user() const { return policy_ == Clients::own_user || policy_ == Clients::own_user_while_any; }
  /// Until when a helper without clients waits for one; nullopt: it ends.
  std::optional<Clock::time_point> end() const;
  void bury_the_gone();
  void close_connection(int socket);
  std::size_t count_of(uid_t user, bool with_place) const;
  std::size_t places() const;
  Result<void> attach();
  void detach_unless_wanted();

  int listener_ = -1;
  Clients policy_;
  bool may_get_descriptors_;
  Closer closer_;
  std::optional<Result<LoadedPrograms>> loaded_;
  std::optional<LoadedPrograms::ProcessSlot> spare_slot_;  ///< Made ahead: the kernel takes 10 ms for it.
  bool may_make_spare_ = true;                             ///< False after it failed, until a client has left.
  std::vector<Client> clients_;
  std::optional<Clock::time_point> last_left_;  ///< When the last client with a place was gone.
  JoinRate join_rate_;
  std::optional<std::uint64_t> memory_limit_;  ///< Of our control group; for everyone's helper.
  std::vector<int> links_;
  std::vector<int> following_links_;
};

}  // namespace syscost::ebpf
