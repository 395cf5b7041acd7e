// SPDX-License-Identifier: MIT
//
// libFuzzer's entry: build/fuzz/bin/syscost_unwind_fuzzer tests/fuzz/unwind/corpus
#include "fuzz_unwind.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (syscost::dispatch::fuzz::can_unwind()) syscost::dispatch::fuzz::unwind_any_stack(data, size);
  return 0;
}
