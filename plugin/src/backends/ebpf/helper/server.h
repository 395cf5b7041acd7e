// SPDX-License-Identifier: MIT
//
// Server: gives measured processes places at one pair of programs, for as long as there are any.
//
// Attached exactly while some client wants to be counted; the links are handed to the clients too, so that none of them
// loses a count if the helper is killed. A client is gone when its socket is closed, which the kernel does however it
// ends, or when its process has ended and only a child of its keeps the socket.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/ebpf/helper/protocol.h"
#include "backends/ebpf/pair.h"

namespace syscost::ebpf {

class Server {
 public:
  enum class Clients {
    own_user,  ///< Those of the user that we run as; ends with the last.
    everyone,  ///< All users'; does not end.
  };

  /// `pair`, when it could be loaded; otherwise every client is told why not.
  Server(int listener, Result<Pair> pair, Clients clients);

  /// Returns when the last client is gone.
  void run();

 private:
  struct Client {
    int socket = -1;
    int process = -1;  ///< A pidfd; -1 where the process is out of our sight.
    uid_t user = 0;
    std::optional<std::uint32_t> place;
    bool is_joining = false;
    bool is_counted = false;
    bool is_gone = false;
  };

  void accept_clients();
  void read_request(Client& client);
  void serve_joining();
  void answer(Client& client, const Answer& message, const Passed& passed = {});
  void refuse(Client& client, const Failure& failure) { answer(client, failed_answer(failure)); }
  void bury_the_gone();
  std::size_t places_of(uid_t user) const;
  Result<void> attach();
  void detach_unless_wanted();
  void add_links(Passed& passed) const;

  int listener_;
  Result<Pair> pair_;
  Clients clients_policy_;
  std::vector<Client> clients_;
  ProgramDescriptors links_{-1, -1, -1};
};

}  // namespace syscost::ebpf
