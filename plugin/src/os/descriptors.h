// SPDX-License-Identifier: MIT
//
// Descriptors: keeps, moves, passes and closes those of ours, so that the measured program does not see them.
//
// Tests compare descriptor numbers, count open files, and close "3 and up". So ours have high numbers, which the user's
// own descriptors do not reach: these get the numbers that they would get without syscost. A fork copies all
// descriptors into a child.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "os/errors.h"

namespace syscost {

/// Moves `fd` to a number just below the soft limit (at most 1024), close-on-exec, and closes the old one. Returns the
/// new number, or `fd` itself when no high number is free.
int move_fd_high(int fd);

// Descriptors that a measured process keeps open for us: sockets, to our helpers and with descriptors in their queue.
//
// A test may close them and get their numbers for files of its own, which we must not close or read. So we remember the
// device and the inode of each, and compare them by fstat, which needs no /proc.
//
// A tool at the other end of a socket may live as long as any copy of it. Children made by fork() close their copies;
// exec closes them in all other children. If the other end watches the process itself, a copy does no harm, and the
// child makes no call of ours (InChildren::kept).

enum class InChildren { closed, kept };

/// Takes over `fd`, which belongs to no other code, and returns its new number: `fd` itself if no high number is free.
/// Thread-safe.
int keep_descriptor(int fd, InChildren in_children = InChildren::closed);

/// True if `fd`, which keep_descriptor() returned, is still the same file. Otherwise errno is EBADF, or the error of
/// fstat (a seccomp filter may deny it). After EBADF the owner must forget the number: it may become another of our
/// descriptors.
bool is_still_ours(int fd);

/// Closes `fd`, unless the number belongs to other code now, and sets it to -1. -1 is allowed.
void close_descriptor(int& fd);

/// Descriptors that are sent with a message over a socket (SCM_RIGHTS).
struct PassedDescriptors {
  static constexpr std::size_t kMost = 32;

  std::array<int, kMost> descriptors{};
  std::size_t count = 0;
  /// Received only: more were sent than could be received, mostly because this process may open no more descriptors.
  bool is_short = false;

  std::span<const int> all() const { return std::span(descriptors).first(count); }
  void add(int descriptor);
  void close_all();
};

/// sendmsg(2) of one message; it never raises SIGPIPE.
ssize_t send_passing(int socket, const void* message, std::size_t size, std::span<const int> descriptors, int flags);

/// recvmsg(2) of one message of `size` bytes at most; a longer one fails with EBADMSG. Its descriptors are
/// close-on-exec and belong to the caller. If not all could be received, the caller gets the first of them. With
/// `passed` null it receives none.
ssize_t receive_passing(int socket, void* message, std::size_t size, PassedDescriptors* passed, int flags);

/// Descriptors that wait in the queue of a socket instead of in this process's table.
///
/// A fork copies the table, and the file of a descriptor stays open as long as any copy: an attachment that we close
/// would go on in a child that closes nothing (_Fork, clone). But a child inherits only the socket, and shares its
/// queue with us. So if we take the descriptors out of the queue and close them, no copy is left in any child.
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

/// Opens /dev/null at each of the numbers 0 to 2 that is closed. To be called before anything is opened.
///
/// A program may be started with its standard input, output or error closed. Then the next file that it opens gets such
/// a number, and messages are written into that file. A program that is executed later finds the number closed again.
/// Standard output is opened for reading only. A write to it fails, so the program can say that its output is lost.
inline void fill_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // open() takes the lowest number that is free: this one.
    if (fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
      const int filled = open("/dev/null", (fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  }
}

}  // namespace syscost
