# Completion of msprun in bash: eval "$(msprun -sc install=bash)" in ~/.bashrc
_msprun() {
    local line program=${1/#\~/$HOME}
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(COMP_LINE=$COMP_LINE COMP_POINT=$COMP_POINT COMP_WORD=$2 "$program" -sc query=bash 2>/dev/null)
}
complete -o nospace -o nosort -F _msprun msprun 2>/dev/null || complete -o nospace -F _msprun msprun
# uninstall
complete -r msprun 2>/dev/null
unset -f _msprun
