# Builds syscost::gtest and syscost::gtest_main, in the build that includes this, against the GoogleTest that build uses.
#
# syscost_add_gtest_adapter(SOURCE_DIR folder SOURCES file... MAIN_SOURCES file...) defines, with `folder` as the include
# root of the adapter's own headers, the targets syscost_gtest and syscost_gtest_main and their aliases.
#
# The registration is a static object in an archive nobody refers to. A linker would leave it out without a word, and
# the tests would run unmeasured; `-u` makes it an undefined symbol of the final program, and as an interface option it
# travels through the consumer's own INTERFACE and STATIC helper libraries, where an object library would be lost.
#
# Works with CMake 3.16, as everything a consumer's build sees.

# Sets `result` to the target of the GoogleTest that this build uses, looking for an installed one only when the build
# has none. Old CMake names its target GTest::GTest, an old GoogleTest added by add_subdirectory plain gtest.
macro(syscost_find_gtest result)
  set(${result} "")
  if(NOT TARGET GTest::gtest AND NOT TARGET gtest AND NOT TARGET GTest::GTest)
    find_package(GTest QUIET)
  endif()
  foreach(syscost_candidate GTest::gtest gtest GTest::GTest)
    if(TARGET ${syscost_candidate})
      set(${result} ${syscost_candidate})
      break()
    endif()
  endforeach()
endmacro()

include("${CMAKE_CURRENT_LIST_DIR}/syscost-adapter.cmake")

function(syscost_add_gtest_adapter)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_DIR;GTEST" "SOURCES;MAIN_SOURCES")
  syscost_add_adapter(gtest SOURCE_DIR "${arg_SOURCE_DIR}" FRAMEWORK ${arg_GTEST}
                      LINK_OPTIONS LINKER:-u,syscost_gtest_registration
                      SOURCES ${arg_SOURCES} MAIN_SOURCES ${arg_MAIN_SOURCES})
endfunction()
