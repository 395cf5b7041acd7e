// SPDX-License-Identifier: MIT
//
// OpenThings: the descriptors, threads, children and mappings that this process has at one moment. LeftOpen: what it
// has at a later one and did not have then.
//
// All is read from /proc. That is some dozens of syscalls, so call it outside windows. Descriptors of syscost itself
// are left out. Allocates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/errors.h"

namespace syscost::session {

struct OpenThings {
  std::vector<int> descriptors;  ///< Ascending, as all lists here.
  std::vector<int> threads;  ///< Without those that are ending: join() may return before the kernel has removed one.
  std::optional<std::vector<int>> children;  ///< Zombies included. Empty if the kernel does not list them.
  struct Mapped {
    std::uint64_t bytes = 0;       ///< VmSize
    std::uint64_t most_bytes = 0;  ///< VmPeak: the most so far
  };
  // Before and after the lists were made: their own memory lies between.
  std::optional<Mapped> mapped_at_begin;
  std::optional<Mapped> mapped_at_end;

  /// Fails if /proc cannot be read.
  static Result<OpenThings> now();

  /// Takes out what is in `others`: descriptors by their numbers. Mappings become unknown.
  void take_out(const OpenThings& others);
  /// Keeps what is in `others`, too.
  void keep_common(const OpenThings& others);
};

struct LeftOpen {
  struct Descriptor {
    int number = 0;
    std::string what;  ///< `file /tmp/x`, `socket`, `pipe`, `eventfd`
    std::string site;  ///< `at src/log.cc:17 Log::open`, the line that opened it; empty = unknown
  };
  /// A thread, or a child process.
  struct Started {
    int id = 0;
    std::string site;  ///< `at src/pool.cc:8 Pool::grow`, the line that started it; empty = unknown
  };
  std::vector<Descriptor> descriptors;
  std::vector<Started> threads;
  std::optional<std::vector<Started>> children;
  std::optional<std::uint64_t> mapped_bytes;  ///< By how much they grew; 0 if they shrank.
  /// The most by which they had grown at one time, by VmPeak. Empty unless VmPeak has risen: then it was higher before.
  std::optional<std::uint64_t> peak_mapped_bytes;

  /// From `before` to `after`, which was read last: descriptors are described as they are now.
  LeftOpen(const OpenThings& before, const OpenThings& after);

  /// Mappings do not count: allocators keep memory for later.
  bool is_nothing() const { return descriptors.empty() && threads.empty() && (!children || children->empty()); }
  /// `5 file /tmp/x;6 socket at src/log.cc:17 Log::open;thread at src/pool.cc:8 Pool::grow`: at most 32 descriptors,
  /// then how many more; and the threads and children of which the line is known, at most 32 of each.
  std::string list_text() const;
  /// `descriptor 5 (file /tmp/x, opened at src/log.cc:17 Log::open), 2 threads (started at src/pool.cc:8 Pool::grow)`;
  /// empty for nothing.
  std::string text() const;
};

}  // namespace syscost::session
