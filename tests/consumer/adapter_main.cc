// SPDX-License-Identifier: MIT
//
// An adapter of another framework. It calls what an adapter calls whether or not the run asks for something. A
// comparison without a number is excused by its handler, as GoogleTest's adapter excuses it on a developer's machine.
#include <syscost/adapter.h>

#include <cstdio>

#include "late/late.h"

namespace adapter = syscost::adapter;

int main(int argc, char** argv) {
  if (!adapter::take_options(&argc, argv)) return 2;
  if (adapter::requested() || adapter::is_fork_child()) return 3;
  syscost::late::at_load([] { adapter::set_unavailable_handler(adapter::skips_unavailable); });
  const syscost::Count none(nullptr);
  if (!(none == 7) || !(syscost::Count(7) == 7) || syscost::Count(7) == 8) return 4;
  adapter::say_if_nothing_ran();
  std::printf("1 run, problem: '%s'\n", adapter::problem().c_str());
}
