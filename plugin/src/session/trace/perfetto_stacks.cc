// SPDX-License-Identifier: MIT
//
// The numbers of the fields are those of Perfetto's interned_data.proto and profile_common.proto.
#include "session/trace/perfetto_stacks.h"

#include <charconv>
#include <cstddef>

#include "session/trace/protobuf.h"

namespace syscost::session {
namespace {

using protobuf::put;
using symbols::ResolvedFrame;
using symbols::SourceFrame;

constexpr std::uint32_t kInternedId = 1;
namespace interned_field {
constexpr std::uint32_t kFunctions = 5, kFrames = 6, kStacks = 7, kBuildIds = 16, kPaths = 17, kSources = 18,
                        kModules = 19;
}
namespace module_field {
constexpr std::uint32_t kBuildId = 2, kPath = 7;
}
namespace frame_field {
constexpr std::uint32_t kFunction = 2, kModule = 3, kOffset = 4, kSource = 5, kLine = 6;
}
namespace stack_field {
constexpr std::uint32_t kFrame = 2;
}
constexpr std::uint32_t kInternedText = 2;  // of a function, a source, a path or a build id

/// The bytes that `digits` are the hexadecimal digits of.
std::string bytes_of(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 2 <= digits.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

std::uint64_t PerfettoStacks::text_id(Texts& known, std::string_view text, std::uint32_t field, std::string& interned) {
  const auto found = known.find(text);
  if (found != known.end()) return found->second;
  const std::uint64_t id = known.size() + 1;
  known.emplace(text, id);
  std::string entry;
  put(entry, kInternedId, id);
  put(entry, kInternedText, text);
  put(interned, field, entry);
  return id;
}

std::uint64_t PerfettoStacks::module_id(const Module& module, std::string& interned) {
  const std::uint64_t path = text_id(paths_, module.path, interned_field::kPaths, interned);
  const std::uint64_t build_id = text_id(build_ids_, bytes_of(module.build_id), interned_field::kBuildIds, interned);
  const auto [at, is_new] = modules_.try_emplace({path, build_id}, modules_.size() + 1);
  if (!is_new) return at->second;
  std::string entry;
  put(entry, kInternedId, at->second);
  put(entry, module_field::kBuildId, build_id);
  put(entry, module_field::kPath, path);
  put(interned, interned_field::kModules, entry);
  return at->second;
}

/// `source`: a function that is inlined at this place, or the place's own; null = nothing is known.
std::uint64_t PerfettoStacks::frame_id(const ResolvedFrame& frame, const SourceFrame* source, std::string& interned) {
  std::string_view function = source != nullptr ? std::string_view(source->function) : std::string_view();
  if (frame.module == nullptr) function = "[outside every file]";
  const bool has_line = source != nullptr && !source->file.empty() && source->line != 0;
  const std::uint64_t module = frame.module != nullptr ? module_id(*frame.module, interned) : 0;
  const std::uint64_t name = function.empty() ? 0 : text_id(functions_, function, interned_field::kFunctions, interned);
  const std::uint64_t file = has_line ? text_id(sources_, source->file, interned_field::kSources, interned) : 0;
  const std::uint64_t line = has_line ? source->line : 0;
  const auto [at, is_new] = frames_.try_emplace({module, frame.offset, name, file, line}, frames_.size() + 1);
  if (!is_new) return at->second;
  std::string entry;
  put(entry, kInternedId, at->second);
  if (name != 0) put(entry, frame_field::kFunction, name);
  if (module != 0) {
    put(entry, frame_field::kModule, module);
    put(entry, frame_field::kOffset, frame.offset);
  }
  if (has_line) {
    put(entry, frame_field::kSource, file);
    put(entry, frame_field::kLine, line);
  }
  put(interned, interned_field::kFrames, entry);
  return at->second;
}

std::uint64_t PerfettoStacks::id_of(std::uint32_t number, std::span<const ResolvedFrame> frames,
                                    std::string& interned) {
  const auto [at, is_new] = stacks_.try_emplace(number, stacks_.size() + 1);
  if (!is_new) return at->second;
  Numbers ids;  // Perfetto's order: outermost first
  for (std::size_t i = frames.size(); i-- > 0;) {
    const ResolvedFrame& frame = frames[i];
    const std::size_t inlined = frame.place == nullptr ? 0 : frame.place->frames.size();
    for (std::size_t j = inlined; j-- > 0;) ids.push_back(frame_id(frame, &frame.place->frames[j], interned));
    if (inlined == 0) ids.push_back(frame_id(frame, nullptr, interned));
  }
  std::string entry;
  put(entry, kInternedId, at->second);
  for (const std::uint64_t id : ids) put(entry, stack_field::kFrame, id);
  put(interned, interned_field::kStacks, entry);
  return at->second;
}

}  // namespace syscost::session
