# In an archive, whose shared library of {fmt} serves warpmat's own: find_package(warpmat) gives the shared libraries unless
# WARPMAT_SHARED_LIBS or BUILD_SHARED_LIBS says otherwise. The static ones need {fmt} of the distribution that the archive was built on.
if(NOT DEFINED WARPMAT_SHARED_LIBS AND NOT DEFINED BUILD_SHARED_LIBS)
  set(WARPMAT_SHARED_LIBS ON)
endif()
