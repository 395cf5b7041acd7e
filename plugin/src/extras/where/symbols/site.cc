// SPDX-License-Identifier: MIT
#include "extras/where/symbols/site.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>

#include "os/files.h"

namespace syscost::symbols {
namespace {

/// True if `folder` is the root of a checkout, and no submodule's.
bool is_root_of_checkout(std::string_view folder, std::pmr::memory_resource& memory) {
  struct stat status {};
  std::pmr::string path(&memory);
  for (const char* mark : {"/.hg", "/.svn"}) {
    path.assign(folder).append(mark);
    if (stat(path.c_str(), &status) == 0) return true;
  }
  path.assign(folder).append("/.git");
  if (lstat(path.c_str(), &status) != 0) return false;
  // In a submodule and in a second worktree it is a file, which names the folder: `gitdir: ../.git/modules/json`.
  return !S_ISREG(status.st_mode) ||
         read_small_file(path.c_str(), memory, kMostOfSmallFile).find("/modules/") == std::pmr::string::npos;
}

}  // namespace

std::string_view SourceTree::root_of(std::string_view folder) {
  if (folder.empty()) return {};
  if (const auto known = roots_.find(folder); known != roots_.end()) return known->second;
  std::pmr::memory_resource& memory = *roots_.get_allocator().resource();
  const std::string_view root =
      is_root_of_checkout(folder, memory) ? folder : root_of(folder.substr(0, folder.find_last_of('/')));
  return roots_.emplace(folder, root).first->second;
}

std::string_view SourceTree::shown(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  if (!path.starts_with('/') || slash == std::string_view::npos) return path;
  const std::string_view root = root_of(path.substr(0, slash));
  return root.empty() ? path : path.substr(root.size() + 1);
}

namespace {

bool starts_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

/// True if `path` is `part` or lies in it; a relative `part` may begin at any name of the path.
bool is_in(std::string_view path, std::string_view part) {
  while (part.size() > 1 && part.ends_with('/')) part.remove_suffix(1);
  if (part.starts_with("./")) part.remove_prefix(2);
  if (part.empty()) return false;
  const bool is_absolute = part.front() == '/';
  for (std::size_t at = path.find(part); at != std::string_view::npos; at = path.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool begins = at == 0 || (!is_absolute && path[at - 1] == '/');
    const bool ends = end == path.size() || path[end] == '/' || part == "/";
    if (begins && ends) return true;
    if (is_absolute) return false;
  }
  return false;
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// Folders of the operating system. Software that an administrator installs is below /usr/local.
bool is_of_system(std::string_view path) {
  constexpr std::array<std::string_view, 6> kFolders = {"/usr/", "/lib/", "/lib64/", "/lib32/", "/libx32/", "/bin/"};
  return starts_with_any(path, kFolders) && !path.starts_with("/usr/local/");
}

/// libc, and what is part of it. Its frames are in every stack.
bool is_libc(const Module& module) {
  constexpr std::array<std::string_view, 6> kNames = {"libc.so",  "libc-2",  "libpthread",
                                                      "ld-linux", "ld-musl", "[vdso]"};
  return starts_with_any(base_name(module.path), kNames);
}

/// Where threads and processes begin: every stack has them.
bool is_beginning(std::string_view function) {
  constexpr std::array<std::string_view, 5> kFunctions = {"clone", "__clone", "_start", "__libc_start", "thread_start"};
  return starts_with_any(function, kFunctions);
}

void append_number(std::pmr::string& text, std::uint64_t number, int base = 10) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
  text.append(digits.data(), end);
}

/// Names and paths come from files that anyone may have made.
void append_visible(std::pmr::string& text, std::string_view from) {
  for (const char c : from) text += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? '?' : c;
}

/// `liblog.so Log::batch`, or `liblog.so+0x1234`.
void append_in_module(std::pmr::string& text, const ResolvedFrame& frame, std::string_view function) {
  append_visible(text, base_name(frame.module->path));
  if (function.empty()) {
    text += "+0x";
    append_number(text, frame.offset, 16);
  } else {
    text += ' ';
    append_visible(text, function);
  }
}

std::string_view innermost_function(const ResolvedFrame& frame) {
  return frame.place == nullptr || frame.place->frames.empty() ? std::string_view()
                                                               : std::string_view(frame.place->frames.front().function);
}

/// Without a line, a function of the standard library that was compiled into the user's file is recognised by its name.
bool is_standard(std::string_view function) {
  constexpr std::array<std::string_view, 2> kNames = {"std::", "__gnu_cxx::"};
  return starts_with_any(function, kNames);
}

/// Appends `src/log.cc:17 Log::batch+3`.
void append_source(std::pmr::string& text, const SourceFrame& source, SourceTree& tree) {
  append_visible(text, tree.shown(source.file));
  text += ':';
  append_number(text, source.line);
  if (source.function.empty()) return;
  text += ' ';
  append_visible(text, source.function);
  if (source.first_line != 0 && source.first_line <= source.line) {
    text += '+';
    append_number(text, source.line - source.first_line);
  }
}

/// Calls use(append) for each frame that is the user's, from the innermost on, while it returns true. append(text)
/// appends the frame.
template <class Use>
void visit_user_frames(std::span<const ResolvedFrame> frames, const SiteRule& rule, SourceTree& tree, Use use) {
  for (const ResolvedFrame& frame : frames) {
    if (frame.module == nullptr || rule.skips_module(*frame.module)) continue;
    if (frame.place == nullptr || frame.place->frames.empty()) {
      if (!use([&](std::pmr::string& text) { append_in_module(text, frame, {}); })) return;
      continue;
    }
    for (const SourceFrame& source : frame.place->frames) {
      const bool has_line = !source.file.empty() && source.line != 0;
      if (has_line ? rule.skips_source(source.file) : is_standard(source.function)) continue;
      const bool goes_on = use([&](std::pmr::string& text) {
        if (has_line) {
          append_source(text, source, tree);
        } else {
          append_in_module(text, frame, source.function);
        }
      });
      if (!goes_on) return;
    }
  }
}

/// Appends the innermost frame that is the user's. False if there is none.
bool append_site(std::pmr::string& text, std::span<const ResolvedFrame> frames, const SiteRule& rule,
                 SourceTree& tree) {
  bool has_one = false;
  visit_user_frames(frames, rule, tree, [&](const auto& append) {
    append(text);
    has_one = true;
    return false;
  });
  return has_one;
}

/// The frame that says most of a stack without a frame of the user's: the innermost one outside libc. If all are in
/// libc, the outermost one that is not the beginning of every stack: `start_thread`.
const ResolvedFrame* telling_frame(std::span<const ResolvedFrame> frames) {
  const ResolvedFrame* outermost = nullptr;
  for (const ResolvedFrame& frame : frames) {
    if (frame.module == nullptr) continue;
    if (!is_libc(*frame.module)) return &frame;
    if (outermost == nullptr || !is_beginning(innermost_function(frame))) outermost = &frame;
  }
  return outermost;
}

std::string_view reason_of(StackEnd end) {
  switch (end) {
    case StackEnd::no_unwind_information:
      return "no unwind information";
    case StackEnd::too_deep:
      return "the stack is too deep";
    case StackEnd::complete:
      break;
  }
  return "code outside every file";
}

}  // namespace

bool SiteRule::skips_module(const Module& module) const {
  const bool is_system = module.path != main_program && (is_of_system(module.path) || module.path.starts_with('[') ||
                                                         base_name(module.path).starts_with("libsyscost"));
  return is_system ||
         std::any_of(skipped.begin(), skipped.end(), [&](const std::string& part) { return is_in(module.path, part); });
}

bool SiteRule::skips_source(std::string_view file) const {
  // A compiler that lies elsewhere has its headers in PREFIX/include/c++/.
  return is_of_system(file) || file.find("/include/c++/") != std::string_view::npos ||
         std::any_of(skipped.begin(), skipped.end(), [&](const std::string& part) { return is_in(file, part); });
}

std::pmr::string site_text(std::span<const ResolvedFrame> frames, StackEnd end, const SiteRule& rule, SourceTree& tree,
                           std::pmr::memory_resource& memory) {
  std::pmr::string text("at ", &memory);
  if (append_site(text, frames, rule, tree)) return text;
  const ResolvedFrame* const telling = end == StackEnd::complete ? telling_frame(frames) : nullptr;
  if (telling != nullptr) {
    append_in_module(text, *telling, innermost_function(*telling));
  } else {
    text.append("unknown: ").append(reason_of(end));
  }
  return text;
}

std::vector<std::string> user_frames(std::span<const ResolvedFrame> frames, const SiteRule& rule, SourceTree& tree,
                                     std::pmr::memory_resource& memory) {
  std::vector<std::string> lines;
  visit_user_frames(frames, rule, tree, [&](const auto& append) {
    std::pmr::string line(&memory);
    append(line);
    lines.emplace_back(line);
    return true;
  });
  return lines;
}

std::pmr::string folded_text(std::span<const ResolvedFrame> frames, StackEnd end, std::pmr::memory_resource& memory) {
  std::pmr::string text(&memory);
  const auto begin_frame = [&] {
    if (!text.empty()) text += ';';
  };
  const auto append_name = [&](std::string_view name) {
    for (const char c : name) text += c == ';' || static_cast<unsigned char>(c) < ' ' || c == 0x7f ? '?' : c;
  };
  if (end != StackEnd::complete) text.append("[").append(reason_of(end)).append("]");
  for (std::size_t i = frames.size(); i-- > 0;) {
    const ResolvedFrame& frame = frames[i];
    const std::size_t count = frame.place == nullptr ? 0 : frame.place->frames.size();
    for (std::size_t j = count; j-- > 0;) {
      begin_frame();
      const SourceFrame& source = frame.place->frames[j];
      append_name(source.function.empty() ? base_name(frame.module->path) : std::string_view(source.function));
    }
    if (count > 0) continue;
    begin_frame();
    if (frame.module == nullptr) {
      text += "[outside every file]";
    } else {
      append_name(base_name(frame.module->path));
      text += "+0x";
      append_number(text, frame.offset, 16);
    }
  }
  return text;
}

}  // namespace syscost::symbols
