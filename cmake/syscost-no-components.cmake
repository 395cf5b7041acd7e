# find_package(syscost) without COMPONENTS defines the adapters of those frameworks that the build has at that line. A program
# that links another one gets a message that names the remedy; CMake's own says only that the target was not found.
#
# Works with CMake 3.16, as everything a consumer's build sees; before 3.19 CMake cannot wait until all programs are known.
cmake_policy(VERSION 3.16...3.25)

# syscost_check_adapters(FOLDER): of all programs in FOLDER and the folders below it.
function(syscost_check_adapters folder)
  get_property(everywhere GLOBAL PROPERTY SYSCOST_EVERYWHERE_FOLDERS)
  if(everywhere)
    return()  # include(SyscostEverywhere) adds the adapters that are missing
  endif()
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    foreach(library IN LISTS libraries)
      if(library MATCHES "^syscost::(gtest|benchmark)(_main)?$|^syscost::(catch2|doctest)$" AND NOT TARGET ${library})
        message(FATAL_ERROR "syscost: ${target} links ${library}, which is not there: find_package(syscost) names no component, \
and comes before its framework is found. Write find_package(syscost REQUIRED COMPONENTS ${CMAKE_MATCH_1}${CMAKE_MATCH_3})")
      endif()
    endforeach()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    syscost_check_adapters("${below}")
  endforeach()
endfunction()

if(NOT CMAKE_VERSION VERSION_LESS 3.19)
  cmake_language(EVAL CODE
    "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL syscost_check_adapters [[${CMAKE_SOURCE_DIR}]])")
endif()
