// SPDX-License-Identifier: MIT
//
// The function that stands after ours of the same name: libc's, or that of a library which stands in for it.
#pragma once

#include <dlfcn.h>

namespace syscost::agent {

template <class Function>
void look_up_next(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace syscost::agent
