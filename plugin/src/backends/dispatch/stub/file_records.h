// SPDX-License-Identifier: MIT
//
// The memory of a file log: room for records, and the table of files that belong to its directory. For file_log.cc.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>

#include "backends/dispatch/stub/file_log.h"

namespace syscost::signal_safe {

inline FileLog& the_log() {
  return syscost_file_log;
}

/// The first trouble stays.
void note_trouble(FileTrouble trouble);

/// The log's next time, from 1 on.
std::uint64_t tick();

constexpr std::uint64_t rounded(std::uint64_t bytes) {
  return (bytes + 7) & ~std::uint64_t{7};
}

/// A thread that is writing a record; the backend waits for its end.
class Writing {
 public:
  Writing() { std::atomic_ref(the_log().under_way).fetch_add(1); }
  ~Writing() { std::atomic_ref(the_log().under_way).fetch_sub(1); }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  /// After its construction.
  static std::uint64_t generation() { return std::atomic_ref(the_log().generation).load(); }
};

/// Null if there is no room. The memory is zero.
FileRecord* take_record(std::uint64_t number, std::uint64_t more);

std::uint64_t place_in_log(const void* address);

/// Gives back what lies beyond `end`, which is zero, if no other record has been taken meanwhile.
void end_record(FileRecord& record, std::uint64_t end);

/// The same of all of it. Only `object` has been set.
void give_record_back(FileRecord& record);

bool is_known(const struct stat& status);
void make_known(const struct stat& status);

}  // namespace syscost::signal_safe
