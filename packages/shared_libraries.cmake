# What runs where it is unpacked, the archive and the package of a wheel, has the libraries of the distribution that it was built with in its folder
# lib, and looks for them there. Debian has no static ones to link instead. The .debs lose these paths again (remove_rpath.cmake).
#
# warpmat_find_beside(TARGET PATH): the installed target looks in PATH, from its own folder.
function(warpmat_find_beside target path)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${path}")
  endif()
endfunction()
warpmat_find_beside(warpmat_command ../${CMAKE_INSTALL_LIBDIR})
warpmat_find_beside(warpmat_gpu ../${CMAKE_INSTALL_LIBDIR})
warpmat_find_beside(warpmat_cuda_core ../..)      # lib/warpmat/cuda
warpmat_find_beside(warpmat_record_driver ../..)  # lib/warpmat/record

# Component bundled: {fmt}, oneTBB, zstd and LZ4, where they are shared libraries.
function(warpmat_bundle file name)
  install(FILES ${file} RENAME ${name} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT bundled PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()
foreach(library fmt::fmt TBB::tbb)
  if(TARGET ${library})
    get_target_property(kind ${library} TYPE)
    if(kind STREQUAL "SHARED_LIBRARY")
      warpmat_bundle($<TARGET_FILE:${library}> $<TARGET_SONAME_FILE_NAME:${library}>)
    endif()
  endif()
endforeach()
if(TARGET warpmat_cuda_core)
  foreach(library ${WARPMAT_ZSTD} ${WARPMAT_LZ4})
    file(REAL_PATH ${library} file)
    if(file MATCHES "([^/]+\\.so\\.[0-9]+)[^/]*$")
      warpmat_bundle(${file} ${CMAKE_MATCH_1})
    endif()
  endforeach()
endif()
