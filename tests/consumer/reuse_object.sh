#!/usr/bin/env bash
# A compiler launcher: the object of an unchanged source comes from the build under test. So the
# whole project, copied and with one norm more, is configured and linked for real in seconds.
object='' source='' depends=''
for ((i = 1; i < $#; ++i)); do
  next=$((i + 1))
  case ${!i} in
    -o) object=${!next} ;;
    -c) source=${!next} ;;
    -MF) depends=${!next} ;;
  esac
done
original=$PHASOR_SOURCE_DIR/${source#"$PHASOR_COPY"/}
if [[ $source == "$PHASOR_COPY"/* && -f $PHASOR_BINARY_DIR/$object ]] && cmp -s "$source" "$original"; then
  cp "$PHASOR_BINARY_DIR/$object" "$object" || exit
  [[ -z $depends ]] || printf '%s: %s\n' "$object" "$source" >"$depends"
  exit
fi
printf 'compiled %s\n' "$source" >>"$PHASOR_COMPILED"
exec "$@"
