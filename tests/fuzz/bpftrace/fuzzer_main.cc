// SPDX-License-Identifier: MIT
//
// libFuzzer's entry: build/fuzz/bin/syscost_bpftrace_fuzzer NEW tests/fuzz/bpftrace/corpus
// tests/unit/profilers/data (what it finds goes into NEW, a folder of yours).
#include "fuzz_output.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  syscost::profilers::fuzz::read_any_output(data, size);
  return 0;
}
