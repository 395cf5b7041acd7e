// SPDX-License-Identifier: MIT
//
// The generated skeleton, calling libbpf through libbpf.h.
#pragma once

#include "backends/ebpf/libbpf.h"
#include "backends/ebpf/shared.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are libbpf's
// The skeleton is C code that names libbpf's functions; these make it use the library opened at run time.
#define bpf_object__attach_skeleton (::syscost::ebpf::libbpf().bpf_object__attach_skeleton)
#define bpf_object__destroy_skeleton (::syscost::ebpf::libbpf().bpf_object__destroy_skeleton)
#define bpf_object__detach_skeleton (::syscost::ebpf::libbpf().bpf_object__detach_skeleton)
#define bpf_object__load_skeleton (::syscost::ebpf::libbpf().bpf_object__load_skeleton)
#define bpf_object__open_skeleton (::syscost::ebpf::libbpf().bpf_object__open_skeleton)
#include "syscost.skel.h"
#undef bpf_object__attach_skeleton
#undef bpf_object__destroy_skeleton
#undef bpf_object__detach_skeleton
#undef bpf_object__load_skeleton
#undef bpf_object__open_skeleton
// NOLINTEND(bugprone-reserved-identifier)
