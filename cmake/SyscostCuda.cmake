# syscost_enable_cuda(): enables CUDA if its toolkit is here and compiles. Otherwise syscost_cuda_missing holds the reason.
#
# CMake stops with an error if the compiler is missing, or if it refuses this host's g++ (a toolkit refuses a newer g++ than
# it knows). So this file tries the compiler first, in a separate project that sees only the environment. It tries again a
# compiler that failed before: it may work now. CMake's own default of CMAKE_CUDA_ARCHITECTURES is too old for nvcc 13.
include(CheckLanguage)

macro(syscost_enable_cuda)
  set(syscost_cuda_missing "")
  find_package(CUDAToolkit QUIET)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Machine code for these, and of the last the PTX that newer ones translate.
    set(CMAKE_CUDA_ARCHITECTURES 75 80)
    if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 11.8)
      list(APPEND CMAKE_CUDA_ARCHITECTURES 90)
    endif()
  endif()
  # The toolkit counts as not found where its nvcc is a script, as Debian's, that could not be asked for its folder; the
  # nvcc is known all the same.
  if(NOT CMAKE_CUDA_COMPILER AND CUDAToolkit_NVCC_EXECUTABLE)
    unset(CMAKE_CUDA_COMPILER CACHE)
    if(NOT DEFINED ENV{CUDACXX})
      set(ENV{CUDACXX} "${CUDAToolkit_NVCC_EXECUTABLE}")
    endif()
    set(ENV{CUDAARCHS} "${CMAKE_CUDA_ARCHITECTURES}")
    if(CMAKE_CUDA_HOST_COMPILER)
      set(ENV{CUDAHOSTCXX} "${CMAKE_CUDA_HOST_COMPILER}")
    endif()
    check_language(CUDA)
  endif()
  if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    set(syscost_cuda_missing "nvcc not found (Debian, non-free: apt-get install nvidia-cuda-toolkit-gcc)")
  elseif(NOT CMAKE_CUDA_COMPILER)
    string(CONCAT syscost_cuda_missing
      "${CUDAToolkit_NVCC_EXECUTABLE} does not compile here (why: CMakeFiles/CMakeError.log, from CMake 3.26 "
      "CMakeConfigureLog.yaml; a host compiler that it takes: Debian's nvidia-cuda-toolkit-gcc has one, else "
      "-DCMAKE_CUDA_HOST_COMPILER=g++-12)")
  elseif(NOT CUDAToolkit_FOUND)
    set(syscost_cuda_missing "the toolkit of ${CMAKE_CUDA_COMPILER} has no headers or no runtime (cmake says which: \
find_package(CUDAToolkit))")
  else()
    enable_language(CUDA)
  endif()
endmacro()
