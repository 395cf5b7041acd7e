// SPDX-License-Identifier: MIT
//
// libdw, found at run time.
//
// syscost-symbols reads debug information with elfutils' libdw. It opens libdw.so.1 itself, so that on a machine
// without it the helper runs and says so. The functions keep their C names here.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "os/errors.h"

namespace syscost::symbols {

#define SYSCOST_LIBDW_FUNCTIONS(X) \
  X(dwarf_attr)                    \
  X(dwarf_attr_integrate)          \
  X(dwarf_cfi_addrframe)           \
  X(dwarf_child)                   \
  X(dwarf_cu_info)                 \
  X(dwarf_decl_file)               \
  X(dwarf_diename)                 \
  X(dwarf_dieoffset)               \
  X(dwarf_filesrc)                 \
  X(dwarf_formref_die)             \
  X(dwarf_formstring)              \
  X(dwarf_formudata)               \
  X(dwarf_frame_info)              \
  X(dwarf_getscopes_die)           \
  X(dwarf_getsrc_die)              \
  X(dwarf_getsrcfiles)             \
  X(dwarf_get_units)               \
  X(dwarf_haspc)                   \
  X(dwarf_lineno)                  \
  X(dwarf_linesrc)                 \
  X(dwarf_ranges)                  \
  X(dwarf_siblingof)               \
  X(dwarf_tag)                     \
  X(dwfl_begin)                    \
  X(dwfl_end)                      \
  X(dwfl_errmsg)                   \
  X(dwfl_getmodules)               \
  X(dwfl_module_addrinfo)          \
  X(dwfl_module_build_id)          \
  X(dwfl_module_eh_cfi)            \
  X(dwfl_module_getdwarf)          \
  X(dwfl_module_getelf)            \
  X(dwfl_offline_section_address)  \
  X(dwfl_report_begin)             \
  X(dwfl_report_end)               \
  X(dwfl_report_offline)           \
  X(dwfl_standard_find_debuginfo)

struct LibdwApi {
#define SYSCOST_LIBDW_POINTER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  SYSCOST_LIBDW_FUNCTIONS(SYSCOST_LIBDW_POINTER)
#undef SYSCOST_LIBDW_POINTER
};

/// Opens libdw.so.1, once; later calls answer the same.
Result<const LibdwApi*> open_libdw();

/// The opened library. Only after open_libdw() succeeded.
const LibdwApi& libdw();

}  // namespace syscost::symbols
