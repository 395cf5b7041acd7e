// SPDX-License-Identifier: MIT
//
// Takes `--syscost_*` out of the command line before main() sees it: Catch2 ends a program with an argument that it
// does not know.
//
// Every program of the consumer is linked with `--wrap=main`: the C library's start-up calls this function, and this
// one calls the program's main(). A shared library has no start-up, so this file stays out of it.
#include "late/late.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of the linker's
extern "C" {
int __real_main(int argc, char** argv, char** envp);
__attribute__((visibility("default"))) int __wrap_main(int argc, char** argv, char** envp);
}

int __wrap_main(int argc, char** argv, char** envp) {
  if (syscost::late::is_loaded()) syscost::adapter::take_prefixed_options(&argc, argv);
  return __real_main(argc, argv, envp);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
