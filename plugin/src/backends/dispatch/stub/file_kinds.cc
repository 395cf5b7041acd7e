// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/file_kinds.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>

#include "backends/dispatch/stub/common/raw.h"
#include "core/tables/byte_sources.h"
#include "core/tables/terminals.h"
#include "extras/trace/stub/trace.h"

namespace syscost::signal_safe {
namespace {

struct MovingFiles {
  std::uint8_t of[kMarkedNumbers] = {};
};

constexpr MovingFiles make_moving_files() {
  MovingFiles files;
#define SYSCOST_BYTES(abi, number, way, source, files_of) \
  if ((abi) == 0) files.of[number] = SYSCOST_FILES_##files_of;
#include "core/tables/bytes_moved.inc"
#undef SYSCOST_BYTES
  return files;
}

constexpr MovingFiles kMovingFiles = make_moving_files();

// core/syscall_id.h, FileKind.
enum : std::uint8_t {
  kBadDescriptor = 1,
  kCharacterDevice = 2,
  kBlockDevice = 3,
  kRegular = 4,
  kDirectory = 5,
  kPipe = 6,
  kSocket = 7,
  kOther = 8,
  kTerminal = 9,
  kUnknown = 10,
};

constexpr std::uint32_t kTypeOfFile = 0170000;
constexpr long kDontSync = 0x4000;   // AT_STATX_DONT_SYNC
constexpr long kEmptyPath = 0x1000;  // AT_EMPTY_PATH

FileKinds pair_of(std::uint32_t from, std::uint32_t to) {
  constexpr unsigned kOtherAt = 8;
  return from | to << kOtherAt;
}

}  // namespace

std::uint32_t kind_of(std::uint64_t descriptor) {
  struct statx status;
  const long result = syscost_raw_syscall(SYS_statx, static_cast<int>(descriptor), reinterpret_cast<long>(""),
                                          kEmptyPath | kDontSync, STATX_TYPE, reinterpret_cast<long>(&status));
  if (result == -EBADF) return kBadDescriptor;
  if (result < 0) return kUnknown;
  switch (status.stx_mode & kTypeOfFile) {
    case 0020000:
      return SYSCOST_IS_TERMINAL(status.stx_rdev_major) ? kTerminal : kCharacterDevice;
    case 0060000:
      return kBlockDevice;
    case 0100000:
      return kRegular;
    case 0040000:
      return kDirectory;
    case 0010000:
      return kPipe;
    case 0140000:
      return kSocket;
    default:
      return kOther;
  }
}

NumberSet moving_numbers() {
  NumberSet numbers{};
  for (std::uint32_t number = 0; number < kMarkedNumbers; ++number) {
    if (kMovingFiles.of[number] != SYSCOST_FILES_NONE) numbers.add(number);
  }
  return numbers;
}

void ask_file_kinds(Call& call) {
  // Nothing is kept of calls that no segment counts, and of those that are not selected.
  if (call.abi != 0 || call.control == 0 || call.number >= kMarkedNumbers) return;
  if (std::atomic_ref(syscost_state.directory.slot_of[call.number]).load() == kNotSelected) return;
  const std::uint8_t files = kMovingFiles.of[call.number];
  if (files == SYSCOST_FILES_NONE) return;
  call.adapted.clients |= kMarkedByFileKinds;
  const bool has_two = files != SYSCOST_FILES_1;
  const Copying asking;
  if (!std::atomic_ref(syscost_string_copies.may_ask_kinds).load()) {
    call.adapted.kinds = pair_of(kUnknown, has_two ? kUnknown : 0);
    return;
  }
  const Arguments& given = call.given;
  const std::uint32_t first = kind_of(given.rdi);
  if (!has_two) {
    call.adapted.kinds = first;
  } else if (files == SYSCOST_FILES_2_TO_1) {
    call.adapted.kinds = pair_of(kind_of(given.rsi), first);
  } else {
    call.adapted.kinds = pair_of(first, kind_of(files == SYSCOST_FILES_1_TO_2 ? given.rsi : given.rdx));
  }
}

}  // namespace syscost::signal_safe
