# What is installed and not built yet, as after a build of one target, is built by the first install rule. CMake would
# install a part of it, and end at the first file that is missing.
#
# Included before all folders, because install rules run in the order in which they are written.
set(syscost_installed "")
foreach(target syscost syscost_late_packaged syscost_gtest_main syscost_benchmark_main syscost_ebpf_helper
        syscost_profile_agent syscost_bench syscost_shell_files)
  list(APPEND syscost_installed "$<$<TARGET_EXISTS:${target}>:$<TARGET_FILE:$<IF:$<TARGET_EXISTS:${target}>,${target},syscost>>>")
endforeach()
install(CODE "
  set(syscost_files \"${syscost_installed}\")
  foreach(file IN LISTS syscost_files)
    if(file AND NOT EXISTS \"\${file}\")
      message(STATUS \"syscost: \${file} is not built yet; building what is installed\")
      execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\" --target syscost_installed --config $<CONFIG>
                      RESULT_VARIABLE failed)
      if(failed)
        message(FATAL_ERROR \"syscost: \${file} cannot be built; see the errors above\")
      endif()
      break()
    endif()
  endforeach()" ALL_COMPONENTS)

add_custom_target(syscost_installed)  # SyscostInstall says of what it consists
