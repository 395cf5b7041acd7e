// SPDX-License-Identifier: MIT
//
// Environment: other processes and other privileges around the measured one.
#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "case.h"
#include "copy.h"
#include "raw.h"

namespace conformance {
namespace {

// --- Death tests --------------------------------------------------------------------------------------------------

void run_death_test() {
  EXPECT_EXIT(
      {
        repeat_raw(500, 0, SYS_getppid);
        raw(SYS_exit_group, 3);
      },
      testing::ExitedWithCode(3), "");
  repeat_raw(10, 0, SYS_geteuid);
}

Case death_test_case(const char* style) {
  return Case{
      .number = 29,
      .name = std::string("death_test_") + style,
      .summary =
          std::string("A ") + style + " death test passes, and the calls of its child do not count for the parent.",
      .windows = {{"",
                   run_death_test,
                   {calls("geteuid", 10), calls("getppid", 0)},
                   "how GoogleTest starts the child and waits for it is its own choice"}},
      .death_style = style,
  };
}

const Register kDeathFast(death_test_case("fast"));
const Register kDeathThreadsafe(death_test_case("threadsafe"));

// --- Other measuring processes ------------------------------------------------------------------------------------

std::unique_ptr<Copy> g_copy;
constexpr const char* kCopyMeasures = "the second process opens a window of its own";

void require_nothing_left() {
  g_copy->require_nothing_left();
  g_copy.reset();
}

const Register kSigkill(Case{
    .number = 30,
    .name = "sigkill_inside_window",
    .summary = "If a measuring process is killed inside its window, its programs end with it, and other processes "
               "count undisturbed.",
    .early = [] { g_copy = std::make_unique<Copy>("spin"); },
    .windows = {{"",
                 [] {
                   raw(SYS_kill, g_copy->pid(), SIGKILL);
                   require(g_copy->wait() == SIGKILL, "the killed process did not end by SIGKILL");
                   repeat_raw(100, 0, SYS_getppid);
                 },
                 {calls("kill", 1), calls("wait4", 1), calls("getppid", 100)}}},
    .teardown = require_nothing_left,
    .unsupported = {{"not linked", kCopyMeasures}},
});

const Register kExitGroup(Case{
    .number = 35,
    .name = "exit_group_beside_blocked_reader",
    .summary = "A measuring process that ends inside its window beside a blocked reader keeps its status and leaves no "
               "program.",
    .early = [] { g_copy = std::make_unique<Copy>("die"); },
    .windows = {{"",
                 [] {
                   require(g_copy->cue(), "the cue could not be given");
                   require(g_copy->wait() == 37 << 8, "the process did not end with status 37");
                 },
                 {calls("write", 1), calls("wait4", 1)}}},
    .teardown = require_nothing_left,
    .unsupported = {{"not linked", kCopyMeasures}},
});

const Register kTwoProcesses(Case{
    .number = 55,
    .name = "two_measuring_processes",
    .summary = "Two processes that measure at the same time each count their own calls.",
    .early = [] { g_copy = std::make_unique<Copy>("count"); },
    .windows = {{"",
                 [] {
                   require(g_copy->cue(), "the cue could not be given");
                   repeat_raw(1000, 0, SYS_getppid);
                   require(g_copy->wait() == 0, "the other process counted wrongly");
                 },
                 {calls("write", 1), calls("getppid", 1000), calls("wait4", 1)}}},
    .teardown = require_nothing_left,
    .unsupported = {{"not linked", kCopyMeasures}},
});

// --- Two copies of the library in one process ---------------------------------------------------------------------

std::uint64_t (*g_measure_second)(int times) = nullptr;

std::string load_second() {
  std::array<char, 4096> self = {};
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) < 0) return "no /proc/self/exe";
  std::string path = self.data();
  path = path.substr(0, path.rfind('/') + 1) + "libconformance_second.so";
  void* library = dlmopen(LM_ID_NEWLM, path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  g_measure_second = reinterpret_cast<decltype(g_measure_second)>(dlsym(library, "conformance_measure_second"));
  return g_measure_second != nullptr ? "" : "conformance_measure_second is missing";
}

std::uint64_t g_second_counted = 0;

const Register kTwoCopies(Case{
    .number = 55,
    .name = "two_copies_in_one_process",
    .summary = "A second copy of the library in the process (in a plug-in) does not disturb the first, nor the first "
               "the second.",
    .setup =
        [] {
          std::string error = load_second();
          require(error.empty(), "the second copy could not be loaded: " + error);
          if (error.empty()) g_measure_second(10);  // opens its backend
        },
    .windows = {{.body = [] { g_second_counted = g_measure_second != nullptr ? g_measure_second(200) : 0; },
                 .rows = {calls("getppid", 200)},
                 .check =
                     [](const syscost::Cost& /*outer*/) {
                       require(g_second_counted == 200,
                               "the second copy counted " + std::to_string(g_second_counted) + " of 200 calls");
                     }}},
    .unsupported = and_dispatch("SIGSYS and the gs register belong to one copy; the second one says so",
                                {{"oracle", "the body opens windows of its own"},
                                 {"not linked", "the body opens windows of its own"},
                                 {"seccomp",
                                  "the kernel allows one listener in a process, and the first copy has it"}}),
});

// --- Privileges ---------------------------------------------------------------------------------------------------

void drop_capabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> none = {};
  require(raw(SYS_capset, &header, none.data()) == 0, "capset failed");
}

const Register kNoCapability(Case{
    .number = 52,
    .name = "no_capability",
    .summary = "Without privilege a backend still counts, or refuses and names the missing privilege.",
    .early = drop_capabilities,
    .windows = {{"", [] { repeat_raw(10, 0, SYS_getppid); }, {calls("getppid", 10)}}},
    .refusals = {{"ebpf", "CAP_BPF"}},
});

}  // namespace
}  // namespace conformance
