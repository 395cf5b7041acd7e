// SPDX-License-Identifier: MIT
#include "backends/ebpf/embed_object.h"

SYSCOST_EMBED_OBJECT("syscost_bpf", SYSCOST_BPF_OBJECT);
