// SPDX-License-Identifier: MIT
//
// A connection to a client that is not trusted: what comes over it, and how the helper closes it.
//
// A message can bring descriptors (SCM_RIGHTS). The process that drops the last reference to a file waits until the
// file is closed: a socket with SO_LINGER as long as its owner wrote there, a file of FUSE or NFS until its server
// answers. All clients would wait with the helper. So it never drops such a reference:
// - From Linux 6.16 on no one can send it descriptors (refuse_descriptors() in protocol.h).
// - Before, it looks at a message first, and leaves one with descriptors in the queue. A child of the helper closes its
//   connections: the child still holds them when the helper closes its own copies, and then ends. A task that ends does
//   not linger. If its end waits all the same, no one waits for it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "backends/ebpf/helper/protocol.h"

namespace syscost::ebpf {

/// Who sent a message, as the kernel says. Where the process is out of our sight, its number is 0.
struct Sender {
  pid_t process = 0;
  uid_t user = 0;
};

enum class Arrival {
  nothing,
  question,
  nonsense,
  descriptors,  ///< A message with descriptors, which stays in the queue: nothing behind it can be read.
  end,          ///< The other end is gone.
};

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

}  // namespace syscost::ebpf
