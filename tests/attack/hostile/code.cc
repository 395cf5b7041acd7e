// SPDX-License-Identifier: MIT
//
// Code: programs that change libc's, as libraries that hook functions do, or take it from under themselves.
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::call_libc;
using attack::call_raw;
using attack::run_loop;
using conformance::raw;

constexpr std::uintptr_t kPage = 4096;
using Prologue = std::array<unsigned char, 16>;

/// Writes over the beginning of a function, as hooking libraries do.
void write_code(void* function, const Prologue& bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  void* const page = reinterpret_cast<void*>(address & ~(kPage - 1));
  ASSERT_EQ(mprotect(page, 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  std::memcpy(function, bytes.data(), bytes.size());
  ASSERT_EQ(mprotect(page, 2 * kPage, PROT_READ | PROT_EXEC), 0);
}

Prologue read_code(const void* function) {
  Prologue bytes{};
  std::memcpy(bytes.data(), function, bytes.size());
  return bytes;
}

// mov $4711,%eax; ret
constexpr Prologue kReturns4711 = {0xb8, 0x67, 0x12, 0x00, 0x00, 0xc3};

std::string path_of_libc() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        if (std::strstr(info->dlpi_name, "libc.so") == nullptr) return 0;
        *static_cast<std::string*>(into) = info->dlpi_name;
        return 1;
      },
      &path);
  return path;
}

void call_other_sites() {
  for (int i = 0; i < 20; ++i) {
    getpgrp();
    getegid();
    getuid();
  }
}

void change_root_to_one_with(void (*make)(const char*)) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  char folder[] = "attack-XXXXXX";  // below the run's own folder
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string libc = folder + path_of_libc();
  std::filesystem::create_directories(std::filesystem::path(libc).parent_path());
  make(libc.c_str());
  ASSERT_EQ(chroot(folder), 0);
  call_both(10);
  call_other_sites();
  run_loop();
}

}  // namespace

HOSTILE(hooks_a_function_of_libc, 20, "overwrites a function of libc with a hook, which stays there") {
  void* const function = reinterpret_cast<void*>(&getegid);
  write_code(function, kReturns4711);
  EXPECT_EQ(getegid(), 4711U);
  call_both(10);
  run_loop();
  EXPECT_EQ(getegid(), 4711U);
  attack::later([] { EXPECT_EQ(getegid(), 4711U); });
}

HOSTILE(hooks_and_takes_back, 20, "hooks a function that it has called often, and removes the hook in the next test") {
  for (int i = 0; i < 50; ++i) getegid();
  static void* const kFunction = reinterpret_cast<void*>(&getegid);
  static Prologue before;
  before = read_code(kFunction);
  write_code(kFunction, kReturns4711);
  call_both(10);
  run_loop();
  attack::later([] {
    EXPECT_EQ(getegid(), 4711U);
    write_code(kFunction, before);
    EXPECT_EQ(static_cast<long>(getegid()), raw(SYS_getegid));
  });
}

HOSTILE(hooks_what_is_counted, 10,
        "hooks getppid itself: a hooked getppid makes no call and is not counted; after the hook is removed, it counts "
        "again") {
  static void* const kFunction = reinterpret_cast<void*>(&getppid);
  static Prologue before;
  before = read_code(kFunction);
  write_code(kFunction, kReturns4711);
  call_libc(10);
  call_raw(10);
  attack::later([] { write_code(kFunction, before); });
}

HOSTILE(libc_is_empty_in_the_new_root, 20, "changes its root to one in which libc is an empty file") {
  change_root_to_one_with([](const char* path) { std::ofstream(path).flush(); });
}

HOSTILE(libc_is_a_pipe_in_the_new_root, 20, "changes its root to one in which libc is a named pipe") {
  change_root_to_one_with([](const char* path) { ASSERT_EQ(mkfifo(path, 0600), 0); });
}

HOSTILE(libc_is_another_in_the_new_root, 20, "changes its root to one in which libc has other code") {
  change_root_to_one_with([](const char* path) { std::ofstream(path) << std::string(std::size_t{4} << 20U, '\xcc'); });
}
