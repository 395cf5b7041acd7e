# Builds syscost::catch2 and syscost::doctest, in the build that includes this.
#
# syscost_add_bodies_adapter(FRAMEWORK SOURCE_DIR folder SOURCES file...) defines, with `folder` as the include root of the
# adapter's own headers, the target syscost_FRAMEWORK and its alias.
#
# The linker gives the start-up's call of main() to the adapter (`--wrap`), which takes our flags out of the command line.
# `-u main`: a main() in an archive that stands before the adapter is pulled out of it, as without `--wrap`.
#
# Works with CMake 3.16, as everything a consumer's build sees.

cmake_policy(VERSION 3.16...3.25)  # of what this file defines, however old the project is

# Sets `result` to the linker options of every program that is measured.
function(syscost_bodies_link_options result framework)
  set(${result} LINKER:-u,syscost_${framework}_registration LINKER:-u,main LINKER:--wrap=main PARENT_SCOPE)
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/syscost-adapter.cmake")

function(syscost_add_bodies_adapter framework)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE_DIR" "SOURCES")
  syscost_bodies_link_options(link_options ${framework})
  syscost_add_adapter(${framework} SOURCE_DIR "${arg_SOURCE_DIR}" LINK_OPTIONS ${link_options} SOURCES ${arg_SOURCES})
endfunction()
