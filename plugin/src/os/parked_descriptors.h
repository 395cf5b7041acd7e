// SPDX-License-Identifier: MIT
//
// ParkedDescriptors: descriptors that wait in the queue of a socket instead of in this process's table.
//
// A fork copies the table, and the file of a descriptor stays open as long as any copy: an attachment that we close
// would go on in a child that closes nothing (_Fork, clone). But a child inherits only the socket, and shares its queue
// with us. So if we take the descriptors out of the queue and close them, no copy is left in any child.
#pragma once

#include <sys/types.h>

#include <vector>

#include "os/result.h"

namespace syscost {

class ParkedDescriptors {
 public:
  ParkedDescriptors() = default;
  /// Takes over the descriptors, also on failure; at most 32.
  static Result<ParkedDescriptors> park(const std::vector<int>& descriptors);

  ParkedDescriptors(ParkedDescriptors&& other) noexcept;
  ParkedDescriptors& operator=(ParkedDescriptors&& other) noexcept;
  /// Closes this process's socket.
  ~ParkedDescriptors();

  bool empty() const { return socket_ < 0; }
  /// Copies of all, which the caller closes. Fails, with errno, when the test closed the socket (EBADF), denies what
  /// this calls, or left no room for them (EMFILE).
  Result<std::vector<int>> copies();
  /// Closes them, also if a child has the socket.
  void close_all();

 private:
  explicit ParkedDescriptors(int socket);

  int socket_ = -1;
  pid_t owner_ = 0;
};

/// Closes each.
void close_each(const std::vector<int>& descriptors);

}  // namespace syscost
