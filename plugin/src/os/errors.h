// SPDX-License-Identifier: MIT
//
// Errors: the results of functions that can fail because of the system, and errno.
//
// If a backend cannot load, or a CSV cannot be written, the caller must decide what to do, and the user must learn the
// operation, its object and the errno. Our API throws nothing. SYSCOST_CHECK is for mistakes of syscost itself.
#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "syscost/cost.h"

namespace syscost {

/// Failed operations carry the same two sentences as missing capabilities do: cause and fix.
using Failure = Unavailable;

/// "Cannot OPERATION OBJECT: STRERROR (ERRNO)", with the remedy for errors that have a usual one. `error` is an errno.
Failure errno_failure(std::string_view operation, std::string_view object, int error);

/// The return value of a function that can fail because of the system: a value, or a Failure.
template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that a function can return a value or a Failure directly. NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  const Failure& failure() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Failure failure) : failure_(std::move(failure)), ok_(false) {}

  bool ok() const { return ok_; }
  const Failure& failure() const { return failure_; }

 private:
  Failure failure_;
  bool ok_ = true;
};

/// Ends the process with file, line and condition: a bug in syscost, never a state of the world.
[[noreturn]] void check_failed(const char* file, int line, const char* condition);
#define SYSCOST_CHECK(condition) \
  (static_cast<bool>(condition) ? void() : ::syscost::check_failed(__FILE__, __LINE__, #condition))

// The names of errnos are a table of our own, because strerrorname_np() exists in glibc only and has no names for the
// kernel's internal numbers from 512 on. Programs see these now and then (ENOTSUPP from drivers and network code),
// and tracers always (ERESTARTSYS).

/// "ENOENT" for 2; "errno_N" for a number without a name.
std::string errno_name(int number);

/// The inverse: also understands "errno_N" and the second names EWOULDBLOCK, EDEADLOCK and ENOTSUP. Empty when unknown.
std::optional<int> errno_number(std::string_view name);

/// Keeps the program's errno: restores it at the end of the block. syscost runs between a call and the program's look
/// at errno, and makes calls, too.
class KeptErrno {
 public:
  KeptErrno() = default;
  ~KeptErrno() { errno = found_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int found_ = errno;
};

}  // namespace syscost
