// SPDX-License-Identifier: MIT
#include "commands/live_rows.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "csv/problems.h"
#include "stats/watched_series.h"

namespace syscost::bench::commands {
namespace {

/// The rest is read at the next look.
constexpr std::uintmax_t kMostAtOnce = std::uintmax_t{64} << 20;

std::string cell_of(const std::string& text) {
  const bool is_quoted = text.find_first_of(",\"") != std::string::npos;
  if (!is_quoted) return text;
  std::string cell = "\"";
  for (const char c : text) cell.append(c == '"' ? 2 : 1, c);
  return cell + '"';
}

std::uintmax_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

LiveRows::LiveRows(const cli::Options& options, std::string path)
    : options_(options),
      path_(std::move(path)),
      id_(cell_of(options.run_ids.front()) + ","),
      read_to_(size_of(path_)) {}

/// Whole rows of the run, from where the look before ended.
std::string LiveRows::appended() {
  const std::uintmax_t size = size_of(path_);
  if (size < read_to_) read_to_ = 0;  // it was emptied
  if (size == read_to_) return {};
  std::ifstream file(path_, std::ios::binary);
  if (header_.empty() && std::getline(file, header_)) header_ += '\n';
  std::string bytes(std::min(size - read_to_, kMostAtOnce), '\0');
  file.seekg(static_cast<std::streamoff>(read_to_));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  const std::size_t rows_end = bytes.rfind('\n') + 1;
  // The last row is being written. A line as long as that is no row.
  read_to_ += rows_end == 0 && bytes.size() == kMostAtOnce ? kMostAtOnce : rows_end;
  bytes.resize(rows_end);
  std::string rows;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = bytes.find('\n', begin) + 1;
    const std::string_view row = std::string_view(bytes).substr(begin, end - begin);
    const std::size_t version_end = row.find(',');
    if (version_end != std::string_view::npos && row.substr(version_end + 1).starts_with(id_)) rows += row;
    begin = end;
  }
  return rows;
}

bool LiveRows::read() {
  std::string rows = appended();
  if (rows.empty()) return false;
  drop_old();
  std::size_t before = 0;
  std::string text = header_;
  for (const Part& part : parts_) {
    before += part.intervals;
    text += part.rows;
  }
  text += rows;
  csv::Problems ignored;  // bench watch prints those of the whole file
  run_ = load_watched_text(options_, path_, text, ignored);
  for (stats::WatchedInterval& interval : run_.intervals) interval.begin_s += dropped_s_;
  new_intervals_ = run_.intervals.size() - before;
  parts_.push_back({std::move(rows), new_intervals_});
  return new_intervals_ > 0;
}

/// Drops rows that no later interval is compared with.
void LiveRows::drop_old() {
  if (run_.intervals.empty()) return;
  const std::size_t first = stats::first_of_minute(run_.intervals, run_.intervals.size() - 1);
  std::size_t dropped = 0;
  while (parts_.size() > 1 && dropped + parts_.front().intervals <= first) {
    for (std::size_t i = 0; i < parts_.front().intervals; ++i) dropped_s_ += run_.intervals[dropped + i].seconds;
    dropped += parts_.front().intervals;
    parts_.pop_front();
  }
  dropped_ += dropped;
}

std::size_t LiveRows::bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : parts_) bytes += part.rows.size();
  return bytes;
}

}  // namespace syscost::bench::commands
