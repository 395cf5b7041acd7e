// SPDX-License-Identifier: MIT
//
// The protocol between the measured process and its profile launcher.
//
// The process starts the launcher with its commands as arguments; later it sends one word, "stop". The launcher answers
// in frames. Both are of one build, so there are no versions to negotiate. An invalid frame ends the connection.
//
//     syscost-profile-launcher START_MS STOP_MS (KIND COUNT ARGUMENT...)...    (the limits: launcher.h)
//     syscost-profile-launcher gate
//
// bpftrace starts the second form by -c: it sends "ready" on its standard input, which is a socket, and ends when it
// gets a byte or when the other end is gone. In a command's arguments, kGatePlaceholder becomes that form, without the
// spaces at which bpftrace would cut it.
#pragma once

#include <cstdint>
#include <string_view>

namespace syscost::profilers {

/// How a command says that it is ready, and how it is stopped.
inline constexpr std::string_view kGateKind = "gate";  ///< Ready when its gate sends "ready"; stopped by the gate.
inline constexpr std::string_view kControlKind = "control";  ///< perf: enabled over --control fd:3,4; SIGINT stops it.
inline constexpr std::string_view kWholeKind = "whole";      ///< Runs to its end; ready when it has ended.
/// Like `whole`, but started when everything else was stopped; reads what the command before it printed.
inline constexpr std::string_view kFilterKind = "filter";

inline constexpr std::string_view kGatePlaceholder = "{gate}";
inline constexpr std::string_view kGateArgument = "gate";

inline constexpr int kLinkDescriptor = 3;   ///< In the launcher: the socket to the measured process,
inline constexpr int kOwnerDescriptor = 4;  ///< and a pidfd of that process.

inline constexpr int kControlReadDescriptor = 3;  ///< In a `control` command: it reads our orders here,
inline constexpr int kControlAckDescriptor = 4;   ///< and acknowledges here.

inline constexpr char kStopByte = 'S';
inline constexpr char kReadyByte = 'R';

enum class FrameType : std::uint32_t {
  kReady = 1,     ///< Every command is ready. No bytes.
  kTimedOut = 2,  ///< A command was not ready, or had not ended, in time; `tool` says which. No bytes.
  kOutput = 3,    ///< The standard output of `tool`.
  kErrors = 4,    ///< The standard error of `tool`.
  kEnded = 5,     ///< ToolEnd of `tool`.
  kDone = 6,      ///< Nothing follows.
};

struct FrameHeader {
  FrameType type;
  std::uint32_t tool;  ///< Index of the command.
  std::uint64_t size;  ///< Bytes that follow.
};
static_assert(sizeof(FrameHeader) == 16, "no hidden padding");

struct ToolEnd {
  std::int32_t start_errno;  ///< 0, or why it could not be executed.
  std::int32_t wait_status;  ///< The status of wait(2).
  std::uint8_t was_ready;
  std::uint8_t ended_early;   ///< It ended before it was stopped.
  std::uint8_t was_killed;    ///< It did not end when it was stopped, and was killed.
  std::uint8_t is_truncated;  ///< It printed more than is kept.
  std::uint32_t padding;
};
static_assert(sizeof(ToolEnd) == 16, "no hidden padding");

/// A limit begins at most so often while the commands work (launcher.h).
inline constexpr int kMostLimits = 20;

/// The most bytes that are kept of one command's output. bpftrace's maps are some kilobytes; perf's recordings some
/// megabytes.
inline constexpr std::uint64_t kMaxOutputBytes = 256ULL << 20;

}  // namespace syscost::profilers
