# include(SyscostEverywhere): links syscost into every GoogleTest, Google Benchmark, Catch2 and doctest program of this folder
# and of the folders below it, also into those that CMake meets later.
#
#   find_package(syscost REQUIRED)
#   include(SyscostEverywhere)
#
# Or without a change in the project: cmake -DCMAKE_PROJECT_INCLUDE=<folder of this file>/SyscostEverywhere.cmake
#
# A program without syscost: set_target_properties(my_test PROPERTIES SYSCOST_EVERYWHERE OFF)
#
# It waits until CMake has read the folder, because only then all programs are known and what each of them links. What a
# program links through INTERFACE and STATIC libraries of the project counts, too. A header of Catch2 or doctest that the
# project only includes, without a target, is not found. A program that only loads GoogleTest
# inside a shared library is not found; link that one by hand.
#
# Works with CMake 3.19, which is the first that can wait.
if(CMAKE_VERSION VERSION_LESS 3.19)
  message(FATAL_ERROR "syscost: include(SyscostEverywhere) needs CMake 3.19, and this is ${CMAKE_VERSION}. Link syscost::gtest to \
each test: target_link_libraries(my_test PRIVATE syscost::gtest)")
endif()
# The functions below keep these policies, however old the project is that they run in.
cmake_policy(PUSH)
cmake_policy(VERSION 3.16...3.25)

set(syscost_everywhere_gtest
    "^(GTest::(gtest|gmock|gtest_main|gmock_main|GTest|Main)|(-l)?(gtest|gmock)(_main)?|.*/lib(gtest|gmock)(_main)?\\.(a|so)[0-9.]*)$")
set(syscost_everywhere_benchmark
    "^(benchmark::benchmark(_main)?|(-l)?benchmark(_main)?|.*/libbenchmark(_main)?\\.(a|so)[0-9.]*)$")
set(syscost_everywhere_catch2
    "^((Catch2::)?(Catch2|Catch)(WithMain)?|Catch2::Catch2_with_main|(-l)?Catch2(Main)?|.*/libCatch2(Main)?d?\\.(a|so)[0-9.]*)$")
set(syscost_everywhere_doctest "^(doctest::)?doctest(_with_main)?$")

# syscost_everywhere_frameworks(RESULT TARGET): those of "gtest", "benchmark", "catch2" and "doctest" that the program
# TARGET links, without those that have syscost already.
function(syscost_everywhere_frameworks result target)
  set(frameworks "")
  set(measured "")
  set(seen "")
  get_target_property(names ${target} LINK_LIBRARIES)
  while(names)
    list(POP_FRONT names name)
    string(REGEX REPLACE "^\\$<(LINK_ONLY|BUILD_INTERFACE):(.+)>$" "\\2" name "${name}")
    if(name IN_LIST seen)
      continue()
    endif()
    list(APPEND seen "${name}")
    if(name MATCHES "^syscost(::|_)(gtest|benchmark|catch2|doctest)(_main)?$")
      list(APPEND measured ${CMAKE_MATCH_2})
    elseif(name MATCHES "${syscost_everywhere_gtest}" OR (SYSCOST_GTEST_TARGET AND name STREQUAL SYSCOST_GTEST_TARGET))
      list(APPEND frameworks gtest)
    elseif(name MATCHES "${syscost_everywhere_benchmark}")
      list(APPEND frameworks benchmark)
    elseif(name MATCHES "${syscost_everywhere_catch2}")
      list(APPEND frameworks catch2)
    elseif(name MATCHES "${syscost_everywhere_doctest}")
      list(APPEND frameworks doctest)
    elseif(TARGET "${name}")
      get_target_property(more "${name}" INTERFACE_LINK_LIBRARIES)
      if(more)
        list(APPEND names ${more})
      endif()
    endif()
  endwhile()
  list(REMOVE_DUPLICATES frameworks)
  if(measured)
    list(REMOVE_ITEM frameworks ${measured})
  endif()
  set(${result} "${frameworks}" PARENT_SCOPE)
endfunction()

# syscost_everywhere_programs(RESULT FOLDER): all programs of FOLDER and of the folders below it.
function(syscost_everywhere_programs result folder)
  set(programs "")
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      list(APPEND programs ${target})
    endif()
  endforeach()
  get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS below)
    syscost_everywhere_programs(more "${subfolder}")
    list(APPEND programs ${more})
  endforeach()
  set(${result} "${programs}" PARENT_SCOPE)
endfunction()

# syscost_everywhere_adapter(FRAMEWORK PACKAGE): makes sure that there is a target syscost::FRAMEWORK. PACKAGE is the folder
# of this file.
function(syscost_everywhere_adapter framework package)
  if(TARGET syscost::${framework})
    return()
  endif()
  if(NOT EXISTS "${package}/syscost-config.cmake")
    message(FATAL_ERROR "syscost: include(SyscostEverywhere) found programs that need syscost::${framework}, which is not there: \
write add_subdirectory(syscost) after the line that finds or adds the framework")
  endif()
  find_package(syscost REQUIRED COMPONENTS ${framework} PATHS "${package}" NO_DEFAULT_PATH)
endfunction()

# syscost_everywhere_link(PACKAGE): what include(SyscostEverywhere) promises, for the folder that CMake has just read.
function(syscost_everywhere_link package)
  set(linked "")
  syscost_everywhere_programs(programs "${CMAKE_CURRENT_SOURCE_DIR}")
  foreach(program IN LISTS programs)
    get_property(asked TARGET ${program} PROPERTY SYSCOST_EVERYWHERE SET)
    if(asked)
      get_target_property(asked ${program} SYSCOST_EVERYWHERE)
      if(NOT asked)
        continue()
      endif()
    endif()
    syscost_everywhere_frameworks(frameworks ${program})
    foreach(framework IN LISTS frameworks)
      syscost_everywhere_adapter(${framework} "${package}")
      # Not target_link_libraries: it has two forms, and a project may use only one of them for a program.
      set_property(TARGET ${program} APPEND PROPERTY LINK_LIBRARIES syscost::${framework})
    endforeach()
    if(frameworks)
      list(APPEND linked ${program})
    endif()
  endforeach()
  list(LENGTH linked count)
  list(JOIN linked " " linked)
  message(STATUS "syscost: linked into ${count} programs below ${CMAKE_CURRENT_SOURCE_DIR}: ${linked}")
endfunction()

# Once for a tree: CMAKE_PROJECT_INCLUDE includes this file for each project() in it.
get_property(syscost_everywhere_folders GLOBAL PROPERTY SYSCOST_EVERYWHERE_FOLDERS)
set(syscost_everywhere_known OFF)
foreach(syscost_everywhere_folder IN LISTS syscost_everywhere_folders)
  string(FIND "${CMAKE_CURRENT_SOURCE_DIR}/" "${syscost_everywhere_folder}/" syscost_everywhere_place)
  if(syscost_everywhere_place EQUAL 0)
    set(syscost_everywhere_known ON)
  endif()
endforeach()
if(NOT syscost_everywhere_known)
  set_property(GLOBAL APPEND PROPERTY SYSCOST_EVERYWHERE_FOLDERS "${CMAKE_CURRENT_SOURCE_DIR}")
  cmake_language(EVAL CODE "cmake_language(DEFER CALL syscost_everywhere_link [[${CMAKE_CURRENT_LIST_DIR}]])")
endif()
cmake_policy(POP)
