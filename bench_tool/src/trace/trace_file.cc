// SPDX-License-Identifier: MIT
#include "trace/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "trace/protobuf.h"

namespace syscost::bench::trace {

namespace {

/// The event of one packet.
struct TraceEvent {
  std::uint64_t type = 0;
  std::uint64_t track = 0;
  std::string_view name;
  std::vector<std::string_view> categories;
  std::size_t first_note = 0;
  std::size_t note_count = 0;
  std::uint32_t stack = 0;
};

constexpr std::uint64_t kBegin = 1;
constexpr std::uint64_t kEnd = 2;
constexpr std::uint64_t kInstant = 3;
constexpr std::uint64_t kStateCleared = 1;

class Reader {
 public:
  Reader(TraceFile& into, csv::Problems& problems) : into_(into), problems_(problems) {}

  void read() {
    Message file(std::string_view(into_.bytes.data(), into_.bytes.size()));
    for (Field field; file.next(field);) {
      if (field.number == 1 && field.is_bytes) read_packet(field.bytes);
    }
    if (into_.calls.empty() && into_.slices.empty() && !has_tracks_) {
      problems_.add(into_.path, 0, "is no trace of syscost (trace.pftrace)");
    } else if (file.is_broken()) {
      problems_.add(into_.path, 0,
                    fmt::format("is cut or damaged: what comes after {} events is missing", into_.calls.size()));
    }
    if (faults_ != 0) problems_.add(into_.path, 0, fmt::format("{} parts of it are damaged", faults_));
    std::stable_sort(into_.calls.begin(), into_.calls.end(),
                     [](const Call& a, const Call& b) { return a.start_ns < b.start_ns; });
  }

 private:
  using Names = std::map<std::uint64_t, std::string_view>;

  /// The open events of a track: the places of calls, or of slices.
  struct Track {
    bool is_thread = false;
    std::uint32_t thread = 0;
    std::vector<std::size_t> open;
  };

  void read_packet(std::string_view bytes) {
    std::uint64_t at_ns = 0;
    std::string_view event;
    Message packet(bytes);
    for (Field field; packet.next(field);) {
      if (field.number == 8) at_ns = field.value;
      if (field.number == 13 && (field.value & kStateCleared) != 0) forget_names();
      if (field.number == 12 && field.is_bytes) read_names(field.bytes);
      if (field.number == 60 && field.is_bytes) read_track(field.bytes);
      if (field.number == 11 && field.is_bytes) event = field.bytes;
    }
    if (packet.is_broken()) ++faults_;
    if (!event.empty()) take(read_event(event), at_ns);
  }

  void forget_names() {
    categories_.clear();
    names_.clear();
    note_names_.clear();
    stacks_.forget();
  }

  void read_names(std::string_view bytes) {
    Message names(bytes);
    for (Field field; names.next(field);) {
      Names* into = field.number == 1   ? &categories_
                    : field.number == 2 ? &names_
                    : field.number == 3 ? &note_names_
                                        : nullptr;
      if (into == nullptr && !stacks_.take(field, into_)) ++faults_;
      if (into == nullptr || !field.is_bytes) continue;
      std::uint64_t id = 0;
      std::string_view text;
      Message entry(field.bytes);
      for (Field part; entry.next(part);) {
        if (part.number == 1) id = part.value;
        if (part.number == 2) text = part.bytes;
      }
      (*into)[id] = text;
    }
    if (names.is_broken()) ++faults_;
  }

  void read_track(std::string_view bytes) {
    std::uint64_t id = 0;
    Track track;
    Message descriptor(bytes);
    for (Field field; descriptor.next(field);) {
      if (field.number == 1) id = field.value;
      if (field.number != 3 && field.number != 4) continue;
      Message part(field.bytes);
      for (Field detail; part.next(detail);) {
        if (field.number == 3 && detail.number == 1) into_.process = detail.value;
        if (field.number == 3 && detail.number == 6) into_.program = detail.bytes;
        if (field.number == 4 && detail.number == 2) track.thread = static_cast<std::uint32_t>(detail.value);
      }
      track.is_thread = field.number == 4;
    }
    tracks_.insert_or_assign(id, std::move(track));
    has_tracks_ = true;
  }

  std::string_view known(const Names& names, std::uint64_t id) {
    const auto found = names.find(id);
    if (found != names.end()) return found->second;
    ++faults_;
    return {};
  }

  void read_note(std::string_view bytes) {
    Note note;
    Message message(bytes);
    for (Field field; message.next(field);) {
      if (field.number == 1) note.name = known(note_names_, field.value);
      if (field.number == 4) note.number = field.value;
      if (field.number == 6) note.text = field.bytes;
    }
    into_.notes.push_back(note);
  }

  /// More or longer ones are none of ours, and would take much memory.
  void add_category(TraceEvent& event, std::string_view name) {
    constexpr std::size_t kMost = 32;
    constexpr std::size_t kLongest = 64;
    if (event.categories.size() < kMost && name.size() <= kLongest) {
      event.categories.push_back(name);
    } else {
      ++faults_;
    }
  }

  TraceEvent read_event(std::string_view bytes) {
    TraceEvent event;
    event.first_note = into_.notes.size();
    Message message(bytes);
    for (Field field; message.next(field);) {
      if (field.number == 3) add_category(event, known(categories_, field.value));
      if (field.number == 4 && field.is_bytes) read_note(field.bytes);
      if (field.number == 9) event.type = field.value;
      if (field.number == 10) event.name = known(names_, field.value);
      if (field.number == 11) event.track = field.value;
      if (field.number == 56) event.stack = stacks_.place_of(field.value);
    }
    if (message.is_broken()) ++faults_;
    event.note_count = into_.notes.size() - event.first_note;
    return event;
  }

  void take(const TraceEvent& event, std::uint64_t at_ns) {
    const auto found = tracks_.find(event.track);
    if (found == tracks_.end()) {
      ++faults_;
      return;
    }
    Track& track = found->second;
    if (event.type == kEnd) {
      end(track, at_ns);
    } else if (event.type == kBegin || event.type == kInstant) {
      if (track.is_thread) {
        begin_call(event, track, at_ns);
      } else {
        begin_slice(event, track, at_ns);
      }
    }
  }

  void end(Track& track, std::uint64_t at_ns) {
    if (track.open.empty()) {
      ++faults_;
      return;
    }
    const std::size_t place = track.open.back();
    track.open.pop_back();
    const std::uint64_t start_ns = track.is_thread ? into_.calls[place].start_ns : into_.slices[place].start_ns;
    if (at_ns < start_ns) {
      ++faults_;
      return;
    }
    (track.is_thread ? into_.calls[place].took_ns : into_.slices[place].took_ns) = at_ns - start_ns;
  }

  void begin_call(const TraceEvent& event, Track& track, std::uint64_t at_ns) {
    Call call;
    call.name = event.name;
    call.start_ns = at_ns;
    call.thread = track.thread;
    call.categories = place_of(event.categories);
    call.first_note = event.first_note;
    call.note_count = event.note_count;
    call.stack = event.stack;
    const auto take_last = [&](std::string_view name, std::string_view& text) {
      if (call.note_count == 0) return;
      const Note& last = into_.notes[call.first_note + call.note_count - 1];
      if (last.name != name) return;
      text = last.text;
      --call.note_count;
    };
    take_last("site", call.site);
    take_last("result", call.result);
    if (event.type == kBegin) track.open.push_back(into_.calls.size());
    into_.calls.push_back(call);
  }

  void begin_slice(const TraceEvent& event, Track& track, std::uint64_t at_ns) {
    Slice slice;
    slice.name = event.name;
    slice.start_ns = at_ns;
    slice.is_window = std::find(event.categories.begin(), event.categories.end(), "window") != event.categories.end();
    for (std::size_t i = event.first_note; i < into_.notes.size(); ++i) {
      const Note& note = into_.notes[i];
      if (note.name == "calls") slice.calls = note.number;
      if (note.name == "events") slice.events = note.number;
      if (note.name == "trace_lost") slice.lost = note.number;
    }
    track.open.push_back(into_.slices.size());
    into_.slices.push_back(slice);
  }

  std::uint32_t place_of(const std::vector<std::string_view>& words) {
    std::string all;
    for (const std::string_view word : words) all.append(all.empty() ? "" : ";").append(word);
    const auto [place, is_new] = category_places_.try_emplace(all, static_cast<std::uint32_t>(into_.categories.size()));
    if (all.empty()) return 0;
    if (is_new) into_.categories.push_back(all);
    return place->second;
  }

  TraceFile& into_;
  csv::Problems& problems_;
  Names categories_;
  Names names_;
  Names note_names_;
  StackNames stacks_;
  std::map<std::uint64_t, Track> tracks_;
  std::map<std::string, std::uint32_t> category_places_;
  bool has_tracks_ = false;
  std::size_t faults_ = 0;
};

}  // namespace

std::string_view Call::error() const {
  if (!result.starts_with("-1 ")) return {};
  const std::string_view words = result.substr(3);
  return words.substr(0, words.find(' '));
}

const Slice* TraceFile::window() const {
  const auto found = std::find_if(slices.begin(), slices.end(), [](const Slice& slice) { return slice.is_window; });
  return found == slices.end() ? nullptr : &*found;
}

std::uint64_t TraceFile::origin_ns() const {
  if (const Slice* own = window()) return own->start_ns;
  std::optional<std::uint64_t> first;
  if (!calls.empty()) first = calls.front().start_ns;
  for (const Slice& slice : slices) first = std::min(first.value_or(slice.start_ns), slice.start_ns);
  return first.value_or(0);
}

TraceFile read_trace(std::string path, std::vector<char> bytes, csv::Problems& problems) {
  TraceFile trace;
  trace.path = std::move(path);
  trace.bytes = std::move(bytes);
  Reader(trace, problems).read();
  return trace;
}

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
