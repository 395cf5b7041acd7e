// SPDX-License-Identifier: MIT
//
// What a value of an option has to be, and how it gets into Options.
//
// Most values go into one member, by their kind. The words and the functions here are for those that take more.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "session/options/option_table.h"

namespace syscost::session {

/// Checks `value` and puts it into `options`; an error sentence, or "".
std::string take_value(const OptionEntry& option, Options& options, std::string_view value, Source source);

// For the table. A value that comes here is one of the words, or several with commas between, if there are words.

inline constexpr std::array kProfileWords = {
    Word{"syscalls", "print a line under each test and for each loop"},
    Word{"bpftrace", "run bpftrace on each test, loop and benchmark"},
    Word{"perf", "run perf on each test, loop and benchmark"},
    Word{"cupti", "kernels and copies of a GPU, in a run of its own without counts and times"},
};
std::string take_profile(Options& options, std::string_view value);

/// In the order of BackendChoice.
inline constexpr std::array kBackendWords = {
    Word{"auto", "the first of ebpf, dispatch and seccomp that works"},
    Word{"ebpf", "by BPF programs in the kernel; needs CAP_BPF and CAP_PERFMON"},
    Word{"dispatch", "by Syscall User Dispatch; needs no privilege"},
    Word{"dispatch-trap", "the same, without patches in the program's code"},
    Word{"seccomp", "entries only; needs no privilege"},
    Word{"none", "times only; counts stay empty"},
};
std::string take_backend(Options& options, std::string_view value);

std::string take_filter(Options& options, std::string_view value);

inline constexpr std::array kDetailWords = {
    Word{"ioctl", "rows for each request, by device and name"},
    Word{"thread:NAME", "separate rows for the threads with a name that begins with NAME"},
};
std::string take_detail(Options& options, std::string_view value);

inline constexpr std::array kScriptWords = {Word{"list", "show all scripts, and run nothing"}};
std::string take_scripts(Options& options, std::string_view value);

inline constexpr std::array kUnavailableWords = {Word{"skip", "skip the test"}, Word{"fail", "fail the test"}};
std::string take_unavailable(Options& options, std::string_view value);

}  // namespace syscost::session
