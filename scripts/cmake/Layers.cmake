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
                         -fno-omit-frame-pointer -fno-sanitize-recover=all -g)
  target_link_options(phasor_options INTERFACE -fsanitize=${PHASOR_SANITIZE})
endif()

# Makes "name/file.h" visible to `target` and to what links it.
function(phasor_layer_includes target scope name)
  set(view ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${view}/${name} SYMBOLIC)
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/include ${view})
endfunction()

function(phasor_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(phasor_${name} STATIC ${ARG_SOURCES})
  phasor_layer_includes(phasor_${name} PUBLIC ${name})
  list(TRANSFORM ARG_DEPENDS PREPEND phasor_)
  target_link_libraries(phasor_${name} PUBLIC ${ARG_DEPENDS} PRIVATE phasor_options ${ARG_LIBRARIES})
endfunction()
