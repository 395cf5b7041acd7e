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

#include "os/result.h"

namespace syscost {

struct OpenThings {
  std::vector<int> descriptors;  ///< Ascending, as all lists here.
  std::vector<int> threads;  ///< Without those that are ending: join() may return before the kernel has removed one.
  std::optional<std::vector<int>> children;  ///< Zombies included. Empty if the kernel does not list them.
  // VmSize, before and after the lists were made: their own memory lies between.
  std::optional<std::uint64_t> mapped_bytes_at_begin;
  std::optional<std::uint64_t> mapped_bytes_at_end;

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
  std::vector<Descriptor> descriptors;
  std::uint64_t threads = 0;
  std::optional<std::uint64_t> children;
  std::optional<std::uint64_t> mapped_bytes;  ///< By how much they grew; 0 if they shrank.

  /// From `before` to `after`, which was read last: descriptors are described as they are now.
  LeftOpen(const OpenThings& before, const OpenThings& after);

  /// Mappings do not count: allocators keep memory for later.
  bool is_nothing() const { return descriptors.empty() && threads == 0 && children.value_or(0) == 0; }
  /// `5 file /tmp/x;6 socket at src/log.cc:17 Log::open`: at most 32, then how many more.
  std::string descriptors_text() const;
  /// `descriptor 5 (file /tmp/x, opened at src/log.cc:17 Log::open), 1 thread, 2 children`; empty for nothing.
  std::string text() const;
};

}  // namespace syscost
