// SPDX-License-Identifier: MIT
//
// Power cuts: which states could one leave of the files that a stretch of code writes, and can your code read each?
//
//     #include <syscost/crash.h>
//
//     syscost::CrashReport report = syscost::for_each_crash(
//         folder, [&] { save(folder + "/settings", "new"); },
//         [&](const syscost::CrashPoint& point) {
//           const std::string text = read(point.path + "/settings");
//           return text == "old" || text == "new";
//         });
//     EXPECT_EQ(report.failures(), 0) << report;
//
// syscost records what the body does to the files below the directory. Then it makes each state that a power cut during
// or after the body could leave, in a directory of its own, and calls the check. docs/crash-states.md says exactly
// which states these are. Recording needs the backend dispatch: without it the report has the reason and no state is
// tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "syscost/cost.h"
#include "syscost/export.h"

namespace syscost {

/// The promises of a file system (docs/crash-states.md).
enum class CrashModel {
  posix,    ///< Only what POSIX promises: fsync persists a file, fsync of a directory persists its entries.
  ordered,  ///< Like ext4 with data=ordered: entries are persisted in order, and a rename after the file's size.
};

struct CrashOptions {
  CrashModel model = CrashModel::posix;
  /// At most so many states are tried; the report says if there are more.
  std::size_t most_states = 1000;
  /// For the part of a sample that is random.
  std::uint64_t seed = 1;
  /// A write is persisted block by block: a power of two, 512 to 65536.
  std::size_t block_bytes = 4096;
  /// Names of files (`*` = any letters) that may be mapped for writing. Writes through a mapping are not seen, so other
  /// files mapped so are an error.
  std::vector<std::string> may_be_mapped = {};
  /// Each check runs in a child process: a crash of one is a failure of this state, and the others go on. One that
  /// takes 60 s is ended, and what it started ends with it. An assertion of GoogleTest that fails in it refuses the
  /// state and fails the test. Those of Catch2 and doctest are not seen unless they throw: with these, a check in a
  /// child must return something.
  bool in_child = false;
};

/// One state, for the check.
struct CrashPoint {
  std::string path;                ///< The directory as the power cut left it. It is removed after the check.
  std::vector<std::string> marks;  ///< That the body had made before the power cut, with crash_mark().
  bool is_finished = false;        ///< The body had ended.
  std::string description;         ///< After which operation the power was cut, and which ones were lost.

  /// True if the body had made this mark before the power cut.
  bool has_passed(std::string_view mark) const {
    for (const std::string& one : marks) {
      if (one == mark) return true;
    }
    return false;
  }
};

/// A state that the check refused.
struct CrashFailure {
  std::string state;    ///< CrashPoint::description
  std::string message;  ///< The check's; may be empty.
};

/// The findings of for_each_crash().
struct CrashReport {
  std::size_t operations = 0;  ///< The body's, on files below the directory.
  std::size_t states = 0;      ///< That were tried, all different.
  bool is_complete = false;    ///< There are no other states.
  /// There are at most 2 to the power of this, if equal ones count too.
  double combinations_log2 = 0;
  std::vector<CrashFailure> failed;  ///< The state that lost least first; at most 100.
  std::size_t failed_states = 0;
  std::shared_ptr<const Unavailable> why;  ///< No state was tried; null = states were tried.

  /// True if all states that were tried passed.
  bool ok() const { return why == nullptr && failed_states == 0; }
  /// How many states the check refused, or the reason why none was tried.
  Count failures() const { return why != nullptr ? Count(why) : Count(failed_states); }
};

/// The report in words, with the first failure.
SYSCOST_EXPORT std::string to_string(const CrashReport& report);
SYSCOST_EXPORT std::ostream& operator<<(std::ostream& out, const CrashReport& report);

/// In a body: from here on the program has promised something, for example that a value is saved. Each check hears
/// whether the power cut came before or after. No effect outside a body. Any thread.
SYSCOST_EXPORT void crash_mark(std::string_view name);

namespace crash_detail {

struct Verdict {
  bool is_good = true;
  std::string message = {};
  bool has_result = true;  ///< False: the check returns nothing; an assertion or an exception refuses a state.
};

SYSCOST_EXPORT CrashReport run(const std::string& directory, const std::function<void()>& body,
                               const std::function<Verdict(const CrashPoint&)>& check, const CrashOptions& options);

template <class Check>
Verdict verdict_of(Check& check, const CrashPoint& point) {
  using Answer = std::invoke_result_t<Check&, const CrashPoint&>;
  if constexpr (std::is_void_v<Answer>) {
    check(point);
    return {true, {}, false};
  } else if constexpr (std::is_convertible_v<Answer, std::string>) {
    std::string message = check(point);
    const bool is_good = message.empty();
    return {is_good, std::move(message)};
  } else {
    return {static_cast<bool>(check(point)), {}};
  }
}

}  // namespace crash_detail

/// Runs `body()` once and records what it does to the files below `directory`. Then calls `check(point)` for each state
/// that a power cut could leave. A check refuses a state by returning false or a text, or by throwing; without a result
/// it accepts it. Exceptions of the body pass through. Not inside another one, not in a fork child. One thread at a
/// time.
template <class Body, class Check>
CrashReport for_each_crash(const std::string& directory, Body&& body, Check&& check, const CrashOptions& options = {}) {
  return crash_detail::run(
      directory, [&] { std::forward<Body>(body)(); },
      [&](const CrashPoint& point) -> crash_detail::Verdict {
        try {
          return crash_detail::verdict_of(check, point);
        } catch (const std::exception& thrown) {
          return {false, thrown.what()};
        } catch (...) {
          return {false, "it threw an exception that is no std::exception"};
        }
      },
      options);
}

}  // namespace syscost
