// SPDX-License-Identifier: MIT
#include "agent/exec/passing_on.h"

#include <alloca.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "agent/common/variables.h"
#include "agent/find/file_kind.h"
#include "os/signals.h"

// libc's own name of the variable; the program may define the other one.
extern "C" char* __progname;  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)

namespace syscost::agent {
namespace {

constexpr char kLdPreload[] = "LD_PRELOAD=";
constexpr std::size_t kLdPreloadSize = sizeof kLdPreload - 1;
constexpr char kAsan[] = "ASAN_OPTIONS=";
constexpr std::size_t kAsanSize = sizeof kAsan - 1;
struct Kept {
  const char** variables = nullptr;  ///< "NAME=VALUE", without LD_PRELOAD.
  std::size_t count = 0;
  const char* preload = nullptr;  ///< The path of our library.
  char inject[PATH_MAX] = {};     ///< The path of syscost-inject, beside the library.
  const char* notes = nullptr;    ///< The file that takes lines of what cannot be measured; may be null.
  bool is_passing_on = false;
  pid_t process = 0;                  ///< It passes on to what it becomes itself. 0 = none.
  bool is_filtered = false;           ///< Set with go_on_passing_on().
  bool is_environment_clean = false;  ///< stop_passing_on() took ours out of it.
};
Kept g_kept;

bool starts_with(const char* text, const char* beginning) {
  return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

/// The variable that begins with the `size` bytes of `name`, '=' included. The first of several, as getenv() has it.
const char* find(char* const* environment, const char* name, std::size_t size) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, name, size) == 0) return *environment;
  }
  return nullptr;
}

/// The value of LD_PRELOAD that the loader will use: that of the last one. Null if there is none.
const char* preload_in(char* const* environment) {
  const char* value = nullptr;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (starts_with(*environment, kLdPreload)) value = *environment + kLdPreloadSize;
  }
  return value;
}

/// A copy that stays. The heap is the program's: what lies there must not depend on flags of ours. Null without memory.
const char* copy_of(const char* text) {
  static char room[std::size_t{32} << 10];
  static std::size_t used = 0;
  const std::size_t size = std::strlen(text) + 1;
  if (size > sizeof room - used) return strdup(text);
  char* const copy = room + used;
  used += size;
  return static_cast<const char*>(std::memcpy(copy, text, size));
}

bool is_ours(const char* variable) {
  return starts_with(variable, "SYSCOST_") || starts_with(variable, "_SYSCOST_");
}

/// Copies all variables of ours. Of many it takes memory of the heap; where there is none, the program goes on alone.
bool keep_variables() {
  static const char* few[128];
  std::size_t count = 0;
  for (char* const* variable = __environ; *variable != nullptr; ++variable) count += is_ours(*variable) ? 1 : 0;
  g_kept.variables = count <= std::size(few) ? few : static_cast<const char**>(calloc(count, sizeof *few));
  if (g_kept.variables == nullptr) return false;
  for (char* const* variable = __environ; *variable != nullptr; ++variable) {
    if (!is_ours(*variable)) continue;
    const char* const copy = copy_of(*variable);
    if (copy == nullptr) return false;
    g_kept.variables[g_kept.count++] = copy;
  }
  return true;
}

/// True where the list `value` of LD_PRELOAD has our library.
bool has_ours(const char* value) {
  const std::size_t size = std::strlen(g_kept.preload);
  for (const char* at = std::strstr(value, g_kept.preload); at != nullptr; at = std::strstr(at + 1, g_kept.preload)) {
    const bool begins = at == value || at[-1] == ':' || at[-1] == ' ';
    if (begins && (at[size] == '\0' || at[size] == ':' || at[size] == ' ')) return true;
  }
  return false;
}

/// One write for a line: many processes write to the file. False if it could not be written.
bool note(const char* kind, const char* path) {
  if (g_kept.notes == nullptr) return false;
  char line[PATH_MAX + 32];
  std::size_t size = 0;
  for (; *kind != '\0'; ++kind) line[size++] = *kind;
  line[size++] = ' ';
  // No name has a byte 0.
  for (; *path != '\0' && size + 1 < sizeof line; ++path) line[size++] = *path == '\n' ? '\0' : *path;
  line[size++] = '\n';
  const int fd = open(g_kept.notes, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return false;
  SignalHold size_limit(SIGXFSZ);
  const bool is_written = write(fd, line, size) >= 0;
  if (is_written) size_limit.was_not_raised();
  close(fd);
  return is_written;
}

/// Tells apart processes of one number: the inode of their namespace. 0 where /proc does not show it.
unsigned long long process_namespace() {
  struct stat status {};
  return fstatat(AT_FDCWD, "/proc/self/ns/pid", &status, 0) == 0 ? status.st_ino : 0;
}

/// Programs that start others as another user.
bool changes_the_user(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  for (const char* const one : {"sudo", "su", "doas", "pkexec"}) {
    if (std::strcmp(name, one) == 0) return true;
  }
  return false;
}

/// The descriptor that `path` is; -1 where it is none.
int descriptor_of(const char* path) {
  constexpr const char* kOwn = "/proc/self/fd/";
  if (!starts_with(path, kOwn)) return -1;
  char* end = nullptr;
  const long number = std::strtol(path + std::strlen(kOwn), &end, 10);
  return *end == '\0' && number >= 0 && number <= INT_MAX ? static_cast<int>(number) : -1;
}

/// Names a program that is executed by a descriptor by its file.
void note_program(const char* kind, const char* path) {
  char name[PATH_MAX];
  const ssize_t size = descriptor_of(path) >= 0 ? readlink(path, name, sizeof name - 1) : -1;
  if (size >= 0) name[size] = '\0';
  note(kind, size >= 0 ? name : path);
}

}  // namespace

bool keep_what_is_passed_on() {
  const char* const preload = getenv(kPreloadVariable);
  if (preload == nullptr || getauxval(AT_SECURE) != 0) return false;
  // Copies: the program may change its environment.
  g_kept.preload = copy_of(preload);
  if (const char* const notes = getenv(kNotesVariable); notes != nullptr) g_kept.notes = copy_of(notes);
  if (const char* const ends = getenv(kChildEndsVariable); ends != nullptr) count_child_ends(ends);
  if (!keep_variables()) return false;
  const char* const slash = std::strrchr(preload, '/');
  const std::size_t folder = slash != nullptr ? static_cast<std::size_t>(slash - preload) + 1 : 0;
  if (folder + std::strlen(kInjectProgram) < sizeof g_kept.inject) {
    std::memcpy(g_kept.inject, preload, folder);
    std::memcpy(g_kept.inject + folder, kInjectProgram, std::strlen(kInjectProgram) + 1);
  }
  g_kept.is_passing_on = g_kept.preload != nullptr;
  return g_kept.is_passing_on;
}

namespace {

/// Waits until what another thread has begun to set is set: unsetenv() takes the lock of libc's functions.
void wait_for_setters() {
  unsetenv("_SYSCOST_NONE");  // nobody sets it
}

/// Puts what another thread has set in `theirs` since it was copied into `made`.
void take_over_changes(char* const* theirs, char* const* copy, char** made) {
  for (; *copy != nullptr && *theirs != nullptr; ++copy, ++theirs) {
    if (*theirs == *copy) continue;
    for (char** one = made; *one != nullptr; ++one) {
      char* expected = *copy;
      if (std::atomic_ref(*one).compare_exchange_strong(expected, *theirs)) break;
    }
  }
}

/// Gives the program a new environment: `fill` makes it of a copy of the old one's pointers, and returns false if the
/// old one will do. Not by setenv() and unsetenv(), which free and move what another thread may be reading: old arrays
/// stay. If another thread sets variables meanwhile, it is made again.
template <class Fill>
void replace_environment(Fill fill) {
  for (int tries = 0; tries < 16; ++tries) {  // a thread may do nothing but set variables
    char** const theirs = std::atomic_ref(__environ).load();
    if (theirs == nullptr) return;  // clearenv()
    std::size_t count = 1;
    while (theirs[count - 1] != nullptr) ++count;
    auto** const copy = static_cast<char**>(alloca(count * sizeof(char*)));
    std::memcpy(copy, theirs, count * sizeof(char*));
    wait_for_setters();
    const auto is_as_before = [&] {
      return std::atomic_ref(__environ).load() == theirs && std::memcmp(copy, theirs, count * sizeof(char*)) == 0;
    };
    if (!is_as_before()) continue;
    std::size_t bytes = Environment(copy).bytes();
    for (char* const* one = copy; *one != nullptr; ++one) {
      if (starts_with(*one, kLdPreload) || starts_with(*one, kAsan)) bytes += std::strlen(*one) + 1;
    }
    const std::size_t pointers = count + Environment(copy).pointers();
    const std::size_t size = pointers * sizeof(char*) + bytes;
    void* const room = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return;  // exec functions pass on all the same
    auto** const made = static_cast<char**>(room);
    const bool is_new = fill(copy, made, reinterpret_cast<char*>(made + pointers));
    char** expected = theirs;
    if (is_new && is_as_before() && std::atomic_ref(__environ).compare_exchange_strong(expected, made)) {
      wait_for_setters();
      return take_over_changes(theirs, copy, made);
    }
    munmap(room, size);
    if (!is_new) return;
  }
}

/// The value of LD_PRELOAD without our library; in `room`, which has as much as the value takes.
const char* without_ours(const char* value, char* room) {
  const std::size_t ours = std::strlen(g_kept.preload);
  char* end = room;
  for (const char* part = value; *part != '\0';) {
    const std::size_t size = std::strcspn(part, ": ");
    if (size != 0 && (size != ours || std::strncmp(part, g_kept.preload, size) != 0)) {
      if (end != room) *end++ = ':';
      std::memcpy(end, part, size);
      end += size;
    }
    part += size + (part[size] != '\0' ? 1 : 0);
  }
  *end = '\0';
  return room;
}

/// The same of ASAN_OPTIONS without kAsanOrder, which `bench run` has put at the end. AddressSanitizer reads its
/// options before any code of ours runs.
const char* without_order(const char* value, char* room) {
  const std::size_t order = std::strlen(kAsanOrder);
  std::size_t size = std::strlen(value);
  if (size >= order && std::strcmp(value + size - order, kAsanOrder) == 0) {
    size -= order;
    if (size != 0 && value[size - 1] == ':') --size;
  }
  std::memcpy(room, value, size);
  room[size] = '\0';
  return room;
}

bool is_for_tests(const char* variable) {
  for (const char* const name : {kPreloadVariable, kNotesVariable, kChildEndsVariable, kFilteredVariable}) {
    const std::size_t size = std::strlen(name);
    if (std::strncmp(variable, name, size) == 0 && variable[size] == '=') return false;
  }
  return true;
}

/// Fills `pointers` with `theirs` without what is not for tests.
void fill_clean(char* const* theirs, char** pointers, char* text) {
  const auto keep = [&](const char* name, const char* value) {
    if (*value == '\0') return;
    *pointers++ = text;
    text = stpcpy(stpcpy(text, name), value) + 1;
  };
  for (; theirs != nullptr && *theirs != nullptr; ++theirs) {
    char* const room = static_cast<char*>(alloca(std::strlen(*theirs) + 1));
    if (starts_with(*theirs, kLdPreload)) {
      keep(kLdPreload, without_ours(*theirs + kLdPreloadSize, room));
    } else if (starts_with(*theirs, kAsan)) {
      keep(kAsan, without_order(*theirs + kAsanSize, room));
    } else if (is_for_tests(*theirs)) {
      *pointers++ = *theirs;
    }
  }
  *pointers = nullptr;
}

}  // namespace

void stop_passing_on() {
  g_kept.process = 0;
  if (!std::exchange(g_kept.is_passing_on, false)) return;
  // The program may have cleared it.
  if (preload_in(__environ) == nullptr || getenv(kPreloadVariable) == nullptr) return;
  replace_environment([](char* const* theirs, char** made, char* text) {
    fill_clean(theirs, made, text);
    return true;
  });
  g_kept.is_environment_clean = true;
}

void stop_passing_on_to_children() {
  stop_passing_on();
  g_kept.process = getpid();
}

void go_on_passing_on(bool is_filtered) {
  if (g_kept.preload == nullptr) return;
  g_kept.is_passing_on = true;
  g_kept.is_filtered = is_filtered;
  if (!std::exchange(g_kept.is_environment_clean, false)) return;
  replace_environment(
      [](char* const* theirs, char** made, char* text) { return Environment(theirs).build(made, text) == made; });
}

bool is_passing_on() {
  return g_kept.is_passing_on || (g_kept.process != 0 && g_kept.process == getpid());
}

bool note_of_this_process(const char* word, const char* text) {
  char line[PATH_MAX];
  std::snprintf(line, sizeof line, "%d %s", getpid(), text);
  return note(word, line);
}

void note_unmeasured(const char* word, const char* path) {
  note(word, path);
}

void note_tests(bool lists) {
  char text[PATH_MAX];
  std::snprintf(text, sizeof text, "%llu %d %d %s", process_namespace(), getpid(), getppid(),
                __progname != nullptr ? __progname : "");
  note(lists ? kNoteLists : kNoteTests, text);
}

void note_ended(int child, int status) {
  const int kept = errno;
  char text[128];
  std::snprintf(text, sizeof text, "%llu %d %d %d", process_namespace(), getpid(), child, status);
  note(kNoteEnded, text);
  errno = kept;
}

Environment::Environment(char* const* theirs) : theirs_(theirs) {
  const char* const preload = preload_in(theirs);
  const char* const asan = find(theirs, kAsan, kAsanSize);
  lacks_preload_ = preload == nullptr || !has_ours(preload);
  lacks_mark_ = find(theirs, kPreloadVariable, std::strlen(kPreloadVariable)) == nullptr;
  lacks_order_ = asan == nullptr || std::strstr(asan, kAsanOrder) == nullptr;
  for (char* const* one = theirs; one != nullptr && *one != nullptr; ++one) ++pointers_;
  pointers_ += g_kept.count + 4;  // kFilteredVariable, LD_PRELOAD, ASAN_OPTIONS, null
  lacks_filtered_ = g_kept.is_filtered && find(theirs, kFilteredVariable, std::strlen(kFilteredVariable)) == nullptr;
  bytes_ += g_kept.is_filtered ? std::strlen(kFilteredVariable) + 3 : 0;
  bytes_ += kLdPreloadSize + std::strlen(g_kept.preload) + 2 + (preload != nullptr ? std::strlen(preload) : 0);
  bytes_ += kAsanSize + std::strlen(kAsanOrder) + 2 + (asan != nullptr ? std::strlen(asan) : 0);
}

char* const* Environment::build(char** room, char* text) const {
  if (!lacks_preload_ && !lacks_mark_ && !lacks_order_ && !lacks_filtered_) return theirs_;
  std::size_t count = 0;
  const char* preload = preload_in(theirs_);
  const char* asan = find(theirs_, kAsan, kAsanSize);
  preload = preload != nullptr ? preload : "";
  asan = asan != nullptr ? asan + kAsanSize : "";
  for (char* const* one = theirs_; one != nullptr && *one != nullptr; ++one) {
    const bool is_replaced =
        (lacks_preload_ && starts_with(*one, kLdPreload)) || (lacks_order_ && starts_with(*one, kAsan));
    if (!is_replaced) room[count++] = *one;
  }
  for (std::size_t i = 0; lacks_mark_ && i < g_kept.count; ++i) {
    const char* const variable = g_kept.variables[i];
    const std::size_t name_size = std::strcspn(variable, "=") + 1;
    if (find(theirs_, variable, name_size) == nullptr) room[count++] = const_cast<char*>(variable);
  }
  // "NAME=first" or "NAME=first:second".
  const auto add = [&](const char* name, const char* first, const char* second) {
    room[count++] = text;
    text = stpcpy(stpcpy(text, name), first);
    if (*first != '\0' && *second != '\0') text = stpcpy(text, ":");
    text = stpcpy(text, second) + 1;
  };
  if (lacks_filtered_) add(kFilteredVariable, "=1", "");
  if (lacks_preload_) add(kLdPreload, g_kept.preload, preload);
  if (lacks_order_) add(kAsan, asan, kAsanOrder);
  room[count] = nullptr;
  return room;
}

const char* instead_of(const char* path) {
  if (path == nullptr) return nullptr;
  const int kept = errno;
  const char* instead = nullptr;
  const FileView file(path);
  if (file.is_elf()) {
    const FileKind kind = file.kind();
    const bool gives_rights = kind != FileKind::other_machine && file.gives_rights(path);
    if (gives_rights) {
      if (changes_the_user(path) || file.holds_tests()) note_program(kNotePrivileged, path);
    } else if (kind != FileKind::dynamic_glibc && file.holds_tests()) {
      const int fd = descriptor_of(path);
      const int flags = fd >= 0 ? fcntl(fd, F_GETFD) : 0;
      if (file.is_for_injection() && access(g_kept.inject, X_OK) == 0) {
        // Executing syscost-inject would close the program, too.
        if (flags == -1 || (flags & FD_CLOEXEC) != 0) {
          note_program(kNoteDescriptor, path);
        } else {
          instead = g_kept.inject;
        }
      } else {
        note_program(kind == FileKind::static_linked ? kNoteStatic
                     : kind == FileKind::other_libc  ? kNoteOtherLibc
                                                     : kNoteOtherMachine,
                     path);
      }
    }
  }
  errno = kept;
  return instead;
}

const char* instead_of_descriptor(int fd, char* path) {
  const int kept = errno;
  std::snprintf(path, PATH_MAX, "/proc/self/fd/%d", fd);
  errno = kept;
  return instead_of(path);
}

const char* instead_of_entry(int folder, const char* name, int flags, char* path) {
  const int kept = errno;
  struct stat status {};
  bool is_known = (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) == 0;
  if (is_known && (flags & AT_SYMLINK_NOFOLLOW) != 0 && *name != '\0') {
    is_known = fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(status.st_mode);
  }
  const std::size_t size = std::strlen(name);
  std::size_t before = 0;
  if (is_known && folder != AT_FDCWD && *name != '/') {
    // The descriptor may be closed when syscost-inject executes the program.
    char link[64];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const ssize_t length = readlink(link, path, PATH_MAX - 1);
    is_known = length > 0 && length < PATH_MAX - 1;
    if (is_known) path[before = static_cast<std::size_t>(length)] = '/';
    ++before;
  }
  errno = kept;
  if (!is_known || before + size >= PATH_MAX) return nullptr;
  std::memcpy(path + before, name, size + 1);
  return instead_of(path);
}

const char* instead_of_found(const char* name, char* found) {
  if (name == nullptr) return nullptr;
  const std::size_t name_bytes = std::strlen(name);
  if (std::strchr(name, '/') != nullptr) {
    if (name_bytes >= PATH_MAX) return nullptr;
    std::memcpy(found, name, name_bytes + 1);
    return instead_of(found);
  }
  const int kept = errno;
  const char* instead = nullptr;
  const char* folders = getenv("PATH");
  if (folders == nullptr) folders = "/bin:/usr/bin";
  for (;;) {
    const std::size_t size = std::strcspn(folders, ":");
    if (size + name_bytes + 2 <= PATH_MAX) {
      std::memcpy(found, folders, size);
      std::size_t at = size;
      if (size != 0) found[at++] = '/';
      std::memcpy(found + at, name, name_bytes + 1);
      struct stat status {};
      // Libc goes on where it finds a folder.
      if (access(found, X_OK) == 0 && fstatat(AT_FDCWD, found, &status, 0) == 0 && !S_ISDIR(status.st_mode)) {
        instead = instead_of(found);
        break;
      }
    }
    if (folders[size] == '\0') break;
    folders += size + 1;
  }
  errno = kept;
  return instead;
}

}  // namespace syscost::agent
