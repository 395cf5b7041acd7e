// SPDX-License-Identifier: MIT
#include "os/proc.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "os/descriptors.h"
#include "os/files.h"
#include "os/text.h"

namespace syscost {
namespace {

/// The numbers of a process, from the namespace of /proc inwards to its own: `NSpid:	4711	12	1`. None if
/// `status` has no such line (Linux before 4.1).
std::vector<pid_t> namespace_numbers(const std::string& status) {
  constexpr std::string_view kLine = "\nNSpid:";
  std::vector<pid_t> numbers;
  const std::size_t line = status.find(kLine);
  if (line == std::string::npos) return numbers;
  const char* at = status.data() + line + kLine.size();
  const char* const end = status.data() + status.size();
  for (; at != end && *at == '\t';) {
    pid_t number = 0;
    const auto [rest, error] = std::from_chars(at + 1, end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    at = rest;
  }
  return numbers;
}

std::optional<std::uint64_t> number_in(std::string_view status, std::string_view name) {
  const std::size_t line = status.find("\n" + std::string(name) + ":");
  if (line == status.npos) return std::nullopt;
  const std::size_t at = std::min(status.find_first_not_of(" \t", line + name.size() + 2), status.size());
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(status.data() + at, status.data() + status.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

pid_t shown_number() {
  std::array<char, 16> link{};
  const ssize_t length = readlink("/proc/self", link.data(), link.size());
  pid_t shown = 0;
  if (length <= 0 || std::from_chars(link.data(), link.data() + length, shown).ec != std::errc()) return 0;
  return shown;
}

bool is_proc_ours() {
  return shown_number() == getpid();
}

std::string proc_of(pid_t process) {
  if (process == getpid()) return "/proc/self";
  return is_proc_ours() ? "/proc/" + std::to_string(process) : std::string();
}

pid_t own_number_of(pid_t shown) {
  if (is_proc_ours()) return shown;
  const std::size_t depth = namespace_numbers(read_small_file("/proc/self/status")).size();
  const std::vector<pid_t> numbers = namespace_numbers(read_small_file("/proc/" + std::to_string(shown) + "/status"));
  return depth == 0 || numbers.size() < depth ? 0 : numbers[depth - 1];
}

std::optional<std::uint64_t> number_in_status(const std::string& proc, std::string_view name) {
  return number_in(read_small_file(proc + "/status"), name);
}

std::string start_time(pid_t process) {
  const std::string stat = read_small_file(proc_of(process) + "/stat");
  // Field 2 is the program's name in parentheses and may hold any character. So count from its end to field 22.
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

namespace {

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The entries of a folder of /proc that are numbers. The descriptor that lists them is not among them.
Result<std::vector<int>> numbers_in(const char* folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listed(opendir(folder), closedir);
  if (listed == nullptr) return errno_failure("list", folder, errno);
  std::vector<int> numbers;
  const bool is_of_descriptors = std::string_view(folder) == "/proc/self/fd";
  while (const dirent* entry = readdir(listed.get())) {
    const std::optional<int> number = number_of(entry->d_name);
    if (!number.has_value()) continue;
    if (is_of_descriptors && (*number == dirfd(listed.get()) || is_still_ours(*number))) continue;
    numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// The words of a line after the name in brackets, which may hold blanks.
std::vector<std::string_view> words_after_name(std::string_view line) {
  std::vector<std::string_view> words;
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == line.npos) return words;
  line.remove_prefix(end_of_name + 1);
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(" \n");
    if (begin == line.npos) break;
    line.remove_prefix(begin);
    const std::size_t length = std::min(line.find_first_of(" \n"), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
  return words;
}

/// True for a task that is no thread of the program (any more).
bool is_none_of_program(int thread) {
  const std::string stat = read_small_file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::vector<std::string_view> words = words_after_name(stat);
  constexpr std::size_t kFlags = 6;         // field 9 of proc(5), of which two stand before the name's end
  if (words.size() <= kFlags) return true;  // it has ended
  unsigned flags = 0;
  std::from_chars(words[kFlags].data(), words[kFlags].data() + words[kFlags].size(), flags);
  return !is_thread_of_program(flags);
}

std::optional<std::vector<int>> children_of(const std::vector<int>& threads) {
  std::vector<int> children;
  bool is_listed = false;
  for (const int thread : threads) {
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/children";
    if (access(path.c_str(), R_OK) != 0) continue;
    is_listed = true;
    const std::string listed = read_small_file(path);
    std::string_view rest = listed;
    while (!rest.empty()) {
      const std::size_t blank = std::min(rest.find(' '), rest.size());
      if (const std::optional<int> child = number_of(rest.substr(0, blank))) children.push_back(*child);
      rest.remove_prefix(std::min(blank + 1, rest.size()));
    }
  }
  if (!is_listed) return std::nullopt;
  std::sort(children.begin(), children.end());
  return children;
}

/// "VmSize:\t    5380 kB" in proc_pid_status(5).
std::optional<std::uint64_t> bytes_in_status(std::string_view status, std::string_view name) {
  const std::optional<std::uint64_t> kibibytes = number_in(status, name);
  return kibibytes.has_value() ? std::optional(*kibibytes * 1024) : std::nullopt;
}

/// Both numbers are of one moment, because they come from one file.
std::optional<OpenThings::Mapped> mapped_now() {
  const std::string status = read_small_file("/proc/self/status");
  const std::optional<std::uint64_t> bytes = bytes_in_status(status, "VmSize");
  const std::optional<std::uint64_t> most = bytes_in_status(status, "VmPeak");
  if (!bytes.has_value() || !most.has_value()) return std::nullopt;
  return OpenThings::Mapped{*bytes, *most};
}

/// Those of `after` that are not in `before`.
std::vector<int> fresh(const std::vector<int>& before, const std::vector<int>& after) {
  std::vector<int> out;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(out));
  return out;
}

/// A semicolon separates descriptors in a list.
std::string without_separator(std::string text) {
  std::replace(text.begin(), text.end(), ';', '?');
  return text;
}

/// The target of a link of /proc/self/fd, for people.
std::string described(int descriptor) {
  std::array<char, PATH_MAX> room{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), room.data(), room.size());
  if (length < 0) return "unknown";
  std::string name(room.data(), static_cast<std::size_t>(length));
  name = without_separator(printable(name));
  constexpr std::string_view kAnonymous = "anon_inode:";
  if (name.starts_with(kAnonymous)) {
    name.erase(0, kAnonymous.size());
    if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
    return name;
  }
  for (const std::string_view kind : {"socket", "pipe"}) {
    if (name.starts_with(std::string(kind) + ":[")) return std::string(kind);
  }
  if (name.starts_with("/memfd:")) return "memfd " + name.substr(std::string_view("/memfd:").size());
  struct stat status {};
  const bool is_known = fstat(descriptor, &status) == 0;
  const char* kind = !is_known                                            ? "unknown"
                     : S_ISREG(status.st_mode)                            ? "file"
                     : S_ISDIR(status.st_mode)                            ? "directory"
                     : S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) ? "device"
                     : S_ISFIFO(status.st_mode)                           ? "pipe"
                                                                          : "other";
  return std::string(kind) + " " + name;
}

void append(std::string& text, const std::string& part) {
  text += (text.empty() ? "" : ", ") + part;
}

std::string many(std::uint64_t count, const char* one, const char* more) {
  return std::to_string(count) + " " + (count == 1 ? one : more);
}

/// Those of one line together: `2 threads (started at src/pool.cc:8 Pool::grow), 1 thread`.
void append_started(std::string& text, const std::vector<LeftOpen::Started>& started, const char* one,
                    const char* more) {
  std::map<std::string_view, std::size_t, std::greater<>> by_site;  // those without a line last
  for (const LeftOpen::Started& its : started) ++by_site[its.site];
  for (const auto& [site, count] : by_site) {
    append(text, many(count, one, more) + (site.empty() ? "" : " (started " + std::string(site) + ")"));
  }
}

}  // namespace

Result<OpenThings> OpenThings::now() {
  OpenThings things;
  things.mapped_at_begin = mapped_now();
  Result<std::vector<int>> threads = numbers_in("/proc/self/task");
  if (!threads.ok()) return threads.failure();
  Result<std::vector<int>> descriptors = numbers_in("/proc/self/fd");
  if (!descriptors.ok()) return descriptors.failure();
  things.children = children_of(threads.value());
  things.threads = std::move(threads.value());
  std::erase_if(things.threads, is_none_of_program);
  things.descriptors = std::move(descriptors.value());
  things.mapped_at_end = mapped_now();
  return things;
}

void OpenThings::take_out(const OpenThings& others) {
  descriptors = fresh(others.descriptors, descriptors);
  threads = fresh(others.threads, threads);
  if (children.has_value() && others.children.has_value()) children = fresh(*others.children, *children);
  mapped_at_begin = mapped_at_end = std::nullopt;
}

void OpenThings::keep_common(const OpenThings& others) {
  const auto keep = [](std::vector<int>& ours, const std::vector<int>& theirs) {
    std::erase_if(ours, [&](int one) { return !std::binary_search(theirs.begin(), theirs.end(), one); });
  };
  keep(descriptors, others.descriptors);
  keep(threads, others.threads);
  if (children.has_value() && others.children.has_value()) keep(*children, *others.children);
}

LeftOpen::LeftOpen(const OpenThings& before, const OpenThings& after) {
  for (const int number : fresh(before.descriptors, after.descriptors)) {
    descriptors.push_back({number, described(number), {}});
  }
  for (const int id : fresh(before.threads, after.threads)) threads.push_back({id, {}});
  if (before.children.has_value() && after.children.has_value()) {
    children.emplace();
    for (const int id : fresh(*before.children, *after.children)) children->push_back({id, {}});
  }
  const std::optional<OpenThings::Mapped>& then = before.mapped_at_end;
  const std::optional<OpenThings::Mapped>& now = after.mapped_at_begin;
  if (!then.has_value() || !now.has_value()) return;
  mapped_bytes = now->bytes > then->bytes ? now->bytes - then->bytes : 0;
  if (now->most_bytes > then->most_bytes) peak_mapped_bytes = now->most_bytes - then->bytes;
}

std::string LeftOpen::list_text() const {
  constexpr std::size_t kMost = 32;
  std::string text;
  for (std::size_t i = 0; i < std::min(descriptors.size(), kMost); ++i) {
    text += (i == 0 ? "" : ";") + std::to_string(descriptors[i].number) + " " + descriptors[i].what;
    if (!descriptors[i].site.empty()) text += " " + without_separator(descriptors[i].site);
  }
  if (descriptors.size() > kMost) text += ";and " + std::to_string(descriptors.size() - kMost) + " more";
  const auto add_sites = [&](const char* what, const std::vector<Started>& started) {
    for (std::size_t i = 0; i < std::min(started.size(), kMost); ++i) {
      if (started[i].site.empty()) continue;
      text += (text.empty() ? "" : ";") + std::string(what) + " " + without_separator(started[i].site);
    }
  };
  add_sites("thread", threads);
  if (children.has_value()) add_sites("child", *children);
  return text;
}

std::string LeftOpen::text() const {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(descriptors.size(), kMost); ++i) {
    const Descriptor& one = descriptors[i];
    const std::string opened = one.site.empty() ? "" : ", opened " + one.site;
    append(text, "descriptor " + std::to_string(one.number) + " (" + one.what + opened + ")");
  }
  if (descriptors.size() > kMost) append(text, many(descriptors.size() - kMost, "more descriptor", "more descriptors"));
  append_started(text, threads, "thread", "threads");
  if (children.has_value()) append_started(text, *children, "child process", "child processes");
  return text;
}

}  // namespace syscost
