// SPDX-License-Identifier: MIT
#include "extras/gpu/ioctl/drivers.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace syscost::gpu {
namespace {

/// CUDA's threads are called `cuda-EvtHandlr`, `cuda00001400006` and the like.
constexpr std::array<std::string_view, 1> kDriverThreads = {"cuda"};

}  // namespace

void add_knowledge(DetailRequest& details) {
  for (const RequestRule& rule : nvidia_rules()) {
    if (details.rules.size() < kMaxRequestRules) details.rules.push_back(rule);
  }
  for (std::string_view name : kDriverThreads) {
    if (details.driver_threads.size() < kMaxDriverThreads) details.driver_threads.emplace_back(name);
  }
  add_names();
}

void add_names() {
  add_request_namer(nvidia_names);
  add_request_namer(drm_names);
  add_request_namer(kfd_names);
}

std::string_view find_name(std::span<const Named> table, std::uint32_t number) {
  const auto at = std::lower_bound(table.begin(), table.end(), number,
                                   [](const Named& entry, std::uint32_t value) { return entry.number < value; });
  return at != table.end() && at->number == number ? at->name : std::string_view();
}

std::string name_or_number(std::span<const Named> table, std::uint32_t number) {
  const std::string_view name = find_name(table, number);
  return name.empty() ? number_text(number) : std::string(name);
}

std::string number_text(std::uint32_t number) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%x", number);
  return text.data();
}

}  // namespace syscost::gpu
