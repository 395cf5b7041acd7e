// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/file_records.h"

#include "backends/dispatch/stub/user_memory.h"

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
