// A libnvJitLink that links nothing: see CMakeLists.txt.

#define WARPMAT_REFUSED(name)                                    \
  extern "C" __attribute__((visibility("default"))) int name() { \
    return 6; /* NVJITLINK_ERROR_INTERNAL */                     \
  }
WARPMAT_REFUSED(__nvJitLinkAPI)
WARPMAT_REFUSED(__nvJitLinkCreate_13_0)
WARPMAT_REFUSED(__nvJitLinkDestroy_13_0)
WARPMAT_REFUSED(__nvJitLinkAddData_13_0)
WARPMAT_REFUSED(__nvJitLinkAddFile_13_0)
WARPMAT_REFUSED(__nvJitLinkComplete_13_0)
WARPMAT_REFUSED(__nvJitLinkGetErrorLogSize_13_0)
WARPMAT_REFUSED(__nvJitLinkGetErrorLog_13_0)
WARPMAT_REFUSED(__nvJitLinkGetInfoLogSize_13_0)
WARPMAT_REFUSED(__nvJitLinkGetInfoLog_13_0)
WARPMAT_REFUSED(__nvJitLinkGetLinkedCubinSize_13_0)
WARPMAT_REFUSED(__nvJitLinkGetLinkedCubin_13_0)
WARPMAT_REFUSED(__nvJitLinkGetLinkedPtxSize_13_0)
WARPMAT_REFUSED(__nvJitLinkGetLinkedPtx_13_0)
