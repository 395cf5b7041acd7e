// SPDX-License-Identifier: MIT
//
// MappedPeak: lets the stub ask the kernel how much memory is mapped, after calls that map some (stub/mapped_peak.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace syscost::dispatch {

/// One at a time. Its functions are for between windows.
class MappedPeak {
 public:
  MappedPeak() = default;
  ~MappedPeak();
  MappedPeak(const MappedPeak&) = delete;
  MappedPeak& operator=(const MappedPeak&) = delete;

  /// Finds out if the kernel may be asked. Makes syscalls. `sees_all`: as StringCopies::start().
  void prepare(bool sees_all);
  /// From now on the kernel is asked, if it may be. Makes no syscall.
  void begin() const;
  /// Ends what begin() began. The most pages that were mapped after a counted call, 0 = no call mapped memory. Empty:
  /// the kernel was not asked each time.
  std::optional<std::uint64_t> end() const;
  /// Asks no more if a filter has been installed that the stub has not seen.
  void check() const;

 private:
  bool open_statm();

  int statm_ = -1;
  bool is_tried_ = false;
  bool may_ask_ = false;
  bool is_ready_ = false;
  bool has_filter_ = false;
};

}  // namespace syscost::dispatch
