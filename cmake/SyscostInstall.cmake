# Where `cmake --install` puts each file, and how a project finds it again: find_package(syscost) and pkg-config.
#
# libsyscost is installed as a library. The adapters are installed as source as well. They derive from classes
# (testing::EmptyTestEventListener, benchmark::BenchmarkReporter), and the vtables of these classes differ between versions:
# an archive built against our framework would crash with the consumer's. find_package builds the adapters in the consumer's
# own build (cmake/syscost-config.cmake.in). pkg-config cannot build, so it gives archives made here against this system's
# frameworks. The reasons, and the rejected alternatives: docs/decisions/0007-packaging.md.
include(CMakePackageConfigHelpers)

foreach(target syscost syscost_late_packaged syscost_gtest_main syscost_benchmark_main syscost_catch2 syscost_doctest syscost_bench
               syscost_shell_documents)
  if(TARGET ${target})
    add_dependencies(syscost_installed ${target})
  endif()
endforeach()
set(SYSCOST_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/syscost")
set(SYSCOST_INSTALL_SOURCEDIR "${CMAKE_INSTALL_DATADIR}/syscost/src")

install(TARGETS syscost EXPORT syscost-targets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT devel
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT syscost-targets NAMESPACE syscost:: DESTINATION "${SYSCOST_INSTALL_CMAKEDIR}" COMPONENT devel)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/plugin/include/syscost" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/LICENSES/GPL-2.0.txt"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/syscost" COMPONENT licences)

# Sources of a target as paths below plugin/src, the form in which they are installed.
function(syscost_sources_below_src target result)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  set(relative "")
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${folder}")
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}/plugin/src" "${path}")
    if(path MATCHES "^\\.\\.")
      continue() # a public header, installed as such
    endif()
    list(APPEND relative "${path}")
  endforeach()
  set(${result} "${relative}" PARENT_SCOPE)
endfunction()

# What programs link for it: compiled in the consumer's build as well, where the library's place is known.
install(TARGETS syscost_late_packaged ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/plugin/src/late" DESTINATION "${SYSCOST_INSTALL_SOURCEDIR}" COMPONENT devel
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cc")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/plugin/src/libc" DESTINATION "${SYSCOST_INSTALL_SOURCEDIR}" COMPONENT devel
        FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/plugin/src/core/count.cc" DESTINATION "${SYSCOST_INSTALL_SOURCEDIR}/core" COMPONENT devel)
install(FILES "${PROJECT_BINARY_DIR}/plugin/src/late/include/late/functions.inc"
              "${PROJECT_BINARY_DIR}/plugin/src/late/include/late/early_functions.inc"
              "${PROJECT_BINARY_DIR}/plugin/src/late/include/late/fault_functions.inc"
        DESTINATION "${SYSCOST_INSTALL_SOURCEDIR}/late" COMPONENT devel)
install(FILES "${CMAKE_CURRENT_LIST_DIR}/syscost-adapter.cmake" "${CMAKE_CURRENT_LIST_DIR}/syscost-late.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/SyscostEverywhere.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/syscost-no-components.cmake"
        DESTINATION "${SYSCOST_INSTALL_CMAKEDIR}" COMPONENT devel)

set(SYSCOST_GTEST_SOURCES "")
if(TARGET syscost_gtest)
  syscost_sources_below_src(syscost_gtest SYSCOST_GTEST_SOURCES)
  syscost_sources_below_src(syscost_gtest_main SYSCOST_GTEST_MAIN_SOURCES)
  install(TARGETS syscost_gtest syscost_gtest_main ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/plugin/src/adapters/gtest"
          DESTINATION "${SYSCOST_INSTALL_SOURCEDIR}/adapters" COMPONENT devel
          FILES_MATCHING PATTERN "*.h" PATTERN "*.cc")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/syscost-gtest-adapter.cmake" DESTINATION "${SYSCOST_INSTALL_CMAKEDIR}" COMPONENT devel)
endif()

set(SYSCOST_BENCHMARK_SOURCES "")
if(TARGET syscost_benchmark)
  syscost_sources_below_src(syscost_benchmark SYSCOST_BENCHMARK_SOURCES)
  syscost_sources_below_src(syscost_benchmark_main SYSCOST_BENCHMARK_MAIN_SOURCES)
  install(TARGETS syscost_benchmark syscost_benchmark_main ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/plugin/src/adapters/benchmark"
          DESTINATION "${SYSCOST_INSTALL_SOURCEDIR}/adapters" COMPONENT devel
          FILES_MATCHING PATTERN "*.h" PATTERN "*.cc")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/syscost-benchmark-adapter.cmake"
          DESTINATION "${SYSCOST_INSTALL_CMAKEDIR}" COMPONENT devel)
  # For pkg-config, in its own spelling.
  syscost_benchmark_link_options(options)
  list(TRANSFORM options REPLACE "^LINKER:" "-Wl,")
  list(JOIN options " " SYSCOST_PC_BENCHMARK_OPTIONS)
endif()

syscost_sources_below_src(syscost_catch2 SYSCOST_CATCH2_SOURCES)
syscost_sources_below_src(syscost_doctest SYSCOST_DOCTEST_SOURCES)
install(TARGETS syscost_catch2 syscost_doctest ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
foreach(folder adapters/bodies adapters/catch2 adapters/doctest adapters/names agent/common agent/find)
  get_filename_component(above ${folder} DIRECTORY)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/plugin/src/${folder}" DESTINATION "${SYSCOST_INSTALL_SOURCEDIR}/${above}"
          COMPONENT devel FILES_MATCHING PATTERN "*.h" PATTERN "*.cc")
endforeach()
install(FILES "${CMAKE_CURRENT_LIST_DIR}/syscost-bodies-adapters.cmake" DESTINATION "${SYSCOST_INSTALL_CMAKEDIR}"
        COMPONENT devel)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/syscost-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/package/syscost-config.cmake"
                              INSTALL_DESTINATION "${SYSCOST_INSTALL_CMAKEDIR}"
                              PATH_VARS SYSCOST_INSTALL_SOURCEDIR CMAKE_INSTALL_LIBDIR
                              NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/syscost-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/syscost-config.cmake"
              "${PROJECT_BINARY_DIR}/package/syscost-config-version.cmake"
        DESTINATION "${SYSCOST_INSTALL_CMAKEDIR}" COMPONENT devel)

# The .pc files find their prefix from where they lie, so that an installed tree may be moved.
set(SYSCOST_PC_DIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${SYSCOST_PC_DIR}")
  set(SYSCOST_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH SYSCOST_PC_PREFIX "/${SYSCOST_PC_DIR}" "/")
  string(REGEX REPLACE "/$" "" SYSCOST_PC_PREFIX "${SYSCOST_PC_PREFIX}")
  set(SYSCOST_PC_PREFIX "\${pcfiledir}/${SYSCOST_PC_PREFIX}")
endif()
foreach(kind LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
    set(SYSCOST_PC_${kind} "${CMAKE_INSTALL_${kind}}")
  else()
    set(SYSCOST_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
set(syscost_pc_files syscost)
if(TARGET syscost_gtest)
  list(APPEND syscost_pc_files syscost-gtest syscost-gtest-main)
endif()
if(TARGET syscost_benchmark)
  list(APPEND syscost_pc_files syscost-benchmark syscost-benchmark-main)
endif()
foreach(framework catch2 doctest)
  syscost_bodies_link_options(options ${framework})
  list(TRANSFORM options REPLACE "^LINKER:" "-Wl,")
  list(JOIN options " " SYSCOST_PC_BODIES_OPTIONS)
  set(SYSCOST_PC_FRAMEWORK ${framework})
  configure_file("${CMAKE_CURRENT_LIST_DIR}/syscost-bodies.pc.in" "${PROJECT_BINARY_DIR}/package/syscost-${framework}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/package/syscost-${framework}.pc" DESTINATION "${SYSCOST_PC_DIR}" COMPONENT devel)
endforeach()
foreach(name IN LISTS syscost_pc_files)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in" "${PROJECT_BINARY_DIR}/package/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/package/${name}.pc" DESTINATION "${SYSCOST_PC_DIR}" COMPONENT devel)
endforeach()
