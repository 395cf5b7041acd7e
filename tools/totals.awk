# SPDX-License-Identifier: MIT
#
# Turns ctest's JUnit file into "N passed, N failed, N skipped". Called by ./dev test.
#
# ctest calls a test "notrun" if it could not start (no program, a failed fixture), and also if it skipped itself. The
# counts in the file's head mix the two. Only a test that skipped itself names its skip property. A test that neither
# passed nor skipped has failed.
/<testcase / {
  ran = / status="run"/
  disabled = / status="disabled"/
  if (ran) passed++
  else if (disabled) skipped++
  else failed++
}
/^[ \t]*<skipped message="SKIP_/ && !ran && !disabled {
  failed--
  skipped++
}
END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }
