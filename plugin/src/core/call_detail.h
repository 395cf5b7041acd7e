// SPDX-License-Identifier: MIT
//
// CallDetail: what distinguishes one call of a syscall from another, beyond the syscall's number.
//
// `ioctl` is one number for thousands of requests: a launch, a copy and an allocation on a GPU are all ioctls. With
// --syscost_detail a backend keeps separate counts for calls that differ in one of these fields; with --syscost_where
// for calls of different places in the program.
//
// `read` is one number, too, for files, pipes and sockets. With --syscost_detail file, calls that move data are told
// apart by the kind of their file.
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
  none = 0,  ///< The call is not distinguished by its file.
  bad_descriptor = 1,
  character_device = 2,
  block_device = 3,
  file = 4,
  directory = 5,
  pipe = 6,
  socket = 7,
  other = 8,  ///< eventfd, perf events and similar files.
  // Of calls that move data only:
  terminal = 9,
  unknown = 10,  ///< It could not be asked for.
};

/// All 0 = no detail. All values are those at the call's entry, except `status`.
struct CallDetail {
  FileKind file = FileKind::none;
  FileKind to = FileKind::none;   ///< Of a call that moves data from `file` to another file.
  bool is_kind_only = false;      ///< The call moves data: of its files the kinds count, and nothing else.
  bool is_driver_thread = false;  ///< A driver's thread made the call, not one of the program's.
  bool has_command = false;       ///< `command` could be read.
  std::uint32_t device = 0;       ///< Of a device file, as the kernel packs it: major << 20 | minor.
  std::uint32_t request = 0;      ///< ioctl's second argument: the 32 bits that the kernel uses.
  std::uint32_t command = 0;      ///< The command in the request's argument, if a rule gives its position.
  std::uint32_t status = 0;       ///< The driver's error in the argument of a call that succeeded; 0 = no failure.
  std::uint32_t stack = 0;        ///< The call's stack, in its backend's StackSource (call_stack.h); 0 = none.

  std::uint32_t major() const { return device >> 20; }
  std::uint32_t minor() const { return device & 0xf'ffffU; }
  bool empty() const { return *this == CallDetail(); }

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 within a defaulted <=> for ours
  friend constexpr auto operator<=>(const CallDetail&, const CallDetail&) = default;
};

/// The positions of the command and of the status in a request's argument. The first rule that fits applies.
struct RequestRule {
  static constexpr std::uint16_t kNowhere = 0xffff;

  std::uint32_t device = 0;  ///< The device must equal this in the bits of the mask.
  std::uint32_t device_mask = 0;
  std::uint32_t request = 0;  ///< And the request this.
  std::uint32_t request_mask = 0;
  std::uint16_t command_at = kNowhere;  ///< Offset in bytes, read when the call enters.
  std::uint16_t status_at = kNowhere;   ///< Offset in bytes, read when it has succeeded.
};

/// The details that --syscost_detail requests.
struct DetailRequest {
  bool ioctls = false;  ///< By file and request.
  std::vector<RequestRule> rules;
  /// If a thread's name begins with one of these, it is a driver's thread.
  std::vector<std::string> driver_threads;
  bool files = false;  ///< Calls that move data, by the kind of file.

  bool any() const { return needs_kernel() || files; }
  /// Only a program in the kernel finds these out.
  bool needs_kernel() const { return ioctls || !driver_threads.empty(); }
  bool operator==(const DetailRequest& other) const {
    return ioctls == other.ioctls && driver_threads == other.driver_threads && files == other.files;
  }
};
/// Limits: bytes of a thread's name in the kernel, and how many names and rules there can be.
inline constexpr std::size_t kMaxThreadName = 15;
inline constexpr std::size_t kMaxDriverThreads = 8;
inline constexpr std::size_t kMaxRequestRules = 32;

/// A device file, by its names in /sys and /proc. Made between windows.
struct DeviceName {
  std::string node;    ///< `nvidia-uvm`, `dri/renderD128`; else `char 10:229`.
  std::string driver;  ///< The device's driver: `amdgpu`; empty when unknown.
  std::string family;  ///< Of the device's major number in /proc/devices: `nvidia-uvm`; empty when unknown.
};

/// Names for a driver's numbers: the text after the device in a detail ("RM_ALLOC COMPUTE"), and a name for a device
/// that has none in the kernel. Both empty = the device belongs to another driver.
struct RequestNames {
  std::string device;  ///< Empty = as `DeviceName::node`.
  std::string request;
};
using RequestNamer = RequestNames (*)(const CallDetail& detail, const DeviceName& device);

/// Call it before the first window. At most 8 namers; later ones are ignored.
void add_request_namer(RequestNamer namer);

/// The text for people: `nvidiactl RM_ALLOC COMPUTE`, `null 0x5401`, `pipe`, `file to socket`, `driver thread`; empty
/// for no detail. Looks devices up in /sys and /proc, each once: between windows only.
std::string detail_text(const CallDetail& detail);

}  // namespace syscost
