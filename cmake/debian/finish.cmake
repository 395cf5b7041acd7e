# What Debian's policy wants in each package beside the files that are installed: copyright, changelogs, compressed manual
# pages, the folder in which Debian's zsh looks. CPack runs this after it installed each component into a folder of its own.
cmake_policy(VERSION 3.25)
find_program(gzip gzip REQUIRED)
find_program(strip strip REQUIRED)

# In the form that dpkg reads. SOURCE_DATE_EPOCH, if it is set, is the time.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(changelog "syscost (${CPACK_SYSCOST_VERSION}) unstable; urgency=medium

  * Built from the sources of this version. What changed for users is in
    changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}")
  string(TOUPPER "${component}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(documents "${root}/share/doc/${package}")
  file(COPY "${CMAKE_CURRENT_LIST_DIR}/copyright" DESTINATION "${documents}")
  file(WRITE "${documents}/changelog.Debian" "${changelog}")
  configure_file("${CPACK_SYSCOST_SOURCE}/CHANGELOG.md" "${documents}/changelog" COPYONLY)
  set(compressed "${documents}/changelog" "${documents}/changelog.Debian")

  # Parts of other projects that are compiled in, mostly from headers.
  if(NOT component STREQUAL "devel")
    foreach(library nlohmann-json3-dev libcli11-dev libfmt-dev libtomlplusplus-dev libfccp-dev libboost-dev)
      if(component STREQUAL "library" AND NOT library STREQUAL "nlohmann-json3-dev")
        continue()
      endif()
      if(EXISTS "/usr/share/doc/${library}/copyright")
        configure_file("/usr/share/doc/${library}/copyright" "${documents}/compiled-in/${library}" COPYONLY)
      endif()
    endforeach()
  endif()

  file(GLOB manual_pages "${root}/share/man/man*/*.[1-9]")
  file(GLOB archives "${root}/lib/*.a" "${root}/lib/*/*.a")
  list(APPEND compressed ${manual_pages})
  execute_process(COMMAND "${gzip}" -9n ${compressed} COMMAND_ERROR_IS_FATAL ANY)
  if(archives)
    execute_process(COMMAND "${strip}" --strip-debug --remove-section=.comment --remove-section=.note --enable-deterministic-archives
                            ${archives} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  if(EXISTS "${root}/share/zsh/site-functions")
    file(RENAME "${root}/share/zsh/site-functions" "${root}/share/zsh/vendor-completions")
  endif()

  # They have one version, and no bug of Debian's asked for them: they are not in its archive.
  file(WRITE "${root}/share/lintian/overrides/${package}" "${package}: initial-upload-closes-no-bugs [usr/share/doc/*]\n")
  # It arms before the C library does anything, so it links nothing.
  if(package STREQUAL "syscost-tools")
    file(APPEND "${root}/share/lintian/overrides/${package}"
      "${package}: shared-library-lacks-prerequisites [usr/libexec/syscost/libsyscost-command.so]\n")
  endif()

  # Your umask may be another. (CHMOD_RECURSE ends at a link to a file of another package.)
  set(read OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(GLOB_RECURSE entries LIST_DIRECTORIES ON "${root}/*")
  foreach(entry IN LISTS root entries)
    if(IS_DIRECTORY "${entry}" AND NOT IS_SYMLINK "${entry}")
      file(CHMOD "${entry}" PERMISSIONS ${read} OWNER_EXECUTE GROUP_EXECUTE WORLD_EXECUTE)
    elseif(entry MATCHES "/share/(doc|lintian)/")
      file(CHMOD "${entry}" PERMISSIONS ${read})
    endif()
  endforeach()
endforeach()
