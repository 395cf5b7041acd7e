// SPDX-License-Identifier: MIT
//
// MappedPeak: the most memory that was mapped after a call, by the eBPF backend.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "backends/ebpf/ability.h"
#include "extras/leaks/core/mapped_peak.h"

namespace syscost::ebpf {

/// The programs note it for each CPU while the directory asks for it.
class MappedPeak final : public MappedPeakMeter, public Ability {
 public:
  explicit MappedPeak(const ProcessAttachment& programs) : programs_(programs) {}

  void* find(std::string_view name) override {
    return name == kExtension ? static_cast<MappedPeakMeter*>(this) : nullptr;
  }
  void begin_mapped_peak() override;
  std::optional<std::uint64_t> end_mapped_peak() override;

 private:
  const ProcessAttachment& programs_;
};

/// AbilityMaker.
std::unique_ptr<Ability> make_mapped_peak(const ProcessAttachment& programs);

}  // namespace syscost::ebpf
