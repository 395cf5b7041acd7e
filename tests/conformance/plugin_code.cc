// SPDX-License-Identifier: MIT
//
// Code that is not there when the window opens: case dlopened_code loads this library inside it.
#include "raw.h"

/// Returns `times`.
extern "C" __attribute__((visibility("default"))) long conformance_call_from_plugin(int times) {
  for (int i = 0; i < times; ++i) conformance::raw(SYS_getppid);
  return times;
}
