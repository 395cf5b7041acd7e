// SPDX-License-Identifier: MIT
//
// Decides whether the stub may make calls that the program does not make: to copy strings, to ask for kinds of files,
// and to ask how much memory is mapped.
//
// A seccomp filter of the program may kill the process for such a call. So a child tries the call first if there is a
// filter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace syscost::dispatch {

/// True if a seccomp filter may judge our calls, also if that is not known.
bool has_seccomp_filter();
/// True if a process under our filters may make the call: a child makes it. Between windows.
bool is_safe_in_a_child(void (*call)());
/// Why the stub must not make calls of this name; empty if it may. If there is a filter, a child tries the call.
/// Between windows. `sees_all`: a thread older than the backend cannot install a filter unseen, because its calls pass
/// the stub, too.
std::string why_no_call_of_ours(bool sees_all, std::string_view name, void (*call)());

/// Lets the stub copy arguments by the kernel (stub/user_memory.h) if no seccomp filter kills for that. Once the
/// threads that are older than the backend are known.
void start_user_copies(bool sees_all);
/// After a stretch in which the stub did not see the program's calls: stops that if there is a filter that it has not
/// seen.
void check_user_copies();

/// Decides whether the stub may copy strings of the program for a trace (extras/trace/stub). start() and check() are
/// for between windows.
class StringCopies {
 public:
  /// Tries process_vm_readv. `sees_all`: as for why_no_call_of_ours().
  void start(bool sees_all);
  /// Stops the copies if a filter has been installed that the stub has not seen.
  void check() const;

  /// Returns why no strings are copied; empty if they are.
  const std::string& why_not() const { return why_not_; }

 private:
  std::string why_not_;
  bool has_filter_ = false;
};

/// Lets the stub ask for the kinds of the files that calls move data between (stub/file_kinds.h). One at a time. Its
/// functions are for between windows.
class AskedKinds {
 public:
  AskedKinds() = default;
  ~AskedKinds();
  AskedKinds(const AskedKinds&) = delete;
  AskedKinds& operator=(const AskedKinds&) = delete;

  /// `sees_all`: as StringCopies::start().
  void start(bool sees_all);
  /// Timed passes pay nothing for it.
  void pause();
  void resume();
  /// Asks no more if a filter has been installed that the stub has not seen.
  void check() const;

  /// Why all kinds are unknown; empty if they are not.
  const std::string& why_not() const { return why_not_; }

 private:
  bool is_started_ = false;
  bool has_filter_ = false;
  std::string why_not_;
};

}  // namespace syscost::dispatch
