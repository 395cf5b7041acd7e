// SPDX-License-Identifier: MIT
#include "agent/find/file_kind.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "agent/common/variables.h"
#include "libc/symbols.h"

namespace syscost::agent {

FileView::FileView(const char* path) {
  const int fd =
      SYSCOST_LIBC(open)(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is no program, and must not block
  if (fd < 0) return;
  struct stat status {};
  if (SYSCOST_LIBC(fstat)(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    is_open_ = true;
    mode_ = status.st_mode;
    owner_ = status.st_uid;
    group_ = status.st_gid;
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const at = size == 0 ? MAP_FAILED : SYSCOST_LIBC(mmap)(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) {
      bytes_ = static_cast<const char*>(at);
      size_ = size;
    }
  }
  SYSCOST_LIBC(close)(fd);
}

FileView::~FileView() {
  if (bytes_ != nullptr) SYSCOST_LIBC(munmap)(const_cast<char*>(bytes_), size_);
}

bool FileView::is_elf() const {
  return size_ >= SELFMAG && std::memcmp(bytes_, ELFMAG, SELFMAG) == 0;
}

const char* FileView::loader() const {
  const char* found = nullptr;
  for_each_segment([&](const Elf64_Phdr& segment) {
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || !has(segment.p_offset, segment.p_filesz, 1)) return;
    const char* const name = bytes_ + segment.p_offset;
    if (name[segment.p_filesz - 1] == '\0') found = name;
  });
  return found;
}

FileKind FileView::kind() const {
  if (!is_elf()) return FileKind::script;
  if (!has(0, 1, sizeof(Elf64_Ehdr))) return FileKind::other_machine;
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(bytes_);
#if defined(__x86_64__)
  constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
  constexpr int kMachine = EM_AARCH64;
#endif
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine) return FileKind::other_machine;
  const char* const its_loader = loader();
  if (its_loader == nullptr) return FileKind::static_linked;
  return std::string_view(its_loader).find("ld-linux") != std::string_view::npos ? FileKind::dynamic_glibc
                                                                                 : FileKind::other_libc;
}

bool FileView::holds_tests() const {
  const auto holds = [this](const char* text) {
    return size_ != 0 && SYSCOST_LIBC(memmem)(bytes_, size_, text, std::strlen(text)) != nullptr;
  };
  for (const char* const mark : kFrameworkMarks) {
    if (holds(mark)) return true;
  }
  return holds("libgtest.so") || holds("libbenchmark.so");
}

bool FileView::is_for_injection() const {
#if defined(__x86_64__)
  const FileKind its_kind = kind();
  if (its_kind != FileKind::static_linked && its_kind != FileKind::other_libc) return false;
  return size_ != 0 &&
         SYSCOST_LIBC(memmem)(bytes_, size_, kFrameworkMarks[0], std::strlen(kFrameworkMarks[0])) != nullptr;
#else
  return false;
#endif
}

bool FileView::gives_rights(const char* path) const {
  const uid_t user = SYSCOST_LIBC(getuid)();
  const bool is_set_uid = (mode_ & S_ISUID) != 0 && owner_ != user;
  const bool is_set_gid = (mode_ & S_ISGID) != 0 && group_ != SYSCOST_LIBC(getgid)();
  return is_set_uid || is_set_gid || (user != 0 && SYSCOST_LIBC(getxattr)(path, "security.capability", nullptr, 0) > 0);
}

}  // namespace syscost::agent
