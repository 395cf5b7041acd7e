// SPDX-License-Identifier: MIT
//
// The frames that the kernel leaves on a stack when it delivers a signal, and how a handler of the program is entered.
//
// While we watch, a thread's signal stack in the kernel is ours, and every handler of the program is installed as one
// of ours that runs there. Ours moves the frame to where the kernel would have put it without us, and enters the
// program's handler by an rt_sigreturn that changes registers, mask and stack in one step. So a frame of ours, for a
// call that is dispatched, never lies on a stack of the program, however small that is; and a handler of the program
// runs where the program put it, with the stack use it has without us.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/dispatch/stub/common/call.h"

namespace syscost::signal_safe {

/// The kernel's struct rt_sigframe of x86-64.
struct SignalFrame {
  std::uint64_t restorer;
  std::uint64_t flags;
  std::uint64_t link;
  Stack stack;  ///< The thread's signal stack when the signal came; what the kernel sets when the handler returns.
  std::uint64_t registers[23];  ///< In the order of <sys/ucontext.h>.
  std::uint64_t vector_state;   ///< Its address; 0 = as at a program's start.
  std::uint64_t reserved[8];
  std::uint64_t mask;
  SignalInfo info;
};
static_assert(sizeof(SignalFrame) == 440 && offsetof(SignalFrame, mask) == 304);

/// The frame of the signal that a handler of ours was called for; `context` is the handler's third argument.
inline SignalFrame& frame_of(void* context) {
  return *reinterpret_cast<SignalFrame*>(static_cast<char*>(context) - offsetof(SignalFrame, flags));
}

/// The vector registers become those of `frame`, and the other way round.
void load_vectors(const SignalFrame& frame);
void store_vectors(SignalFrame& frame);

/// True when `address` lies on `stack`, in the kernel's sense: a stack that is forgotten while a handler runs on it
/// (SS_AUTODISARM) never counts.
bool is_on(const Stack& stack, std::uint64_t address);

/// The record of the interrupted thread, or null if it is not watched, or not yet. Makes the kernel's signal stack ours
/// again, if the program changed it while the thread was not watched.
Thread* interrupted_thread(const Guard& guard, SignalFrame& frame);

/// Lets the return from the signal of `frame` go on in the program's handler, as if the kernel had entered that.
/// `thread` may be null.
void enter_handler(const Guard& guard, SignalFrame& frame, int signal, const KernelSigaction& action, Thread* thread);

/// The program returns from a handler, by way of `frame`: what the kernel reads there becomes what it has to be.
void prepare_sigreturn(const Guard& guard, SignalFrame& frame, Thread& thread);

}  // namespace syscost::signal_safe
