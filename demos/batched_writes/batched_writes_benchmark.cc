// SPDX-License-Identifier: MIT
//
// The two bodies of batched_writes_test.cc, and a buffer of 256 bytes, as Google Benchmarks over a range of sizes.
//
// One size cannot tell what a call costs from what a byte costs; a range can: byte by byte both the calls and the time
// grow with the size, in one piece neither does. README.md walks through it.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "writes.h"

namespace {

using Write = bool (*)(int fd, std::span<const char> payload);

void write_to_null(benchmark::State& state, Write write_payload) {
  const std::vector<char> payload(static_cast<std::size_t>(state.range(0)));
  const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (auto _ : state) {
    if (!write_payload(fd, payload)) {
      state.SkipWithError("cannot write to /dev/null");
      break;
    }
  }
  close(fd);
  state.SetComplexityN(state.range(0));
}

void BM_ByteByByte(benchmark::State& state) {
  write_to_null(state, batched_writes::write_byte_by_byte);
}
void BM_InOnePiece(benchmark::State& state) {
  write_to_null(state, batched_writes::write_in_one_piece);
}

/// BATCHED_WRITES_BUG, if set, has the buffer flushed after each byte.
void BM_Buffered(benchmark::State& state) {
  static const bool is_flushed_always = std::getenv("BATCHED_WRITES_BUG") != nullptr;
  const std::vector<char> payload(static_cast<std::size_t>(state.range(0)));
  const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (auto _ : state) {
    if (!batched_writes::write_buffered(fd, payload, is_flushed_always)) {
      state.SkipWithError("cannot write to /dev/null");
      break;
    }
  }
  close(fd);
}

// The complexity is what the times are fitted with: so much for each byte, or so much whatever the size.
BENCHMARK(BM_ByteByByte)->RangeMultiplier(4)->Range(16, 1024)->Complexity(benchmark::oN);
BENCHMARK(BM_InOnePiece)->RangeMultiplier(4)->Range(16, 1024)->Complexity(benchmark::o1);
// Sizes around a multiple of the block show where a block ends.
BENCHMARK(BM_Buffered)->ArgName("bytes")->Arg(1)->Arg(255)->Arg(256)->Arg(257)->Arg(1024)->Arg(1025)->Arg(5000);

}  // namespace

BENCHMARK_MAIN();
