# The man page and the completion scripts of a command, which it prints itself, as it is built; and their installation.
set(WARPMAT_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions CACHE STRING "Where the completion for zsh is installed")
function(warpmat_install_shell_files target name component)
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "warpmat: no man page and no completion of ${name}, which does not run on this machine")
    return()
  endif()
  set(files ${CMAKE_CURRENT_BINARY_DIR}/shell_files)
  file(MAKE_DIRECTORY ${files})
  find_program(GZIP_EXECUTABLE gzip REQUIRED)
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM
    COMMAND ${target} man > ${files}/${name}.1
    COMMAND ${GZIP_EXECUTABLE} -9nf ${files}/${name}.1
    COMMAND ${target} completion bash > ${files}/${name}.bash
    COMMAND ${target} completion zsh > ${files}/_${name}
    COMMAND ${target} completion fish > ${files}/${name}.fish)
  install(FILES ${files}/${name}.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
  install(FILES ${files}/${name}.bash DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions RENAME ${name} COMPONENT ${component})
  install(FILES ${files}/_${name} DESTINATION ${WARPMAT_ZSH_COMPLETIONS} COMPONENT ${component})
  install(FILES ${files}/${name}.fish DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d COMPONENT ${component})
endfunction()
