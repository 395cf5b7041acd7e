// SPDX-License-Identifier: MIT
#include "extras/crash/stub/file_log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <atomic>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/call_files.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/record.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/trace/stub/trace.h"
#include "extras/where/stub/common/where.h"

namespace syscost::signal_safe {
namespace {

std::uint64_t place_of_file(std::uint64_t device, std::uint64_t number) {
  return ((number * 0x9e37'79b9'7f4a'7c15) ^ (device * 0xbf58'476d'1ce4'e5b9)) >> 20 & (kFileTable - 1);
}

}  // namespace

void note_trouble(FileTrouble trouble) {
  auto none = FileTrouble::none;
  std::atomic_ref(the_log().trouble).compare_exchange_strong(none, trouble);
}

std::uint64_t tick() {
  return std::atomic_ref(the_log().clock).fetch_add(1) + 1;
}

FileRecord* take_record(std::uint64_t number, std::uint64_t more) {
  FileLog& log = the_log();
  const std::uint64_t bytes = rounded(sizeof(FileRecord) + more);
  std::atomic_ref used(log.used);
  std::uint64_t at = used.load();
  do {
    if (bytes > log.bytes || at > log.bytes - bytes) {
      note_trouble(FileTrouble::no_room);
      return nullptr;
    }
  } while (!used.compare_exchange_weak(at, at + bytes));
  auto* record = reinterpret_cast<FileRecord*>(log.memory + at);
  record->bytes = bytes;
  record->number = number;
  return record;
}

std::uint64_t place_in_log(const void* address) {
  return static_cast<std::uint64_t>(static_cast<const char*>(address) - the_log().memory);
}

void end_record(FileRecord& record, std::uint64_t end) {
  const std::uint64_t at = place_in_log(&record);
  std::uint64_t old_end = at + record.bytes;
  const std::uint64_t new_end = rounded(end);
  if (new_end >= old_end) return;
  const std::uint64_t bytes = record.bytes;
  record.bytes = new_end - at;
  if (!std::atomic_ref(the_log().used).compare_exchange_strong(old_end, new_end)) record.bytes = bytes;
}

void give_record_back(FileRecord& record) {
  const std::uint64_t at = place_in_log(&record);
  const std::uint64_t bytes = record.bytes;
  for (std::uint64_t word = 0; word < sizeof record; word += sizeof(std::uint64_t)) {
    write_at(reinterpret_cast<std::uint64_t>(&record) + word, std::uint64_t{0});
  }
  std::uint64_t end = at + bytes;
  if (std::atomic_ref(the_log().used).compare_exchange_strong(end, at)) return;
  record.bytes = bytes;
  record.number = kDataRecord;  // nothing to read
}

bool is_known(const struct stat& status) {
  if (status.st_ino == 0) return false;
  for (std::uint64_t at = place_of_file(status.st_dev, status.st_ino);; at = (at + 1) & (kFileTable - 1)) {
    KnownFile& known = the_log().file_table[at];
    const std::uint64_t device = std::atomic_ref(known.device).load(std::memory_order_acquire);
    if (device == 0) return false;
    const std::uint64_t number = std::atomic_ref(known.number).load(std::memory_order_acquire);
    if (number == status.st_ino && device == status.st_dev) return true;
  }
}

void make_known(const struct stat& status) {
  if (status.st_ino != 0 && !is_known(status) && !add_known_file(status.st_dev, status.st_ino)) {
    note_trouble(FileTrouble::too_many_files);
  }
}

bool add_known_file(std::uint64_t device, std::uint64_t number) {
  FileLog& log = the_log();
  // Half of it stays empty, so that a search ends soon.
  if (std::atomic_ref(log.files).fetch_add(1) >= kFileTable / 2) return false;
  for (std::uint64_t at = place_of_file(device, number);; at = (at + 1) & (kFileTable - 1)) {
    KnownFile& known = log.file_table[at];
    std::uint64_t empty = 0;
    // The device first: it takes the place.
    if (std::atomic_ref(known.device).compare_exchange_strong(empty, device)) {
      std::atomic_ref(known.number).store(number, std::memory_order_release);
      return true;
    }
  }
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
syscost::signal_safe::FileLog syscost_file_log{};
}
// NOLINTEND(readability-identifier-naming)

// In newer headers only.
#ifndef RWF_APPEND
#define RWF_APPEND 0x10
#endif

namespace syscost::signal_safe {
namespace {

// ---- what the kernel says of files ----------------------------------------------------------------------------------

void stat_descriptor(std::uint64_t descriptor, struct stat& into) {
  if (syscost_raw_syscall(SYS_fstat, static_cast<std::int32_t>(descriptor), reinterpret_cast<long>(&into)) < 0) {
    into.st_ino = 0;
  }
}

void stat_at(std::uint64_t folder, const char* path, long flags, struct stat& into) {
  if (syscost_raw_syscall(SYS_newfstatat, static_cast<std::int32_t>(folder), reinterpret_cast<long>(path),
                          reinterpret_cast<long>(&into), flags) < 0) {
    into.st_ino = 0;
  }
}

/// Copies the path into the log, without slashes at its end. False if it cannot be read: the call will fail.
bool copy_path(std::uint64_t address, char* into, LogPart& part) {
  constexpr std::uint64_t kPage = 4096;
  std::uint64_t length = 0;
  bool is_ended = false;
  while (!is_ended && length < kMostPath - 1) {
    std::uint64_t piece = kPage - (address + length) % kPage;
    if (piece > kMostPath - 1 - length) piece = kMostPath - 1 - length;
    if (address < kPage || !copy_from(address + length, into + length, piece)) return false;
    const std::uint64_t end = length + piece;
    while (length < end && into[length] != '\0') ++length;
    is_ended = length < end;
    // The memory is zero where no path is.
    for (std::uint64_t i = length; is_ended && i < end; ++i) into[i] = '\0';
  }
  while (length > 1 && into[length - 1] == '/') into[--length] = '\0';
  part = {place_in_log(into), length};
  return is_ended;
}

/// The directory in which the path's last name is.
void stat_folder(std::uint64_t folder, char* path, std::uint64_t length, struct stat& into) {
  std::uint64_t slash = length;
  while (slash > 0 && path[slash - 1] != '/') --slash;
  if (slash == 0) return stat_at(folder, ".", 0, into);
  // With the slash at its end: a path of a slash alone stays one.
  const char kept = path[slash];
  path[slash] = '\0';
  stat_at(folder, path, 0, into);
  path[slash] = kept;
}

// ---- before a call --------------------------------------------------------------------------------------------------

/// A thread whose calls are the program's, and are made in this process.
bool is_of_program(const Thread& thread) {
  const bool is_record = &thread >= syscost_threads && &thread < syscost_threads + kThreads;
  return is_record && thread.waits_for_child == 0 &&
         std::atomic_ref(const_cast<std::uint32_t&>(thread.own_work)).load() == 0;
}

/// How many bytes the call is to write; the kernel moves no more than this at once.
std::uint64_t bytes_to_write(const Call& call) {
  constexpr std::uint64_t kMost = 0x7fff'f000;
  std::uint64_t bytes = call.used.rdx;
  if (has_vector(call.number)) {
    constexpr std::uint64_t kMostStretches = 1024;
    const std::uint64_t count = call.used.rdx;
    if (count > kMostStretches) return 0;
    UserBytes memory;
    bytes = 0;
    for (std::uint64_t i = 0; i < count && bytes < kMost; ++i) {
      Stretch more{};
      if (!memory.read(call.used.rsi + i * sizeof more, more)) return 0;
      bytes += more.bytes < kMost ? more.bytes : kMost;
    }
  }
  return bytes < kMost ? bytes : kMost;
}

bool copy_data(const Call& call, char* into, std::uint64_t bytes) {
  if (!has_vector(call.number)) return copy_from(call.used.rsi, into, bytes);
  const Stretch room{reinterpret_cast<std::uint64_t>(into), bytes};
  return syscost_raw_syscall(SYS_process_vm_readv, number_for_memory(), reinterpret_cast<long>(&room), 1,
                             static_cast<long>(call.used.rsi), static_cast<long>(call.used.rdx),
                             0) == static_cast<long>(bytes);
}

std::uint32_t flags_of(std::uint64_t descriptor) {
  const long flags = syscost_raw_syscall(SYS_fcntl, static_cast<std::int32_t>(descriptor), F_GETFL);
  return flags < 0 ? 0 : static_cast<std::uint32_t>(flags);
}

/// A copy fails if the call will fail, too, or if another thread takes the memory away: tell_write() finds out.
void ask_write(const Call& call, FileRecord& record) {
  const std::uint64_t bytes = bytes_to_write(call);
  FileRecord* const data = take_record(kDataRecord, bytes);
  if (data == nullptr) return;
  char* const into = reinterpret_cast<char*>(data + 1);
  if (copy_data(call, into, bytes)) record.data = {place_in_log(into), bytes};
  record.file_flags = flags_of(call.used.rdi);
}

/// False if the call concerns none of the files.
bool ask_paths(const Call& call, Way way, FileRecord& record) {
  const Paths paths = paths_of(call.number, call.used);
  char* const path = reinterpret_cast<char*>(&record + 1);
  if (!copy_path(paths.first.path, path, record.path)) return false;
  std::uint64_t end = record.path.at + record.path.bytes + 1;
  stat_folder(paths.first.folder, path, record.path.bytes, record.folder);
  const bool follows = way == Way::open || way == Way::file_of_path;
  long flags = follows ? 0 : AT_SYMLINK_NOFOLLOW;
  if (way == Way::link) {
    flags = (paths.link_flags & AT_SYMLINK_FOLLOW) != 0 ? 0 : AT_SYMLINK_NOFOLLOW;
    flags |= static_cast<long>(paths.link_flags & AT_EMPTY_PATH);
  }
  stat_at(paths.first.folder, path, flags, record.object);
  // A symbolic link to nothing: open makes a file elsewhere.
  if (way == Way::open && record.object.st_ino == 0) {
    stat_at(paths.first.folder, path, AT_SYMLINK_NOFOLLOW, record.other);
  }
  if (call.number == SYS_symlink || call.number == SYS_symlinkat) {
    char* const target = reinterpret_cast<char*>(&record + 1) + rounded(record.path.bytes + 1);
    if (!copy_path(call.used.rdi, target, record.other_path)) return false;
    end = record.other_path.at + record.other_path.bytes + 1;
  }
  if (way == Way::link || way == Way::rename) {
    char* const second = reinterpret_cast<char*>(&record + 1) + rounded(record.path.bytes + 1);
    if (!copy_path(paths.second.path, second, record.other_path)) return false;
    end = record.other_path.at + record.other_path.bytes + 1;
    stat_folder(paths.second.folder, second, record.other_path.bytes, record.other_folder);
    if (way == Way::rename) stat_at(paths.second.folder, second, AT_SYMLINK_NOFOLLOW, record.other);
  }
  end_record(record, end);
  return is_known(record.folder) || is_known(record.other_folder) || is_known(record.object);
}

/// The record of a call that concerns a file of the directory; null if there is none, or no room.
FileRecord* ask(const Call& call, Way way) {
  if (way == Way::open && !may_make_or_cut(call)) return nullptr;
  const bool has_descriptor = way == Way::write || way == Way::file || way == Way::copy;
  const bool has_path = !has_descriptor && way != Way::everything;
  FileRecord* const record = take_record(call.number, has_path ? 2 * kMostPath + sizeof(std::uint64_t) : 0);
  if (record == nullptr) return nullptr;
  if (way == Way::everything) {
    if (call.number == SYS_syncfs) stat_descriptor(call.used.rdi, record->object);
    return record;
  }
  if (has_path) {
    if (ask_paths(call, way, *record)) return record;
    record->number = kDataRecord;  // nothing to read
    return nullptr;
  }
  const bool is_third = call.number == SYS_copy_file_range || call.number == SYS_splice;
  stat_descriptor(is_third ? call.used.rdx : call.used.rdi, record->object);
  if (!is_known(record->object)) {
    give_record_back(*record);
    return nullptr;
  }
  if (way == Way::write) ask_write(call, *record);
  return record;
}

// ---- after a call ---------------------------------------------------------------------------------------------------

void tell_write(const Call& call, FileRecord& record, std::uint64_t count) {
  if (record.data.bytes < count) note_trouble(FileTrouble::unreadable);
  const bool has_place = call.number == SYS_pwrite64 || call.number == SYS_pwritev || call.number == SYS_pwritev2;
  const bool is_at_position = !has_place || (call.number == SYS_pwritev2 && call.used.r10 == ~std::uint64_t{0});
  const bool appends =
      (record.file_flags & O_APPEND) != 0 || (call.number == SYS_pwritev2 && (call.used.r9 & RWF_APPEND) != 0);
  if (is_at_position) {
    const long end = syscost_raw_syscall(SYS_lseek, static_cast<std::int32_t>(call.used.rdi), 0, SEEK_CUR);
    record.offset = static_cast<std::uint64_t>(end) - count;
  } else if (appends) {
    // Linux appends in spite of the offset.
    stat_descriptor(call.used.rdi, record.other);
    record.offset = static_cast<std::uint64_t>(record.other.st_size) - count;
  } else {
    record.offset = call.used.r10;
  }
}

/// Reads again from its source what the kernel has copied.
void tell_copy(const Call& call, FileRecord& record, std::uint64_t count) {
  std::uint64_t from = call.used.rsi;  // sendfile
  std::uint64_t from_offset = call.used.rdx;
  std::uint64_t into = call.used.rdi;
  std::uint64_t into_offset = 0;
  if (call.number == SYS_copy_file_range) {
    from = call.used.rdi;
    from_offset = call.used.rsi;
    into = call.used.rdx;
    into_offset = call.used.r10;
  }
  // Offsets and positions are behind the bytes by now.
  const auto begin = [count](std::uint64_t descriptor, std::uint64_t offset) {
    const std::uint64_t end = offset != 0 ? read_at<std::uint64_t>(offset)
                                          : static_cast<std::uint64_t>(syscost_raw_syscall(
                                                SYS_lseek, static_cast<std::int32_t>(descriptor), 0, SEEK_CUR));
    return end - count;
  };
  record.offset = begin(into, into_offset);
  record.file_flags = flags_of(into);
  FileRecord* const data = take_record(kDataRecord, count);
  if (data == nullptr) return;
  char* const bytes = reinterpret_cast<char*>(data + 1);
  const std::uint64_t first = begin(from, from_offset);
  std::uint64_t done = 0;
  while (done < count) {
    const long more =
        syscost_raw_syscall(SYS_pread64, static_cast<std::int32_t>(from), reinterpret_cast<long>(bytes + done),
                            static_cast<long>(count - done), static_cast<long>(first + done));
    if (more <= 0) break;
    done += static_cast<std::uint64_t>(more);
  }
  if (done < count) note_trouble(FileTrouble::unreadable);
  record.data = {place_in_log(bytes), count};
}

void tell_made(const Call& call, Way way, FileRecord& record) {
  if (way == Way::open) {
    // Its other field says that a symbolic link was there.
    const bool was_link = record.object.st_ino == 0 && record.other.st_ino != 0;
    stat_descriptor(call.result, record.other);
    if (was_link) record.object.st_mode = S_IFLNK;
  } else if (way == Way::make) {
    const Paths paths = paths_of(call.number, call.used);
    stat_at(paths.first.folder, the_log().memory + record.path.at, AT_SYMLINK_NOFOLLOW, record.other);
  }
  if ((way == Way::open || way == Way::make) && is_known(record.folder)) make_known(record.other);
  // O_TMPFILE: the path is the directory.
  if (way == Way::open && is_known(record.object)) make_known(record.other);
}

}  // namespace

NumberSet file_call_numbers() {
  NumberSet numbers{};
  for (std::uint32_t number = 0; number < kMarkedNumbers; ++number) {
    if (way_of(number) != Way::none) numbers.add(number);
  }
  return numbers;
}

void ask_files(const Guard& guard, Call& call) {
  if (call.abi != 0 || !is_of_program(*call.thread)) return;
  const Writing writing;
  const std::uint64_t generation = Writing::generation();
  if (generation == 0) return;
  const Copying copying;
  if (!Copying::is_allowed()) return note_trouble(FileTrouble::no_copies);
  FileRecord* const record = ask(call, way_of(call.number));
  if (record == nullptr) return;
  record->arguments = call.used;
  record->stack = syscost_where != 0 ? stack_before_call(guard, call) : 0;
  record->begun = tick();
  constexpr unsigned kPlaceBits = 48;
  call.note = generation << kPlaceBits | place_in_log(record);
  call.adapted.clients |= kMarkedByFiles;
}

void tell_files(const Guard& /*guard*/, const Call& call) {
  const Writing writing;
  constexpr unsigned kPlaceBits = 48;
  if (Writing::generation() != call.note >> kPlaceBits) return;
  auto& record =
      *reinterpret_cast<FileRecord*>(the_log().memory + (call.note & ((std::uint64_t{1} << kPlaceBits) - 1)));
  record.result = static_cast<std::int64_t>(call.result);
  if (record.result >= 0) {
    const Way way = way_of(call.number);
    const auto count = static_cast<std::uint64_t>(record.result);
    if (way == Way::write) tell_write(call, record, count);
    if (way == Way::copy && call.number != SYS_splice) tell_copy(call, record, count);
    if (way == Way::open || way == Way::make) tell_made(call, way, record);
  }
  std::atomic_ref(record.ended).store(tick(), std::memory_order_release);
}

void mark_files(const Guard& /*guard*/, const char* name, std::uint64_t bytes) {
  const Writing writing;
  if (Writing::generation() == 0) return;
  FileRecord* const record = take_record(kMarkRecord, bytes);
  if (record == nullptr) return;
  copy_bytes(reinterpret_cast<std::uint64_t>(record + 1), reinterpret_cast<std::uint64_t>(name), bytes);
  record->path = {place_in_log(record + 1), bytes};
  record->begun = record->ended = tick();
}

}  // namespace syscost::signal_safe
