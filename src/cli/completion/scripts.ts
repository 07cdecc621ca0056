/**
 * The scripts of `t8s completion`. They call `t8s __complete`, which prints lines of `TEXT<tab>NOTE`; without lines,
 * the shell completes files.
 */

export type Shell = 'bash' | 'zsh' | 'fish'

const bash = `# Completes t8s in bash: source <(t8s completion bash)
_t8s() {
  local line words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  # bash splits words at \`=\` and \`:\`; join them again.
  local joined=() word glue=
  for word in "\${words[@]}"; do
    if [[ $word == '=' || $word == ':' ]] && (( \${#joined[@]} )); then joined[-1]+=$word; glue=1
    elif [[ $glue ]]; then joined[-1]+=$word; glue=
    else joined+=("$word"); fi
  done
  local last=\${joined[-1]-} prefix=
  [[ $last == *[=:]* ]] && prefix=\${last%"\${last##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    line=\${line%%$'\\t'*}
    COMPREPLY+=("$(printf %q "\${line#"$prefix"}")")
  done < <("\${COMP_WORDS[0]}" __complete -- "\${joined[@]}" 2>/dev/null)
}
complete -o bashdefault -o default -F _t8s t8s ./t8s
`

const zsh = `#compdef t8s
# Completes t8s in zsh: source <(t8s completion zsh)
_t8s() {
  local line
  local -a found
  for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    local text=\${line%%$'\\t'*} note=\${line#*$'\\t'}
    found+=("\${text//:/\\\\:}:$note")
  done
  if (( \${#found} )); then _describe -V t8s found; else _files; fi
}
if [[ \${funcstack[1]-} == _t8s ]]; then _t8s "$@"; else compdef _t8s t8s ./t8s; fi
`

const fish = `# Completes t8s in fish: t8s completion fish > ~/.config/fish/completions/t8s.fish
function __t8s_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete -- $words[2..-1] 2>/dev/null
end
function __t8s_has_none
    test -z "$(__t8s_complete)"
end
complete -c t8s -f -a '(__t8s_complete)'
complete -c t8s -n __t8s_has_none -F
`

export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
