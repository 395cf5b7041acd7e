// SPDX-License-Identifier: MIT
#include "os/typed_flags.h"

#include <atomic>
#include <cstddef>

namespace syscost {
namespace {

enum class Names { of_linked_program, of_bench_run, of_this_program };
std::atomic<Names> g_names = Names::of_linked_program;

}  // namespace

void name_flags_without_prefix() {
  Names nothing_known = Names::of_linked_program;
  g_names.compare_exchange_strong(nothing_known, Names::of_bench_run);
}

void name_flags_with_prefix() {
  g_names = Names::of_this_program;
}

std::string as_typed(std::string_view text) {
  constexpr std::string_view kPrefixed = "--syscost_";
  std::string typed(text);
  if (g_names != Names::of_bench_run) return typed;
  for (std::size_t at = 0; (at = typed.find(kPrefixed, at)) != std::string::npos;) {
    typed.erase(at + 2, kPrefixed.size() - 2);
  }
  return typed;
}

}  // namespace syscost
