// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace syscost {

/// What CallDetail::origin stands for in the tables of a backend that tells calls apart by where they come from. Who
/// knows the backend knows more of it; before rows are written, a site (core/site_names.h) takes its place.
class CallOrigins {
 public:
  static constexpr std::string_view kExtension = "origins of calls";  ///< Backend::extension()

  virtual ~CallOrigins() = default;
  CallOrigins(const CallOrigins&) = delete;
  CallOrigins& operator=(const CallOrigins&) = delete;

 protected:
  CallOrigins() = default;
};

}  // namespace syscost
