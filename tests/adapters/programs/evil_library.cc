// SPDX-License-Identifier: MIT
//
// A library of an attacker's: being loaded is all it needs. It leaves a mark, in which stands with what rights it ran.
#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>

namespace {

__attribute__((constructor)) void run() {
  const char* mark = std::getenv("SYSCOST_TEST_MARK");
  if (mark == nullptr) return;
  const int file = open(mark, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  [[maybe_unused]] const auto written =
      getauxval(AT_SECURE) != 0 ? write(file, "with its rights\n", 16) : write(file, "with the caller's\n", 18);
  close(file);
}

}  // namespace
