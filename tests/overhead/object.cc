// SPDX-License-Identifier: MIT
#include "backends/ebpf/embed_object.h"

SYSCOST_EMBED_OBJECT("empty_pair_bpf", SYSCOST_EMPTY_PAIR_OBJECT);
