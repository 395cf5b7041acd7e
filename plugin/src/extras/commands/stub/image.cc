// SPDX-License-Identifier: MIT
//
// libsyscost-command.so: `bench run` preloads it into a command that dispatch counts as a whole, and into each program
// that the command executes. It arms the process before the first constructor runs (it is linked with -z initfirst),
// and from then on all calls come to the stub. The earlier calls of the dynamic loader are not counted.
//
// It links nothing, not even libc: each process below has it, and libc is not initialised yet. Its calls are its own.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/record.h"
#include "backends/dispatch/stub/signals.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/commands/stub/command.h"

namespace syscost::signal_safe {
namespace {

constexpr std::size_t kPathRoom = 4096;

bool is_error(long result) {
  return result < 0 && result > -4096;
}

std::size_t length_of(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

/// Returns the rest of `text` after `start`; null if `text` does not begin with `start`.
char* after(char* text, const char* start) {
  for (; *start != '\0'; ++text, ++start) {
    if (*text != *start) return nullptr;
  }
  return text;
}

bool contains(const char* text, const char* part) {
  for (; *text != '\0'; ++text) {
    std::size_t i = 0;
    while (part[i] != '\0' && text[i] == part[i]) ++i;
    if (part[i] == '\0') return true;
  }
  return false;
}

/// Writes `count` bytes of `text` to `to` from `at` on, and a zero byte. Returns the position of the zero byte; `size`
/// if there is no room.
std::size_t append(char* to, std::size_t size, std::size_t at, const char* text, std::size_t count) {
  if (at + count + 1 > size) return size;
  for (std::size_t i = 0; i < count; ++i) to[at + i] = text[i];
  to[at + count] = '\0';
  return at + count;
}

// ---- the environment ------------------------------------------------------------------------------------------------

/// The program's variables as they are without us. The old texts stay: the runtime of AddressSanitizer reads them.
char their_preload[kPathRoom];
char their_asan[kPathRoom];

/// Returns the variable that names the memory; null if it is not set.
char* find_variable(char** list) {
  char* found = nullptr;
  for (char** one = list; *one != nullptr; ++one) {
    if (after(*one, kCommandVariable) != nullptr) found = *one;
  }
  return found;
}

/// Keeps `rest`, the value of a variable without our part, in `room`. False if there is no room.
template <std::size_t size>
bool keep(char (&room)[size], const char* name, const char* rest, std::size_t count) {
  const std::size_t end = append(room, size, 0, name, length_of(name));
  return end != size && append(room, size, end, rest, count) != size;
}

/// Takes our variables out of the list, and notes them. If there is no room, returns false and leaves the list as it
/// is.
bool take_variables(char** list) {
  char* preload = nullptr;
  char* asan = nullptr;
  for (char** one = list; *one != nullptr; ++one) {
    if (preload == nullptr && after(*one, kPreloadVariable) != nullptr) preload = *one;
    if (asan == nullptr && after(*one, kAsanVariable) != nullptr) asan = *one;
  }
  char* const ours = find_variable(list);
  if (preload == nullptr || !keep(passed.variable, "", ours, length_of(ours))) return false;
  const char* const value = after(preload, kPreloadVariable);
  std::size_t first = 0;
  while (value[first] != '\0' && value[first] != ':') ++first;
  if (!keep(passed.preload, kPreloadVariable, value, first)) return false;
  const bool has_rest = value[first] == ':';
  if (has_rest && !keep(their_preload, kPreloadVariable, value + first + 1, length_of(value + first + 1))) return false;
  const std::size_t order = length_of(kAsanOrder);
  const char* const options = asan != nullptr ? after(asan, kAsanVariable) : "";
  const std::size_t size = length_of(options);
  const bool has_order = size >= order && after(asan + length_of(kAsanVariable) + size - order, kAsanOrder) != nullptr;
  if (has_order && size > order && !keep(their_asan, kAsanVariable, options, size - order - 1)) return false;
  char** kept = list;
  for (char** one = list; *one != nullptr; ++one) {
    if (*one == preload) {
      if (has_rest) *kept++ = their_preload;
    } else if (*one == asan && has_order) {
      if (size > order) *kept++ = their_asan;
    } else if (after(*one, kCommandVariable) == nullptr) {
      *kept++ = *one;
    }
  }
  *kept = nullptr;
  return true;
}

// ---- the memory -----------------------------------------------------------------------------------------------------

std::uint64_t number_of(const char*& text, unsigned base) {
  std::uint64_t number = 0;
  for (;; ++text) {
    const char c = *text;
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                                                  : 16;
    if (digit >= base) return number;
    number = number * base + digit;
  }
}

/// Maps the memory that `value`, "PATH:COOKIE", names; null if it is not the memory of `bench run`.
CommandCounts* map_command(const char* value) {
  char path[64];
  std::size_t size = 0;
  while (value[size] != '\0' && value[size] != ':') ++size;
  if (value[size] == '\0' || append(path, sizeof path, 0, value, size) == sizeof path) return nullptr;
  const char* cookie = value + size + 1;
  const long file =
      syscost_raw_syscall(SYS_open, reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return nullptr;
  std::uint64_t head[2] = {};
  const bool is_it =
      syscost_raw_syscall(SYS_pread64, file, reinterpret_cast<long>(head), sizeof head, 0) == sizeof head &&
      head[0] == number_of(cookie, 16) && head[1] == sizeof(CommandCounts);
  long at = -1;
  if (is_it) {
    at = syscost_raw_syscall(SYS_mmap, 0, sizeof(CommandCounts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  syscost_raw_syscall(SYS_close, file);
  return is_error(at) ? nullptr : reinterpret_cast<CommandCounts*>(at);
}

Lane lanes[kLanes];

/// True if what we reserve is missing elsewhere in this program.
bool has_limited_memory() {
  const auto is_limited = [](int resource) {
    rlimit limit{};
    const long failed = syscost_raw_syscall(SYS_getrlimit, resource, reinterpret_cast<long>(&limit));
    return is_error(failed) || limit.rlim_cur != RLIM_INFINITY;
  };
  return is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA);
}

/// Reserves memory for the records of threads and for their stacks.
bool reserve_memory(const CommandCounts& command) {
  std::uint64_t bytes = has_limited_memory() ? kSmallArenaBytes : std::uint64_t{64} << 20;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  long at = syscost_raw_syscall(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (is_error(at)) {
    bytes = kSmallArenaBytes;  // without overcommitted memory
    at = syscost_raw_syscall(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, kFlags, -1, 0);
  }
  if (is_error(at)) return false;
  syscost_state.lanes = lanes;
  syscost_state.shared_account.is_shared = true;
  syscost_state.frame_bytes = command.frame_bytes;
  syscost_state.ns_per_tick = command.ns_per_tick;
  for (std::uint32_t i = 0; i < kVectorParts; ++i) syscost_state.vector_parts[i] = command.vector_parts[i];
  syscost_state.arena_bytes = bytes;
  syscost_state.arena = reinterpret_cast<char*>(at);
  return true;
}

// ---- what may be in the way -----------------------------------------------------------------------------------------

std::uint64_t auxiliary(char** list, std::uint64_t type) {
  while (*list != nullptr) ++list;
  for (const auto* one = reinterpret_cast<const Elf64_auxv_t*>(list + 1); one->a_type != AT_NULL; ++one) {
    if (one->a_type == type) return one->a_un.a_val;
  }
  return 0;
}

/// Reads the first bytes of a file of /proc into `into`, and ends them with a zero byte. Returns how many they are; 0
/// if the file cannot be read.
std::size_t read_file(const char* path, char* into, std::size_t size) {
  into[0] = '\0';
  const long file = syscost_raw_syscall(SYS_open, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const long bytes = syscost_raw_syscall(SYS_read, file, reinterpret_cast<long>(into), static_cast<long>(size - 1));
  syscost_raw_syscall(SYS_close, file);
  const std::size_t count = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  into[count] = '\0';
  return count;
}

/// True if gdb, lldb or rr traces this process: they stop at each signal, or replay calls.
bool is_debugged() {
  char text[1024];
  read_file("/proc/self/status", text, sizeof text);
  static const char kTracer[] = "\nTracerPid:\t";
  const char* at = text;
  while (*at != '\0' && after(const_cast<char*>(at), kTracer) == nullptr) ++at;
  if (*at == '\0') return false;
  at += sizeof kTracer - 1;
  if (*at == '0') return false;
  char path[64];
  std::size_t size = append(path, sizeof path, 0, "/proc/", 6);
  std::size_t digits = 0;
  while (at[digits] >= '0' && at[digits] <= '9') ++digits;
  size = append(path, sizeof path, size, at, digits);
  append(path, sizeof path, size, "/comm", 5);
  char name[32];
  read_file(path, name, sizeof name);
  return after(name, "gdb") != nullptr || after(name, "lldb") != nullptr || after(name, "rr\n") != nullptr;
}

bool has_shadow_stack() {
  constexpr long kStatus = 0x5005;  // ARCH_SHSTK_STATUS
  std::uint64_t features = 0;
  return syscost_raw_syscall(SYS_arch_prctl, kStatus, reinterpret_cast<long>(&features)) == 0 && (features & 1) != 0;
}

/// Returns the reason why this program cannot count; Blind::count_ if there is none.
Blind obstacle(char** environment, bool has_filter) {
  constexpr std::uint64_t kHwcap2 = 26;
  constexpr std::uint64_t kHasFsgsbase = 2;
  if (has_filter) return Blind::filtered;
  for (char** one = environment; *one != nullptr; ++one) {
    if (after(*one, kPreloadVariable) != nullptr && contains(*one, "/vgpreload_")) return Blind::valgrind;
  }
  if ((auxiliary(environment, kHwcap2) & kHasFsgsbase) == 0 || has_shadow_stack()) return Blind::too_old;
  if (gs_base() != nullptr) return Blind::uses_gs;
  return is_debugged() ? Blind::debugger : Blind::count_;
}

// ---- the start ------------------------------------------------------------------------------------------------------

/// The name of the program's file.
const char* name_of_program(char* room, std::size_t size) {
  const long count = syscost_raw_syscall(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"),
                                         reinterpret_cast<long>(room), static_cast<long>(size - 1));
  room[count > 0 ? count : 0] = '\0';
  const char* name = room;
  for (const char* at = room; *at != '\0'; ++at) {
    if (*at == '/') name = at + 1;
  }
  return name;
}

/// Arms the process. False if the kernel refuses a step.
bool arm(const Guard& guard) {
  Thread* const thread = take_thread(guard);
  if (thread == nullptr) return false;
  if (take_signals_over(guard, *thread) < 0) return false;
  if (arm_calling_thread(guard, *thread) < 0) {
    give_signals_back(guard, true);
    return false;
  }
  let_sigsys_through(*thread);
  syscost_state.lanes[0].control = control_of(1, 0, 0);
  std::atomic_ref(syscost_any_armed).store(1);
  constexpr long kGetSeccomp = 21;
  may_copy_by_kernel(syscost_raw_syscall(SYS_prctl, kGetSeccomp) == 0);
  return true;
}

/// Counts the execve that began this program. It returned no result, but it succeeded, because the program runs.
void count_execution(const Guard& guard) {
  Call call;
  clear(call);
  call.number = SYS_execve;
  call.thread = calling_thread(guard);
  call.control = call.thread->lane->control;
  record_return(guard, call, reinterpret_cast<std::uint64_t>(&call));
}

[[gnu::constructor]] void begin(int /*argc*/, char** /*argv*/, char** environment) {
  const Guard guard = EntryPoint::enter();
  const char* const variable = find_variable(environment);
  CommandCounts* const command = variable != nullptr ? map_command(variable + length_of(kCommandVariable)) : nullptr;
  if (command == nullptr) return;
  const auto process = static_cast<std::uint32_t>(syscost_raw_syscall(SYS_getpid));
  ComingImage* image = coming_image(*command, process);
  if (image == nullptr) image = coming_image(*command, 0);
  // A process that is not counted keeps our variables, so those that it starts may be counted.
  const auto refuse = [&](Blind reason) {
    if (image != nullptr) {
      image->blind = reason;
    } else {
      add_shared(command->blind[static_cast<std::uint32_t>(reason)], 1);
    }
  };
  if (const Blind reason = obstacle(environment, image != nullptr && image->has_filter != 0); reason != Blind::count_) {
    return refuse(reason);
  }
  static char path[kPathRoom];
  ProgramCounts* const program = find_program(guard, *command, name_of_program(path, sizeof path));
  if (program == nullptr) return refuse(Blind::many_programs);
  if (!reserve_memory(*command) || !take_variables(environment)) return refuse(Blind::refused);
  // From here on the functions that the stub calls find the command.
  command_counts = command;
  program_counts = program;
  if (!arm(guard)) {
    command_counts = nullptr;
    program_counts = nullptr;
    return refuse(Blind::refused);
  }
  if (image != nullptr) std::atomic_ref(image->making).store(Making::none);
  count_execution(guard);
  std::atomic_ref(syscost_selector).store(1);
}

}  // namespace
}  // namespace syscost::signal_safe
