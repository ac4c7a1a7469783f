# Completion of frontdesk api for fish: frontdesk api completion fish | source
function __frontdesk_api
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    if test (count $words) -lt 2
        echo api
    else if test "$words[2]" = api
        $words[1] api __complete $words[3..-1] "$last" 2>/dev/null
    end
end
complete -c frontdesk -a '(__frontdesk_api)'
