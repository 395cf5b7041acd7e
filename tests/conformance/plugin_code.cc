// SPDX-License-Identifier: MIT
//
// Code that is not there when the window opens: case dlopened_code loads this library inside it.
#include "raw.h"

extern "C" __attribute__((visibility("default"))) long conformance_call_from_plugin(int times) {
  return conformance::repeat_raw(times, 0, SYS_getppid) ? times : -1;
}
