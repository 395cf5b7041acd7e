// SPDX-License-Identifier: MIT
//
// libFuzzer's entry: build/fuzz/bin/syscost_sched_fuzzer tests/fuzz/sched/corpus tests/cli/data/sched
#include "fuzz_sched.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  syscost::bench::fuzz::read_any_sched(data, size);
  return 0;
}
