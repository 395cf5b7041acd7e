// SPDX-License-Identifier: MIT
#include "backends/dispatch/sites.h"

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace syscost::dispatch {
namespace {

constexpr std::size_t kSyscallBytes = 2;
constexpr unsigned kRtSigreturn = 15;

bool returns_from_signal(const unsigned char* syscall, const Text& text) {
  constexpr unsigned char kReturnsFromSignal[] = {0x48, 0xc7, 0xc0, kRtSigreturn, 0, 0, 0};
  constexpr std::ptrdiff_t kBytes = sizeof kReturnsFromSignal;
  return syscall - text.begin >= kBytes && std::memcmp(syscall - kBytes, kReturnsFromSignal, kBytes) == 0;
}

/// True if the bytes lie within one cache line, so that other processors fetch them in one piece.
bool is_in_one_line(const unsigned char* begin, std::size_t bytes) {
  constexpr std::uintptr_t kLine = 64;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  return address / kLine == (address + bytes - 1) / kLine;
}

class Prover {
 public:
  Prover(const Text& text, FindFunction find) : text_(text), find_(find) {}

  Sites run() {
    const unsigned char* at = text_.begin;
    while (const unsigned char* syscall = next_syscall(at)) {
      at = syscall + kSyscallBytes;
      if (syscall < decoded_to_) continue;  // looked at with its function
      std::optional<Function> function = find_(syscall);
      if (!function.has_value()) function = find_(syscall - 1);
      if (!function.has_value() || !look_at(*function, syscall)) refuse(Refusal::unknown_code);
    }
    find_bridges(text_, find_, wishes_);
    for (const BridgeWish& wish : wishes_) {
      Site site = wish.site;
      if (site.bridge == nullptr && site.displaced_bytes < kJumpBytes) {
        refuse(Refusal::no_bridge);
        continue;
      }
      if (site.bridge == nullptr) site.is_split = true;
      sites_.proven.push_back(site);
    }
    std::sort(sites_.proven.begin(), sites_.proven.end(),
              [](const Site& a, const Site& b) { return a.displaced < b.displaced; });
    return std::move(sites_);
  }

 private:
  const unsigned char* next_syscall(const unsigned char* from) const {
    auto is = [](const unsigned char* bytes, char value) {
      return _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)), _mm_set1_epi8(value));
    };
    constexpr std::ptrdiff_t kBytesCompared = 16;
    for (; text_.end - from > kBytesCompared; from += kBytesCompared) {
      const int found = _mm_movemask_epi8(_mm_and_si128(is(from, 0x0f), is(from + 1, 0x05)));
      if (found != 0) return from + __builtin_ctz(static_cast<unsigned>(found));
    }
    for (; text_.end - from >= static_cast<std::ptrdiff_t>(kSyscallBytes); ++from) {
      if (from[0] == 0x0f && from[1] == 0x05) return from;
    }
    return nullptr;
  }

  void refuse(Refusal why) { ++sites_.refused[static_cast<std::size_t>(why)]; }

  /// False if it is not known that an instruction begins at `syscall`.
  bool look_at(const Function& function, const unsigned char* syscall) {
    const FunctionCode& code = code_of(function);
    if (function.begin != last_function_) {
      for (const KernelCall& call : code.calls) look_at(call, code);
    }
    last_function_ = function.begin;
    if (code.is_whole) decoded_to_ = function.end;
    auto is_there = [syscall](const KernelCall& call) { return call.syscall == syscall; };
    return (code.is_whole && syscall < function.end) || std::any_of(code.calls.begin(), code.calls.end(), is_there);
  }

  void look_at(const KernelCall& call, const FunctionCode& code) {
    if (returns_from_signal(call.syscall, text_)) return refuse(Refusal::ends_a_signal);
    if (call.before == nullptr || !call.decoded_before.may_move()) return refuse(Refusal::cannot_move);
    const std::size_t bytes = call.decoded_before.bytes;
    if (bytes < kShortJumpBytes) return refuse(Refusal::no_bridge);
    Site site{const_cast<unsigned char*>(call.before), bytes, call.syscall + kSyscallBytes};
    const bool is_long = bytes >= kJumpBytes;
    if (is_long && is_in_one_line(call.before, kJumpBytes)) {
      sites_.proven.push_back(site);
      return;
    }
    // A bridge is better than a jump that other processors fetch in two pieces.
    site.is_split = !is_in_one_line(call.before, kShortJumpBytes);
    if (site.is_split && is_long) {
      sites_.proven.push_back(site);
    } else {
      wishes_.push_back({site, code, padding_near(site, code.function)});
    }
  }

  /// Returns the padding between functions that a short jump at `site` reaches.
  std::vector<Padding> padding_near(const Site& site, const Function& own) {
    constexpr std::ptrdiff_t kReachOfAShortJump = 128;
    std::vector<Padding> found;
    std::optional<Function> function = own;
    while (function.has_value() && function->end - site.displaced < kReachOfAShortJump) {
      const Padding padding = padding_after(code_of(*function), text_, find_);
      if (padding.begin == padding.end) break;
      found.push_back(padding);
      function = padding.end < text_.end ? find_(padding.end) : std::nullopt;
    }
    function = own;
    while (function.has_value() && site.displaced - function->begin < kReachOfAShortJump) {
      const unsigned char* const begin = function->begin;
      function = function_before(begin);
      if (!function.has_value()) break;
      const Padding padding = padding_after(code_of(*function), text_, find_);
      if (padding.end == begin) found.push_back(padding);
    }
    return found;
  }

  std::optional<Function> function_before(const unsigned char* begin) const {
    constexpr std::ptrdiff_t kMost = 64;
    for (const unsigned char* at = begin - 1; at >= text_.begin && begin - at <= kMost; --at) {
      if (std::optional<Function> found = find_(at); found.has_value()) return found;
    }
    return std::nullopt;
  }

  const FunctionCode& code_of(const Function& function) {
    const auto [place, is_new] = read_.try_emplace(function.begin);
    if (is_new) place->second = read_code(function, text_);
    return place->second;
  }

  Text text_;
  FindFunction find_;
  Sites sites_;
  std::vector<BridgeWish> wishes_;
  std::map<const unsigned char*, FunctionCode> read_;
  const unsigned char* decoded_to_ = nullptr;
  const unsigned char* last_function_ = nullptr;
};

}  // namespace

const char* describe(Refusal why) {
  switch (why) {
    case Refusal::ends_a_signal:
      return "at the end of signal handlers, which debuggers know by its bytes";
    case Refusal::cannot_move:
      return "after an instruction that cannot be moved";
    case Refusal::no_bridge:
      return "without room for a jump nearby";
    default:
      return "in code that cannot be decoded";
  }
}

std::size_t Sites::total() const {
  return std::accumulate(refused.begin(), refused.end(), proven.size());
}

Sites prove_sites(const Text& text, FindFunction find) {
  return Prover(text, find).run();
}

namespace {

constexpr std::ptrdiff_t kFarthestBack = 128;
constexpr std::ptrdiff_t kFarthestOn = 127;

/// Room for one bridge.
struct Slot {
  const unsigned char* begin = nullptr;
  Padding padding;  ///< The padding that holds it.
  const unsigned char* inside =
      nullptr;              ///< The beginning of the function that it is inside of; null between functions.
  bool is_reached = false;  ///< Something that may be a jump leads here, or a site has this slot already.

  bool covers(const unsigned char* address) const { return address >= begin && address < begin + kJumpBytes; }
};

__m128i bytes_at(const unsigned char* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
/// Returns a byte of ones for each byte of `bytes` that has `value` in the bits of `mask`, and 0 for the others.
__m128i are(__m128i bytes, int mask, int value) {
  const __m128i masked = _mm_and_si128(bytes, _mm_set1_epi8(static_cast<char>(mask)));
  return _mm_cmpeq_epi8(masked, _mm_set1_epi8(static_cast<char>(value)));
}
constexpr std::ptrdiff_t kBytesAtOnce = 16;

/// Where long jumps and calls may lead: all bytes of the text are looked at as if an opcode ended there. Those that
/// would lead farther than a text is long are left out. Made for speed: a text has a million bytes.
class DistanceScan {
 public:
  explicit DistanceScan(const Text& text) : begin_(text.begin), end_(text.end) {}

  static constexpr std::ptrdiff_t kBytes = 4;

  /// Returns the offsets of more distances; none at the end.
  std::span<const std::uint32_t> more_distances() {
    std::size_t count = 0;
    if (at_ == 1 && (*begin_ & 0xfe) == 0xe8) found_[count++] = 1;
    for (; end_ - begin_ - at_ >= kBlock + kBytes && count + kBlock <= found_.size(); at_ += kBlock) {
      const unsigned char* const at = begin_ + at_;
      std::uint64_t opcodes =
          opcodes_in(at) | opcodes_in(at + 16) << 16 | opcodes_in(at + 32) << 32 | opcodes_in(at + 48) << 48;
      const std::size_t more = count + static_cast<std::size_t>(__builtin_popcountll(opcodes));
      // Most have fewer than eight, so eight are written without a branch for each.
      constexpr std::size_t kFew = 8;
      for (std::size_t i = count; i < count + kFew || i < more; ++i) {
        found_[i] = static_cast<std::uint32_t>(at_ + __builtin_ctzll(opcodes | kNone) + 1);
        opcodes &= opcodes - 1;
      }
      count = more;
    }
    if (count + kBlock > found_.size()) return {found_.data(), count};
    for (; end_ - begin_ - at_ > kBytes; ++at_) {
      const unsigned char* const at = begin_ + at_;
      const bool is_opcode = (at[0] & 0xfe) == 0xe8 || ((at[0] & 0xf0) == 0x80 && at[-1] == 0x0f);
      if (is_opcode) found_[count++] = static_cast<std::uint32_t>(at_ + 1);
    }
    return {found_.data(), count};
  }

 private:
  static constexpr std::ptrdiff_t kBlock = 64;
  static constexpr std::uint64_t kNone = 1ULL << 63;

  static std::uint64_t opcodes_in(const unsigned char* code) {
    const __m128i bytes = bytes_at(code);
    const __m128i branches = _mm_and_si128(are(bytes, 0xf0, 0x80), are(bytes_at(code - 1), 0xff, 0x0f));
    const __m128i last = bytes_at(code + kBytes);  // of the distance: less than 16 MiB
    const __m128i is_near = _mm_or_si128(are(last, 0xff, 0), are(last, 0xff, 0xff));
    const __m128i opcodes = _mm_and_si128(_mm_or_si128(are(bytes, 0xfe, 0xe8), branches), is_near);
    return static_cast<unsigned>(_mm_movemask_epi8(opcodes));
  }

  const unsigned char* begin_;
  const unsigned char* end_;
  std::ptrdiff_t at_ = 1;
  std::array<std::uint32_t, 2048> found_;
};

/// Returns a bit for each of the 16 bytes at `code` that may be the distance of a short jump to the five bytes at `to`.
/// It compares modulo 256, so some of the bits are wrong.
unsigned distances_to(const unsigned char* to, const unsigned char* code) {
  const __m128i order = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i least = _mm_sub_epi8(_mm_set1_epi8(static_cast<char>(to - code - 1)), order);
  const __m128i beyond = _mm_sub_epi8(bytes_at(code), least);
  const __m128i is_within = _mm_cmpeq_epi8(beyond, _mm_min_epu8(beyond, _mm_set1_epi8(kJumpBytes - 1)));
  return static_cast<unsigned>(_mm_movemask_epi8(is_within));
}

/// Compilers leave nops of one byte where a program may be patched while it runs (-fpatchable-function-entry).
bool is_room_for_patches(const unsigned char* code) {
  constexpr unsigned char kNops[kJumpBytes] = {0x90, 0x90, 0x90, 0x90, 0x90};
  return std::memcmp(code, kNops, kJumpBytes) == 0;
}

bool is_short_jump(const unsigned char* distance) {
  return (distance[-1] & 0xf0) == 0x70 || distance[-1] == 0xeb || (distance[-1] & 0xfc) == 0xe0;
}

/// All slots that a site may get, in order of address, and which of them code may reach.
class Slots {
 public:
  Slots(const Text& text, FindFunction find) : text_(text), find_(find) {}

  void add(const Padding& padding, const unsigned char* inside) {
    for (const unsigned char* at = padding.begin; at + kJumpBytes <= padding.end; at += kJumpBytes) {
      if (!is_room_for_patches(at)) slots_.push_back({at, padding, inside});
    }
  }

  void add(const FunctionCode& code) {
    for (const Padding& padding : code.unreached) add(padding, code.function.begin);
    functions_[code.function.end] = code.function.begin;
  }

  void sort() {
    auto is_before = [](const Slot& a, const Slot& b) { return a.begin < b.begin; };
    auto is_same = [](const Slot& a, const Slot& b) { return a.begin == b.begin; };
    std::sort(slots_.begin(), slots_.end(), is_before);
    slots_.erase(std::unique(slots_.begin(), slots_.end(), is_same), slots_.end());
  }

  /// Looks at all bytes of the text that would be a jump if an instruction began there. Most are no instruction; where
  /// that cannot be shown, they count as one.
  void leave_out_what_is_reached() {
    if (slots_.empty()) return;
    for (Slot& slot : slots_) leave_out_if_short_jumps_reach(slot);
    const std::vector<char> may_matter = blocks_that_matter();
    DistanceScan scan(text_);
    const auto size = static_cast<std::uint64_t>(text_.end - text_.begin);
    const std::size_t beyond = may_matter.size() - 1;
    for (std::span<const std::uint32_t> found = scan.more_distances(); !found.empty(); found = scan.more_distances()) {
      for (const std::uint32_t offset : found) {
        std::int32_t value = 0;
        std::memcpy(&value, text_.begin + offset, sizeof value);
        const auto to = static_cast<std::uint64_t>(std::int64_t{offset} + DistanceScan::kBytes + value);
        if (may_matter[to < size ? to / kBlock : beyond] == 0) continue;
        leave_out_slots_at(text_.begin + to, text_.begin + offset);
        leave_out_function_at(text_.begin + to, text_.begin + offset);
      }
    }
  }

  std::size_t count_for(const Site& site) const {
    return static_cast<std::size_t>(
        std::count_if(slots_.begin(), slots_.end(), [&](const Slot& slot) { return suits(slot, site); }));
  }

  /// Takes the first free slot that suits `site`, and returns it; null if there is none.
  unsigned char* take_for(const Site& site) {
    const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) { return suits(slot, site); });
    if (found == slots_.end()) return nullptr;
    found->is_reached = true;
    return const_cast<unsigned char*>(found->begin);
  }

 private:
  static bool suits(const Slot& slot, const Site& site) {
    const std::ptrdiff_t distance = slot.begin - (site.displaced + kShortJumpBytes);
    return !slot.is_reached && distance >= -kFarthestBack && distance <= kFarthestOn;
  }

  static constexpr std::ptrdiff_t kDistance = DistanceScan::kBytes;
  static constexpr std::size_t kBlock = 64;

  std::size_t block_of(const unsigned char* address) const {
    return static_cast<std::size_t>(address - text_.begin) / kBlock;
  }

  void leave_out_if_short_jumps_reach(Slot& slot) {
    const unsigned char* at = std::max(text_.begin + 1, slot.begin - kFarthestBack);
    const unsigned char* const last = std::min(text_.end, slot.begin + kJumpBytes + kFarthestBack);
    for (; at < last && text_.end - at >= kBytesAtOnce; at += kBytesAtOnce) {
      for (unsigned found = distances_to(slot.begin, at); found != 0; found &= found - 1) {
        leave_out_if_short_jump_reaches(slot, at + __builtin_ctz(found));
      }
    }
    for (; at < last; ++at) leave_out_if_short_jump_reaches(slot, at);
  }

  /// Takes the slot out if the byte at `distance` may be the distance of a short jump to it.
  void leave_out_if_short_jump_reaches(Slot& slot, const unsigned char* distance) {
    if (slot.is_reached || !is_short_jump(distance)) return;
    if (!slot.covers(distance + 1 + static_cast<std::int8_t>(*distance))) return;
    // Padding is not executed, so it holds no jump.
    if (distance > slot.padding.begin && distance <= slot.padding.end) return;
    slot.is_reached = may_end_a_jump(distance + 1);
  }

  /// Returns for each block of the text: 1 if it holds a slot, or a function with a slot inside. One 0 more stands at
  /// the end.
  std::vector<char> blocks_that_matter() const {
    std::vector<char> blocks(block_of(text_.end) + 2);
    auto set = [&](const unsigned char* begin, const unsigned char* end) {
      std::fill(blocks.begin() + static_cast<std::ptrdiff_t>(block_of(begin)),
                blocks.begin() + static_cast<std::ptrdiff_t>(block_of(end)) + 1, 1);
    };
    for (const Slot& slot : slots_) set(slot.begin, slot.begin + kJumpBytes);
    for (const auto& [end, begin] : functions_) set(begin, end);
    return blocks;
  }

  /// Takes out the slots at `target`, because `distance` may be the distance of a jump to it.
  void leave_out_slots_at(const unsigned char* target, const unsigned char* distance) {
    auto is_before = [](const Slot& slot, const unsigned char* address) { return slot.begin + kJumpBytes <= address; };
    auto slot = std::lower_bound(slots_.begin(), slots_.end(), target, is_before);
    for (; slot != slots_.end() && slot->covers(target); ++slot) {
      const bool is_in_padding = distance >= slot->padding.begin && distance < slot->padding.end;
      if (!is_in_padding && !slot->is_reached) slot->is_reached = may_end_a_jump(distance + kDistance);
    }
  }

  /// Code elsewhere that jumps into the middle of a function may be a part of it: its indirect jumps count, too.
  void leave_out_function_at(const unsigned char* target, const unsigned char* distance) {
    const auto found = functions_.upper_bound(target);
    if (found == functions_.end() || target <= found->second) return;
    const bool is_elsewhere = distance < found->second || distance >= found->first;
    if (!is_elsewhere || !may_jump_anywhere(distance) || !may_end_a_jump(distance + kDistance)) return;
    for (Slot& slot : slots_) {
      if (slot.inside == found->second) slot.is_reached = true;
    }
  }

  bool may_end_a_jump(const unsigned char* end) const {
    const std::optional<Function> function = find_(end - 1);
    return !function.has_value() || may_end_in_jump(*function, end);
  }

  bool may_jump_anywhere(const unsigned char* code) const {
    const std::optional<Function> function = find_(code);
    if (!function.has_value()) return true;
    const FunctionCode decoded = read_code(*function, text_);
    return !decoded.is_whole || decoded.has_indirect_jump;
  }

  Text text_;
  FindFunction find_;
  std::vector<Slot> slots_;
  std::map<const unsigned char*, const unsigned char*> functions_;  ///< By end: the beginning. Those with slots inside.
};

}  // namespace

void find_bridges(const Text& text, FindFunction find, std::vector<BridgeWish>& wishes) {
  Slots slots(text, find);
  for (const BridgeWish& wish : wishes) {
    for (const Padding& padding : wish.between_functions) slots.add(padding, nullptr);
    const FunctionCode& code = wish.function;
    // If only an indirect jump led to a label before the padding, nothing would show it.
    if (code.is_whole && !code.has_indirect_jump && !code.function.has_landing_pads) slots.add(code);
  }
  slots.sort();
  slots.leave_out_what_is_reached();
  // The sites with the least choice come first.
  std::vector<std::pair<std::size_t, BridgeWish*>> in_order;
  for (BridgeWish& wish : wishes) in_order.emplace_back(slots.count_for(wish.site), &wish);
  std::stable_sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [choice, wish] : in_order) wish->site.bridge = slots.take_for(wish->site);
}

}  // namespace syscost::dispatch
