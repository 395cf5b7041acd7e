// SPDX-License-Identifier: MIT
//
// WindowWord: eight bytes of our memory. A script reads them to see if the window is open.
//
// A script reads them in the context of the process, and cannot wait for a page: so the page is touched, locked, and
// protected from being moved. A fork child gets a page of zeros of its own, so that it neither opens nor closes
// anything.
#pragma once

#include <atomic>
#include <cstdint>

#include "os/result.h"

namespace syscost::profilers {

class WindowWord {
 public:
  static Result<WindowWord> make();
  ~WindowWord();
  WindowWord(WindowWord&& other) noexcept;
  WindowWord& operator=(WindowWord&&) = delete;

  std::atomic<std::uint64_t>& word() { return *word_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(word_); }

 private:
  explicit WindowWord(std::atomic<std::uint64_t>* word) : word_(word) {}
  std::atomic<std::uint64_t>* word_;
};

}  // namespace syscost::profilers
