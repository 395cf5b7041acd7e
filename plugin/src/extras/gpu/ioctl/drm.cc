// SPDX-License-Identifier: MIT
//
// The kernel's graphics interfaces: DRM and AMD's KFD. DRM's upper numbers belong to the driver of the device.
// The tables are made by tools/gen_ioctl_tables.py.
#include "extras/gpu/ioctl/drivers.h"

namespace syscost::gpu {
namespace {

constexpr std::uint32_t kDrmMajor = 226;
// drm.h: DRM_COMMAND_BASE and DRM_COMMAND_END.
constexpr std::uint32_t kDriverBase = 0x40;
constexpr std::uint32_t kDriverEnd = 0xa0;
constexpr std::uint32_t kFirstRenderNode = 128;

constexpr Named kDrm[] = {
#include "extras/gpu/ioctl/drm_requests.inc"
};
constexpr Named kAmdgpu[] = {
#include "extras/gpu/ioctl/amdgpu_requests.inc"
};
constexpr Named kI915[] = {
#include "extras/gpu/ioctl/i915_requests.inc"
};
constexpr Named kNouveau[] = {
#include "extras/gpu/ioctl/nouveau_requests.inc"
};
constexpr Named kXe[] = {
#include "extras/gpu/ioctl/xe_requests.inc"
};
constexpr Named kKfd[] = {
#include "extras/gpu/ioctl/kfd_requests.inc"
};

struct Driver {
  std::string_view name;
  std::string_view prefix;
  std::span<const Named> requests;
};
constexpr Driver kDrivers[] = {
    {"amdgpu", "AMDGPU_", kAmdgpu}, {"i915", "I915_", kI915}, {"nouveau", "NOUVEAU_", kNouveau}, {"xe", "XE_", kXe}};

std::string drm_request(std::uint32_t request, const std::string& driver) {
  const std::uint32_t number = request_number(request);
  if (request_type(request) != 'd') return number_text(request);
  if (number < kDriverBase || number >= kDriverEnd) {
    const std::string_view name = find_name(kDrm, number);
    return name.empty() ? number_text(request) : "DRM_" + std::string(name);
  }
  for (const Driver& known : kDrivers) {
    if (known.name != driver) continue;
    const std::string_view name = find_name(known.requests, number - kDriverBase);
    if (!name.empty()) return std::string(known.prefix).append(name);
  }
  // The number means what the driver says, and that driver has no table, or a newer one.
  return (driver.empty() ? "" : driver + " ") + number_text(request);
}

}  // namespace

RequestNames drm_names(const CallDetail& detail, const DeviceName& device) {
  if (detail.file != FileKind::character_device || detail.major() != kDrmMajor) return {};
  RequestNames names;
  // Without the device in /sys its minor number says which kind of node it is.
  if (device.node.rfind("dri/", 0) != 0) {
    const std::uint32_t minor = detail.minor();
    names.device = (minor >= kFirstRenderNode ? "dri/renderD" : "dri/card") + std::to_string(minor);
  }
  names.request = drm_request(detail.request, device.driver);
  return names;
}

RequestNames kfd_names(const CallDetail& detail, const DeviceName& device) {
  if (detail.file != FileKind::character_device || (device.node != "kfd" && device.family != "kfd")) return {};
  const std::string_view name =
      request_type(detail.request) == 'K' ? find_name(kKfd, request_number(detail.request)) : std::string_view();
  return {"kfd", name.empty() ? number_text(detail.request) : "KFD_" + std::string(name)};
}

}  // namespace syscost::gpu
