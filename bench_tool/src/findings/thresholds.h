// SPDX-License-Identifier: MIT
//
// From which figures on a rule fires. docs/findings.md states them, in the definitions of rules.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::bench::findings {

// A thing that is done again and again: so many other calls at most are between one time and the next.
inline constexpr std::size_t kFewBetween = 16;
// A rule's findings at one line cost at least so much together. Those of loops and benchmarks need not: the machine
// decides how many passes there are. All cost such a share of the time of their windows, and each of its own window.
inline constexpr double kLeastCostNs = 1e6;
inline constexpr double kLeastShare = 0.001;
// A general rule has no note beside another note about the syscall that costs such a share of its own or more.
inline constexpr double kShareOfNamed = 0.5;

// Reading and writing, by counts: so many calls, of so few bytes on average.
inline constexpr double kManyTransfers = 256;
inline constexpr double kTinyBytes = 64;
// In a trace: so many in a row, each of at most so many bytes; and so many of one file in all rows.
inline constexpr std::size_t kTransfersInARow = 8;
inline constexpr std::int64_t kSmallBytes = 256;
inline constexpr double kManyInARow = 512;
inline constexpr std::int64_t kNear = 4096;  ///< Bytes between transfers that have places of their own.
// Without call stacks: so many, of so few bytes on average.
inline constexpr double kFarTooMany = 1000;
inline constexpr double kFarTooFewBytes = 4;
inline constexpr double kManyRandoms = 1000;         ///< getrandom in rows,
inline constexpr std::int64_t kFewRandomBytes = 32;  ///< of at most so many bytes each.
inline constexpr double kTransfersEachOpen = 8;      ///< By counts: so many for each file that is opened.
// Bytes of a file are read so often each, and so many of them needlessly.
inline constexpr double kAmplification = 4;
inline constexpr double kReadAgain = 65536;
inline constexpr double kManySyncs = 20;
inline constexpr double kWritesEachSync = 4;
inline constexpr std::size_t kNeedlessSyncs = 8;  ///< Syncs of a file that nothing was written to.
inline constexpr std::size_t kManySeeks = 64;
inline constexpr std::size_t kManyConnections = 16;

// Paths.
inline constexpr std::size_t kManyMissing = 16;      ///< Lookups of one path that is not there, or in so many folders.
inline constexpr double kManyLookups = 32;           ///< Lookups that fail, of all paths,
inline constexpr double kMissingShare = 0.5;         ///< and their share of all lookups.
inline constexpr std::size_t kManyOpensToStat = 16;  ///< Opens without a use of the file.
inline constexpr std::size_t kManyOpens = 32;        ///< Opens of one file that did not change,
inline constexpr std::size_t kFewAppends = 2;        ///< or that each append so often at most.

// Waiting.
inline constexpr double kManyYields = 256;
inline constexpr std::size_t kYieldsInARow = 64;
inline constexpr std::size_t kPollsInARow = 8;
inline constexpr double kSpinsNs = 1e6;          ///< Rows of polls last at least so long together.
inline constexpr double kShortestWaitNs = 50e3;  ///< A poll that finds nothing and takes less did not wait.
inline constexpr double kManyEmptyPolls = 64;
inline constexpr double kManyRefused = 64;       ///< Calls that fail with EAGAIN,
inline constexpr double kRefusedShare = 0.75;    ///< and their share of the syscall's calls.
inline constexpr double kLongSleepNs = 10e6;     ///< A sleep of at least this is a long one;
inline constexpr double kLongSleepsNs = 50e6;    ///< all long ones of a window together.
inline constexpr std::size_t kPolledSleeps = 3;  ///< Sleeps in a row, with a look in between that finds nothing.
inline constexpr double kManyShortWaits = 32;    ///< Waits that time out,
inline constexpr double kShortWaitNs = 10e6;     ///< after less than this.
inline constexpr std::size_t kManyLockWaits = 64;

// Memory and processes.
inline constexpr double kManyMappings = 32;
inline constexpr double kReleasedShare = 0.5;
/// glibc's malloc keeps no larger block than this on its heap, whatever M_MMAP_THRESHOLD says.
inline constexpr std::int64_t kMostForHeap = 32 << 20;
inline constexpr double kManyForks = 8;

// GPU.
inline constexpr double kCopiesThatMatterNs = 100e3;
inline constexpr double kAllocationsAPass = 1;
inline constexpr double kManyAllocations = 16;

// Calls of any kind.
inline constexpr double kFewCalls = 20;  ///< That fail.
inline constexpr double kFailingShare = 0.5;
inline constexpr double kManyCalls = 1000;
inline constexpr std::size_t kSameQuestions = 1000;  ///< Calls that ask the same thing and get the same answer.

}  // namespace syscost::bench::findings
