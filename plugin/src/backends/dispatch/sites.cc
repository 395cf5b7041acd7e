// SPDX-License-Identifier: MIT
#include "backends/dispatch/sites.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "backends/dispatch/bridges.h"

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

}  // namespace syscost::dispatch
