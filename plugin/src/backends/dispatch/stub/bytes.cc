// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/bytes.h"

#include <cstddef>

#include "backends/dispatch/stub/file_kinds.h"

namespace syscost::signal_safe {
namespace {

struct Sources {
  std::uint8_t of[std::size_t{kAbis} * kNumbers] = {};
};

constexpr Sources make_sources() {
  Sources sources;
#define SYSCOST_BYTES(abi, number, way, source, files) sources.of[(abi)*kNumbers + (number)] = SYSCOST_BYTES_##source;
#include "core/tables/bytes_moved.inc"
#undef SYSCOST_BYTES
  for (std::size_t i = kNumbers; i < std::size_t{kAbis} * kNumbers; ++i) {
    std::uint8_t& source = sources.of[i];
    const bool is_result = source >= SYSCOST_BYTES_RESULT && source <= SYSCOST_BYTES_SIZE_5;
    const bool maps = maps_memory(static_cast<syscost_byte_source>(source));
    source = is_result ? SYSCOST_BYTES_RESULT : maps ? SYSCOST_BYTES_UNSAID : SYSCOST_BYTES_NONE;
  }
#define SYSCOST_UNSAID(abi, number) sources.of[(abi)*kNumbers + (number)] = SYSCOST_BYTES_UNSAID;
  SYSCOST_UNSAID_MAPPINGS(SYSCOST_UNSAID)
#undef SYSCOST_UNSAID
  return sources;
}

constexpr Sources kSources = make_sources();

}  // namespace

syscost_byte_source byte_source_of(std::uint64_t syscall) {
  constexpr unsigned kAbiAt = 32;
  const std::uint64_t abi = syscall >> kAbiAt & ~(std::uint64_t{0xffff} << (kKindsAt - kAbiAt));
  const std::uint64_t number = syscall & 0xffff'ffffU;
  if (abi >= kAbis || number >= kNumbers) return SYSCOST_BYTES_NONE;
  return static_cast<syscost_byte_source>(kSources.of[abi * kNumbers + number]);
}

}  // namespace syscost::signal_safe
