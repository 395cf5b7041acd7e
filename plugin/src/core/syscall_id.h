// SPDX-License-Identifier: MIT
//
// SyscallId and CallDetail: which syscall a call is, and the details by which calls of one syscall are told apart.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "os/errors.h"

namespace syscost {

// `ioctl` is one number for thousands of requests: a launch, a copy and an allocation on a GPU are all ioctls. With
// --syscost_detail a backend keeps separate counts for calls that differ in one field of CallDetail; with
// --syscost_where for calls of different places in the program.
//
// `read` is one number, too, for files, pipes and sockets. With --syscost_detail file, calls that move data are told
// apart by the kind of their file.

/// The kind of the file that a descriptor stands for.
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
  // Only for calls that move data:
  terminal = 9,
  unknown = 10,  ///< It could not be asked for.
};

/// All 0 = no detail. All values are those at the call's entry, except `status`.
struct CallDetail {
  FileKind file = FileKind::none;
  FileKind to = FileKind::none;   ///< The other file, for a call that moves data from `file` to it.
  bool is_kind_only = false;      ///< The call moves data: of its files the kinds count, and nothing else.
  bool is_driver_thread = false;  ///< A driver's thread made the call, not one of the program's.
  bool has_command = false;       ///< `command` could be read.
  std::uint32_t device = 0;       ///< A device file's, as the kernel packs it: major << 20 | minor.
  std::uint32_t request = 0;      ///< ioctl's second argument: the 32 bits that the kernel uses.
  std::uint32_t command = 0;      ///< The command in the request's argument, if a rule gives its position.
  std::uint32_t status = 0;       ///< The driver's error in the argument of a call that succeeded; 0 = no failure.
  std::uint32_t origin = 0;       ///< Where the call comes from (CallOrigins); 0 = not told apart.

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
  std::string family;  ///< The name of the device's major number in /proc/devices: `nvidia-uvm`; empty when unknown.
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

/// The names of one ioctl's device and request, apart from each other, for those who print a call, not a row: by the
/// namer of the device's driver; the device's is its node if the namer has no other. Both empty if no namer knows the
/// device. As detail_text(): between windows only.
RequestNames request_names(const CallDetail& detail);

// A number alone does not name a syscall: 4 is `stat` for a 64-bit call on x86-64, `write` through int 0x80, and number
// 520 exists for x32 only. A process may mix these in one window, so the ABI travels with the number.

/// Which of the kernel's tables a number belongs to. Another architecture adds its name here and a table beside
/// syscall_table_x86_64.inc.
enum class Abi : std::uint8_t {
  x86_64 = 0,
  i386 = 1,  ///< int 0x80 and sysenter, also from 64-bit code.
  x32 = 2,   ///< 64-bit entry with __X32_SYSCALL_BIT set.
};
inline constexpr std::size_t kAbiCount = 3;
/// The ABI of the names without a prefix.
inline constexpr Abi kNativeAbi = Abi::x86_64;

struct SyscallId {
  Abi abi = Abi::x86_64;
  std::uint32_t number = 0;  ///< For x32 without __X32_SYSCALL_BIT.
  CallDetail detail = {};    ///< Empty unless details were requested.

  /// The syscall as such.
  constexpr SyscallId without_detail() const { return {abi, number}; }

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 within a defaulted <=> for ours
  friend constexpr auto operator<=>(const SyscallId&, const SyscallId&) = default;
};

/// A number so large that no table can ever hold it; prints as `unknown`. Everything of that kind is counted together.
inline constexpr SyscallId kUnknownSyscall{Abi::x86_64, 0xffff'ffffU};

/// The syscall of x86-64's 64-bit entry (the `syscall` instruction), from the value of rax.
constexpr SyscallId syscall_id_x86_64(std::uint64_t raw) {
  constexpr std::uint64_t kX32Bit = 0x4000'0000U;
  if (raw < kX32Bit) return {Abi::x86_64, static_cast<std::uint32_t>(raw)};
  if (raw < 2 * kX32Bit) return {Abi::x32, static_cast<std::uint32_t>(raw - kX32Bit)};
  return kUnknownSyscall;
}

}  // namespace syscost

template <>
struct std::hash<syscost::SyscallId> {
  std::size_t operator()(const syscost::SyscallId& id) const noexcept {
    return std::hash<std::uint64_t>{}(std::uint64_t{static_cast<std::uint8_t>(id.abi)} << 32 | id.number);
  }
};
