// SPDX-License-Identifier: MIT
//
// A plug-in that was linked against syscost itself; dlmopen gives it a copy of the library of its own.
#include <cstdint>

#include "counts.h"
#include "raw.h"
#include "syscost/syscost.h"

/// Makes `times` calls in a window of the second copy and says how many that counted.
extern "C" __attribute__((visibility("default"))) std::uint64_t conformance_measure_second(int times) {
  // Kept open until the process ends: what the library asks the kernel when its last scope closes is, to the first
  // copy, a call like any other.
  static const syscost::Scope around(syscost::Reach::process);
  syscost::Scope scope(syscost::Reach::process);
  conformance::repeat_raw(times, 0, SYS_getppid);
  return conformance::entries_or_calls(scope.stop(), "getppid").value_or(0);
}
