// SPDX-License-Identifier: MIT
//
// GPU drivers: the names of their ioctls, where their arguments say more, and the names of their threads. Numbers and
// names are facts of the drivers' public interfaces; a number without a name stays a number, because drivers grow
// faster than tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/syscall_id.h"

namespace syscost::gpu {

/// Adds to `details` where GPU drivers' requests say more and how their threads are called, as far as there is room,
/// and makes detail_text() name their requests. Between windows.
void add_knowledge(DetailRequest& details);
/// Gives rows the names of requests; part of add_knowledge().
void add_names();

/// The rules for the NVIDIA driver's device files.
std::span<const RequestRule> nvidia_rules();

// The namers, one for each family of device files; see RequestNamer.
RequestNames nvidia_names(const CallDetail& detail, const DeviceName& device);
RequestNames drm_names(const CallDetail& detail, const DeviceName& device);
RequestNames kfd_names(const CallDetail& detail, const DeviceName& device);

// ---- for the namers -------------------------------------------------------------------------------------------------

struct Named {
  std::uint32_t number;
  std::string_view name;
};

/// Empty when the table, which is ascending, does not have it.
std::string_view find_name(std::span<const Named> table, std::uint32_t number);
/// The name, else the number: `0x2080ffff`.
std::string name_or_number(std::span<const Named> table, std::uint32_t number);
std::string number_text(std::uint32_t number);

/// The parts of a request made by the kernel's _IOC macro.
constexpr std::uint32_t request_number(std::uint32_t request) {
  return request & 0xffU;
}
constexpr char request_type(std::uint32_t request) {
  return static_cast<char>(request >> 8U & 0xffU);
}

}  // namespace syscost::gpu
