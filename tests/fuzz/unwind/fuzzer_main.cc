// SPDX-License-Identifier: MIT
//
// libFuzzer's entry: build/fuzz/bin/syscost_unwind_fuzzer tests/fuzz/unwind/corpus
#include "fuzz_tables.h"
#include "fuzz_unwind.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace syscost::dispatch::fuzz;
  // The same bytes change a stack, and the tables by which another one is unwound.
  if (can_unwind()) unwind_any_stack(data, size);
  if (can_unwind_library()) unwind_by_any_table(data, size);
  return 0;
}
