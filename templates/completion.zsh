#compdef msprun
# Completion of msprun in zsh: eval "$(msprun -sc install=zsh)" in ~/.zshrc, or this text as _msprun in a folder of fpath
_msprun() {
    local word about line="${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX"
    local -a open shown_open done shown_done
    while IFS=$'\t' read -r word about; do
        if [[ $word == *[=./] || " $line" == *" -m "* ]]; then
            open+=("$word") shown_open+=("$word${about:+  $about}")
        else
            done+=("$word") shown_done+=("$word${about:+  $about}")
        fi
    done < <(COMP_LINE=$line COMP_POINT=$#line ${(Q)~words[1]} -sc query=zsh 2>/dev/null)
    (( $#open )) && compadd -S '' -l -d shown_open -V open -a open
    (( $#done )) && compadd -l -d shown_done -V done -a done
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
    _msprun "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
    compdef _msprun msprun
fi
# uninstall
(( $+functions[compdef] )) && compdef -d msprun
unfunction _msprun
