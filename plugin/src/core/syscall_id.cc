// SPDX-License-Identifier: MIT
#include "core/syscall_id.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

namespace syscost {
namespace {

std::array<RequestNamer, 8> g_namers{};

/// Up to a page of a small file; empty when it cannot be read.
std::string read_small(const std::string& path) {
  std::string text(16384, '\0');
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::size_t length = 0;
  for (;;) {
    const ssize_t got = read(fd, text.data() + length, text.size() - length);
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
  }
  close(fd);
  text.resize(length);
  return text;
}

std::string last_part_of_link(const std::string& path) {
  char target[512];
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  if (length <= 0) return {};
  std::string_view text(target, static_cast<std::size_t>(length));
  return std::string(text.substr(text.rfind('/') + 1));
}

/// `nvidia-uvm` of the line ` 511 nvidia-uvm` in the section of character (or block) devices.
std::string family_of(bool is_block, std::uint32_t major) {
  const std::string all = read_small("/proc/devices");
  const std::size_t blocks = all.find("Block devices:");
  std::string_view section(all);
  section = is_block ? section.substr(std::min(blocks, section.size())) : section.substr(0, blocks);
  while (!section.empty()) {
    const std::string_view line = section.substr(0, section.find('\n'));
    section.remove_prefix(std::min(section.size(), line.size() + 1));
    unsigned number = 0;
    char name[64];
    if (std::sscanf(std::string(line).c_str(), "%u %63s", &number, name) == 2 && number == major) return name;
  }
  return {};
}

DeviceName look_up(const CallDetail& detail) {
  const bool is_block = detail.file == FileKind::block_device;
  const std::string numbers = std::to_string(detail.major()) + ":" + std::to_string(detail.minor());
  const std::string sys = std::string("/sys/dev/") + (is_block ? "block/" : "char/") + numbers;
  DeviceName name;
  constexpr std::string_view kKey = "DEVNAME=";
  const std::string uevent = read_small(sys + "/uevent");
  if (const std::size_t at = uevent.find(kKey); at != std::string::npos) {
    name.node = uevent.substr(at + kKey.size(), uevent.find('\n', at) - at - kKey.size());
  }
  name.driver = last_part_of_link(sys + "/device/driver");
  name.family = family_of(is_block, detail.major());
  if (name.node.empty()) {
    // Pseudo terminals have no entry each; the family's name says more than two numbers.
    name.node = name.family.empty() ? (is_block ? "block " : "char ") + numbers
                                    : name.family + "/" + std::to_string(detail.minor());
  }
  return name;
}

const DeviceName& device_name(const CallDetail& detail) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<FileKind, std::uint32_t>, DeviceName>();
  const std::lock_guard guard(mutex);
  auto [at, is_new] = known.try_emplace({detail.file, detail.device});
  if (is_new) at->second = look_up(detail);
  return at->second;
}

std::string hexadecimal(std::uint32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", number);
  return text;
}

const char* word_for(FileKind kind) {
  switch (kind) {
    case FileKind::bad_descriptor:
      return "bad descriptor";
    case FileKind::file:
      return "file";
    case FileKind::directory:
      return "directory";
    case FileKind::pipe:
      return "pipe";
    case FileKind::socket:
      return "socket";
    case FileKind::character_device:
      return "character device";
    case FileKind::block_device:
      return "block device";
    case FileKind::terminal:
      return "terminal";
    case FileKind::unknown:
      return "unknown";
    default:
      return "other";
  }
}

/// `pipe`, `file to socket`.
std::string kinds_text(const CallDetail& detail) {
  std::string text = word_for(detail.file);
  if (detail.to != FileKind::none) text.append(" to ").append(word_for(detail.to));
  return text;
}

/// `nvidiactl RM_ALLOC COMPUTE`, or with numbers where no name is known.
std::string request_text(const CallDetail& detail) {
  if (detail.file != FileKind::character_device && detail.file != FileKind::block_device) {
    return std::string(word_for(detail.file)) + " " + hexadecimal(detail.request);
  }
  const RequestNames names = request_names(detail);
  if (!names.request.empty()) return names.device + " " + names.request;
  const DeviceName& device = device_name(detail);
  std::string text = device.node + " " + hexadecimal(detail.request);
  if (detail.has_command) text += " " + hexadecimal(detail.command);
  if (detail.status != 0) text += " status " + hexadecimal(detail.status);
  return text;
}

}  // namespace

void add_request_namer(RequestNamer namer) {
  for (RequestNamer& place : g_namers) {
    if (place == namer) return;
    if (place != nullptr) continue;
    place = namer;
    return;
  }
}

RequestNames request_names(const CallDetail& detail) {
  if (detail.file != FileKind::character_device && detail.file != FileKind::block_device) return {};
  const DeviceName& device = device_name(detail);
  for (RequestNamer namer : g_namers) {
    if (namer == nullptr) break;
    RequestNames names = namer(detail, device);
    if (names.request.empty()) continue;
    if (names.device.empty()) names.device = device.node;
    return names;
  }
  return {};
}

std::string detail_text(const CallDetail& detail) {
  std::string text = detail.is_driver_thread ? "driver thread" : "";
  if (detail.file == FileKind::none) return text;
  if (!text.empty()) text += ": ";
  return text + (detail.is_kind_only ? kinds_text(detail) : request_text(detail));
}

}  // namespace syscost
