// SPDX-License-Identifier: MIT
//
// Descriptors that a measured process keeps open for us: eBPF programs and their attachments, sockets to our helpers.
//
// They sit at high numbers, out of the user's way. fork copies descriptors, and an attachment, or a tool at the other
// end of a socket, lives as long as any copy: a child that outlives us would keep it. Children made by fork() close
// theirs; exec closes them in all others. A test may close ours, too, and be given their numbers for files of its own,
// which we must not close.
#pragma once

namespace syscost {

/// Takes over `fd`, a BPF object or a socket, and returns its new number. Thread-safe.
int keep_descriptor(int fd);

/// True when `fd`, which keep_descriptor() returned, is still what it was.
bool is_still_ours(int fd);

/// Closes `fd` unless it is somebody else's now, and sets it to -1. -1 is allowed.
void close_descriptor(int& fd);

}  // namespace syscost
