// SPDX-License-Identifier: MIT
//
// MappedPeak: the most memory that was mapped after a call, by the dispatch backend.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/dispatch/ability.h"
#include "extras/leaks/core/mapped_peak.h"

namespace syscost::dispatch {

/// Lets the stub ask the kernel how much memory is mapped, after calls that map some (stub/user_memory.h). One at a
/// time. Its functions are for between windows.
class MappedPeak final : public MappedPeakMeter, public Ability {
 public:
  /// `sees_all`: as StringCopies::start().
  explicit MappedPeak(bool sees_all) : sees_all_(sees_all) {}
  ~MappedPeak() override;
  MappedPeak(const MappedPeak&) = delete;
  MappedPeak& operator=(const MappedPeak&) = delete;

  void* find(std::string_view name) override {
    return name == kExtension ? static_cast<MappedPeakMeter*>(this) : nullptr;
  }
  /// Finds out if the kernel may be asked. Makes syscalls.
  void prepare_mapped_peak() override;
  /// From now on the kernel is asked, if it may be. Makes no syscall.
  void begin_mapped_peak() override;
  std::optional<std::uint64_t> end_mapped_peak() override;
  /// Asks no more if a filter has been installed that the stub has not seen.
  void check() override;

 private:
  bool open_statm();

  const bool sees_all_;
  int statm_ = -1;
  bool is_tried_ = false;
  bool may_ask_ = false;
  bool is_ready_ = false;
  bool has_filter_ = false;
};

MadeAbility make_mapped_peak(const AbilityContext& context);

}  // namespace syscost::dispatch
