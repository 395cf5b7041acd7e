// SPDX-License-Identifier: MIT
//
// Reads a stamp file (docs/gpu.md): its launches, each with what was stamped.
//
// A line that cannot be used becomes a problem with its number, and the next one is read. A cell that cannot be what
// its column says is never read as 0: the row is refused with the column's name and text.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "csv/input.h"
#include "csv/problems.h"
#include "syscost/gpu/stamps.h"

namespace syscost::bench::gpu_stamps {

/// The cells of one row.
using StampCells = std::array<std::string_view, gpu::kStampColumnCount>;

/// Puts the rows of a stamp file together to launches, checking what the format promises.
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

/// True for an open input that begins as a stamp file does.
bool is_stamp_file(csv::Input& input);

/// The launches of the open `input`, in the order in which they appear in it.
std::vector<gpu::StampedLaunch> read_stamps(csv::Input& input, csv::Problems& problems);

/// The same for a file that is not open yet.
std::vector<gpu::StampedLaunch> read_stamps(const std::string& file, csv::Problems& problems);

/// The same for text in memory, called `name` in messages.
std::vector<gpu::StampedLaunch> read_stamps_text(const std::string& name, std::string_view text,
                                                 csv::Problems& problems);

}  // namespace syscost::bench::gpu_stamps
