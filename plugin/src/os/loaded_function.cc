// SPDX-License-Identifier: MIT
#include "os/loaded_function.h"

#include <dlfcn.h>

namespace syscost {

void* loaded_function(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  // The first one returns the text, the second one frees it.
  if (found == nullptr && dlerror() != nullptr) dlerror();
  return found;
}

}  // namespace syscost
