// SPDX-License-Identifier: MIT
//
// libFuzzer's entry: build/fuzz/bin/syscost_trace_fuzzer tests/fuzz/trace/corpus tests/cli/data/traces
#include "fuzz_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  syscost::bench::fuzz::read_any_trace(data, size);
  return 0;
}
