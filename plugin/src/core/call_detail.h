// SPDX-License-Identifier: MIT
//
// CallDetail: what a syscall was about, beyond its number.
//
// `ioctl` is one number for thousands of requests: a launch, a copy and an allocation on a GPU are all ioctls. Where
// details are asked for (--syscost_detail), a backend tells calls apart by what is here, each with counts of its own,
// and what is not here is the same in all of them.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "os/result.h"

namespace syscost {

/// What a file descriptor stands for.
enum class FileKind : std::uint8_t {
  none = 0,  ///< The call is not told apart by its request.
  bad_descriptor = 1,
  character_device = 2,
  block_device = 3,
  file = 4,
  directory = 5,
  pipe = 6,
  socket = 7,
  other = 8,  ///< eventfd, perf and their like.
};

/// All 0 = no detail. Everything is as it was when the call entered, but for `status`.
struct CallDetail {
  FileKind file = FileKind::none;
  bool is_driver_thread = false;  ///< Made by a thread of a driver's, not of the program's.
  bool has_command = false;       ///< `command` could be read.
  std::uint32_t device = 0;       ///< Of a device file, as the kernel packs it: major << 20 | minor.
  std::uint32_t request = 0;      ///< ioctl's second argument, as far as the kernel looks at it.
  std::uint32_t command = 0;      ///< What the request's argument says is wanted; where a rule knows where.
  std::uint32_t status = 0;       ///< What the driver put into the argument of a call that succeeded; 0 = no failure.

  std::uint32_t major() const { return device >> 20; }
  std::uint32_t minor() const { return device & 0xf'ffffU; }
  bool empty() const { return *this == CallDetail(); }

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 within a defaulted <=> for ours
  friend constexpr auto operator<=>(const CallDetail&, const CallDetail&) = default;
};

/// Where in a request's argument 32 bits lie that tell more. The first rule that fits decides.
struct RequestRule {
  static constexpr std::uint16_t kNowhere = 0xffff;

  std::uint32_t device = 0;  ///< The device must equal this in the bits of the mask.
  std::uint32_t device_mask = 0;
  std::uint32_t request = 0;  ///< And the request this.
  std::uint32_t request_mask = 0;
  std::uint16_t command_at = kNowhere;  ///< Offset in bytes, read when the call enters.
  std::uint16_t status_at = kNowhere;   ///< Offset in bytes, read when it has succeeded.
};

/// What --syscost_detail asks for.
struct DetailRequest {
  bool ioctls = false;
  std::vector<RequestRule> rules;
  /// If a thread's name begins with one of these, it is a driver's thread.
  std::vector<std::string> driver_threads;

  bool any() const { return ioctls || !driver_threads.empty(); }
  bool operator==(const DetailRequest& other) const {
    return ioctls == other.ioctls && driver_threads == other.driver_threads;
  }
};
/// Of a thread's name, as the kernel keeps it.
inline constexpr std::size_t kMaxThreadName = 15;
inline constexpr std::size_t kMaxDriverThreads = 8;
inline constexpr std::size_t kMaxRequestRules = 32;

/// A device file, as far as /sys and /proc know it. Made between windows.
struct DeviceName {
  std::string node;    ///< `nvidia-uvm`, `dri/renderD128`; else `char 10:229`.
  std::string driver;  ///< The device's driver: `amdgpu`; empty when unknown.
  std::string family;  ///< Of the device's major number in /proc/devices: `nvidia-uvm`; empty when unknown.
};

/// Puts names where a driver's numbers are: what follows the device in a detail's text ("RM_ALLOC COMPUTE"), and, where
/// the kernel has none, the device's own name. Empty = not its device.
struct RequestNames {
  std::string device;  ///< Empty = as `DeviceName::node`.
  std::string request;
};
using RequestNamer = RequestNames (*)(const CallDetail& detail, const DeviceName& device);

/// Before the first window; at most 8, later ones are ignored.
void add_request_namer(RequestNamer namer);

/// As people read it: `nvidiactl RM_ALLOC COMPUTE`, `null 0x5401`, `driver thread`; empty for no detail. Looks devices
/// up in /sys and /proc, each once: between windows only.
std::string detail_text(const CallDetail& detail);

}  // namespace syscost
