// SPDX-License-Identifier: MIT OR GPL-2.0
//
// Indexes that every kernel's verifier accepts, whatever compiler made the object.
//
// The verifier follows the register that was checked. A compiler may check one register and index with another: clang
// 14 made `lane > 0 && lane < 17` into "w1 = w0 - 1; check w1; index with w0". Linux 6.18 links the two, 6.12 does not
// and refuses the program. A mask in C does not help either, because the compiler drops it where a check made it
// needless. So the bound is set in assembly, which no compiler looks into, on the register that comes out and is used.
// It is one of 64 bits: then no extension from 32 bits stands between the bound and the use.
//
// Every index that is not a constant goes through AT or BOUNDED; tests/unit/ebpf/index_bounds.py looks for others.
#pragma once

#include "kernel_types.bpf.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

// `index` if it is below the constant `count`, else any other number below `count`. This is for the verifier only: the
// caller checks for an index out of range.
#define BOUNDED(index, count)                                            \
  ({                                                                     \
    __u64 bounded_ = (index);                                            \
    if (((count) & ((count)-1)) == 0) {                                  \
      asm("%0 &= %1" : "+r"(bounded_) : "i"((count)-1));                 \
    } else {                                                             \
      asm("if %0 < %1 goto +1\n\t%0 = 0" : "+r"(bounded_) : "i"(count)); \
    }                                                                    \
    bounded_;                                                            \
  })

// The element of an array, not of a pointer.
#define AT(array, index) ((array)[BOUNDED(index, COUNT_OF(array))])
