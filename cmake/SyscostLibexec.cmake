# Executables that libsyscost starts: installed in libexec/syscost, and found from where the library lies
# (os/program_files.h), so the build tree is laid out as the installed one is.
include(GNUInstallDirs)

# syscost_built_prefix(RESULT): the folder of the build tree that stands for the installed prefix.
function(syscost_built_prefix result)
  set(library_folder "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  if(NOT library_folder)
    set(library_folder "${syscost_BINARY_DIR}/plugin") # where target syscost lands
  endif()
  get_filename_component(prefix "${library_folder}/.." ABSOLUTE)
  set(${result} "${prefix}" PARENT_SCOPE)
endfunction()

# syscost_libexec(TARGET NAME STARTER MACRO COMPONENT): TARGET becomes such an executable, called NAME. The library STARTER
# starts it: STARTER gets MACRO, the path from libsyscost's folder. COMPONENT is the part that installs it.
#
# It links statically as much as possible: it runs without the test's environment, so it may not find its libraries, and it
# may run with rights that an administrator gave to its file.
function(syscost_libexec target name starter macro component)
  if(NOT SYSCOST_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  syscost_built_prefix(prefix)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${prefix}/libexec/syscost")
  file(RELATIVE_PATH relative "${CMAKE_INSTALL_FULL_LIBDIR}" "${CMAKE_INSTALL_FULL_LIBEXECDIR}/syscost")
  target_compile_definitions(${starter} PRIVATE ${macro}="${relative}/${name}")
  add_dependencies(${starter} ${target})
  if(SYSCOST_INSTALL)
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/syscost" COMPONENT ${component})
  endif()
endfunction()
