# Before a .deb is written: takes from programs and libraries the paths by which those of the archive find {fmt} and oneTBB. The distribution's
# lie where the dynamic linker looks. The names of CUDA's libraries in warpmat/cuda keep theirs, $ORIGIN: they find libwarpmat_cuda beside themselves.
if(CPACK_GENERATOR STREQUAL "DEB")
  file(GLOB_RECURSE files LIST_DIRECTORIES FALSE ${CPACK_TEMPORARY_DIRECTORY}/*)
  foreach(file ${files})
    if(NOT file MATCHES "/warpmat/cuda/lib[^w][^/]*$" AND NOT IS_SYMLINK ${file} AND (file MATCHES "/bin/[^/]+$" OR file MATCHES "\\.so[.0-9]*$"))
      file(RPATH_REMOVE FILE ${file})
    endif()
  endforeach()
endif()
