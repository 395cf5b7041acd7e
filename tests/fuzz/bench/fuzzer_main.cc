// SPDX-License-Identifier: MIT
//
// libFuzzer's entry: build/fuzz/bin/syscost_bench_fuzzer tests/fuzz/bench/corpus tests/cli/data
#include "fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  syscost::bench::fuzz::read_any_bytes(data, size);
  return 0;
}
