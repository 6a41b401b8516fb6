# Libraries come from the distribution; what is missing is fetched at a pinned version.
include(FetchContent)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# phasor_dependency(package target url sha256 [cmake options ...])
function(phasor_dependency package target url hash)
  find_package(${package} QUIET)
  if(TARGET ${target})
    return()
  endif()
  message(STATUS "${package} is not installed (scripts/setup.sh installs it); fetching ${url}")
  foreach(setting ${ARGN})
    string(REPLACE "=" ";" pair ${setting})
    list(GET pair 0 key)
    list(GET pair 1 value)
    set(${key} ${value} CACHE INTERNAL "")
  endforeach()
  string(TOLOWER ${package} name)
  FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${hash})
  FetchContent_MakeAvailable(${name})
endfunction()

phasor_dependency(Eigen3 Eigen3::Eigen
  https://gitlab.com/libeigen/eigen/-/archive/3.4.0/eigen-3.4.0.tar.bz2
  b4c198460eba6f28d34894e3a5710998818515104d6e74e5cc331ce31e46e626
  BUILD_TESTING=OFF EIGEN_BUILD_DOC=OFF)
phasor_dependency(cxxopts cxxopts::cxxopts
  https://github.com/jarro2783/cxxopts/archive/refs/tags/v3.1.1.tar.gz
  523175f792eb0ff04f9e653c90746c12655f10cb70f1d5e6d6d9491420298a08
  CXXOPTS_BUILD_TESTS=OFF CXXOPTS_BUILD_EXAMPLES=OFF)
phasor_dependency(nlohmann_json nlohmann_json::nlohmann_json
  https://github.com/nlohmann/json/archive/refs/tags/v3.11.3.tar.gz
  0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406
  JSON_BuildTests=OFF)
phasor_dependency(spdlog spdlog::spdlog
  https://github.com/gabime/spdlog/archive/refs/tags/v1.10.0.tar.gz
  697f91700237dbae2326b90469be32b876b2b44888302afbc7aceb68bcfe8224)
if(PHASOR_TESTS)
  phasor_dependency(doctest doctest::doctest
    https://github.com/doctest/doctest/archive/refs/tags/v2.4.11.tar.gz
    632ed2c05a7f53fa961381497bf8069093f0d6628c5f26286161fbd32a560186
    DOCTEST_WITH_TESTS=OFF)
endif()
