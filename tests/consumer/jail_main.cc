// SPDX-License-Identifier: MIT
//
// A user's program that changes its root before it measures: jail_main FOLDER.
#include <syscost/loop.h>
#include <syscost/syscost.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc > 1 && (chroot(argv[1]) != 0 || chdir("/") != 0)) return 3;
  int runs = 0;
  for (auto _ : syscost::loop("once")) ++runs;
  const syscost::Cost cost = syscost::measure([] { static_cast<void>(getppid()); });
  std::printf("%d run, measured: %s\n", runs, cost.to_string().c_str());
  return runs == 1 ? 0 : 1;
}
