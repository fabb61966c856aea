# Completion of msprun in fish: msprun -sc install=fish | source, in ~/.config/fish/config.fish
function __msprun_complete
    set -l line (commandline -cp)
    set -l program (commandline -op)[1]
    set program (string replace -r '^~' $HOME -- $program)
    COMP_LINE="$line" $program -sc query=fish 2>/dev/null
end
complete -c msprun -f -k -a '(__msprun_complete)'
# uninstall
complete -c msprun -e
functions -e __msprun_complete
