// SPDX-License-Identifier: MIT
#include "bench_run/program_file.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "os/build_id.h"

namespace syscost::bench_run {
namespace {

using agent::FileView;

/// `#!/usr/bin/env python3` is run by env, which becomes python3: the first word that is no env.
std::string interpreter_of(std::string_view text) {
  if (!text.starts_with("#!")) return "/bin/sh";
  std::string_view line = text.substr(2, std::min<std::size_t>(text.find('\n'), PATH_MAX) - 2);
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    std::string word(line.substr(0, end));
    line.remove_prefix(end);
    const bool is_env = word == "env" || word.ends_with("/env");
    if (is_env || word.front() == '-' || word.find('=') != std::string::npos) continue;
    return word;
  }
  return "/bin/sh";
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
  ProgramFile program;
  program.path_to_execute = path;
  // A file without a name, as one that was deleted, has a path in /proc/self/fd only.
  const bool has_name = ::realpath(path.c_str(), real.data()) != nullptr && ::access(real.data(), F_OK) == 0;
  program.path = has_name ? real.data() : path;
  errno = 0;
  const FileView file(path.c_str());
  if (!file.is_open()) {
    struct stat status {};
    if (errno == 0) errno = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) ? EISDIR : EACCES;
    return std::nullopt;
  }
  program.kind = file.kind();
  if (program.kind == FileKind::script) {
    program.interpreter = interpreter_of(std::string_view(file.bytes(), file.size()));
    return program;
  }
  if (const char* const loader = file.loader(); loader != nullptr) program.interpreter = loader;
  file.for_each_segment([&](const Elf64_Phdr& segment) {
    if (segment.p_type != PT_NOTE || !program.build_id.empty()) return;
    if (!file.has(segment.p_offset, segment.p_filesz, 1)) return;
    program.build_id = build_id_in({file.bytes() + segment.p_offset, segment.p_filesz});
  });
  if (program.kind != FileKind::other_machine && file.gives_rights(program.path.c_str())) {
    program.kind = FileKind::privileged;
  }
  program.is_for_injection = program.kind != FileKind::privileged && file.is_for_injection();
  program.holds_tests = file.holds_tests();
  return program;
}

}  // namespace syscost::bench_run
