// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/call_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <atomic>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/faults/stub/rules.h"
#include "extras/trace/stub/trace.h"

namespace syscost::signal_safe {
namespace {

constexpr std::uint64_t kHere = static_cast<std::uint32_t>(AT_FDCWD);

}  // namespace

Way way_of(std::uint64_t number) {
  switch (number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
      return Way::write;
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_fallocate:
      return Way::file;
    case SYS_sync:
    case SYS_syncfs:
    case SYS_io_submit:
    case SYS_io_uring_enter:
      return Way::everything;
    case SYS_truncate:
      return Way::file_of_path;
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
      return Way::open;
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_mknod:
    case SYS_mknodat:
    case SYS_symlink:
    case SYS_symlinkat:
      return Way::make;
    case SYS_link:
    case SYS_linkat:
      return Way::link;
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rmdir:
      return Way::remove;
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
      return Way::rename;
    case SYS_copy_file_range:
    case SYS_sendfile:
    case SYS_splice:
      return Way::copy;
    default:
      return Way::none;
  }
}

Paths paths_of(std::uint64_t number, const Arguments& given) {
  switch (number) {
    case SYS_openat:
    case SYS_openat2:
    case SYS_mkdirat:
    case SYS_mknodat:
    case SYS_unlinkat:
      return {{given.rdi, given.rsi}, {}, 0};
    case SYS_symlink:
      return {{kHere, given.rsi}, {}, 0};
    case SYS_symlinkat:
      return {{given.rsi, given.rdx}, {}, 0};
    case SYS_link:
    case SYS_rename:
      return {{kHere, given.rdi}, {kHere, given.rsi}, 0};
    case SYS_linkat:
    case SYS_renameat:
    case SYS_renameat2:
      return {{given.rdi, given.rsi}, {given.rdx, given.r10}, number == SYS_linkat ? given.r8 : 0};
    default:
      return {{kHere, given.rdi}, {}, 0};
  }
}

bool may_make_or_cut(const Call& call) {
  std::uint64_t flags = call.used.rsi;
  if (call.number == SYS_creat) return true;
  if (call.number == SYS_openat) flags = call.used.rdx;
  if (call.number == SYS_openat2) {
    if (!read_user(call.used.rdx, flags)) return false;
  }
  return (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

bool has_vector(std::uint64_t number) {
  return number == SYS_writev || number == SYS_pwritev || number == SYS_pwritev2;
}

namespace {

constexpr std::uint32_t kArguments = 6;

/// A thread's room for a path: the stack that the stub runs on is too small for it.
struct PathRoom {
  std::uint64_t taken_at;  ///< The stack of the one that uses it; 0 = free.
  std::uint32_t bytes;
  char path[2 * kMaxFaultPath];
};

/// The calling thread's, while this exists. Empty if there is no memory, or for a handler that interrupts another use.
class OwnRoom {
 public:
  OwnRoom(const Guard& guard, Thread& thread) {
    FaultRoom* const own = fault_room_of(guard, thread);
    if (own == nullptr) return;
    std::atomic_ref place(own->path);
    auto* room = static_cast<PathRoom*>(place.load(std::memory_order_relaxed));
    if (room == nullptr) {
      room = static_cast<PathRoom*>(take_memory(guard, sizeof(PathRoom)));
      place.store(room, std::memory_order_relaxed);
    }
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    // A handler lies below what it interrupted. If one left by longjmp, the room is free.
    if (room == nullptr || here < room->taken_at) return;
    room->taken_at = here;
    room->bytes = 0;
    room_ = room;
  }
  ~OwnRoom() {
    if (room_ != nullptr) room_->taken_at = 0;
  }
  OwnRoom(const OwnRoom&) = delete;
  OwnRoom& operator=(const OwnRoom&) = delete;

  PathRoom* get() const { return room_; }

 private:
  PathRoom* room_ = nullptr;
};

std::uint64_t argument(const Call& call, std::uint32_t index) {
  const Arguments& given = call.given;
  const std::uint64_t all[] = {given.rdi, given.rsi, given.rdx, given.r10, given.r8, given.r9};
  return all[index];
}

/// Adds what the link at `link` leads to. False if it leads nowhere.
bool add_link(PathRoom& room, const char* link) {
  const long bytes = syscost_raw_syscall(SYS_readlink, reinterpret_cast<long>(link),
                                         reinterpret_cast<long>(room.path + room.bytes), kMaxFaultPath);
  if (bytes <= 0) return false;
  room.bytes += static_cast<std::uint32_t>(bytes);
  return true;
}

/// Adds the path that the descriptor was opened by, or has by now.
bool add_descriptor(PathRoom& room, std::int32_t descriptor) {
  if (descriptor == AT_FDCWD) return add_link(room, "/proc/thread-self/cwd");
  if (descriptor < 0) return false;
  char link[40] = "/proc/thread-self/fd/";
  std::uint32_t digits = 0;
  for (auto rest = static_cast<std::uint32_t>(descriptor); digits == 0 || rest != 0; rest /= 10) ++digits;
  constexpr std::uint32_t kBegin = sizeof "/proc/thread-self/fd/" - 1;
  auto rest = static_cast<std::uint32_t>(descriptor);
  for (std::uint32_t i = digits; i-- > 0; rest /= 10) link[kBegin + i] = static_cast<char>('0' + rest % 10);
  link[kBegin + digits] = 0;
  if (!add_link(room, link)) return false;
  // The kernel adds this to the name of a file that is removed.
  constexpr char kDeleted[] = " (deleted)";
  constexpr std::uint32_t kBytes = sizeof kDeleted - 1;
  if (room.bytes <= kBytes) return true;
  for (std::uint32_t i = 0; i < kBytes; ++i) {
    if (room.path[room.bytes - kBytes + i] != kDeleted[i]) return true;
  }
  room.bytes -= kBytes;
  return true;
}

/// Adds the string at `address`. False if it cannot be read, or is too long.
bool add_string(PathRoom& room, std::uint64_t address) {
  UserBytes memory;
  for (std::uint64_t at = address; room.bytes < sizeof room.path; ++at) {
    unsigned char letter = 0;
    if (!memory.byte_at(at, letter)) return false;
    if (letter == 0) return true;
    room.path[room.bytes++] = static_cast<char>(letter);
  }
  return false;
}

/// Takes `//`, `/.` and `/..` out of an absolute path, and a `/` at its end.
void normalise(PathRoom& room) {
  std::uint32_t out = 0;
  for (std::uint32_t at = 0; at < room.bytes;) {
    while (at < room.bytes && room.path[at] == '/') ++at;
    std::uint32_t end = at;
    while (end < room.bytes && room.path[end] != '/') ++end;
    const std::uint32_t length = end - at;
    const bool is_here = length == 0 || (length == 1 && room.path[at] == '.');
    const bool is_up = length == 2 && room.path[at] == '.' && room.path[at + 1] == '.';
    if (is_up) {
      while (out > 0 && room.path[--out] != '/') {
      }
    } else if (!is_here) {
      room.path[out++] = '/';
      for (std::uint32_t i = 0; i < length; ++i) room.path[out++] = room.path[at + i];
    }
    at = end;
  }
  room.bytes = out;
}

bool is_path(const FileRule& rule, const RulePath& path, const PathRoom& room) {
  if (room.bytes < path.bytes) return false;
  for (std::uint32_t i = 0; i < path.bytes; ++i) {
    if (room.path[i] != path.text[i]) return false;
  }
  return room.bytes == path.bytes || (rule.is_prefix != 0 && room.path[path.bytes] == '/');
}

bool has_kind(const FileRule& rule, std::int32_t descriptor) {
  constexpr std::uint32_t kModeAt = 24;
  constexpr std::uint32_t kStatBytes = 144;
  alignas(8) char status[kStatBytes];
  if (syscost_raw_syscall(SYS_fstat, descriptor, reinterpret_cast<long>(status)) != 0) return false;
  const auto mode = read_at<std::uint32_t>(reinterpret_cast<std::uint64_t>(status + kModeAt));
  return (rule.kinds >> (mode >> 12) & 1) != 0;
}

About as_about(bool is_about) {
  return is_about ? About::yes : About::no;
}

/// After the construction of a Copying: who installs a filter waits until it is gone.
bool may_ask_kernel() {
  return !std::atomic_ref(syscost_string_copies.may_be_filtered).load();
}

/// The file that a descriptor stands for.
About is_file(const Guard& guard, const FileRule& rule, const Call& call, std::int32_t descriptor) {
  if (rule.descriptor >= 0 && rule.descriptor != descriptor) return About::no;
  if (!rule.needs_kernel()) return About::yes;
  if (descriptor < 0 && descriptor != AT_FDCWD) return About::no;
  const Copying asking;
  if (!may_ask_kernel()) return About::unknown;
  if (rule.kinds != 0 && !has_kind(rule, descriptor)) return About::no;
  if (rule.opened.bytes == 0) return About::yes;
  const OwnRoom room(guard, *call.thread);
  return as_about(room.get() != nullptr && add_descriptor(*room.get(), descriptor) &&
                  is_path(rule, rule.opened, *room.get()));
}

/// The file that a path names. It need not exist, so it has neither a descriptor nor a kind.
About is_named(const Guard& guard, const FileRule& rule, const Call& call, std::uint32_t index,
               std::int32_t directory) {
  if (rule.descriptor >= 0 || rule.kinds != 0) return About::no;
  const OwnRoom room(guard, *call.thread);
  if (room.get() == nullptr) return About::no;
  const std::uint64_t address = argument(call, index);
  char first = 0;
  // An empty one: the descriptor itself (AT_EMPTY_PATH).
  if (!read_user(address, first) || first == 0) return About::no;
  if (first != '/') {
    const Copying asking;
    if (!may_ask_kernel()) return About::unknown;
    if (!add_descriptor(*room.get(), directory)) return About::no;
    room.get()->path[room.get()->bytes++] = '/';
  }
  if (!add_string(*room.get(), address)) return About::no;
  normalise(*room.get());
  return as_about(is_path(rule, rule.named, *room.get()) || is_path(rule, rule.opened, *room.get()));
}

}  // namespace

About is_about(const Guard& guard, const FileRule& rule, const Call& call) {
  const auto number = static_cast<std::uint32_t>(call.number);
  if (number >= kMarkedNumbers) return About::no;
  About all = About::no;
  const std::uint32_t descriptors = syscost_file_arguments.descriptors[number];
  const std::uint32_t directories = syscost_file_arguments.directories[number];
  const std::uint32_t paths = syscost_file_arguments.paths[number];
  for (std::uint32_t i = 0; i < kArguments; ++i) {
    const auto value = static_cast<std::int32_t>(argument(call, i));
    // A directory is what a path begins in, and no file of the call.
    const bool is_descriptor = (descriptors >> i & 1) != 0 && (directories >> i & 1) == 0;
    About one = is_descriptor ? is_file(guard, rule, call, value) : About::no;
    if (one == About::yes) return one;
    if (one == About::unknown) all = one;
    if ((paths >> i & 1) == 0 || rule.named.bytes == 0) continue;
    const bool has_directory = i > 0 && (directories >> (i - 1) & 1) != 0;
    const std::int32_t directory = has_directory ? static_cast<std::int32_t>(argument(call, i - 1)) : AT_FDCWD;
    one = is_named(guard, rule, call, i, directory);
    if (one == About::yes) return one;
    if (one == About::unknown) all = one;
  }
  return all;
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
syscost::signal_safe::FileArguments syscost_file_arguments{};
}
// NOLINTEND(readability-identifier-naming)
