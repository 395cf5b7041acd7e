// SPDX-License-Identifier: MIT
//
// A library to preload: it writes down what /proc says of this process before and after each window.
//
// It is one half of an oracle (oracle.py), so it shares no code with syscost. With --syscost_markers, syscost marks the
// edges of a window by a write() to descriptor -1. Here is another write(), which lists /proc outside of the two
// markers and appends the lists to the file in ORACLE_LISTS. It judges nothing: it copies text.
//
// syscost takes write() from libc's own table of symbols, so that no other write() stands in its way. So the one here
// is put into that table.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char text[1 << 20];
static size_t used;

static void put(const char* part, size_t size) {
  if (used + size > sizeof text) size = sizeof text - used;  // oracle.py misses the line "end"
  memcpy(text + used, part, size);
  used += size;
}

static void put_line(const char* key, const char* name, const char* value) {
  put(key, strlen(key));
  put(" ", 1);
  put(name, strlen(name));
  put(" ", 1);
  put(value, strcspn(value, "\n"));
  put("\n", 1);
}

static void put_file(const char* key, const char* name, const char* path) {
  char content[8192];
  const int file = (int)syscall(SYS_open, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const long size = syscall(SYS_read, file, content, sizeof content - 1);
  syscall(SYS_close, file);
  if (size < 0) return;
  content[size] = '\0';
  put_line(key, name, content);
}

/* Of /proc/self/status: the most that was mapped so far, and whether the thread has a seccomp filter. */
static void put_status(const char* pid) {
  char content[8192];
  const int file = (int)syscall(SYS_open, "/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const long size = syscall(SYS_read, file, content, sizeof content - 1);
  syscall(SYS_close, file);
  if (size < 0) return;
  content[size] = '\0';
  const char* const peak = strstr(content, "VmPeak:");
  if (peak != NULL) put_line("peak", pid, peak + strlen("VmPeak:"));
  const char* const filter = strstr(content, "Seccomp:");
  if (filter != NULL) put_line("seccomp", pid, filter + strlen("Seccomp:"));
}

/* The first word of each line of /proc/self/maps: where a mapping begins and ends. */
static void put_mappings(const char* pid) {
  char part[4096];
  char range[64];
  size_t in_range = 0;
  int is_first_word = 1;
  const int file = (int)syscall(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  for (long size; (size = syscall(SYS_read, file, part, sizeof part)) > 0;) {
    for (long at = 0; at < size; ++at) {
      if (part[at] == '\n') {
        range[in_range] = '\0';
        put_line("map", pid, range);
        in_range = 0;
        is_first_word = 1;
      } else if (part[at] == ' ') {
        is_first_word = 0;
      } else if (is_first_word && in_range + 1 < sizeof range) {
        range[in_range++] = part[at];
      }
    }
  }
  syscall(SYS_close, file);
}

static void put_descriptor(const char* number) {
  char path[512];
  char target[4096];
  snprintf(path, sizeof path, "/proc/self/fd/%s", number);
  const long size = syscall(SYS_readlink, path, target, sizeof target - 1);
  if (size < 0) return;
  target[size] = '\0';
  put_line("descriptor", number, target);
}

static void put_thread(const char* number) {
  char path[512];
  snprintf(path, sizeof path, "/proc/self/task/%s/stat", number);
  put_file("thread", number, path);
  snprintf(path, sizeof path, "/proc/self/task/%s/children", number);
  put_file("children", number, path);
}

static void for_each_number(const char* folder, void (*visit)(const char*)) {
  char entries[8192];
  const int listed = (int)syscall(SYS_open, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listed < 0) return;
  for (long size; (size = syscall(SYS_getdents64, listed, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < size;) {
      const struct dirent* entry = (const struct dirent*)(entries + at);  // 64-bit: as the kernel has it
      const int is_this_list = visit == put_descriptor && atoi(entry->d_name) == listed;
      if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && !is_this_list) visit(entry->d_name);
      at += entry->d_reclen;
    }
  }
  syscall(SYS_close, listed);
}

static int begins(const char* data, size_t size, const char* beginning) {
  return size > strlen(beginning) && memcmp(data, beginning, strlen(beginning)) == 0;
}

static void list_all(const char* file, const char* marker, size_t size) {
  char pid[32];
  char name[4096];
  snprintf(pid, sizeof pid, "%ld", syscall(SYS_getpid));
  snprintf(name, sizeof name, "%.*s", (int)size, marker);
  used = 0;
  put_line("marker", pid, name);
  put_file("statm", pid, "/proc/self/statm");
  put_status(pid);
  if (begins(marker, size, "syscost-begin ")) put_mappings(pid);
  for_each_number("/proc/self/fd", put_descriptor);
  for_each_number("/proc/self/task", put_thread);
  put_line("end", pid, "");
  const int log = (int)syscall(SYS_open, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (log < 0) return;
  syscall(SYS_write, log, text, used);
  syscall(SYS_close, log);
}

ssize_t write(int descriptor, const void* data, size_t size) {
  const char* const file = descriptor == -1 ? getenv("ORACLE_LISTS") : NULL;
  if (file != NULL && begins(data, size, "syscost-begin ")) list_all(file, data, size);
  const ssize_t written = syscall(SYS_write, descriptor, data, size);
  if (file != NULL && begins(data, size, "syscost-end ")) list_all(file, data, size);
  return written;
}

__attribute__((constructor)) static void stand_in_libc(void) {
  const struct link_map* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == NULL) return;
  Elf64_Sym* symbols = NULL;
  const char* strings = NULL;
  for (const Elf64_Dyn* entry = libc->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = (Elf64_Sym*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) strings = (const char*)entry->d_un.d_ptr;
  }
  // The linker puts the strings behind the symbols.
  for (Elf64_Sym* symbol = symbols; symbol != NULL && (const char*)symbol < strings; ++symbol) {
    if (strcmp(strings + symbol->st_name, "write") != 0) continue;
    const uintptr_t page = (uintptr_t)symbol & ~(uintptr_t)4095;
    const size_t size = (uintptr_t)(symbol + 1) - page;
    if (mprotect((void*)page, size, PROT_READ | PROT_WRITE) != 0) return;
    symbol->st_value = (uintptr_t)&write - libc->l_addr;
    mprotect((void*)page, size, PROT_READ);
  }
}
