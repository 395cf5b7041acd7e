// SPDX-License-Identifier: MIT
#include "gpu_stamps/stamps_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "csv/input.h"
#include "csv/table.h"

namespace syscost::bench::gpu_stamps {
namespace {

using gpu::Extent3;
using gpu::Recorded;
using gpu::StampColumn;

/// Reads cells, and remembers the first that is not what its column says.
class Cells {
 public:
  explicit Cells(const StampCells& cells) : cells_(cells) {}

  std::string_view text(StampColumn column) const { return cells_[static_cast<std::size_t>(column)]; }
  const std::string& fault() const { return fault_; }

  void refuse(StampColumn column, std::string_view wanted) {
    if (!fault_.empty()) return;
    fault_ = fmt::format("column {} is \"{}\", not {}", gpu::kStampColumnNames[static_cast<std::size_t>(column)],
                         text(column).substr(0, 60), wanted);
  }

  Recorded number(StampColumn column) {
    const std::string_view cell = text(column);
    if (cell.empty()) return std::nullopt;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size()) {
      refuse(column, "a whole number");
      return std::nullopt;
    }
    return value;
  }

  /// Three columns that are filled together or not at all.
  std::optional<Extent3> extent(StampColumn x, StampColumn y, StampColumn z, bool is_size) {
    const Recorded along_x = number(x);
    const Recorded along_y = number(y);
    const Recorded along_z = number(z);
    if (!along_x && !along_y && !along_z) return std::nullopt;
    for (const auto& [column, value] : {std::pair(x, along_x), std::pair(y, along_y), std::pair(z, along_z)}) {
      if (!value || (is_size && *value == 0)) refuse(column, is_size ? "a size: 1 or more" : "a place");
      // CUDA's limit is 2^31 - 1; what is larger would overflow the numbers made of it.
      if (value.value_or(0) > 0x7FFFFFFF) refuse(column, "below 2^31");
    }
    if (!fault_.empty()) return std::nullopt;
    return Extent3{*along_x, *along_y, *along_z};
  }

  /// `first` to `last` belong to another record and are empty.
  void expect_empty(StampColumn first, StampColumn last) {
    for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) {
      if (!cells_[i].empty()) refuse(static_cast<StampColumn>(i), "empty, as it is on rows of this record");
    }
  }

 private:
  const StampCells& cells_;
  std::string fault_;
};

std::optional<gpu::Level> level_of(Cells& cells) {
  const std::string_view text = cells.text(StampColumn::kLevel);
  if (text == "thread") return gpu::Level::thread;
  if (text == "warp") return gpu::Level::warp;
  if (text == "block") return gpu::Level::block;
  if (!text.empty()) cells.refuse(StampColumn::kLevel, "thread, warp or block");
  return std::nullopt;
}

gpu::StampedLaunch read_launch(Cells& cells) {
  gpu::StampedLaunch launch;
  launch.device = cells.text(StampColumn::kDevice);
  launch.level = level_of(cells);
  launch.grid = cells.extent(StampColumn::kGridX, StampColumn::kGridY, StampColumn::kGridZ, true);
  launch.block = cells.extent(StampColumn::kBlockX, StampColumn::kBlockY, StampColumn::kBlockZ, true);
  launch.sm_count = cells.number(StampColumn::kSmCount);
  launch.blocks_per_sm = cells.number(StampColumn::kBlocksPerSm);
  launch.timer_step_ns = cells.number(StampColumn::kTimerStepNs);
  launch.gpu_anchor_ns = cells.number(StampColumn::kGpuAnchorNs);
  launch.host_anchor_ns = cells.number(StampColumn::kHostAnchorNs);
  launch.anchor_error_ns = cells.number(StampColumn::kAnchorErrorNs);
  launch.overflowed = cells.number(StampColumn::kOverflowed);
  launch.plain_ns = cells.number(StampColumn::kPlainNs);
  launch.stamped_ns = cells.number(StampColumn::kStampedNs);
  cells.expect_empty(StampColumn::kBlockIdxX, StampColumn::kWorkMax);
  return launch;
}

gpu::Stamp read_stamp(Cells& cells, bool is_mark) {
  gpu::Stamp stamp;
  stamp.block = cells.extent(StampColumn::kBlockIdxX, StampColumn::kBlockIdxY, StampColumn::kBlockIdxZ, false);
  stamp.thread = cells.extent(StampColumn::kThreadIdxX, StampColumn::kThreadIdxY, StampColumn::kThreadIdxZ, false);
  stamp.warp = cells.number(StampColumn::kWarp);
  stamp.sm = cells.number(StampColumn::kSm);
  stamp.mark = cells.number(StampColumn::kMark);
  stamp.times = cells.number(StampColumn::kTimes);
  stamp.entry_ns = cells.number(StampColumn::kEntryNs);
  stamp.first_exit_ns = cells.number(StampColumn::kFirstExitNs);
  stamp.exit_ns = cells.number(StampColumn::kExitNs);
  stamp.entry_cycles = cells.number(StampColumn::kEntryCycles);
  stamp.first_exit_cycles = cells.number(StampColumn::kFirstExitCycles);
  stamp.exit_cycles = cells.number(StampColumn::kExitCycles);
  stamp.work = cells.number(StampColumn::kWork);
  stamp.work_max = cells.number(StampColumn::kWorkMax);
  cells.expect_empty(StampColumn::kDevice, StampColumn::kStampedNs);
  if (is_mark && !stamp.mark) cells.refuse(StampColumn::kMark, "a number, as it is on `mark` rows");
  if (!is_mark) cells.expect_empty(StampColumn::kMark, StampColumn::kTimes);
  if (stamp.entry_ns && stamp.exit_ns && *stamp.exit_ns < *stamp.entry_ns) {
    cells.refuse(StampColumn::kExitNs, "at or after entry_ns");
  }
  if (stamp.first_exit_ns && (!stamp.exit_ns || *stamp.exit_ns < *stamp.first_exit_ns)) {
    cells.refuse(StampColumn::kFirstExitNs, "at or before exit_ns");
  }
  return stamp;
}

/// A place outside the sizes of the launch would get the number of another place.
bool is_inside(const Extent3& place, const Extent3& size) {
  return place.x < size.x && place.y < size.y && place.z < size.z;
}

}  // namespace

gpu::StampedLaunch& LaunchBuilder::launch_of(Key key) {
  if (!launches_.empty() && key == last_key_) return launches_[last_];
  const auto [found, is_new] = by_key_.emplace(key, launches_.size());
  if (is_new) {
    gpu::StampedLaunch& launch = launches_.emplace_back();
    std::tie(launch.run_id, launch.test, launch.gpu_kernel, launch.launch) = key;
  }
  last_key_ = std::move(key);
  return launches_[last_ = found->second];
}

std::string LaunchBuilder::add(const StampCells& row) {
  Cells cells(row);
  const Recorded number = cells.number(StampColumn::kLaunch);
  if (!number) cells.refuse(StampColumn::kLaunch, "a whole number");
  if (!cells.fault().empty()) return cells.fault();
  Key key{cells.text(StampColumn::kRunId), cells.text(StampColumn::kTest), cells.text(StampColumn::kGpuKernel),
          *number};

  const std::string_view record = cells.text(StampColumn::kRecord);
  if (record == gpu::kStampLaunch) {
    gpu::StampedLaunch read = read_launch(cells);
    if (!cells.fault().empty()) return cells.fault();
    if (!described_.insert(key).second) return "a second `launch` row of one launch";
    gpu::StampedLaunch& launch = launch_of(std::move(key));
    if (!launch.scopes.empty() || !launch.marks.empty()) return "the `launch` row stands after stamps of its launch";
    std::tie(read.run_id, read.test, read.gpu_kernel, read.launch) = last_key_;
    launch = std::move(read);
    return {};
  }
  const bool is_mark = record == gpu::kStampMark;
  if (!is_mark && record != gpu::kStampScope) {
    cells.refuse(StampColumn::kRecord, "launch, scope or mark");
    return cells.fault();
  }
  gpu::Stamp stamp = read_stamp(cells, is_mark);
  if (!cells.fault().empty()) return cells.fault();
  gpu::StampedLaunch& launch = launch_of(std::move(key));
  if (stamp.block && launch.grid && !is_inside(*stamp.block, *launch.grid)) return "block_idx lies outside the grid";
  if (stamp.thread && launch.block && !is_inside(*stamp.thread, *launch.block)) {
    return "thread_idx lies outside the block";
  }
  (is_mark ? launch.marks : launch.scopes).push_back(stamp);
  return {};
}

namespace {

const char* const kTorn = "the row stops before its last column (`end`): torn by a crash or a full disk; not used";

/// The loop over the lines.
class StampsReader {
 public:
  StampsReader(const std::string& name, csv::ReadBytes bytes, csv::Problems& problems)
      : name_(name), problems_(problems), lines_(std::move(bytes)) {}

  std::vector<gpu::StampedLaunch> read() {
    if (read_header()) read_rows();
    return builder_.take();
  }

 private:
  bool read_header() {
    csv::Line line;
    if (!lines_.next(line)) {
      problems_.add(name_, 0, "the file is empty: nothing was stamped");
      return false;
    }
    if (line.text == fmt::format("{}", fmt::join(gpu::kStampColumnNames, ","))) return true;
    problems_.add(name_, 1,
                  fmt::format("the header is not that of stamps version {}, which this bench reads: measure again with "
                              "this syscost",
                              gpu::kStampsVersion));
    return false;
  }

  void read_rows() {
    csv::Table<gpu::kStampColumnCount> table(
        name_, [this] { return next_line(); }, 1);
    while (table.next()) {
      std::string fault = take(table);
      if (!fault.empty()) problems_.add(name_, table.line(), std::move(fault));
      if (is_of_another_version_) return;
    }
    if (failure_) std::rethrow_exception(failure_);
  }

  /// A damaged line goes to the library as a row with this sign in its first cell.
  static constexpr std::string_view kDamaged = "\x01";

  std::optional<std::string_view> next_line() {
    csv::Line line;
    try {
      if (!lines_.next(line)) return std::nullopt;
    } catch (const std::system_error&) {
      failure_ = std::current_exception();  // after the rows before
      return std::nullopt;
    }
    static const std::string kRow = std::string(kDamaged) + std::string(gpu::kStampColumnCount - 1, ',');
    return line.damage == csv::Damage::none ? line.text : std::string_view(kRow);
  }

  std::string take(const csv::Table<gpu::kStampColumnCount>& table) {
    if (table.fault() != csv::SplitFault::none) return kTorn;
    if (table.cells().front() == kDamaged) return "holds NUL bytes or is too long: not written by syscost";
    StampCells texts;
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = table.cells()[i];
    if (texts.back() != gpu::kStampEndMark) return kTorn;
    const std::string_view version = texts[static_cast<std::size_t>(gpu::StampColumn::kVersion)];
    is_of_another_version_ = version != std::to_string(gpu::kStampsVersion);
    if (!is_of_another_version_) return builder_.add(texts);
    return fmt::format("stamps version {}, but this bench reads version {}: measure again with this syscost",
                       version.substr(0, 60), gpu::kStampsVersion);
  }

  const std::string& name_;
  csv::Problems& problems_;
  csv::LineSource lines_;
  std::exception_ptr failure_;  ///< Of the reading.
  LaunchBuilder builder_;
  bool is_of_another_version_ = false;  ///< The row that was taken last.
};

std::vector<gpu::StampedLaunch> read_all(const std::string& name, csv::ReadBytes bytes, csv::Problems& problems) {
  const std::size_t problems_before = problems.count();
  std::vector<gpu::StampedLaunch> launches;
  try {
    launches = StampsReader(name, std::move(bytes), problems).read();
  } catch (const std::system_error& error) {
    problems.add(name, 0, fmt::format("cannot be read: {}", error.code().message()));
  }
  if (launches.empty() && problems.count() == problems_before) {
    problems.add(name, 0, "holds a header and no row: nothing was stamped");
  }
  return launches;
}

}  // namespace

bool is_stamp_file(csv::Input& input) {
  return input.beginning().starts_with(gpu::kStampColumnNames.front());
}

std::vector<gpu::StampedLaunch> read_stamps(csv::Input& input, csv::Problems& problems) {
  return read_all(input.path(), input.bytes(), problems);
}

std::vector<gpu::StampedLaunch> read_stamps(const std::string& file, csv::Problems& problems) {
  csv::Input input(file);
  if (!input.open(problems)) return {};
  return read_stamps(input, problems);
}

std::vector<gpu::StampedLaunch> read_stamps_text(const std::string& name, std::string_view text,
                                                 csv::Problems& problems) {
  return read_all(
      name,
      [text](char* buffer, std::size_t size) mutable {
        const std::size_t count = std::min(size, text.size());
        std::memcpy(buffer, text.data(), count);
        text.remove_prefix(count);
        return count;
      },
      problems);
}

}  // namespace syscost::bench::gpu_stamps
