// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/marks.h"

#include <atomic>

#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/state.h"

namespace syscost::signal_safe {

void set_marks(unsigned char client, const NumberSet& numbers) {
  std::atomic_ref words(syscost_any_armed);
  // First this: a number that is marked already must be looked at.
  words.fetch_or(kCallsMarked);
  bool is_any_marked = false;
  for (std::uint32_t number = 0; number < kMarkedNumbers; ++number) {
    std::atomic_ref mark(syscost_is_special[number]);
    if (numbers.has(number)) {
      mark.fetch_or(client);
    } else {
      mark.fetch_and(static_cast<unsigned char>(~client));
    }
    if ((mark.load() & kMarkedByAny) != 0) is_any_marked = true;
  }
  if (!is_any_marked) words.fetch_and(static_cast<char>(~kCallsMarked));
}

bool needs_care(std::uint32_t number) {
  return number < kMarkedNumbers && (std::atomic_ref(syscost_is_special[number]).load() & kNeedsCare) != 0;
}

}  // namespace syscost::signal_safe
