// SPDX-License-Identifier: MIT
//
// LaunchBuilder: puts the rows of a stamp file together to launches, checking what the format promises.
//
// A cell that cannot be what its column says is never read as 0: the row is refused with the column's name and text.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "syscost/gpu/stamps.h"

namespace syscost::bench::gpu_stamps {

/// The cells of one row.
using StampCells = std::array<std::string_view, gpu::kStampColumnCount>;

class LaunchBuilder {
 public:
  /// Returns what is wrong with the row, or "".
  std::string add(const StampCells& row);
  std::vector<gpu::StampedLaunch> take() { return std::move(launches_); }

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::uint64_t>;

  gpu::StampedLaunch& launch_of(Key key);

  std::vector<gpu::StampedLaunch> launches_;
  std::map<Key, std::size_t> by_key_;
  std::set<Key> described_;  ///< The `launch` row of these was read.
  Key last_key_;
  std::size_t last_ = 0;
};

}  // namespace syscost::bench::gpu_stamps
