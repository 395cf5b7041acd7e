// SPDX-License-Identifier: MIT
//
// The kind of a program's file, read before it is executed: whether the loader will preload our library into it. For
// syscost-run and for the preloaded part, which needs no function of the C++ library.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>

namespace syscost::agent {

enum class FileKind {
  script,         ///< Begins with #!, or is no ELF file: a shell or another interpreter runs it.
  dynamic_glibc,  ///< The agent can be preloaded.
  static_linked,
  other_libc,     ///< musl and others.
  other_machine,  ///< 32 bits, or another processor.
  privileged,     ///< Set-uid, set-gid or with file capabilities, and not for root: the loader ignores LD_PRELOAD.
};

/// A file mapped for reading; empty where it cannot be. Allocates nothing.
class FileView {
 public:
  /// errno says why it is not open.
  explicit FileView(const char* path);
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;
  ~FileView();

  bool is_open() const { return is_open_; }  ///< A regular file that can be read.
  const char* bytes() const { return bytes_; }
  std::size_t size() const { return size_; }
  bool is_elf() const;
  /// True when the file has `count` things of `each` bytes at `offset`.
  bool has(std::size_t offset, std::size_t count, std::size_t each) const {
    return offset <= size_ && each != 0 && count <= (size_ - offset) / each;
  }
  /// Calls `visit` with each program header of an ELF file of 64 bits.
  template <class Visit>
  void for_each_segment(Visit visit) const {
    if (!has(0, 1, sizeof(Elf64_Ehdr))) return;
    const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(bytes_);
    constexpr std::size_t kMostBytes = 65536;  // the kernel executes no file with more of them
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff % alignof(Elf64_Phdr) != 0 ||
        header.e_phnum > kMostBytes / sizeof(Elf64_Phdr) || !has(header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr))) {
      return;
    }
    const auto* const segments = reinterpret_cast<const Elf64_Phdr*>(bytes_ + header.e_phoff);
    for (int i = 0; i < header.e_phnum; ++i) visit(segments[i]);
  }
  /// The program's loader; null where it has none.
  const char* loader() const;
  /// By what is in the file; `privileged` is never its answer.
  FileKind kind() const;
  /// True where a test framework that the agent knows is linked into the program, or a library of it.
  bool holds_tests() const;
  /// True where syscost-inject can measure the program's tests: it has GoogleTest in itself, and the loader preloads
  /// nothing.
  bool is_for_injection() const;
  /// True where the user that executes the file gets rights that it does not have.
  bool gives_rights(const char* path) const;

 private:
  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
  unsigned mode_ = 0;
  unsigned owner_ = 0;
  unsigned group_ = 0;
  bool is_open_ = false;
};

}  // namespace syscost::agent
