// SPDX-License-Identifier: MIT
#include "csv/problems.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "csv/text.h"

namespace syscost::bench::csv {

void Problems::add(const std::string& file, std::uint64_t line, std::string message) {
  ++total_;
  if (++count_by_file_[file] <= kNamedPerFile) named_.push_back({file, line, std::move(message)});
}

void Problems::add_unnamed(const std::string& file, std::size_t count) {
  total_ += count;
  count_by_file_[file] += count;
}

void Problems::remark(const std::string& file, std::string message) {
  Remarks& of_file = remarks_[file];
  if (std::find(of_file.named.begin(), of_file.named.end(), message) != of_file.named.end()) return;
  if (of_file.named.size() < kNamedPerFile) {
    of_file.named.push_back(std::move(message));
  } else {
    ++of_file.more;
  }
}

void Problems::append(const Problems& other) {
  std::map<std::string, std::size_t> named;
  for (const Problem& problem : named_) ++named[problem.file];
  for (const Problem& problem : other.named_) {
    if (++named[problem.file] <= kNamedPerFile) named_.push_back(problem);
  }
  for (const auto& [file, count] : other.count_by_file_) count_by_file_[file] += count;
  total_ += other.total_;
  for (const auto& [file, remarks] : other.remarks_) {
    for (const std::string& message : remarks.named) remark(file, message);
    if (remarks.more != 0) remarks_[file].more += remarks.more;
  }
}

void Problems::append_unnoted(const Problems& other) {
  Problems rest;
  for (const Problem& problem : other.named_) {
    if (std::find(named_.begin(), named_.end(), problem) == named_.end()) {
      rest.add(problem.file, problem.line, problem.message);
    }
  }
  // Each reading of a file finds the same problems. So if problems of a file were counted before, their number is
  // known.
  for (const auto& [file, count] : other.count_by_file_) {
    if (count_by_file_.contains(file) || count <= kNamedPerFile) continue;
    rest.total_ += count - kNamedPerFile;
    rest.count_by_file_[file] = count;
  }
  for (const auto& [file, remarks] : other.remarks_) {
    if (!remarks_.contains(file)) rest.remarks_.emplace(file, remarks);
  }
  append(rest);
}

std::vector<std::string> Problems::texts() const {
  std::vector<std::string> texts;
  for (const Problem& problem : named_) {
    const std::string line = problem.line != 0 ? std::to_string(problem.line) + ':' : "";
    texts.push_back(printable(problem.file) + ':' + line + ' ' + printable(problem.message));
  }
  for (const auto& [file, count] : count_by_file_) {
    if (count <= kNamedPerFile) continue;
    texts.push_back(printable(file) + ": " + std::to_string(count - kNamedPerFile) + " more bad lines, not named");
  }
  for (const auto& [file, remarks] : remarks_) {
    for (const std::string& message : remarks.named) {
      texts.push_back(printable(file) + ": note: " + printable(message));
    }
    if (remarks.more != 0) {
      texts.push_back(printable(file) + ": note: " + std::to_string(remarks.more) + " more like these");
    }
  }
  return texts;
}

void Problems::print(std::ostream& err) const {
  for (const std::string& text : texts()) err << text << '\n';
}

}  // namespace syscost::bench::csv
