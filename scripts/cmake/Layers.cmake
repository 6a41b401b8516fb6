# phasor_layer(name SOURCES ... [DEPENDS layer ...] [LIBRARIES target ...])
#
# One static library per folder of src/. A layer's headers are included as "name/file.h" through an
# include folder of its own, which only the layers that DEPEND on it see: an include that points
# upwards does not compile.
add_library(phasor_options INTERFACE)
target_compile_options(phasor_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -ffp-contract=off  # the order of roundings is part of the results; only explicit fma fuses
  $<$<BOOL:${PHASOR_WERROR}>:-Werror>)
if(PHASOR_SANITIZE)
  target_compile_options(phasor_options INTERFACE -fsanitize=${PHASOR_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all -g1 -O1)
  target_link_options(phasor_options INTERFACE -fsanitize=${PHASOR_SANITIZE})
endif()

# Makes "name/file.h" visible to `target` and to what links it.
function(phasor_layer_includes target scope name)
  set(view ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${view}/${name} SYMBOLIC)
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${view}>)
  target_link_libraries(${target} ${scope} phasor_headers)
endfunction()

function(phasor_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(phasor_${name} STATIC ${ARG_SOURCES})
  phasor_layer_includes(phasor_${name} PUBLIC ${name})
  list(TRANSFORM ARG_DEPENDS PREPEND phasor_)
  target_link_libraries(phasor_${name} PUBLIC ${ARG_DEPENDS})
  # Headers and flags of this build only: an installed layer does not ask for them.
  foreach(library phasor_options ${ARG_LIBRARIES})
    if(NOT library STREQUAL Threads::Threads)
      set(library $<BUILD_INTERFACE:${library}>)
    endif()
    target_link_libraries(phasor_${name} PRIVATE ${library})
  endforeach()
endfunction()
