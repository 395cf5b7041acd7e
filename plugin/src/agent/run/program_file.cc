// SPDX-License-Identifier: MIT
#include "agent/run/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "agent/variables.h"

namespace syscost::run {
namespace {

/// A file's bytes.
class Bytes {
 public:
  explicit Bytes(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (::fstat(fd, &status_) == 0 && S_ISREG(status_.st_mode)) {
      is_open_ = true;
      const auto size = static_cast<std::size_t>(status_.st_size);
      void* const at = size == 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
      if (at != MAP_FAILED) view_ = std::string_view(static_cast<const char*>(at), size);
    }
    ::close(fd);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() {
    if (!view_.empty()) ::munmap(const_cast<char*>(view_.data()), view_.size());
  }

  bool is_open() const { return is_open_; }
  std::string_view view() const { return view_; }
  const struct stat& status() const { return status_; }
  /// The thing at `offset`; nothing where the file is shorter.
  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    T value{};
    if (offset > view_.size() || view_.size() - offset < sizeof value) return std::nullopt;
    std::memcpy(&value, view_.data() + offset, sizeof value);
    return value;
  }
  std::string_view part(std::uint64_t offset, std::uint64_t size) const {
    return offset > view_.size() ? std::string_view() : view_.substr(offset, size);
  }

 private:
  std::string_view view_;
  struct stat status_ {};
  bool is_open_ = false;
};

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string build_id_of(const Bytes& file, const Elf64_Phdr& segment) {
  std::uint64_t at = segment.p_offset;
  const std::uint64_t end = segment.p_offset + segment.p_filesz;
  while (at < end) {
    const auto note = file.at<Elf64_Nhdr>(at);
    if (!note) return {};
    const std::uint64_t name = at + sizeof *note;
    const std::uint64_t value = name + ((note->n_namesz + 3U) & ~3U);
    if (note->n_type == NT_GNU_BUILD_ID && file.part(name, note->n_namesz) == std::string_view("GNU\0", 4)) {
      return hex(file.part(value, note->n_descsz));
    }
    at = value + ((note->n_descsz + 3U) & ~3U);
  }
  return {};
}

/// `#!/usr/bin/env python3` is run by env, which becomes python3: the first word that is no env.
std::string interpreter_of(std::string_view text) {
  if (!text.starts_with("#!")) return "/bin/sh";
  std::string_view line = text.substr(2, std::min<std::size_t>(text.find('\n'), PATH_MAX) - 2);
  std::string first;
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string word(line.substr(0, end));
    line.remove_prefix(end);
    const bool is_env = word == "env" || word.ends_with("/env");
    if (first.empty() && !is_env) return word;
    if (is_env || word.front() == '-') continue;
    return word;
  }
  return first;
}

/// The loader ignores LD_PRELOAD where the program gets more rights than its user.
bool is_privileged(const std::string& path, const struct stat& status) {
  const bool is_set_uid = (status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid();
  const bool is_set_gid = (status.st_mode & S_ISGID) != 0 && status.st_gid != ::getgid();
  const bool has_capabilities = ::getuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return is_set_uid || is_set_gid || has_capabilities;
}

FileKind kind_of_elf(const Bytes& file, ProgramFile& program) {
  const auto header = file.at<Elf64_Ehdr>(0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64) return FileKind::other_machine;
#if defined(__x86_64__)
  constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
  constexpr int kMachine = EM_AARCH64;
#endif
  if (header->e_machine != kMachine) return FileKind::other_machine;
  for (int i = 0; i < header->e_phnum; ++i) {
    const auto segment = file.at<Elf64_Phdr>(header->e_phoff + static_cast<std::uint64_t>(i) * header->e_phentsize);
    if (!segment) break;
    if (segment->p_type == PT_INTERP) program.interpreter = file.part(segment->p_offset, segment->p_filesz).data();
    if (segment->p_type == PT_NOTE && program.build_id.empty()) program.build_id = build_id_of(file, *segment);
  }
  if (program.interpreter.empty()) return FileKind::static_linked;
  return program.interpreter.find("ld-linux") != std::string::npos ? FileKind::dynamic_glibc : FileKind::other_libc;
}

}  // namespace

std::string ProgramFile::process_name() const {
  std::string file = kind == FileKind::script ? interpreter : path;
  if (std::optional<std::string> found = kind == FileKind::script ? find_program(file) : std::nullopt) {
    std::array<char, PATH_MAX> real{};
    if (::realpath(found->c_str(), real.data()) != nullptr) file = real.data();
  }
  return file.substr(file.rfind('/') + 1);
}

std::optional<std::string> find_program(const std::string& command) {
  if (command.find('/') != std::string::npos) {
    return ::access(command.c_str(), X_OK) == 0 ? std::optional(command) : std::nullopt;
  }
  const char* const variable = ::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  int error = ENOENT;
  for (;;) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(folders.substr(0, end));
    const std::string path = (folder.empty() ? "." : folder) + "/" + command;
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      if (::access(path.c_str(), X_OK) == 0) return path;
      error = errno;
    }
    if (end == folders.size()) break;
    folders.remove_prefix(end + 1);
  }
  errno = error;
  return std::nullopt;
}

std::optional<ProgramFile> read_program(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  if (::realpath(path.c_str(), real.data()) == nullptr) return std::nullopt;
  ProgramFile program;
  program.path = real.data();
  const Bytes file(program.path);
  if (!file.is_open()) return std::nullopt;
  if (!file.view().starts_with(std::string_view(ELFMAG, SELFMAG))) {
    program.interpreter = interpreter_of(file.view());
    return program;
  }
  program.kind = kind_of_elf(file, program);
  if (program.kind == FileKind::dynamic_glibc && is_privileged(program.path, file.status())) {
    program.kind = FileKind::privileged;
  }
  program.holds_tests = file.view().find("libgtest.so") != std::string_view::npos;
  for (const std::string_view mark : agent::kFrameworkMarks) {
    program.holds_tests = program.holds_tests || file.view().find(mark) != std::string_view::npos;
  }
  return program;
}

}  // namespace syscost::run
