# Installs the build tree BUILD into PREFIX, which is emptied before, and looks at the headers that come.
# cmake -DBUILD=DIRECTORY -DPREFIX=DIRECTORY -P install.cmake
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)

file(GLOB_RECURSE headers ${PREFIX}/include/*.h)
list(LENGTH headers count)
if(count LESS 30)
  message(FATAL_ERROR "only ${count} headers are installed")
endif()
foreach(header ${headers})
  file(READ ${header} text)
  if(text MATCHES "__int128|[<\"](fmt|hwy)/|-inl\\.h")
    message(SEND_ERROR "${header} holds ${CMAKE_MATCH_0}")
  endif()
  # What a public header includes is public.
  string(REGEX MATCHALL "#include <warpmat/[^>]+>" includes "${text}")
  foreach(include ${includes})
    string(REGEX REPLACE ".*<(.*)>" "\\1" include ${include})
    if(NOT EXISTS ${PREFIX}/include/${include})
      message(SEND_ERROR "${header} includes ${include}, which is not installed")
    endif()
  endforeach()
endforeach()
