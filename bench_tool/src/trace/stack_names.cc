// SPDX-License-Identifier: MIT
#include "trace/stack_names.h"

#include <utility>
#include <vector>

namespace syscost::bench::trace {
namespace {

namespace interned {
constexpr std::uint32_t kFunctions = 5, kFrames = 6, kStacks = 7, kPaths = 17, kSources = 18, kModules = 19;
}
namespace module_field {
constexpr std::uint32_t kPath = 7;
}
namespace frame_field {
constexpr std::uint32_t kFunction = 2, kModule = 3, kOffset = 4, kSource = 5;
}
constexpr std::uint32_t kId = 1;
constexpr std::uint32_t kText = 2;
constexpr std::uint32_t kFrame = 2;  // of a stack

std::string_view known(const std::map<std::uint64_t, std::string_view>& names, std::uint64_t id) {
  const auto found = names.find(id);
  return found == names.end() ? std::string_view() : found->second;
}

bool take_text(std::string_view bytes, std::map<std::uint64_t, std::string_view>& into) {
  std::uint64_t id = 0;
  std::string_view text;
  Message message(bytes);
  for (Field part; message.next(part);) {
    if (part.number == kId) id = part.value;
    if (part.number == kText) text = part.bytes;
  }
  into[id] = text;
  return !message.is_broken();
}

}  // namespace

bool StackNames::take_module(std::string_view bytes) {
  std::uint64_t id = 0;
  std::uint64_t path = 0;
  Message message(bytes);
  for (Field part; message.next(part);) {
    if (part.number == kId) id = part.value;
    if (part.number == module_field::kPath) path = part.value;
  }
  modules_[id] = known(paths_, path);
  return !message.is_broken();
}

bool StackNames::take_frame(std::string_view bytes, TraceFile& into) {
  std::uint64_t id = 0;
  Frame frame;
  Message message(bytes);
  for (Field part; message.next(part);) {
    if (part.number == kId) id = part.value;
    if (part.number == frame_field::kFunction) frame.function = known(functions_, part.value);
    if (part.number == frame_field::kModule) frame.module = known(modules_, part.value);
    if (part.number == frame_field::kOffset) frame.offset = part.value;
    if (part.number == frame_field::kSource) frame.source = known(sources_, part.value);
  }
  frames_[id] = static_cast<std::uint32_t>(into.frames.size());
  into.frames.push_back(frame);
  return !message.is_broken();
}

bool StackNames::take_stack(std::string_view bytes, TraceFile& into) {
  std::uint64_t id = 0;
  std::vector<std::uint32_t> frames;
  bool is_whole = true;
  Message message(bytes);
  for (Field part; message.next(part);) {
    if (part.number == kId) id = part.value;
    if (part.number != kFrame) continue;
    const auto found = frames_.find(part.value);
    if (found != frames_.end()) frames.push_back(found->second);
    is_whole = is_whole && found != frames_.end();
  }
  if (message.is_broken() || !is_whole) return false;
  stacks_[id] = static_cast<std::uint32_t>(into.stacks.size());
  into.stacks.push_back(std::move(frames));
  return true;
}

bool StackNames::take(const Field& field, TraceFile& into) {
  if (!field.is_bytes) return true;
  switch (field.number) {
    case interned::kFunctions:
      return take_text(field.bytes, functions_);
    case interned::kSources:
      return take_text(field.bytes, sources_);
    case interned::kPaths:
      return take_text(field.bytes, paths_);
    case interned::kModules:
      return take_module(field.bytes);
    case interned::kFrames:
      return take_frame(field.bytes, into);
    case interned::kStacks:
      return take_stack(field.bytes, into);
    default:
      return true;
  }
}

std::uint32_t StackNames::place_of(std::uint64_t stack) const {
  const auto found = stacks_.find(stack);
  return found == stacks_.end() ? 0 : found->second;
}

}  // namespace syscost::bench::trace
