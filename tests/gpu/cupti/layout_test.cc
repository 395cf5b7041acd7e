// SPDX-License-Identifier: MIT
//
// Compares the places of a record's fields with NVIDIA's header. It is compiled only if the header is installed. Every
// version of the structs that the header still has must fit the one set of numbers.
#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "extras/gpu/cupti/activity.h"
#include "extras/gpu/cupti/library.h"

namespace syscost::gpu::cupti {
namespace {

template <class Kernel>
constexpr bool is_kernel() {
  return offsetof(Kernel, start) == layout::kGpuKernelStart && offsetof(Kernel, end) == layout::kGpuKernelEnd &&
         offsetof(Kernel, correlationId) == layout::kGpuKernelCorrelation &&
         offsetof(Kernel, name) == layout::kGpuKernelName;
}
template <class Copied>
constexpr bool is_copy() {
  return offsetof(Copied, copyKind) == layout::kCopyKind && offsetof(Copied, bytes) == layout::kCopyBytes &&
         offsetof(Copied, start) == layout::kCopyStart && offsetof(Copied, end) == layout::kCopyEnd &&
         offsetof(Copied, correlationId) == layout::kCopyCorrelation;
}

template <class Copied>
constexpr bool is_peer_copy() {
  return offsetof(Copied, bytes) == layout::kCopyBytes && offsetof(Copied, start) == layout::kCopyStart &&
         offsetof(Copied, end) == layout::kCopyEnd && offsetof(Copied, correlationId) == layout::kPeerCopyCorrelation;
}

TEST(CuptiLayout, IsThatOfTheHeader) {
  EXPECT_TRUE(is_kernel<CUpti_ActivityKernel4>());
#if CUPTI_API_VERSION >= 13
  EXPECT_TRUE(is_kernel<CUpti_ActivityKernel5>());
  EXPECT_TRUE(is_copy<CUpti_ActivityMemcpy>());
  EXPECT_TRUE(is_peer_copy<CUpti_ActivityMemcpyPtoP>());
#endif
#if CUPTI_API_VERSION >= 18
  EXPECT_TRUE(is_kernel<CUpti_ActivityKernel6>());
  EXPECT_TRUE(is_kernel<CUpti_ActivityKernel7>());
  EXPECT_TRUE(is_kernel<CUpti_ActivityKernel8>());
  EXPECT_TRUE(is_copy<CUpti_ActivityMemcpy3>());
  EXPECT_TRUE(is_copy<CUpti_ActivityMemcpy4>());
  EXPECT_TRUE(is_copy<CUpti_ActivityMemcpy5>());
#endif
#if CUPTI_API_VERSION >= 19
  EXPECT_TRUE(is_kernel<CUpti_ActivityKernel9>());
#endif
#if CUPTI_API_VERSION >= 130000
  EXPECT_TRUE(is_kernel<CUpti_ActivityKernel10>());
  EXPECT_TRUE(is_copy<CUpti_ActivityMemcpy6>());
  EXPECT_TRUE(is_peer_copy<CUpti_ActivityMemcpyPtoP4>());
#endif
  EXPECT_EQ(offsetof(CUpti_ActivityAPI, start), layout::kCallStart);
  EXPECT_EQ(offsetof(CUpti_ActivityAPI, end), layout::kCallEnd);
  EXPECT_EQ(offsetof(CUpti_ActivityAPI, correlationId), layout::kCallCorrelation);
}

TEST(CuptiLayout, KindsAreThoseOfTheHeader) {
  EXPECT_EQ(kMemcpy, static_cast<std::uint32_t>(CUPTI_ACTIVITY_KIND_MEMCPY));
  EXPECT_EQ(kMemcpyPeer, static_cast<std::uint32_t>(CUPTI_ACTIVITY_KIND_MEMCPY2));
  EXPECT_EQ(kDriverCall, static_cast<std::uint32_t>(CUPTI_ACTIVITY_KIND_DRIVER));
  EXPECT_EQ(kRuntimeCall, static_cast<std::uint32_t>(CUPTI_ACTIVITY_KIND_RUNTIME));
  EXPECT_EQ(kConcurrentKernel, static_cast<std::uint32_t>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  EXPECT_EQ(kSuccess, CUPTI_SUCCESS);
}

/// The header's functions as ours: a changed one does not compile.
TEST(CuptiLayout, FunctionsTakeWhatTheHeaderSays) {
  static_assert(sizeof(CUptiResult) == sizeof(Status));
  static_assert(sizeof(CUpti_ActivityKind) == sizeof(int));
  static_assert(sizeof(CUpti_CallbackDomain) == sizeof(int));
  static_assert(sizeof(CUpti_CallbackId) == sizeof(std::uint32_t));
  CUptiResult (*const enable)(CUpti_ActivityKind) = nullptr;
  CUptiResult (*const flush)(std::uint32_t) = nullptr;
  CUptiResult (*const next)(std::uint8_t*, std::size_t, CUpti_Activity**) = nullptr;
  CUptiResult (*const dropped)(CUcontext, std::uint32_t, std::size_t*) = nullptr;
  EXPECT_TRUE((std::is_same_v<decltype(enable), decltype(&cuptiActivityEnable) const>));
  EXPECT_TRUE((std::is_same_v<decltype(flush), decltype(&cuptiActivityFlushAll) const>));
  EXPECT_TRUE((std::is_same_v<decltype(next), decltype(&cuptiActivityGetNextRecord) const>));
  EXPECT_TRUE((std::is_same_v<decltype(dropped), decltype(&cuptiActivityGetNumDroppedRecords) const>));
}

}  // namespace
}  // namespace syscost::gpu::cupti
