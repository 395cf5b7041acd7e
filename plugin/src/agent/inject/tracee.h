// SPDX-License-Identifier: MIT
//
// A process that is stopped before the first instruction of its program. Its tracer makes calls of the kernel in its
// name, changes its memory and its registers, and lets syscost-guest get into it.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace syscost::inject {

/// All functions return 0, or the negative errno. After an error the process must not go on, unless it is said.
class Tracee {
 public:
  /// It ends with the tracer, unless the tracer lets it go.
  explicit Tracee(pid_t process) : process_(process) {}

  /// The process asks for this, and executes a program afterwards. 0 where it is traced from now on.
  int seize() const;
  /// Waits for the program. False where the process ended, or executed none.
  bool wait_for_program();

  std::uint64_t stack() const { return start_.rsp; }
  std::uint64_t entry() const { return start_.rip; }

  /// From here to end_calls() there is another instruction at the program's entry.
  int begin_calls();
  /// As syscall(2), but returns the negative errno.
  long call(long number, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0, std::uint64_t d = 0,
            std::uint64_t e = 0, std::uint64_t f = 0);
  int end_calls() const;
  int write(std::uint64_t at, const void* bytes, std::size_t size) const;
  int read(std::uint64_t at, void* bytes, std::size_t size) const;

  /// Lets the process go: it continues at `entry` with `stack`, and no longer ends with the tracer.
  int let_go(std::uint64_t entry, std::uint64_t stack);

 private:
  int resume_until_trap();

  pid_t process_;
  user_regs_struct start_{};
  long code_ = 0;              ///< The original code at the entry.
  int pending_ = 0;            ///< The last signal that came meanwhile,
  std::uint64_t earlier_ = 0;  ///< and those before it, one bit each.
};

struct Guest {
  std::string path;
  std::vector<std::string> environment;
  std::uint64_t signals = 0;  ///< The signals that the program will have blocked.
};

/// Lets the process go with the guest in it: the guest's loader, mapped as the kernel would map it, and a stack with
/// what the kernel would put there. Empty where it did; else why not, and the process goes on alone. Where its code
/// cannot be put back, it does not go on: it ends with its tracer.
std::string start_guest(Tracee& tracee, const Guest& guest);

}  // namespace syscost::inject
