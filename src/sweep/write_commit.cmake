# cmake -DSOURCE=<source tree> -DHEADER=<file> -P write_commit.cmake
#
# Run by every build: records the commit that is being built, with a "+" where files that make the
# program differ from it, and nothing outside a checkout or without git. The header is rewritten
# only when that changed. The commit is recorded in results and never part of a cell's hash.
set(commit "")
set(git git --no-optional-locks -C ${SOURCE})
execute_process(COMMAND ${git} rev-parse --show-prefix RESULT_VARIABLE failed
                OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed STREQUAL "0" AND prefix STREQUAL "")  # else the checkout is of something around us
  execute_process(COMMAND ${git} rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${git} status --porcelain --untracked-files=no
                          -- CMakeLists.txt configs include scripts/cmake src
                  OUTPUT_VARIABLE changes ERROR_QUIET)
  if(commit AND changes)
    string(APPEND commit "+")
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT [[
// What this program was built from; made by src/sweep/write_commit.cmake.
#pragma once

#define PHASOR_COMMIT "@commit@"
]] @ONLY)
