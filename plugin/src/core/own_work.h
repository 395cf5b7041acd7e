// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace syscost {

/// A part of a backend that must know while a thread works for syscost, because it would meddle with the thread's calls.
class OwnWorkListener {
 public:
  static constexpr std::string_view kExtension = "own work";  ///< Backend::extension()

  virtual ~OwnWorkListener() = default;
  OwnWorkListener(const OwnWorkListener&) = delete;
  OwnWorkListener& operator=(const OwnWorkListener&) = delete;

  /// The calling thread works for syscost until end_own_work() with what this returns. Any thread, at any time; nests.
  virtual void* begin_own_work() = 0;
  virtual void end_own_work(void* thread) = 0;

 protected:
  OwnWorkListener() = default;
};

}  // namespace syscost
