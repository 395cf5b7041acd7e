// SPDX-License-Identifier: MIT
#include "backends/dispatch/tracer.h"

#include <sstream>
#include <string>

#include "backends/dispatch/dispatch_backend.h"
#include "os/printable.h"
#include "os/small_file.h"

namespace syscost::dispatch {

int tracer_pid() {
  std::istringstream status(read_small_file("/proc/self/status"));
  for (std::string word; status >> word;) {
    if (word != "TracerPid:") continue;
    int pid = 0;
    return status >> pid ? pid : 0;
  }
  return 0;
}

Result<void> check_for_debugger() {
  std::string name;
  if (const int pid = tracer_pid(); pid != 0)
    std::istringstream(read_small_file("/proc/" + std::to_string(pid) + "/comm")) >> name;
  if (name.rfind("gdb", 0) != 0 && name.rfind("lldb", 0) != 0) return {};
  return Failure{"a debugger is attached (" + printable(name) + "), and it stops at every dispatched call",
                 "tell it `handle SIGSYS nostop noprint pass` (gdb) and name the backend: --syscost_backend dispatch"};
}

}  // namespace syscost::dispatch
