# Writes OUT, a header that names the commit of SOURCE, unless it says so already. Run by every build.
execute_process(COMMAND git -C "${SOURCE}" describe --always --abbrev=12 --dirty=-modified --match=no-tag
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT "${OUT}" CONTENT "#define AFTERIMAGE_COMMIT \"${commit}\"\n")
