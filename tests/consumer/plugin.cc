// SPDX-License-Identifier: MIT
//
// A plug-in that measures. It was built against a copy of the library at a place of its own.
#include <syscost/syscost.h>

extern "C" int plugin_cycles() {
  return syscost::cycles(5);
}
