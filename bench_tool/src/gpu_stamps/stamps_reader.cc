// SPDX-License-Identifier: MIT
#include "gpu_stamps/stamps_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "csv/guarded_source.h"
#include "gpu_stamps/launch_builder.h"

namespace syscost::bench::gpu_stamps {
namespace {

using gpu::StampColumn;

struct NoRow {
  static bool is_comment(const char* line) { return *line == csv::kNoRowMark; }
};

using Library = io::CSVReader<gpu::kStampColumnCount, io::trim_chars<>, io::double_quote_escape<',', '"'>,
                              io::throw_on_overflow, NoRow>;

const char* const kTorn = "the row stops before its last column (`end`): torn by a crash or a full disk; not used";

/// The loop around the library.
class StampsReader {
 public:
  StampsReader(const std::string& name, csv::ReadBytes bytes, csv::Problems& problems)
      : name_(name),
        problems_(problems),
        damage_(std::make_shared<csv::LineDamage>()),
        library_(name,
                 std::unique_ptr<io::ByteSourceBase>(std::make_unique<csv::GuardedSource>(std::move(bytes), damage_))) {
  }

  std::vector<gpu::StampedLaunch> read() {
    if (read_header()) read_rows();
    return builder_.take();
  }

 private:
  bool read_header() {
    const char* line = library_.next_line();
    if (line == nullptr) {
      problems_.add(name_, 0, "the file is empty: nothing was stamped");
      return false;
    }
    if (line == fmt::format("{}", fmt::join(gpu::kStampColumnNames, ","))) return true;
    problems_.add(name_, 1,
                  fmt::format("the header is not that of a stamp file of version {}: use the bench that came with the "
                              "syscost which wrote it",
                              gpu::kStampsVersion));
    return false;
  }

  void read_rows() {
    for (;;) {
      const std::uint64_t before = library_.get_file_line();
      std::string fault;
      bool is_end = false;
      try {
        is_end = !read_row(std::make_index_sequence<gpu::kStampColumnCount>());
      } catch (const io::error::base&) {
        fault = kTorn;
      }
      const std::uint64_t line = library_.get_file_line();
      // Lines that the library skipped on the way to this one, or to the end.
      for (std::uint64_t skipped = before + 1; skipped < line + (is_end ? 1 : 0); ++skipped) {
        problems_.add(name_, skipped, kTorn);
      }
      if (is_end) return;
      if (damage_->at(line) != csv::Damage::none && damage_->at(line) != csv::Damage::not_closed) {
        fault = "holds NUL bytes or is too long: not written by syscost";
      }
      if (fault.empty() && std::strcmp(cells_.back(), gpu::kStampEndMark.data()) != 0) fault = kTorn;
      if (fault.empty()) fault = builder_.add(cells_);
      if (!fault.empty()) problems_.add(name_, line, std::move(fault));
    }
  }

  template <std::size_t... I>
  bool read_row(std::index_sequence<I...> /*columns*/) {
    return library_.read_row(cells_[I]...);
  }

  const std::string& name_;
  csv::Problems& problems_;
  std::shared_ptr<csv::LineDamage> damage_;
  Library library_;
  StampCells cells_{};
  LaunchBuilder builder_;
};

std::vector<gpu::StampedLaunch> read_all(const std::string& name, csv::ReadBytes bytes, csv::Problems& problems) {
  const std::size_t problems_before = problems.count();
  std::vector<gpu::StampedLaunch> launches;
  try {
    launches = StampsReader(name, std::move(bytes), problems).read();
  } catch (const std::system_error& error) {
    problems.add(name, 0, fmt::format("cannot be read: {}", error.code().message()));
  } catch (const io::error::base& error) {
    problems.add(name, 0, fmt::format("the CSV library gave up: {}", error.what()));
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
