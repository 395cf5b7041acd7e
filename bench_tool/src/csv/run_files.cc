// SPDX-License-Identifier: MIT
#include "csv/run_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace syscost::bench::csv {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// The text after a byte order mark and white space. The zeros of UTF-16 count as white space: such a file is no less
/// Google Benchmark's, and its reader says what is wrong with it.
std::string without_space(std::string_view beginning) {
  for (const std::string_view mark : {"\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF"}) {
    if (beginning.starts_with(mark)) beginning.remove_prefix(mark.size());
  }
  std::string text(beginning);
  std::erase_if(text, [](char c) { return is_space(c) || c == '\0'; });
  return text;
}

/// Looks at the keys of the outermost object, byte by byte: a file of another tool may be large.
class OuterKeys {
 public:
  /// Takes the next byte. False when the question is answered.
  bool take(char c) {
    if (in_string_) {
      take_in_string(c);
      return true;
    }
    if (is_space(c) || c == '\0') return true;
    if (c == '"') {
      in_string_ = true;
      text_.clear();
    } else if (c == '{' || c == '[') {
      if (depth_ == 1 && is_value_) {
        has_list_ = has_list_ || (c == '[' && text_ == "benchmarks");
        has_context_ = has_context_ || (c == '{' && text_ == "context");
      }
      is_value_ = false;
      ++depth_;
    } else if (c == '}' || c == ']') {
      --depth_;
    } else if (depth_ == 1) {
      is_value_ = c == ':';
    }
    return !has_both() && depth_ > 0;
  }

  /// Other tools have a list of this name, too: pytest-benchmark, for one.
  bool has_both() const { return has_list_ && has_context_; }

 private:
  void take_in_string(char c) {
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (c == '\\') {
      is_escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      return;
    }
    // A value's text is no key. Longer ones are not the key that is looked for.
    constexpr std::size_t kMost = 16;
    if (depth_ == 1 && !is_value_ && text_.size() < kMost) text_ += c;
  }

  int depth_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool is_value_ = false;  ///< A colon came last, so that a value follows.
  bool has_list_ = false;
  bool has_context_ = false;
  std::string text_;  ///< The string that came last.
};

}  // namespace

bool is_json(Input& input) {
  return without_space(input.beginning()).starts_with('{');
}

BenchmarkJson benchmark_json(Input& input) {
  const std::string begin = without_space(input.beginning());
  if (!begin.starts_with('{')) return BenchmarkJson::no;
  if (begin.starts_with(R"({"context":{)")) return BenchmarkJson::yes;
  OuterKeys keys;
  std::array<char, 1U << 16U> buffer{};
  try {
    const ReadBytes bytes = input.bytes();
    bool has_begun = false;
    for (std::size_t got; (got = bytes(buffer.data(), buffer.size())) != 0;) {
      for (const char c : std::string_view(buffer.data(), got)) {
        has_begun = has_begun || c == '{';
        if (has_begun && !keys.take(c)) return keys.has_both() ? BenchmarkJson::yes : BenchmarkJson::no;
      }
    }
  } catch (const std::system_error&) {
    return BenchmarkJson::unknown;
  }
  return BenchmarkJson::unknown;
}

namespace {

namespace fs = std::filesystem;

/// The kind of a folder's entry that has the name of a CSV but is no file. "" for a file, and for an entry that cannot
/// be examined: opening it then tells why.
const char* not_a_file(const fs::file_status& status) {
  switch (status.type()) {
    case fs::file_type::fifo:
      return "a pipe";
    case fs::file_type::socket:
      return "a socket";
    case fs::file_type::character:
    case fs::file_type::block:
      return "a device";
    default:
      return "";
  }
}

/// True for a file of Google Benchmark. If that cannot be told, the file is named: it may be one.
bool is_wanted_json(const std::string& file, Problems& problems) {
  Input input(file);
  Problems why;
  if (!input.open(why)) {
    problems.remark(file, "cannot be opened; left out, though it may be of Google Benchmark");
    return false;
  }
  switch (benchmark_json(input)) {
    case BenchmarkJson::yes:
      return true;
    case BenchmarkJson::unknown:
      problems.remark(file, "not whole JSON; left out, though it may be of Google Benchmark");
      break;
    case BenchmarkJson::no:
      if (input.beginning().empty()) problems.remark(file, "empty; left out, though it may be of Google Benchmark");
      break;
  }
  return false;
}

/// True if the rows of this entry belong to the folder's run.
bool is_wanted(const fs::directory_entry& entry, Problems& problems) {
  std::error_code ignored;
  const fs::file_status status = entry.status(ignored);
  if (fs::is_directory(status)) return false;
  const std::string file = entry.path().string();
  if (file.ends_with(".csv") || file.ends_with(".csv.gz")) {
    const std::string what = not_a_file(status);
    if (what.empty()) return true;
    const char* const fix = fs::is_socket(status) ? "" : ": give its name as RUN to read it";
    problems.add(file, 0, fmt::format("{}, not a file; left out, because reading it may never end{}", what, fix));
    return false;
  }
  // A folder of results also holds JSON files of other tools.
  const bool has_name = file.ends_with(".json") || file.ends_with(".json.gz");
  return has_name && fs::is_regular_file(status) && is_wanted_json(file, problems);
}

constexpr const char* kBazelArchive = "outputs.zip";

/// The folder's files with rows of its run. `error`: why the folder, or one below it, cannot be read.
template <typename Entries>
std::vector<std::string> wanted_files(Entries entries, std::error_code& error, Problems& problems) {
  std::vector<std::string> files;
  for (const Entries end; !error && entries != end; entries.increment(error)) {
    const fs::path& path = entries->path();
    if (is_wanted(*entries, problems)) files.push_back(path.string());
    std::error_code ignored;
    if (path.filename() == kBazelArchive && !fs::exists(path.parent_path() / "syscost.csv", ignored)) {
      problems.add(path.string(), 0,
                   "bench does not read this archive of Bazel; unpack it, or give `bazel test` the option "
                   "--nozip_undeclared_test_outputs (Bazel 5 and newer)");
    }
  }
  return files;
}

std::string named_twice(const std::string& path, const std::string& first) {
  if (path == first) return "named twice, and each file counts once: name it once";
  return fmt::format("the same file as {}, and each file counts once: name one of them", first);
}

}  // namespace

Run find_files(const std::string& name, Folders folders, Problems& problems) {
  Run run{name, false, {}};
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  if (!fs::exists(status)) {
    problems.add(name, 0,
                 error && error != std::errc::no_such_file_or_directory ? "cannot be read: " + error.message()
                                                                        : "no such file or folder");
    return run;
  }
  run.is_folder = fs::is_directory(status);
  if (!run.is_folder) {
    run.files.emplace_back(name);
    return run;
  }
  const std::size_t problems_before = problems.count();
  std::vector<std::string> files = folders == Folders::flat
                                       ? wanted_files(fs::directory_iterator(name, error), error, problems)
                                       : wanted_files(fs::recursive_directory_iterator(name, error), error, problems);
  if (error) {
    problems.add(name, 0, "the folder cannot be read: " + error.message());
  } else if (files.empty() && problems.count() == problems_before) {
    problems.add(name, 0,
                 std::string("no *.csv, no *.csv.gz and no *.json of Google Benchmark in this folder") +
                     (folders == Folders::flat ? "; --recursive searches the folders below, too" : " and those below"));
  }
  std::sort(files.begin(), files.end());
  for (std::string& file : files) run.files.emplace_back(std::move(file));
  return run;
}

bool add_files(Run& all, const std::vector<std::string>& names, Folders folders, Problems& problems) {
  using FileId = std::pair<dev_t, ino_t>;
  std::map<FileId, std::string> known;  // its path
  std::set<FileId> noted;
  bool has_folder = false;
  for (const std::string& name : names) {
    Run one = find_files(name, folders, problems);
    has_folder = has_folder || one.is_folder;
    for (Input& file : one.files) {
      struct stat status {};
      if (::stat(file.path().c_str(), &status) == 0) {
        const FileId id(status.st_dev, status.st_ino);
        const auto [first, is_new] = known.try_emplace(id, file.path());
        if (!is_new) {
          if (noted.insert(id).second) problems.add(file.path(), 0, named_twice(file.path(), first->second));
          continue;
        }
      }
      all.files.push_back(std::move(file));
    }
  }
  return has_folder;
}

}  // namespace syscost::bench::csv
