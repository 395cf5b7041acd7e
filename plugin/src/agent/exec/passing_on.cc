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
#include "agent/exec/environment.h"
#include "agent/find/file_kind.h"
#include "os/signals.h"

// libc's own name of the variable; the program may define the other one.
extern "C" char* __progname;  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)

namespace syscost::agent {

Kept g_kept;

namespace {

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
  g_kept.is_filtered = getenv(kFilteredVariable) != nullptr;
  const char* const slash = std::strrchr(preload, '/');
  const std::size_t folder = slash != nullptr ? static_cast<std::size_t>(slash - preload) + 1 : 0;
  if (folder + std::strlen(kInjectProgram) < sizeof g_kept.inject) {
    std::memcpy(g_kept.inject, preload, folder);
    std::memcpy(g_kept.inject + folder, kInjectProgram, std::strlen(kInjectProgram) + 1);
  }
  g_kept.is_passing_on = g_kept.preload != nullptr;
  return g_kept.is_passing_on;
}

void stop_passing_on() {
  g_kept.process = 0;
  if (!std::exchange(g_kept.is_passing_on, false)) return;
  take_ours_out();
}

void stop_passing_on_to_children() {
  stop_passing_on();
  g_kept.process = getpid();
}

void go_on_passing_on(bool is_filtered) {
  if (g_kept.preload == nullptr) return;
  g_kept.is_passing_on = true;
  g_kept.is_filtered = is_filtered;
  put_ours_back();
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
      if (g_kept.is_filtered) {
        note_program(kNoteFiltered, path);
      } else if (file.is_for_injection() && access(g_kept.inject, X_OK) == 0) {
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
