// SPDX-License-Identifier: MIT
#include "extras/leaks/session/open_things.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "os/descriptors.h"
#include "os/files.h"
#include "os/proc.h"
#include "os/text.h"

namespace syscost::session {
namespace {

std::optional<std::vector<int>> children_of(const std::vector<int>& threads) {
  std::vector<int> children;
  bool is_listed = false;
  for (const int thread : threads) {
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/children";
    if (access(path.c_str(), R_OK) != 0) continue;
    is_listed = true;
    std::istringstream listed(read_small_file(path));
    for (int child = 0; listed >> child;) children.push_back(child);
  }
  if (!is_listed) return std::nullopt;
  std::sort(children.begin(), children.end());
  return children;
}

/// Both numbers are of one moment, because they come from one file.
std::optional<OpenThings::Mapped> mapped_now() {
  const std::string status = read_small_file("/proc/self/status");
  const std::optional<std::uint64_t> kibibytes = number_in_status(status, "VmSize");
  const std::optional<std::uint64_t> most = number_in_status(status, "VmPeak");
  if (!kibibytes.has_value() || !most.has_value()) return std::nullopt;
  return OpenThings::Mapped{*kibibytes * 1024, *most * 1024};
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

/// The target of a link of /proc/thread-self/fd, for people.
std::string described(int descriptor) {
  std::array<char, PATH_MAX> room{};
  const std::string link = "/proc/thread-self/fd/" + std::to_string(descriptor);
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
  Result<std::vector<int>> descriptors = numbers_in("/proc/thread-self/fd");
  if (!descriptors.ok()) return descriptors.failure();
  std::erase_if(descriptors.value(), is_still_ours);
  things.children = children_of(threads.value());
  things.threads = std::move(threads.value());
  std::erase_if(things.threads, [](int thread) { return !is_own_thread(thread); });
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

}  // namespace syscost::session
