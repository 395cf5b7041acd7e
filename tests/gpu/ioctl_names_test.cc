// SPDX-License-Identifier: MIT
//
// Requests as programs on GPUs make them, written down beside what they are called. No GPU, no driver.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "extras/gpu/ioctl/drivers.h"

namespace syscost::gpu {
namespace {

constexpr std::uint32_t kNvidiactl = 195U << 20 | 255;
constexpr std::uint32_t kNvidia0 = 195U << 20;
constexpr std::uint32_t kUvm = 511U << 20;
constexpr std::uint32_t kRenderNode = 226U << 20 | 128;
constexpr std::uint32_t kKfd = 240U << 20;

CallDetail request(std::uint32_t device, std::uint32_t number) {
  return {.file = FileKind::character_device, .device = device, .request = number};
}
CallDetail command(std::uint32_t device, std::uint32_t number, std::uint32_t what, std::uint32_t status = 0) {
  CallDetail detail = request(device, number);
  detail.has_command = true;
  detail.command = what;
  detail.status = status;
  return detail;
}
DeviceName of_family(std::string family) {
  return {{}, {}, std::move(family)};
}
DeviceName of_driver(std::string driver) {
  return {{}, std::move(driver), {}};
}
DeviceName called(std::string node, std::string driver = {}) {
  return {std::move(node), std::move(driver), {}};
}
std::string text(const RequestNames& names) {
  return names.device.empty() ? names.request : names.device + " " + names.request;
}

TEST(Nvidia, NamesRequestsByTheirNumberWhateverTheirSize) {
  EXPECT_EQ(text(nvidia_names(request(kNvidiactl, 0xc048'46d2), {})), "nvidiactl CHECK_VERSION_STR");
  EXPECT_EQ(text(nvidia_names(request(kNvidiactl, 0xca00'46c8), {})), "nvidiactl CARD_INFO");
  EXPECT_EQ(text(nvidia_names(request(kNvidiactl, 0xc000'46c8), {})), "nvidiactl CARD_INFO");
  EXPECT_EQ(text(nvidia_names(request(kNvidia0, 0xc038'464e), {})), "nvidia0 RM_MAP_MEMORY");
  EXPECT_EQ(text(nvidia_names(request(kNvidia0 | 3, 0xc010'4629), {})), "nvidia3 RM_FREE");
}

TEST(Nvidia, NamesTheCommandAndTheClass) {
  EXPECT_EQ(text(nvidia_names(command(kNvidiactl, 0xc020'462a, 0x2080'0102), {})),
            "nvidiactl RM_CONTROL GPU_GET_INFO_V2");
  EXPECT_EQ(text(nvidia_names(command(kNvidiactl, 0xc030'462b, 0x41), {})), "nvidiactl RM_ALLOC ROOT_CLIENT");
  EXPECT_EQ(text(nvidia_names(command(kNvidiactl, 0xc010'46d3, 0x2a), {})), "nvidiactl IOCTL_XFER_CMD RM_CONTROL");
}

TEST(Nvidia, NamesTheStatusOfWhatFailedForTheDriver) {
  EXPECT_EQ(text(nvidia_names(command(kNvidiactl, 0xc030'462b, 0x40, 0x51), {})),
            "nvidiactl RM_ALLOC MEMORY_LOCAL_USER status NV_ERR_NO_MEMORY");
}

TEST(Nvidia, LeavesNumbersThatItDoesNotKnow) {
  EXPECT_EQ(text(nvidia_names(request(kNvidiactl, 0xc010'46fe), {})), "nvidiactl 0xc01046fe");
  EXPECT_EQ(text(nvidia_names(command(kNvidiactl, 0xc020'462a, 0x2080'ffff), {})), "nvidiactl RM_CONTROL 0x2080ffff");
  EXPECT_EQ(text(nvidia_names(command(kNvidiactl, 0xc030'462b, 0xfff0, 0xbeef), {})),
            "nvidiactl RM_ALLOC 0xfff0 status 0xbeef");
  EXPECT_EQ(text(nvidia_names(request(195U << 20 | 254, 0xc010'6d00), {})), "nvidia-modeset 0xc0106d00");
  EXPECT_EQ(text(nvidia_names(request(kUvm, 9999), of_family("nvidia-uvm"))), "nvidia-uvm 0x270f");
}

TEST(Nvidia, KnowsUnifiedMemoryByTheNameOfItsMajorNumber) {
  EXPECT_EQ(text(nvidia_names(request(kUvm, 0x3000'0001), of_family("nvidia-uvm"))), "nvidia-uvm UVM_INITIALIZE");
  EXPECT_EQ(text(nvidia_names(request(kUvm, 33), of_family("nvidia-uvm"))), "nvidia-uvm UVM_MAP_EXTERNAL_ALLOCATION");
  EXPECT_EQ(text(nvidia_names(request(kUvm, 33), of_family("another"))), "");
}

TEST(Nvidia, TakesNoOtherDevice) {
  EXPECT_EQ(text(nvidia_names(request(1U << 20 | 3, 0xc020'462a), called("null"))), "");
  CallDetail block = request(kNvidiactl, 0xc020'462a);
  block.file = FileKind::block_device;
  EXPECT_EQ(text(nvidia_names(block, {})), "");
}

// The offsets of command and status in a rule are those of the driver's structures.
TEST(Nvidia, FindsCommandAndStatusInTheDriversStructures) {
  const auto rule_for = [](const CallDetail& detail) {
    for (const RequestRule& rule : nvidia_rules()) {
      if ((detail.device & rule.device_mask) == rule.device && (detail.request & rule.request_mask) == rule.request) {
        return rule;
      }
    }
    return RequestRule{};
  };
  struct Control {  // NVOS54_PARAMETERS
    std::uint32_t client, object, command, flags;
    std::uint64_t params;
    std::uint32_t params_bytes, status;
  };
  struct Alloc {  // NVOS64_PARAMETERS
    std::uint32_t root, parent, fresh, object_class;
    std::uint64_t params, rights;
    std::uint32_t params_bytes, flags, status;
  };
  const RequestRule control = rule_for(request(kNvidiactl, 0xc000'462a | sizeof(Control) << 16));
  EXPECT_EQ(control.command_at, offsetof(Control, command));
  EXPECT_EQ(control.status_at, offsetof(Control, status));
  const RequestRule alloc = rule_for(request(kNvidia0, 0xc000'462b | sizeof(Alloc) << 16));
  EXPECT_EQ(alloc.command_at, offsetof(Alloc, object_class));
  EXPECT_EQ(alloc.status_at, offsetof(Alloc, status));
  // An unknown size, as of a later driver: then the place of the status is unknown, too.
  EXPECT_EQ(rule_for(request(kNvidiactl, 0xc080'462b)).command_at, offsetof(Alloc, object_class));
  EXPECT_EQ(rule_for(request(kNvidiactl, 0xc080'462b)).status_at, RequestRule::kNowhere);
  EXPECT_EQ(rule_for(request(1U << 20 | 3, 0xc020'462a)).command_at, RequestRule::kNowhere);
}

TEST(Drm, NamesItsOwnRequestsWhateverTheDriver) {
  EXPECT_EQ(text(drm_names(request(kRenderNode, 0xc040'6400), {})), "dri/renderD128 DRM_VERSION");
  EXPECT_EQ(text(drm_names(request(226U << 20, 0x4008'6409), called("dri/card0", "new"))), "DRM_GEM_CLOSE");
  EXPECT_EQ(text(drm_names(request(kRenderNode, 0xc030'64c3), {})), "dri/renderD128 DRM_SYNCOBJ_WAIT");
}

TEST(Drm, NamesADriversRequestsOnlyForThatDriver) {
  const std::uint32_t number = 0xc018'6444;
  EXPECT_EQ(text(drm_names(request(kRenderNode, number), of_driver("amdgpu"))), "dri/renderD128 AMDGPU_CS");
  EXPECT_EQ(text(drm_names(request(kRenderNode, 0xc040'6469), of_driver("i915"))),
            "dri/renderD128 I915_GEM_EXECBUFFER2");
  EXPECT_EQ(text(drm_names(request(kRenderNode, 0x4038'6449), of_driver("xe"))), "dri/renderD128 XE_EXEC");
  EXPECT_EQ(text(drm_names(request(kRenderNode, number), of_driver("panfrost"))), "dri/renderD128 panfrost 0xc0186444");
  EXPECT_EQ(text(drm_names(request(kRenderNode, number), {})), "dri/renderD128 0xc0186444");
}

TEST(Kfd, NamesItsRequests) {
  EXPECT_EQ(text(kfd_names(request(kKfd, 0xc028'4b16), called("kfd"))), "kfd KFD_ALLOC_MEMORY_OF_GPU");
  EXPECT_EQ(text(kfd_names(request(kKfd, 0xc018'4b0c), of_family("kfd"))), "kfd KFD_WAIT_EVENTS");
  EXPECT_EQ(text(kfd_names(request(kKfd, 0xc018'4bfe), of_family("kfd"))), "kfd 0xc0184bfe");
  EXPECT_EQ(text(kfd_names(request(kKfd, 0xc018'4b0c), called("null"))), "");
}

TEST(Knowledge, LeavesRoomForWhatTheUserNamed) {
  DetailRequest details{true, {}, {"mine"}};
  add_knowledge(details);
  EXPECT_EQ(details.driver_threads.front(), "mine");
  EXPECT_LE(details.rules.size(), kMaxRequestRules);
  DetailRequest full{true, {}, std::vector<std::string>(kMaxDriverThreads, "x")};
  add_knowledge(full);
  EXPECT_EQ(full.driver_threads.size(), kMaxDriverThreads);
}

// End to end through detail_text(), on a device that is here.
TEST(Knowledge, LeavesOtherDevicesTheirNames) {
  DetailRequest details{true, {}, {}};
  add_knowledge(details);
  EXPECT_EQ(detail_text(request(1U << 20 | 3, 0x5401)), "null 0x5401");
  EXPECT_EQ(detail_text(command(kNvidiactl, 0xc030'462b, 0x41)), "nvidiactl RM_ALLOC ROOT_CLIENT");
  CallDetail made_by_driver = request(kNvidiactl, 0xc010'4629);
  made_by_driver.is_driver_thread = true;
  EXPECT_EQ(detail_text(made_by_driver), "driver thread: nvidiactl RM_FREE");
}

}  // namespace
}  // namespace syscost::gpu
