// SPDX-License-Identifier: MIT
#include "gpu_stamps/stamps_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "csv/cells.h"
#include "csv/line_source.h"
#include "gpu_stamps/launch_builder.h"

namespace syscost::bench::gpu_stamps {
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
    for (csv::Line line; lines_.next(line);) {
      std::string fault =
          line.damage == csv::Damage::none ? take(line.text) : "holds NUL bytes or is too long: not written by syscost";
      if (!fault.empty()) problems_.add(name_, line.number, std::move(fault));
      if (is_of_another_version_) return;
    }
  }

  std::string take(std::string_view line) {
    if (cells_.split(line) != csv::SplitFault::none) return kTorn;
    StampCells texts;
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = cells_[i];
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
  csv::Cells cells_{gpu::kStampColumnCount};
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
