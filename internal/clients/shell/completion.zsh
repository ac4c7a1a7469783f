#compdef frontdesk
# Completion of frontdesk api for zsh: source <(frontdesk api completion zsh)
_frontdesk_api() {
  local -a found
  if [[ ${words[2]-} != api ]]; then
    compadd api
    return
  fi
  found=("${(@f)$("${words[1]}" api __complete "${(@)words[3,CURRENT]}" 2>/dev/null)}")
  found=(${found:#})
  if (( $#found )); then
    compadd -a found
  else
    _files
  fi
}
compdef _frontdesk_api frontdesk
