// Part of subject.cc.
#pragma once

/// Prints its return address, as an address in the file, and returns 0.
int here();

inline int in_header(int value) {
  return here() + value;  // MARK header in_header
}
