// SPDX-License-Identifier: MIT
//
// Descriptors: closed, replaced, exhausted, and the files beside the program.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::run_loop;
using conformance::raw;

constexpr int kUpTo = 1100;

/// Leaves numbers free above kUpTo: an ordinary user's limit is often 1024. False if the hard limit is too low.
bool can_open_above() {
  rlimit files{};
  constexpr rlim_t kWanted = kUpTo + 100;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max < kWanted) return false;
  if (files.rlim_cur >= kWanted) return true;
  files.rlim_cur = kWanted;
  return setrlimit(RLIMIT_NOFILE, &files) == 0;
}

/// The file for the rows, as the driver says. A bare run has no rows; there it is a file of no use.
std::string csv() {
  const char* path = std::getenv("ATTACK_CSV");
  return path != nullptr ? path : "bare.csv";
}

}  // namespace

HOSTILE(closes_everything, 20, "closes every descriptor from 3 on before a loop") {
  raw(SYS_close_range, 3, ~0U, 0);
  call_both(10);
  run_loop();
}

HOSTILE(closes_on_exec_everything, 20, "marks every descriptor close-on-exec, in a table of its own") {
  EXPECT_EQ(raw(SYS_close_range, 3, ~0U, 4 | 2), 0);  // CLOSE_RANGE_CLOEXEC | CLOSE_RANGE_UNSHARE
  call_both(10);
  run_loop();
}

HOSTILE(takes_every_number, 20,
        "closes every descriptor and opens its own file under each number below 1100: syscost writes nothing into it") {
  if (!can_open_above()) GTEST_SKIP() << "the limit of open files is too low: ulimit -Hn";
  raw(SYS_close_range, 3, ~0U, 0);
  const int file = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int number = 4; number < kUpTo; ++number) dup2(file, number);
  call_both(10);
  attack::later([file] {
    struct stat status = {};
    EXPECT_EQ(fstat(file, &status), 0);
    EXPECT_EQ(status.st_size, 0) << "something was written to the program's file";
  });
}

HOSTILE(puts_sockets_in_our_place, 20,
        "replaces each descriptor below 1100 by a pipe: syscost neither reads nor fills it") {
  if (!can_open_above()) GTEST_SKIP() << "the limit of open files is too low: ulimit -Hn";
  raw(SYS_close_range, 3, ~0U, 0);
  int ends[2] = {};
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  const int number_of_reader = ends[0];
  for (int number = 5; number < kUpTo; ++number) dup2(ends[number % 2], number);
  call_both(10);
  attack::later([number_of_reader] {
    char bytes[64] = {};
    EXPECT_EQ(read(number_of_reader, bytes, sizeof bytes), 1)
        << "something was written to the program's pipe, or read from it";
  });
}

HOSTILE(leaves_no_number, 20, "closes every descriptor and opens its own file under every number up to the limit") {
  const rlimit few = {64, 64};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  raw(SYS_close_range, 3, ~0U, 0);
  const int file = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int number = 4; number < 64; ++number) EXPECT_EQ(dup2(file, number), number);
  call_both(10);
  attack::later([file] {
    struct stat status = {};
    EXPECT_EQ(fstat(file, &status), 0);
    EXPECT_EQ(status.st_size, 0) << "something was written to the program's file";
  });
}

HOSTILE(opens_the_lowest_number, 20, "opens a file and gets the same number as without syscost") {
  const int file = open("/dev/null", O_RDONLY);
  EXPECT_EQ(file, 3);
  close(file);
  call_both(10);
}

HOSTILE(three_descriptors, 20, "limits descriptors to 3 (RLIMIT_NOFILE) before a loop") {
  const rlimit few = {3, 3};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  call_both(10);
  run_loop();
}

HOSTILE(keeps_every_descriptor, 20, "opens files until no descriptor is left, and keeps them") {
  const rlimit some = {1024, 1024};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &some), 0);
  while (open("/dev/null", O_RDONLY) >= 0) {
  }
  EXPECT_EQ(errno, EMFILE);
  call_both(10);
  run_loop();
}

HOSTILE(closes_its_output, 20, "closes standard output and error") {
  close(1);
  close(2);
  call_both(10);
}

HOSTILE(closes_its_input, 20, "closes the first three descriptors, and opens none") {
  for (int number = 0; number < 3; ++number) close(number);
  call_both(10);
}

HOSTILE(changes_folder, 20, "changes its folder, so that a relative name of the CSV means another file") {
  ASSERT_EQ(chdir("/"), 0);
  call_both(10);
}

HOSTILE(removes_the_csv, 20, "removes the CSV") {
  unlink(csv().c_str());
  call_both(10);
}

HOSTILE(locks_the_csv, 20, "locks the CSV and keeps the lock") {
  const int file = open(csv().c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(flock(file, LOCK_EX), 0);
  call_both(10);
}

HOSTILE(child_keeps_the_csv_locked, 20, "a child locks the CSV and outlives the program") {
  std::array<int, 2> locked{};
  ASSERT_EQ(pipe(locked.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(csv().c_str(), O_RDWR | O_CREAT, 0600);
    if (flock(file, LOCK_EX) != 0 || write(locked[1], "", 1) != 1) _exit(1);
    for (int number = 0; number < 3; ++number) close(number);
    alarm(30);
    for (;;) pause();
  }
  close(locked[1]);
  char byte = 1;
  EXPECT_EQ(read(locked[0], &byte, 1), 1);
  close(locked[0]);
  call_both(10);
}

HOSTILE(csv_becomes_a_pipe, 20, "puts a named pipe in the place of the CSV") {
  unlink(csv().c_str());
  ASSERT_EQ(mkfifo(csv().c_str(), 0600), 0);
  call_both(10);
}

HOSTILE(csv_becomes_a_link, 20, "puts a symbolic link to its own file in the place of the CSV") {
  const std::string mine = csv() + ".mine";
  fclose(fopen(mine.c_str(), "w"));
  unlink(csv().c_str());
  ASSERT_EQ(symlink(mine.c_str(), csv().c_str()), 0);
  call_both(10);
}
