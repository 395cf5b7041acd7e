// SPDX-License-Identifier: MIT
#include "extras/trace/session/perfetto.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "arguments/call_text.h"
#include "core/syscall_table.h"

namespace syscost::session {

// The numbers of the fields are those of Perfetto's interned_data.proto and profile_common.proto.

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

namespace {

namespace trace {
constexpr std::uint32_t kPacket = 1;
}
namespace packet {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kEvent = 11, kInterned = 12, kFlags = 13, kTrack = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace track {
constexpr std::uint32_t kId = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5;
}
namespace process {
constexpr std::uint32_t kPid = 1, kName = 6;
}
namespace thread {
constexpr std::uint32_t kPid = 1, kTid = 2;
}
namespace event {
constexpr std::uint32_t kCategoryIds = 3, kNotes = 4, kType = 9, kNameId = 10, kTrack = 11, kStack = 56;
constexpr std::uint32_t kBegin = 1, kEnd = 2, kInstant = 3;
}  // namespace event
namespace note {
constexpr std::uint32_t kNameId = 1, kInt = 4, kText = 6;
}
namespace interned {
constexpr std::uint32_t kCategories = 1, kNames = 2, kNoteNames = 3, kId = 1, kText = 2;
}

// Ids of tracks.
constexpr std::uint64_t kProcessTrack = 1;
constexpr std::uint64_t kThreadTracks = 1'000;
constexpr std::uint64_t kSliceTracks = 1ULL << 40;

}  // namespace

PerfettoTrace::PerfettoTrace(std::uint32_t process_id, std::string_view program, MappedText& out)
    : process_(process_id), out_(out) {
  std::string described;
  put(described, process::kPid, process_);
  put(described, process::kName, program);
  std::string descriptor;
  put(descriptor, track::kId, kProcessTrack);
  put(descriptor, track::kProcess, described);
  emit_track(descriptor);
}

void PerfettoTrace::emit(std::string one) {
  put(one, packet::kSequence, 1);
  put(one, packet::kFlags, has_begun_ ? packet::kNeedsState : packet::kStateCleared);
  has_begun_ = true;
  std::string framed;
  put(framed, trace::kPacket, one);
  out_.append(framed);
}

void PerfettoTrace::emit_track(std::string_view descriptor) {
  std::string one;
  put(one, packet::kTrack, descriptor);
  emit(std::move(one));
}

std::uint64_t PerfettoTrace::track_of(std::uint32_t thread_id) {
  const std::uint64_t id = kThreadTracks + thread_id;
  if (!threads_.insert(thread_id).second) return id;
  std::string described;
  put(described, thread::kPid, process_);
  put(described, thread::kTid, thread_id);
  std::string descriptor;
  put(descriptor, track::kId, id);
  put(descriptor, track::kParent, kProcessTrack);
  put(descriptor, track::kThread, described);
  emit_track(descriptor);
  return id;
}

std::uint64_t PerfettoTrace::name_id(std::map<std::string, std::uint64_t, std::less<>>& known, std::string_view name,
                                     std::uint32_t field, std::string& interned) {
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  const std::uint64_t id = known.size() + 1;
  known.emplace(name, id);
  std::string entry;
  put(entry, interned::kId, id);
  put(entry, interned::kText, name);
  put(interned, field, entry);
  return id;
}

void PerfettoTrace::begin(std::uint32_t type, std::uint64_t track_id, const Title& title, std::uint64_t at_ns,
                          const std::vector<Note>& notes, const TracedStack* stack) {
  std::string names;
  std::string one_event;
  for (std::string_view rest = title.categories; !rest.empty();) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    put(one_event, event::kCategoryIds, name_id(categories_, rest.substr(0, end), interned::kCategories, names));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  put(one_event, event::kType, type);
  put(one_event, event::kTrack, track_id);
  put(one_event, event::kNameId, name_id(names_, title.name, interned::kNames, names));
  for (const Note& each : notes) {
    std::string one_note;
    put(one_note, note::kNameId, name_id(note_names_, each.name, interned::kNoteNames, names));
    if (each.is_number) {
      put(one_note, note::kInt, static_cast<std::uint64_t>(each.number));
    } else {
      put(one_note, note::kText, each.text);
    }
    put(one_event, event::kNotes, one_note);
  }
  if (stack != nullptr) put(one_event, event::kStack, stacks_.id_of(stack->number, stack->frames, names));
  std::string one;
  put(one, packet::kTimestamp, at_ns);
  put(one, packet::kEvent, one_event);
  if (!names.empty()) put(one, packet::kInterned, names);
  emit(std::move(one));
}

void PerfettoTrace::end(std::uint64_t track_id, std::uint64_t at_ns) {
  std::string one_event;
  put(one_event, event::kType, event::kEnd);
  put(one_event, event::kTrack, track_id);
  std::string one;
  put(one, packet::kTimestamp, at_ns);
  put(one, packet::kEvent, one_event);
  emit(std::move(one));
}

void PerfettoTrace::add_slice(const Title& title, std::uint64_t start_ns, std::uint64_t end_ns,
                              const std::vector<Note>& notes) {
  const std::uint64_t id = kSliceTracks + slices_++;
  std::string descriptor;
  put(descriptor, track::kId, id);
  put(descriptor, track::kParent, kProcessTrack);
  put(descriptor, track::kName, title.name);
  emit_track(descriptor);
  begin(event::kBegin, id, title, start_ns, notes);
  end(id, end_ns);
}

void PerfettoTrace::add(const CallEvent& call, const TracedStack* stack) {
  std::vector<Note> notes;
  for (const ArgumentText& argument : argument_texts(call)) {
    notes.push_back({argument.name.empty() ? std::string_view("argument") : argument.name, argument.text});
  }
  notes.push_back({"result", result_text(call)});
  if (stack != nullptr) notes.push_back({"site", std::string(stack->site)});
  const std::uint64_t track_id = track_of(call.thread);
  const std::string name = syscall_name(call.id);
  const std::string classes = class_list(call.id);
  if (!call.latency_ns.has_value()) {
    begin(event::kInstant, track_id, {name, classes}, call.start_ns, notes, stack);
    return;
  }
  begin(event::kBegin, track_id, {name, classes}, call.start_ns, notes, stack);
  end(track_id, call.start_ns + *call.latency_ns);
}

}  // namespace syscost::session
