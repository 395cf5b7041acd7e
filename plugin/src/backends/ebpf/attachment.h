// SPDX-License-Identifier: MIT
//
// How the BPF programs are attached to the kernel's tracepoints.
//
// A raw tracepoint is the cheap way. From Linux 7.0 on it runs its programs with preemption on, and keeps one that was
// preempted from running for other threads on that CPU: those calls would be lost. A perf event of the same tracepoint
// still runs them with preemption off. It is known by a number, which stands in tracefs. docs/decisions/0025.
#pragma once

#include <string_view>
#include <vector>

#include "os/errors.h"

namespace syscost::ebpf {

enum class Attachment { raw_tracepoints, perf_events };

/// The one that loses nothing under this kernel, by its release.
Attachment attachment_for_this_kernel();

/// The capabilities that the helper's file needs so that ordinary users count by it, as setcap wants them.
std::string_view capabilities_of_a_helper();

/// For tests: attachment_for_this_kernel() answers this from now on, in this process. A kernel has both.
void use_attachment(Attachment attachment);

/// Reads the numbers of events that open_links() will need under this kernel, while the caller may still read them. If
/// one cannot be read, open_links() says so.
void read_event_numbers();

/// Attaches each program, the way that its type asks for: the descriptors of the attachments, which end when their last
/// copies are closed.
Result<std::vector<int>> open_links(const std::vector<int>& programs);

}  // namespace syscost::ebpf
