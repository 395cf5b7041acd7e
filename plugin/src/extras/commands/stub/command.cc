// SPDX-License-Identifier: MIT
#include "extras/commands/stub/command.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {

ProgramCounts* program_counts = nullptr;
CommandCounts* command_counts = nullptr;
Passed passed{};

namespace {

bool is_equal(const char* one, const char* other) {
  while (*one != '\0' && *one == *other) {
    ++one;
    ++other;
  }
  return *one == *other;
}

void fill_directory(Directory& directory, const CommandCounts& command) {
  for (std::uint32_t i = 0; i < kAbis * kNumbers; ++i) {
    if ((command.not_selected[i / 64] >> (i % 64) & 1) != 0) directory.slot_of[i] = kNotSelected;
  }
  directory.ignores_unlisted = command.ignores_unlisted;
}

}  // namespace

ProgramCounts* find_program(const Guard& /*guard*/, CommandCounts& command, const char* name) {
  for (ProgramCounts& program : command.programs) {
    std::atomic_ref making(program.making);
    Making seen = Making::none;
    if (making.load() == Making::none && making.compare_exchange_strong(seen, Making::begun)) {
      for (std::uint32_t i = 0; i + 1 < kNameBytes && name[i] != '\0'; ++i) program.name[i] = name[i];
      fill_directory(program.directory, command);
      making.store(Making::done);
      return &program;
    }
    // Another process makes it: microseconds, unless it was killed right there. Then the place stays unused.
    constexpr int kMaxSpins = 10'000'000;
    for (int i = 0; i < kMaxSpins && making.load() != Making::done; ++i) asm volatile("pause");
    if (making.load() == Making::done && is_equal(program.name, name)) return &program;
  }
  return nullptr;
}

ComingImage* coming_image(CommandCounts& command, std::uint32_t process) {
  for (ComingImage& image : command.images) {
    if (std::atomic_ref(image.making).load() == Making::done && image.process == process) return &image;
  }
  return nullptr;
}

// ---- execve ---------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kMaxPointers = 1 << 22;

struct Text {
  std::uint64_t at = 0;
  std::uint64_t size = 0;
};

/// False where the text cannot be read.
bool read_text(UserBytes& memory, std::uint64_t address, Text& into) {
  constexpr std::uint64_t kLongest = 131072;  // MAX_ARG_STRLEN
  into = {address, 0};
  for (;; ++into.size) {
    unsigned char letter = 0;
    if (into.size > kLongest || !memory.byte_at(address + into.size, letter)) return false;
    if (letter == 0) return true;
  }
}

/// Whether the text at `address` begins with `name`.
bool begins(UserBytes& memory, std::uint64_t address, const char* name) {
  for (std::uint64_t i = 0; name[i] != '\0'; ++i) {
    unsigned char letter = 0;
    if (!memory.byte_at(address + i, letter) || letter != static_cast<unsigned char>(name[i])) return false;
  }
  return true;
}

std::uint64_t length_of(const char* text) {
  std::uint64_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

/// Writes texts one after another.
class Writer {
 public:
  explicit Writer(std::uint64_t at) : at_(at) {}
  void add(const char* text) {
    const std::uint64_t size = length_of(text);
    copy_bytes(at_, reinterpret_cast<std::uint64_t>(text), size);
    at_ += size;
  }
  void add(const Text& text) {
    is_whole_ = is_whole_ && copy_in(reinterpret_cast<void*>(at_), text.at, text.size);
    at_ += text.size;
  }
  /// False if a text could not be read any more.
  bool is_whole() const { return is_whole_; }
  void end() { write_at(at_++, '\0'); }
  std::uint64_t at() const { return at_; }

 private:
  std::uint64_t at_;
  bool is_whole_ = true;
};

std::uint64_t map(std::uint64_t bytes) {
  const long at = syscost_raw_syscall(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at < 0 && at > -4096 ? 0 : static_cast<std::uint64_t>(at);
}

/// Begins with its size.
void unmap(std::uint64_t room) {
  if (room != 0)
    syscost_raw_syscall(SYS_munmap, static_cast<long>(room), static_cast<long>(read_at<std::uint64_t>(room)));
}

/// The program's list of variables with ours, in memory of its own; 0 where it is given as it is, because the kernel
/// will refuse it or there is no memory. `room` gets the memory.
std::uint64_t with_our_variables(std::uint64_t list, std::uint64_t& room) {
  UserBytes pointers;
  UserBytes texts;
  std::uint64_t count = 0;
  Text preload;
  Text asan;
  for (; list != 0; ++count) {
    std::uint64_t one = 0;
    if (count > kMaxPointers || !pointers.read(list + count * sizeof one, one)) return 0;
    if (one == 0) break;
    if (begins(texts, one, kPreloadVariable) && !read_text(texts, one, preload)) return 0;
    if (begins(texts, one, kAsanVariable) && !read_text(texts, one, asan)) return 0;
  }
  constexpr std::uint64_t kMore = 256;
  const std::uint64_t bytes = (count + 6) * sizeof(std::uint64_t) + sizeof(Passed) + preload.size + asan.size + kMore;
  room = map(bytes);
  if (room == 0) return 0;
  write_at(room, bytes);
  const std::uint64_t fresh = room + sizeof(std::uint64_t);
  Writer text(fresh + (count + 5) * sizeof(std::uint64_t));
  const auto skip = [](const Text& from, const char* name) {
    const std::uint64_t size = length_of(name);
    return from.size > size ? Text{from.at + size, from.size - size} : Text{};
  };
  const std::uint64_t new_preload = text.at();
  text.add(passed.preload);
  if (const Text theirs = skip(preload, kPreloadVariable); theirs.size != 0) {
    text.add(":");
    text.add(theirs);
  }
  text.end();
  const std::uint64_t new_asan = text.at();
  text.add(kAsanVariable);
  if (const Text theirs = skip(asan, kAsanVariable); theirs.size != 0) {
    text.add(theirs);
    text.add(":");
  }
  text.add(kAsanOrder);
  text.end();
  if (!text.is_whole()) return 0;
  std::uint64_t used = 0;
  const auto put = [&](std::uint64_t one) { write_at(fresh + used++ * sizeof one, one); };
  bool has_preload = false;
  bool has_asan = false;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t one = 0;
    if (!pointers.read(list + i * sizeof one, one)) return 0;
    if (one == preload.at && !has_preload) {
      one = new_preload;
      has_preload = true;
    } else if (one == asan.at && !has_asan) {
      one = new_asan;
      has_asan = true;
    }
    put(one);
  }
  if (!has_preload) put(new_preload);
  if (!has_asan) put(new_asan);
  put(reinterpret_cast<std::uint64_t>(passed.variable));
  put(0);
  return fresh;
}

ComingImage* announce_image(std::uint64_t path) {
  for (ComingImage& image : command_counts->images) {
    std::atomic_ref making(image.making);
    Making seen = Making::none;
    if (making.load() != Making::none || !making.compare_exchange_strong(seen, Making::begun)) continue;
    image.process = static_cast<std::uint32_t>(syscost_raw_syscall(SYS_getpid));
    image.blind = Blind::not_loaded;
    image.has_filter = syscost_state.filters != 0 ? 1 : 0;
    UserBytes memory;
    unsigned char letter = 0;
    std::uint32_t i = 0;
    for (; i + 1 < kPathBytes && memory.byte_at(path + i, letter) && letter != 0; ++i) {
      image.path[i] = static_cast<char>(letter);
    }
    image.path[i] = '\0';
    making.store(Making::done);
    return &image;
  }
  note_blind(Blind::not_loaded);
  return nullptr;
}

}  // namespace

void prepare_execution(Call& call) {
  const bool is_at = call.number == SYS_execveat;
  std::uint64_t room = 0;
  const std::uint64_t list = with_our_variables(is_at ? call.given.r10 : call.given.rdx, room);
  call.note = room;
  if (list != 0) (is_at ? call.used.r10 : call.used.rdx) = list;
  // A child in its maker's memory leaves it the room: the maker gives it back.
  if (call.thread->waits_for_child != 0) call.thread->execution_room = room;
  call.mask = reinterpret_cast<std::uint64_t>(announce_image(is_at ? call.given.rsi : call.given.rdi));
}

void finish_execution(Call& call) {
  if (call.thread->waits_for_child != 0) call.thread->execution_room = 0;
  unmap(call.note);
  if (auto* image = reinterpret_cast<ComingImage*>(call.mask); image != nullptr) {
    std::atomic_ref(image->making).store(Making::none);
  } else {
    add_shared(command_counts->blind[static_cast<std::uint32_t>(Blind::not_loaded)], ~std::uint64_t{0});
  }
}

// ---- children -------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kLent = 0x4c454e54;
constexpr unsigned kWaitsAt = 8;
constexpr unsigned kTrapStacksAt = 32;

}  // namespace

void lend_record(Call& call) {
  Thread& thread = *call.thread;
  call.before.flags = kLent;
  call.stack = thread.own_stack;
  call.mask = thread.blocks_sigsys | thread.hides_stack << 1 | std::uint64_t{thread.waits_for_child} << kWaitsAt |
              trap_stacks_in_use(thread) << kTrapStacksAt;
  thread.execution_room = 0;
  ++thread.waits_for_child;
}

void take_record_back(Call& call) {
  if (call.before.flags != kLent) return;
  Thread& thread = *call.thread;
  unmap(thread.execution_room);
  thread.execution_room = 0;
  thread.own_stack = call.stack;
  thread.blocks_sigsys = call.mask & 1;
  thread.hides_stack = call.mask >> 1 & 1;
  thread.waits_for_child = call.mask >> kWaitsAt & 0xff'ffff;
  keep_trap_stacks(thread, call.mask >> kTrapStacksAt);
}

bool count_in_child(const Guard& guard, bool has_own_memory, bool is_waited_for) {
  Thread* own = calling_thread(guard);
  if (own == nullptr || syscost_state.stood_aside != StoodAside::no) return false;  // its maker was not counted either
  if (!has_own_memory && (!is_waited_for || own->waits_for_child == 0)) {
    note_blind(Blind::shared_process);
    return false;
  }
  if (syscost_state.filters != 0) {
    note_blind(Blind::filtered);
    return false;
  }
  if (has_own_memory) {
    for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
      Thread& other = syscost_threads[i];
      if (&other == own) continue;
      other.id = 0;
      other.is_used = 0;
    }
    // Pending calls and waits of the maker belong to the maker alone.
    syscost_state.pending.state = 0;
    own->pending.state = 0;
    own->awaits_sigsys = 0;
    own->waits_for_child = 0;
    own->saved_depth = 0;
    syscost_state.process = static_cast<std::int32_t>(syscost_raw_syscall(SYS_getpid));
    own->id = static_cast<std::uint32_t>(syscost_raw_syscall(SYS_gettid));
  }
  const long begin = reinterpret_cast<long>(syscost_undispatched_begin);
  const long length = reinterpret_cast<long>(syscost_undispatched_end) + 1 - begin;
  constexpr long kOn = 1;
  if (syscost_raw_syscall(SYS_prctl, kSetDispatch, kOn, begin, length, reinterpret_cast<long>(&syscost_selector)) ==
      0) {
    return true;
  }
  note_blind(Blind::refused);
  return false;
}

}  // namespace syscost::signal_safe
