// SPDX-License-Identifier: MIT
//
// MappedPeakMeter: the most memory that the process had mapped after one of its calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace syscost {

class MappedPeakMeter {
 public:
  static constexpr std::string_view kExtension = "mapped peak";  ///< Backend::extension()

  virtual ~MappedPeakMeter() = default;
  MappedPeakMeter(const MappedPeakMeter&) = delete;
  MappedPeakMeter& operator=(const MappedPeakMeter&) = delete;

  /// Before begin_mapped_peak(). Makes syscalls.
  virtual void prepare_mapped_peak() {}
  /// From now on the kernel is asked, after each counted call that maps memory, how much the process has mapped. Makes
  /// no syscall. Between windows.
  virtual void begin_mapped_peak() = 0;
  /// Ends it: the most bytes that were mapped after such a call; 0 = there was none. Empty if the kernel was not asked
  /// each time. Between windows.
  virtual std::optional<std::uint64_t> end_mapped_peak() = 0;

 protected:
  MappedPeakMeter() = default;
};

}  // namespace syscost
