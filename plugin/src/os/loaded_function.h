// SPDX-License-Identifier: MIT
//
// Looks functions up in the running program without a trace in its heap.
//
// If dlsym() finds nothing, it keeps a text for dlerror() in the heap until a later call of its kind. The heap is the
// program's: what lies there would depend on which of these calls syscost makes, and with it on the flags.
#pragma once

namespace syscost {

/// The function `name` of the program or of a library that it has loaded; null if there is none. What dlerror() says of
/// an earlier call is gone afterwards. Any thread; not in a handler.
void* loaded_function(const char* name);

}  // namespace syscost
