# Completion of frontdesk api for bash: source <(frontdesk api completion bash)
_frontdesk_api() {
  COMPREPLY=()
  [ "${COMP_WORDS[1]-}" = api ] || { [ "$COMP_CWORD" = 1 ] && COMPREPLY=($(compgen -W api -- "${COMP_WORDS[1]}")); return; }
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" api __complete "${COMP_WORDS[@]:2:COMP_CWORD-1}" 2>/dev/null))
}
complete -o default -F _frontdesk_api frontdesk
