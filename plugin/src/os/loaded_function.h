// SPDX-License-Identifier: MIT
//
// Looks functions up in the running program without a trace in its heap.
//
// dlsym() that finds nothing puts a text for dlerror() in the heap. The heap is the program's: what lies there would
// depend on which of these calls syscost makes, and with it on the flags. And a program's own malloc() may call dlsym()
// itself, which frees the text while dlerror() writes to it. So the tables of the modules are read here.
#pragma once

namespace syscost {

/// The function `name` of the program or of a library that it has loaded, in the order in which they were loaded; null
/// if there is none, and for a module that has only the old kind of table (DT_HASH). Any thread; not in a handler.
void* loaded_function(const char* name);

}  // namespace syscost
