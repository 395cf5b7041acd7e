// SPDX-License-Identifier: MIT
#include "trace/artifacts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "os/files.h"

namespace syscost::bench::trace {
namespace {

namespace fs = std::filesystem;

/// `text` as it begins as the name of a folder (plugin/src/extras/profilers/session/artifacts.cc): a changed name also
/// has a hash at its end.
std::string as_folder(std::string_view text) {
  constexpr std::size_t kLongest = 120;
  std::string name(text.substr(0, kLongest));
  for (char& c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("._-+=,@ ").find(c) != std::string_view::npos;
    if (!is_plain) c = '_';
  }
  return name;
}

/// Without the hash.
std::string_view without_hash(std::string_view folder) {
  constexpr std::size_t kHash = 9;  // -a666d464
  if (folder.size() <= kHash || folder[folder.size() - kHash] != '-') return folder;
  const std::string_view digits = folder.substr(folder.size() - kHash + 1);
  const bool is_hash = digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_hash ? folder.substr(0, folder.size() - kHash) : folder;
}

bool is_folder_of(std::string_view folder, const std::string& name) {
  return folder == name || without_hash(folder) == name;
}

/// Where others can write, they could place a link with our name (plugin/src/extras/profilers/session/artifacts.h).
bool is_link_of_another(const std::string& folder) {
  struct stat status {};
  return fs::path(folder).filename() == kArtifacts && ::lstat(folder.c_str(), &status) == 0 &&
         S_ISLNK(status.st_mode) && !is_trusted_owner(status.st_uid);
}

}  // namespace

std::vector<FoundTrace> find_traces(const std::string& folder, std::string_view name,
                                    const std::set<std::string>& run_ids, csv::Problems& problems) {
  std::vector<FoundTrace> found;
  if (is_link_of_another(folder)) {
    problems.add(
        folder, 0,
        "is a link that another user has made, which bench does not follow: no trace was read. If you trust the "
        "folder to which it leads, name that one");
    return found;
  }
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  while (!error && at != fs::recursive_directory_iterator()) {
    const fs::path& path = at->path();
    if (path.filename() == fs::path(name)) {
      const fs::path test = path.parent_path();
      const fs::path run = test.parent_path().parent_path();
      const std::string run_name = run.filename().string();
      const bool is_wanted = run_ids.empty() || std::any_of(run_ids.begin(), run_ids.end(), [&](const std::string& id) {
                               return is_folder_of(run_name, as_folder(id));
                             });
      std::error_code unknown;
      if (is_wanted && at->is_symlink(unknown)) {
        problems.add(path.string(), 0, "is a link, and bench follows none among the artifacts of a run: left out");
      } else if (is_wanted)
        found.push_back({path.string(), test.filename().string(), run.string()});
    }
    at.increment(error);
  }
  if (error) problems.add(folder, 0, "cannot be read: " + error.message());
  std::sort(found.begin(), found.end(), [](const FoundTrace& a, const FoundTrace& b) { return a.path < b.path; });
  return found;
}

std::vector<FoundTrace> of_newest_run(std::vector<FoundTrace> traces) {
  std::map<std::string, fs::file_time_type> times;
  for (const FoundTrace& one : traces) {
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(one.path, error);
    fs::file_time_type& last = times.try_emplace(one.run, fs::file_time_type::min()).first->second;
    if (!error) last = std::max(last, time);
  }
  if (traces.empty()) return traces;
  const auto newest =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::erase_if(traces, [&](const FoundTrace& one) { return one.run != newest->first; });
  return traces;
}

std::vector<FoundTrace> in_folder_of(const std::vector<FoundTrace>& traces, const std::string& name) {
  const std::string folder = as_folder(name);
  std::vector<FoundTrace> found;
  std::copy_if(traces.begin(), traces.end(), std::back_inserter(found), [&](const FoundTrace& one) {
    const std::string_view test = one.test;
    const std::size_t mark = test.rfind('~');
    return is_folder_of(test, folder) || (mark != std::string_view::npos && is_folder_of(test.substr(0, mark), folder));
  });
  return found;
}

std::vector<FoundTrace> of_test(const std::vector<FoundTrace>& traces, const std::string& asked) {
  const std::string name = as_folder(asked);
  std::vector<FoundTrace> exact;
  std::vector<FoundTrace> partly;
  for (const FoundTrace& one : traces) {
    if (is_folder_of(one.test, name)) exact.push_back(one);
    if (without_hash(one.test).find(name) != std::string_view::npos) partly.push_back(one);
  }
  return exact.empty() ? partly : exact;
}

namespace {

/// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::optional<std::vector<char>> artifact_bytes(const std::string& path, csv::Problems& problems) {
  const auto fail = [&](int error) {
    problems.add(path, 0, "cannot be read: " + std::generic_category().message(error));
    return std::nullopt;
  };
  // O_NONBLOCK: to open a pipe would wait for its writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return fail(errno);
  if (S_ISDIR(status.st_mode)) return fail(EISDIR);
  if (!S_ISREG(status.st_mode)) {
    problems.add(path, 0, "is a pipe, a socket or a device, not a file; left out, because reading it may never end");
    return std::nullopt;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMostArtifactBytes) {
    problems.add(
        path, 0,
        fmt::format(
            "has {} MiB; bench reads at most {} MiB of such a file, so it is left out. Measure again with fewer events",
            size >> 20U, kMostArtifactBytes >> 20U));
    return std::nullopt;
  }
  std::vector<char> bytes(size);
  std::size_t filled = 0;
  while (filled != bytes.size()) {
    const ssize_t got = ::read(file.number(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace syscost::bench::trace
