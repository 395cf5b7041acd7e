// SPDX-License-Identifier: MIT
#include "session/artifacts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "core/signal_hold.h"

namespace syscost::session {
namespace {

/// Room for `~N` and endings within the 255 bytes of a name.
constexpr std::size_t kLongestName = 120;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._-+=,@ ").find(c) != std::string_view::npos;
}

/// FNV-1a.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

Failure cannot_write(const std::string& path, int error) {
  return errno_failure("write artifacts to", path, error);
}

}  // namespace

std::string safe_name(std::string_view text) {
  std::string name(text.substr(0, kLongestName));
  for (char& c : name) c = is_plain(c) ? c : '_';
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "_");
  if (name == text) return name;
  std::array<char, 16> hash{};
  std::snprintf(hash.data(), hash.size(), "-%08x", hash_of(text));
  return name + hash.data();
}

Result<Artifacts> Artifacts::open(const std::string& root, std::string_view run_id, std::string_view program) {
  std::string folder = root + "/" + safe_name(run_id) + "/" + safe_name(program);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return cannot_write(folder, error.value());
  if (access(folder.c_str(), W_OK | X_OK) != 0) return cannot_write(folder, errno);
  return Artifacts(std::move(folder));
}

Result<std::string> Artifacts::make_folder(const std::string& parent, std::string_view name) const {
  const std::string path = (parent.empty() ? folder_ : parent) + "/" + safe_name(name);
  // A test may have removed what was there.
  std::error_code error;
  std::filesystem::create_directories(parent.empty() ? folder_ : parent, error);
  if (error) return cannot_write(path, error.value());
  for (int i = 1;; ++i) {
    std::string folder = i == 1 ? path : path + "~" + std::to_string(i);
    if (mkdir(folder.c_str(), 0777) == 0) return folder;
    if (errno != EEXIST) return cannot_write(folder, errno);
  }
}

Result<void> Artifacts::write(const std::string& folder, std::string_view name, std::string_view content) {
  const std::string path = folder + "/" + safe_name(name);
  // A test may have limited the size of files: then EFBIG is the answer, not the signal that kills.
  const SignalHold hold(SIGXFSZ);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd < 0) return cannot_write(path, errno);
  int error = 0;
  while (!content.empty() && error == 0) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
    if (written == 0) error = ENOSPC;
    if (written < 0 && errno != EINTR) error = errno;
  }
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  unlink(path.c_str());
  return cannot_write(path, error);
}

}  // namespace syscost::session
