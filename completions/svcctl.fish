# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_svcctl_global_optspecs
    string join \n url= installation= token-file= o/output= color= timeout= h/help V/version
end

function __fish_svcctl_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_svcctl_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_svcctl_using_subcommand
    set -l cmd (__fish_svcctl_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c svcctl -n "__fish_svcctl_needs_command" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_needs_command" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_needs_command" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_needs_command" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_needs_command" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_needs_command" -s V -l version -d 'Print version'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "status" -d 'Say whether the service is ready, and if not, why'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "dead-letters" -d 'See what the service has given up'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "replay" -d 'Replay one dead letter that is safe to replay'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "releases" -d 'See where releases stand, and what happens next'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "reconcile" -d 'See what is being repaired, and until when'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "audit" -d 'See what was decided, and by whom'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "installations" -d 'See the installations of the app at the forge'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "slo" -d 'Show the signals: what fires, since when, and what to look at next'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "cards" -d 'Check agent cards and say what is wrong and where; sign them, register them with the service'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "mcp" -d 'Serve the Model Context Protocol to a program on this machine, and see how it is set up'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "relay" -d 'See and end what agents may do with open design files, and pair with a plugin'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "completions" -d 'Print the completions of a shell'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "demo" -d 'Watch the main job happen: a real daemon, real sockets, a simulated forge'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -f -a "list" -d 'List what was given up, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -f -a "show" -d 'Show one dead letter, and whether it may be replayed'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l limit -d 'Most items to show; with --all, items to ask for at once' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l before -d 'Show only what failed before this instant, such as 2026-11-21T09:00:00Z' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l type -d 'Show only this kind of item' -r -f -a "job\t''
outbox\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l reason -d 'Show only what was given up for this reason' -r -f -a "actions_unreadable\t''
installation_suspended\t''
installation_deleted\t''
job_failed\t''
crash_loop\t''
repository_unknown\t''
check_run_unknown\t''
forge_token_refused\t''
forge_unavailable\t''
forge_dispatch_rejected\t''
forge_dispatch_uncertain\t''
forge_check_run_create_rejected\t''
forge_check_run_create_uncertain\t''
forge_check_run_update_failed\t''
forge_check_run_binding_mismatch\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l all -d 'Show all pages'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l exact-times -d 'Show instants in place of ages in the table'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from help" -f -a "list" -d 'List what was given up, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show one dead letter, and whether it may be replayed'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l idempotency-key -d 'Key of an earlier try of this very replay [default: a new one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l retries -d 'How often to try again when the service is busy or the connection is lost' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l dry-run -d 'Show the item and whether it may be replayed, and send nothing'
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -f -a "list" -d 'List release runs, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -f -a "show" -d 'Show one release run: where it stands, its attempts, and what happens next'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l status -d 'Show only release runs of this status' -r -f -a "queued\t''
dispatching\t''
running\t''
reporting\t''
succeeded\t''
failed\t''
timed_out\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l repository -d 'Show only release runs of this repository' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l limit -d 'Most items to show; with --all, items to ask for at once' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l before -d 'Show only what came before this item of the list' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l all -d 'Show all pages'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l exact-times -d 'Show instants in place of ages in the table'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from help" -f -a "list" -d 'List release runs, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show one release run: where it stands, its attempts, and what happens next'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -f -a "list" -d 'List what is being repaired, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l status -d 'Show only items of this status' -r -f -a "open\t''
leased\t''
completed\t''
dead_letter\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l limit -d 'Most items to show; with --all, items to ask for at once' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l before -d 'Show only what came before this item of the list' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l all -d 'Show all pages'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l exact-times -d 'Show instants in place of ages in the table'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from help" -f -a "list" -d 'List what is being repaired, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -f -a "list" -d 'List the audit events of an installation, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l limit -d 'Most items to show; with --all, items to ask for at once' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l before -d 'Show only what came before this item of the list' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l all -d 'Show all pages'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l exact-times -d 'Show instants in place of ages in the table'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the audit events of an installation, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -f -a "list" -d 'List all installations the service knows'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from help" -f -a "list" -d 'List all installations the service knows'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "validate" -d 'Say whether agent cards are valid, and if not, what is wrong and where'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "explain" -d 'Say which kind of card a file is, and what to change in it'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "convert" -d 'Write a card anew in another variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "codes" -d 'Say what the codes of findings mean'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "schema" -d 'Print the JSON Schema (draft 2020-12) of a variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "push" -d 'Register an agent card, or replace the one of that name'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "list" -d 'List the registered agent cards, by name'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "show" -d 'Print a registered agent card, byte for byte as it was pushed'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "delete" -d 'Remove a registered agent card'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "sign" -d 'Sign an agent card, and print it with the signature in it'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "verify" -d 'Say whether the signatures of agent cards are those of trusted keys'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "jwks" -d 'Print the public half of a signing key, as a JSON Web Key Set'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l max-bytes -d 'Most bytes of one card; a larger one is a finding. The service takes no more than the default' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -s o -l output -d 'How to print the report' -r -f -a "text\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'
sarif\t'For code scanning: SARIF 2.1.0'
junit\t'For test reports: JUnit XML'
github\t'For annotations of a GitHub workflow run'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l offline -d 'Check without the service, by the validator of this program'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l ndjson -d 'Read a card on each line of every file, not only of .ndjson and .jsonl'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l to -d 'Which variant to write' -r -f -a "current\t''
legacy\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l lossy -d 'Leave out what has no place, and tell what it is'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l variant -d 'Which variant' -r -f -a "current\t''
legacy\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l name -d 'Its name: a-z, 0-9, \'.\', \'_\' and \'-\' [default: that of the file without its ending]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l if-match -d 'Only if the card has this digest, so that another writer\'s change is not lost' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l create -d 'Only when the name is free'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l limit -d 'Most items to show; with --all, items to ask for at once' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l after -d 'Show only what comes after this name' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l all -d 'Show all pages'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l exact-times -d 'Show instants in place of ages in the table'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l if-match -d 'Only the card with this digest' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l key -d 'File with the private key, PEM; one that others can read is refused' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l key-id -d 'Id by which those who verify find the key' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l replace -d 'Put the signature in the place of all the card has'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l jwks -d 'Keys to trust: a JSON Web Key Set in a file, or at an https:// address' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l key -d 'File with the private key, PEM; one that others can read is refused' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l key-id -d 'Id by which those who verify find the key' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "validate" -d 'Say whether agent cards are valid, and if not, what is wrong and where'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "explain" -d 'Say which kind of card a file is, and what to change in it'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "convert" -d 'Write a card anew in another variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "codes" -d 'Say what the codes of findings mean'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON Schema (draft 2020-12) of a variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "push" -d 'Register an agent card, or replace the one of that name'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the registered agent cards, by name'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print a registered agent card, byte for byte as it was pushed'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "delete" -d 'Remove a registered agent card'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "sign" -d 'Sign an agent card, and print it with the signature in it'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Say whether the signatures of agent cards are those of trusted keys'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "jwks" -d 'Print the public half of a signing key, as a JSON Web Key Set'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -f -a "stdio" -d 'Serve the protocol over standard input and output, to the program that starts this'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -f -a "doctor" -d 'Compare how MCP is set up here and in the running daemon, and try it as a client would'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from help" -f -a "stdio" -d 'Serve the protocol over standard input and output, to the program that starts this'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from help" -f -a "doctor" -d 'Compare how MCP is set up here and in the running daemon, and try it as a client would'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "status" -d 'Say whether the relay is on, and how much goes on in it'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "pair" -d 'Enter the code that a plugin shows, so that your agents may propose changes in that file'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "sessions" -d 'See and end sessions: one device with one open file each'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "devices" -d 'See and revoke devices: plugin installations that people have paired'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "invocations" -d 'See what agents proposed, and deny what has not begun'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "audit" -d 'See the audit log of the relay, and check that nothing in it was changed'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -l token-file -d 'File with your own access token, or - for standard input; never the operator\'s' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -f -a "list" -d 'List sessions, newest first; those that have ended too'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -f -a "show" -d 'Show one session: whose it is, how it stands, and until when it may be read without asking'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -f -a "revoke" -d 'End a session: its plugin is disconnected, and what it has not begun is cancelled'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -f -a "list" -d 'List devices, newest first; those that were revoked too'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -f -a "revoke" -d 'Revoke a device for ever: its sessions end, and its key is never paired again'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -f -a "list" -d 'List invocations, newest first; never their arguments or results'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -f -a "show" -d 'Show one invocation: who proposed what, who decided, and what became of it'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -f -a "deny" -d 'Deny an invocation, with all steps of its proposal that have not begun'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -f -a "list" -d 'List the events of the relay\'s audit log, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -f -a "verify" -d 'Check that no event of the relay\'s audit log was changed, removed or put in between'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "status" -d 'Say whether the relay is on, and how much goes on in it'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "pair" -d 'Enter the code that a plugin shows, so that your agents may propose changes in that file'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "sessions" -d 'See and end sessions: one device with one open file each'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "devices" -d 'See and revoke devices: plugin installations that people have paired'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "invocations" -d 'See what agents proposed, and deny what has not begun'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "audit" -d 'See the audit log of the relay, and check that nothing in it was changed'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l keep -d 'Leave everything running at the end, and show the commands to play on with'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -f -a "relay" -d 'Watch an agent change a design file with a person\'s consent, once'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l url -d 'Where the service listens: unix:/PATH, https://HOST, or http:// on this machine' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l installation -d 'Installation to work on [default: the only one there is]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l token-file -d 'File with the operator token [env: `SVC_OPERATOR_API_TOKEN_FILE`] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -s o -l output -d 'How to print the answer' -r -f -a "table\t'For people'
json\t'One JSON document'
ndjson\t'One JSON document a line, one line an item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l timeout -d 'Longest time one request may take' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l yes -d 'Approve without asking'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from help" -f -a "relay" -d 'Watch an agent change a design file with a person\'s consent, once'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "status" -d 'Say whether the service is ready, and if not, why'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "dead-letters" -d 'See what the service has given up'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "replay" -d 'Replay one dead letter that is safe to replay'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "releases" -d 'See where releases stand, and what happens next'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "reconcile" -d 'See what is being repaired, and until when'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "audit" -d 'See what was decided, and by whom'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "installations" -d 'See the installations of the app at the forge'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "slo" -d 'Show the signals: what fires, since when, and what to look at next'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "cards" -d 'Check agent cards and say what is wrong and where; sign them, register them with the service'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "mcp" -d 'Serve the Model Context Protocol to a program on this machine, and see how it is set up'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "relay" -d 'See and end what agents may do with open design files, and pair with a plugin'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "completions" -d 'Print the completions of a shell'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "demo" -d 'Watch the main job happen: a real daemon, real sockets, a simulated forge'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay completions demo help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from dead-letters" -f -a "list" -d 'List what was given up, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from dead-letters" -f -a "show" -d 'Show one dead letter, and whether it may be replayed'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from releases" -f -a "list" -d 'List release runs, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from releases" -f -a "show" -d 'Show one release run: where it stands, its attempts, and what happens next'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from reconcile" -f -a "list" -d 'List what is being repaired, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from audit" -f -a "list" -d 'List the audit events of an installation, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from installations" -f -a "list" -d 'List all installations the service knows'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "validate" -d 'Say whether agent cards are valid, and if not, what is wrong and where'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "explain" -d 'Say which kind of card a file is, and what to change in it'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "convert" -d 'Write a card anew in another variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "codes" -d 'Say what the codes of findings mean'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "schema" -d 'Print the JSON Schema (draft 2020-12) of a variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "push" -d 'Register an agent card, or replace the one of that name'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "list" -d 'List the registered agent cards, by name'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "show" -d 'Print a registered agent card, byte for byte as it was pushed'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "delete" -d 'Remove a registered agent card'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "sign" -d 'Sign an agent card, and print it with the signature in it'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "verify" -d 'Say whether the signatures of agent cards are those of trusted keys'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "jwks" -d 'Print the public half of a signing key, as a JSON Web Key Set'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from mcp" -f -a "stdio" -d 'Serve the protocol over standard input and output, to the program that starts this'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from mcp" -f -a "doctor" -d 'Compare how MCP is set up here and in the running daemon, and try it as a client would'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "status" -d 'Say whether the relay is on, and how much goes on in it'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "pair" -d 'Enter the code that a plugin shows, so that your agents may propose changes in that file'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "sessions" -d 'See and end sessions: one device with one open file each'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "devices" -d 'See and revoke devices: plugin installations that people have paired'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "invocations" -d 'See what agents proposed, and deny what has not begun'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "audit" -d 'See the audit log of the relay, and check that nothing in it was changed'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from demo" -f -a "relay" -d 'Watch an agent change a design file with a person\'s consent, once'
