// SPDX-License-Identifier: MIT
//
// A user's program that changes its root before it measures: jail_main FOLDER. It also calls what GPU stamps call,
// which does nothing in a run without a request.
#include <syscost/loop.h>
#include <syscost/syscost.h>
#include <unistd.h>

#include <cstdio>
#if __has_include(<syscost/gpu/record.h>)
#include <syscost/gpu/record.h>
#define SYSCOST_HAS_GPU 1
#else
#define SYSCOST_HAS_GPU 0
#endif

int main(int argc, char** argv) {
  if (argc > 1 && (chroot(argv[1]) != 0 || chdir("/") != 0)) return 3;
  int runs = 0;
  for (auto _ : syscost::loop("once")) ++runs;
  const syscost::Cost cost = syscost::measure([] { static_cast<void>(getppid()); });
#if SYSCOST_HAS_GPU
  const syscost::gpu::Aside aside;
  syscost::gpu::record_times("add duration (events)", {7});
  if (!syscost::gpu::record({}).empty()) return 4;
#endif
  if (syscost::cycles(7) != 7) return 5;
  std::printf("%d run, measured: %s\n", runs, cost.to_string().c_str());
  return runs == 1 ? 0 : 1;
}
