// SPDX-License-Identifier: MIT
//
// AskedKinds: lets the stub ask for the kinds of the files that calls move data between (stub/file_kinds.h).
#pragma once

#include <string>

namespace syscost::dispatch {

/// One at a time. Its functions are for between windows.
class AskedKinds {
 public:
  AskedKinds() = default;
  ~AskedKinds();
  AskedKinds(const AskedKinds&) = delete;
  AskedKinds& operator=(const AskedKinds&) = delete;

  /// `sees_all`: as StringCopies::start().
  void start(bool sees_all);
  /// Timed passes pay nothing for it.
  void pause();
  void resume();
  /// Asks no more if a filter has been installed that the stub has not seen.
  void check() const;

  /// Why all kinds are unknown; empty if they are not.
  const std::string& why_not() const { return why_not_; }

 private:
  bool is_started_ = false;
  bool has_filter_ = false;
  std::string why_not_;
};

}  // namespace syscost::dispatch
