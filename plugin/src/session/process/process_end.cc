// SPDX-License-Identifier: MIT
#include "session/process/process_end.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "os/refusal_note.h"
#include "os/result.h"

namespace syscost::session {
namespace {

using Finish = bool (*)();

/// For quick_exit(), because its handlers get no argument: the functions of the session and of the timing session.
std::array<std::atomic<Finish>, 4> g_finish{};
std::atomic<std::size_t> g_count{0};

void end_quickly() {
  bool is_whole = true;
  for (const std::atomic<Finish>& finish : g_finish) {
    if (Finish call = finish.load(); call != nullptr) is_whole = call() && is_whole;
  }
  // The handler does not learn the exit code that the program chose.
  if (is_whole) return;
  note_verdict();
#ifdef __GLIBC__
  std::quick_exit(1);  // goes on with the handlers that are left
#else
  _exit(1);
#endif
}

}  // namespace

void at_process_end(bool (*finish)()) {
  const std::size_t index = g_count.fetch_add(1);
  SYSCOST_CHECK(index < g_finish.size());
  g_finish[index].store(finish);
  if (index == 0) std::at_quick_exit(end_quickly);
#ifdef __GLIBC__
  // glibc allows exit() here: it goes on with the handlers that are left, coverage and leak checks among them.
  on_exit(
      [](int status, void* call) {
        if (reinterpret_cast<Finish>(call)() || status != 0) return;
        note_verdict();
        std::exit(1);
      },
      reinterpret_cast<void*>(finish));
#else
  std::atexit([] {
    bool is_whole = true;
    for (const std::atomic<Finish>& one : g_finish) {
      if (Finish call = one.exchange(nullptr); call != nullptr) is_whole = call() && is_whole;
    }
    if (is_whole) return;
    std::fflush(nullptr);
    _exit(1);
  });
#endif
}

}  // namespace syscost::session
