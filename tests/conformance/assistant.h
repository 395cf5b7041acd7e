// SPDX-License-Identifier: MIT
//
// The Assistant: a second process that acts on the measured one, so that the action is not counted there.
//
// "Interrupt the thread once it blocks in read" needs a helper that knows that the thread blocks, sends a signal, and
// is not part of the window. A thread of the measured process would be counted, and a sleep would only hope. The
// Assistant is a fork child, so neither backend nor suite counts it. It takes orders through shared memory: giving an
// order and waiting for it are memory accesses.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace conformance {

class Assistant {
 public:
  /// Forks; call before threads exist (in `early`, or in `setup` of a case without threads).
  Assistant();
  /// Ends and reaps it.
  ~Assistant();
  Assistant(const Assistant&) = delete;
  Assistant& operator=(const Assistant&) = delete;

  /// Orders are carried out one after another. `tid` is a thread of the calling process; "blocked in `nr`" means that
  /// it sleeps inside that syscall, after count_handled() was called `handled` times in total (0 = no matter).
  void when_blocked(pid_t tid, long nr, std::uint32_t handled = 0);
  void when_blocked_signal(pid_t tid, long nr, int signal, std::uint32_t handled = 0);
  void when_blocked_write(pid_t tid, long nr, int fd, std::uint32_t handled = 0);
  /// The same once the thread is stopped by a job-control signal.
  void when_stopped_signal(pid_t tid, int signal);
  /// The same once flag() is not 0.
  void when_set_signal(pid_t tid, int signal);

  /// Spins until every order was carried out.
  void wait() const;

  /// For signal handlers: one more signal was handled.
  void count_handled() { desk_->handled.fetch_add(1, std::memory_order_release); }
  std::uint32_t handled() const { return desk_->handled.load(std::memory_order_acquire); }
  const std::atomic<std::uint32_t>& handled_word() const { return desk_->handled; }
  /// The flag that when_set_signal waits for.
  std::atomic<int>& flag() { return desk_->flag; }

 private:
  struct Order {
    enum class Start { blocked, stopped, flag } start = Start::blocked;
    pid_t tid = 0;
    long nr = 0;
    std::uint32_t handled = 0;
    int signal = 0;  // 0 = none
    int fd = -1;     // -1 = none
  };
  static constexpr std::uint32_t kOrders = 64;
  struct Desk {
    std::array<Order, kOrders> orders;
    std::atomic<std::uint32_t> given{0};
    std::atomic<std::uint32_t> done{0};
    std::atomic<std::uint32_t> handled{0};
    std::atomic<int> flag{0};
    std::atomic<bool> closing{false};
  };

  void give(const Order& order);
  void work(pid_t parent);
  bool is_due(pid_t parent, const Order& order) const;

  Desk* desk_ = nullptr;
  pid_t pid_ = 0;
};

}  // namespace conformance
