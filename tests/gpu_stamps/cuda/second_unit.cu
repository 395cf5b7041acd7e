// SPDX-License-Identifier: MIT
//
// A second file with the same header: that both link is the test.
#include "syscost/gpu.cuh"

namespace syscost::gpu::testing {

__global__ void stamp_only(Recorder recorder) {
  Scope scope(recorder);
}

std::string launch_stamp_only() {
  Stamps stamps("stamp_only", 1, 32);
  if (!stamps.failure().empty()) return stamps.failure();
  stamp_only<<<1, 32>>>(stamps.recorder());
  return stamps.collect().failure;
}

}  // namespace syscost::gpu::testing
