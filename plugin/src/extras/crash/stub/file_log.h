// SPDX-License-Identifier: MIT
//
// The file log: records the calls that change files below a directory, or make changes sure. A client of call.h.
//
// The data that a call writes are copied before the call, because the program may change them as soon as the call is
// back. Files are known by device and inode. The backend fills the table of those that belong to the directory; a call
// that makes a file in one of its folders adds it. A call that concerns none of them is not recorded.
//
// Records lie one after another in memory that the backend has reserved. If something cannot be recorded, that sets
// `trouble`: a log is complete, or says that it is not.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>

#include "backends/dispatch/stub/common/call.h"

namespace syscost::signal_safe {

inline constexpr std::uint64_t kFileTable = 1 << 17;  ///< Places in the table of files; a power of two.
inline constexpr std::uint64_t kMostPath = 4096;
// In place of a number.
inline constexpr std::uint64_t kMarkRecord = ~std::uint64_t{0};
inline constexpr std::uint64_t kDataRecord = ~std::uint64_t{1};

enum class FileTrouble : std::uint32_t { none, no_room, too_many_files, no_copies, unreadable };

/// One place of the table. `number` is stored last; 0 = empty.
struct KnownFile {
  std::uint64_t device;
  std::uint64_t number;
};

/// Bytes of the log.
struct LogPart {
  std::uint64_t at;
  std::uint64_t bytes;
};

struct FileRecord {
  std::uint64_t bytes;  ///< With all its parts, to the next record.
  std::uint64_t number;
  Arguments arguments;
  std::int64_t result;
  std::uint64_t begun;
  std::uint64_t ended;  ///< 0 = it has not returned.
  std::uint64_t offset;
  std::uint32_t file_flags;
  std::uint32_t stack;
  LogPart path;
  LogPart other_path;
  LogPart data;
  /// The kernel's answers; an inode of 0 = there is none (extras/crash/core/file_calls.h).
  struct stat object;
  struct stat folder;
  struct stat other;
  struct stat other_folder;
};

struct FileLog {
  std::uint64_t generation;  ///< 0 = nothing is recorded.
  std::uint64_t under_way;   ///< Threads that are writing a record.
  char* memory;
  std::uint64_t bytes;
  std::uint64_t used;
  std::uint64_t clock;
  FileTrouble trouble;
  std::uint32_t files;    ///< In the table.
  KnownFile* file_table;  ///< [kFileTable]
};

/// The numbers that are recorded.
NumberSet file_call_numbers();

/// Before the call. Sets the client's bit in `adapted` if tell_files() is to hear of the call.
void ask_files(const Guard& guard, Call& call);
/// After a call of ask_files() that was made.
void tell_files(const Guard& guard, const Call& call);

/// Adds a mark with this name.
void mark_files(const Guard& guard, const char* name, std::uint64_t bytes);

/// False if the table is full.
bool add_known_file(std::uint64_t device, std::uint64_t number);

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
extern syscost::signal_safe::FileLog syscost_file_log;
}
// NOLINTEND(readability-identifier-naming)

// For file_log.cc: the room for records, and the table of files.

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

/// Gives back the memory beyond `end`, which is zero, if no other record has been taken meanwhile.
void end_record(FileRecord& record, std::uint64_t end);

/// The same of all of it. Only `object` has been set.
void give_record_back(FileRecord& record);

bool is_known(const struct stat& status);
void make_known(const struct stat& status);

}  // namespace syscost::signal_safe
