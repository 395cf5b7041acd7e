// SPDX-License-Identifier: MIT
//
// Functions of ours in front of libc's: those that execute a program, and those that wait for a child.

#include <alloca.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>

#include "agent/common/variables.h"
#include "agent/exec/environment.h"
#include "agent/exec/passing_on.h"

// libc's functions that execute a program, in front of libc's own: each passes on what passing_on.h says, and then
// calls libc's. libc's functions call each other directly, so each stands here. `system` and `popen` give a shell the
// program's own environment, and are left alone.
//
// They may run in the child of vfork(), in its parent's memory: so they allocate on the stack, and libc's functions are
// looked up before main().

namespace {

using syscost::agent::Environment;
using syscost::agent::instead_of;
using syscost::agent::instead_of_descriptor;
using syscost::agent::instead_of_entry;
using syscost::agent::instead_of_found;
using syscost::agent::is_passing_on;
using syscost::agent::kInjectProgram;
using syscost::agent::look_up_next;

using Execve = int(const char*, char* const*, char* const*);
using Fexecve = int(int, char* const*, char* const*);
using Execveat = int(int, const char*, char* const*, char* const*, int);
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                  char* const*);

struct Libc {
  Execve* execve = nullptr;
  Execve* execvpe = nullptr;
  Fexecve* fexecve = nullptr;
  Execveat* execveat = nullptr;  // null in glibc before 2.34
  Spawn* posix_spawn = nullptr;
  Spawn* posix_spawnp = nullptr;
};

const Libc& libc() {
  static Libc its;
  if (its.execve == nullptr) {
    look_up_next(its.execvpe, "execvpe");
    look_up_next(its.fexecve, "fexecve");
    look_up_next(its.execveat, "execveat");
    look_up_next(its.posix_spawn, "posix_spawn");
    look_up_next(its.posix_spawnp, "posix_spawnp");
    look_up_next(its.execve, "execve");
  }
  return its;
}

[[gnu::constructor]] void look_up_functions() {
  libc();
}

/// Declares `passed_on`: `theirs` with our variables, on the caller's stack.
#define SYSCOST_PASS_ON(theirs)                                                                  \
  const Environment environment(theirs);                                                         \
  auto** const room = static_cast<char**>(alloca((environment.pointers() + 1) * sizeof(char*))); \
  auto* const text = static_cast<char*>(alloca(environment.bytes() + 1));                        \
  char* const* const passed_on = environment.build(room, text)

std::size_t count_of(char* const* arguments) {
  std::size_t count = 0;
  while (arguments != nullptr && arguments[count] != nullptr) ++count;
  return count;
}

/// Declares `injected`: the arguments of syscost-inject for the program at `path`, on the caller's stack.
#define SYSCOST_INJECTED(path, arguments)                                                         \
  auto** const injected = static_cast<char**>(alloca((count_of(arguments) + 4) * sizeof(char*))); \
  injected[0] = const_cast<char*>(kInjectProgram);                                                \
  injected[1] = const_cast<char*>(path);                                                          \
  injected[2] = const_cast<char*>(path); /* a program without any argument gets its name */       \
  injected[3] = nullptr;                                                                          \
  for (std::size_t i = 0; i < count_of(arguments) + (count_of(arguments) != 0 ? 1 : 0); ++i)      \
  injected[i + 2] = (arguments)[i]

int execute(const char* path, char* const* arguments, char* const* theirs) {
  if (!is_passing_on()) return libc().execve(path, arguments, theirs);
  const char* const instead = instead_of(path);
  SYSCOST_PASS_ON(theirs);
  if (instead == nullptr) return libc().execve(path, arguments, passed_on);
  SYSCOST_INJECTED(path, arguments);
  return libc().execve(instead, injected, passed_on);
}

int execute_found(const char* name, char* const* arguments, char* const* theirs) {
  if (!is_passing_on()) return libc().execvpe(name, arguments, theirs);
  char found[PATH_MAX];
  const char* const instead = instead_of_found(name, found);
  SYSCOST_PASS_ON(theirs);
  if (instead == nullptr) return libc().execvpe(name, arguments, passed_on);
  SYSCOST_INJECTED(found, arguments);
  return libc().execve(instead, injected, passed_on);
}

/// `path`: of the program that will run, for the arguments of syscost-inject; `instead`: that one, or null.
int spawn(Spawn* function, pid_t* child, const char* name, const char* path, const char* instead,
          const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes, char* const* arguments,
          char* const* theirs) {
  if (!is_passing_on()) return function(child, name, actions, attributes, arguments, theirs);
  SYSCOST_PASS_ON(theirs);
  if (instead == nullptr) return function(child, name, actions, attributes, arguments, passed_on);
  SYSCOST_INJECTED(path, arguments);
  return libc().posix_spawn(child, instead, actions, attributes, injected, passed_on);
}

/// How many pointers follow in `list`, up to a null.
std::size_t count_pointers(va_list list) {
  std::size_t count = 0;
  while (va_arg(list, char*) != nullptr) ++count;
  return count;
}

/// Declares `arguments`: those of execl(), with their null, on the caller's stack. `list` stands after the null.
#define SYSCOST_COLLECT(first, list)                                                 \
  va_list list;                                                                      \
  va_start(list, first);                                                             \
  const std::size_t count = count_pointers(list) + 1;                                \
  va_end(list);                                                                      \
  auto** const arguments = static_cast<char**>(alloca((count + 1) * sizeof(char*))); \
  arguments[0] = const_cast<char*>(first);                                           \
  va_start(list, first);                                                             \
  for (std::size_t i = 1; i <= count; ++i) arguments[i] = va_arg(list, char*)

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved ones
#pragma GCC visibility push(default)
extern "C" {

/// For the session of this process: when tests begin, and when they have ended.
void syscost_preload_stop() {
  syscost::agent::stop_passing_on();
}
void syscost_preload_stop_children() {
  syscost::agent::stop_passing_on_to_children();
}
void syscost_preload_go_on(bool is_filtered) {
  syscost::agent::go_on_passing_on(is_filtered);
}

bool syscost_preload_is_passing_on() {
  return is_passing_on();
}

/// For all in this process that has something to tell of it: os/message_output.h.
bool syscost_preload_note(const char* word, const char* text) {
  return syscost::agent::note_of_this_process(word, text);
}

int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  return execute(path, arguments, environment);
}
int execv(const char* path, char* const arguments[]) noexcept {
  return execute(path, arguments, __environ);
}
int execvpe(const char* name, char* const arguments[], char* const environment[]) noexcept {
  return execute_found(name, arguments, environment);
}
int execvp(const char* name, char* const arguments[]) noexcept {
  return execute_found(name, arguments, __environ);
}
int execl(const char* path, const char* first, ...) noexcept {
  SYSCOST_COLLECT(first, list);
  va_end(list);
  return execute(path, arguments, __environ);
}
int execlp(const char* name, const char* first, ...) noexcept {
  SYSCOST_COLLECT(first, list);
  va_end(list);
  return execute_found(name, arguments, __environ);
}
int execle(const char* path, const char* first, ...) noexcept {
  SYSCOST_COLLECT(first, list);
  char* const* const environment = va_arg(list, char* const*);
  va_end(list);
  return execute(path, arguments, environment);
}
int fexecve(int fd, char* const arguments[], char* const theirs[]) noexcept {
  if (!is_passing_on()) return libc().fexecve(fd, arguments, theirs);
  char path[PATH_MAX];
  const char* const instead = instead_of_descriptor(fd, path);
  SYSCOST_PASS_ON(theirs);
  if (instead == nullptr) return libc().fexecve(fd, arguments, passed_on);
  SYSCOST_INJECTED(path, arguments);
  return libc().execve(instead, injected, passed_on);
}
int execveat(int folder, const char* path, char* const arguments[], char* const theirs[], int flags) noexcept {
  if (libc().execveat == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  if (!is_passing_on()) return libc().execveat(folder, path, arguments, theirs, flags);
  const char* volatile given = path;  // a program may pass null, whatever the header says
  const char* program = given;
  const char* instead = nullptr;
  char own[PATH_MAX];
  if (program != nullptr && *program == '\0' && (flags & ~AT_SYMLINK_NOFOLLOW) == AT_EMPTY_PATH) {
    instead = instead_of_descriptor(folder, own);
  } else if (program != nullptr && *program != '\0') {
    instead = instead_of_entry(folder, program, flags, own);
  }
  program = own;
  SYSCOST_PASS_ON(theirs);
  if (instead == nullptr) return libc().execveat(folder, path, arguments, passed_on, flags);
  SYSCOST_INJECTED(program, arguments);
  return libc().execve(instead, injected, passed_on);
}
int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  const char* const instead = is_passing_on() ? instead_of(path) : nullptr;
  return spawn(libc().posix_spawn, child, path, path, instead, actions, attributes, arguments, environment);
}
int posix_spawnp(pid_t* child, const char* name, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  char found[PATH_MAX];
  const char* const instead = is_passing_on() ? instead_of_found(name, found) : nullptr;
  return spawn(libc().posix_spawnp, child, name, found, instead, actions, attributes, arguments, environment);
}

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

namespace {

using syscost::agent::kEndSignals;
using syscost::agent::note_ended;

/// The next functions of these names: libc's, or those of a library that stands in for it.
struct Waits {
  pid_t (*wait)(int*) = nullptr;
  pid_t (*waitpid)(pid_t, int*, int) = nullptr;
  pid_t (*wait3)(int*, int, rusage*) = nullptr;
  pid_t (*wait4)(pid_t, int*, int, rusage*) = nullptr;
  int (*waitid)(idtype_t, id_t, siginfo_t*, int) = nullptr;
};

std::uint32_t* g_ends = nullptr;  // null = no signals are counted

/// A constructor of another library may wait before ours has run.
const Waits& next() {
  static Waits waits;
  if (waits.waitid == nullptr) {
    look_up_next(waits.wait, "wait");
    look_up_next(waits.waitpid, "waitpid");
    look_up_next(waits.wait3, "wait3");
    look_up_next(waits.wait4, "wait4");
    look_up_next(waits.waitid, "waitid");
  }
  return waits;
}

[[gnu::constructor]] void look_up_waits() {
  next();
}

bool is_asked() {
  return g_ends != nullptr || is_passing_on();
}

/// While tests run nothing is noted: that would be calls of ours in a test.
void tell(pid_t child, int status) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (g_ends != nullptr && signal > 0 && signal < kEndSignals) {
    std::atomic_ref(g_ends[signal]).fetch_add(1, std::memory_order_relaxed);
  }
  if (is_passing_on() && (signal != 0 || WIFEXITED(status))) note_ended(child, status);
}

/// Calls `wait_for(status)` and tells of the child that it reports. The program may ask for no status.
template <class Wait>
pid_t told(int* status, const Wait& wait_for) {
  int own = 0;
  int* const its = status != nullptr || !is_asked() ? status : &own;
  const pid_t ended = wait_for(its);
  if (ended > 0 && its != nullptr) tell(ended, *its);
  return ended;
}

}  // namespace

namespace syscost::agent {

void count_child_ends(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  void* const memory = mmap(nullptr, kEndSignals * sizeof(std::uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) g_ends = static_cast<std::uint32_t*>(memory);
}

}  // namespace syscost::agent

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved ones
#pragma GCC visibility push(default)
extern "C" {

pid_t wait(int* status) {
  return told(status, [](int* its) { return next().wait(its); });
}
pid_t waitpid(pid_t process, int* status, int options) {
  return told(status, [&](int* its) { return next().waitpid(process, its, options); });
}
pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return told(status, [&](int* its) { return next().wait3(its, options, usage); });
}
pid_t wait4(pid_t process, int* status, int options, rusage* usage) noexcept {
  return told(status, [&](int* its) { return next().wait4(process, its, options, usage); });
}
int waitid(idtype_t kind, id_t process, siginfo_t* information, int options) {
  siginfo_t own{};
  siginfo_t* const its = information != nullptr || !is_asked() ? information : &own;
  const int result = next().waitid(kind, process, its, options);
  if (its == nullptr || result != 0 || its->si_pid == 0 || (options & WNOWAIT) != 0) return result;
  if (its->si_code == CLD_KILLED || its->si_code == CLD_DUMPED) tell(its->si_pid, W_EXITCODE(0, its->si_status));
  if (its->si_code == CLD_EXITED) tell(its->si_pid, W_EXITCODE(its->si_status, 0));
  return result;
}

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
