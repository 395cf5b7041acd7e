// SPDX-License-Identifier: MIT
//
// Surroundings: the same small program under sanitizers, debuggers, tracers and in a PID namespace.
//
// None of these may change a number. The file stands alone so that the sanitized programs need only it.
#include <errno.h>
#include <fcntl.h>

#include <memory>
#include <string>
#include <utility>

#include "case.h"
#include "raw.h"
#include "worker.h"

namespace conformance {
namespace {

int g_null = -1;
std::unique_ptr<Worker> g_worker;

Case mixture(int number, std::string name, std::string summary, Setting setting) {
  return Case{
      .number = number,
      .name = std::move(name),
      .summary = std::move(summary),
      .setup =
          [] {
            g_null = open("/dev/null", O_WRONLY | O_CLOEXEC);
            g_worker = std::make_unique<Worker>([] { repeat_raw(200, 0, SYS_gettid); });
          },
      .windows = {{"",
                   [] {
                     repeat_raw(100, 1, SYS_write, g_null, "x", 1);
                     repeat_raw(10, -EBADF, SYS_close, -1);
                     g_worker->go();
                     g_worker->wait();
                   },
                   {calls("write", 100), calls("close", 10).failing(EBADF, 10), calls("gettid", 200)}}},
      .teardown = [] { g_worker.reset(); },
      .setting = setting,
  };
}

const Register kAsan(mixture(49, "address_sanitizer", "A program built with AddressSanitizer counts the same.",
                             Setting::sanitize_address));
const Register kLsan(mixture(49, "leak_sanitizer", "A program built with LeakSanitizer counts the same.",
                             Setting::sanitize_leak));
const Register kPidNamespace(mixture(51, "pid_namespace",
                                     "In a PID namespace, where getpid() returns another number, counts are the same.",
                                     Setting::pid_namespace));
const Register kUnderStrace(mixture(53, "under_strace",
                                    "Under strace, counts are the same; every case also runs under it.",
                                    Setting::plain));
const Register kUnderGdb(mixture(53, "under_gdb", "Under gdb counts are the same.", Setting::debugger));

Case with_background_thread() {
  Case one = mixture(49, "thread_sanitizer", "A program built with ThreadSanitizer counts the same.",
                     Setting::sanitize_thread);
  one.windows.front().others_because = "ThreadSanitizer's background thread sleeps now and then";
  return one;
}

const Register kTsan(with_background_thread());

}  // namespace
}  // namespace conformance
