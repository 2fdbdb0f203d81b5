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

complete -c svcctl -n "__fish_svcctl_needs_command" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_needs_command" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_needs_command" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_needs_command" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_needs_command" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_needs_command" -s V -l version -d 'Print version'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "status" -d 'Show whether the service is ready, and if not, why'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "dead-letters" -d 'Show dead letters: jobs and effects that the service has given up on'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "replay" -d 'Replay one dead letter that is safe to replay'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "releases" -d 'Show the state of releases, and what happens next'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "reconcile" -d 'Show what is being reconciled, and the deadline of each reconciliation'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "audit" -d 'Show the audit events: what was done, and by whom'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "installations" -d 'Show the installations of the app on the forge'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "slo" -d 'Show the service-level signals: which ones are firing, since when, and what to check next'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "cards" -d 'Validate agent cards, show what is wrong and where, sign them, and register them with the service'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "mcp" -d 'Serve the Model Context Protocol to a program on this machine, and diagnose the MCP setup'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "relay" -d 'Pair with a plugin, and manage how agents access open design files'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "reload" -d 'Make the service read its secrets again: the operator token, the secrets of webhooks and results, the app\'s key'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "completions" -d 'Print the completion script for a shell'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "demo" -d 'Watch releases succeed and fail, with a real daemon, real sockets and a simulated forge'
complete -c svcctl -n "__fish_svcctl_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -f -a "list" -d 'List dead letters, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -f -a "show" -d 'Show one dead letter, and whether it may be replayed'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and not __fish_seen_subcommand_from list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l limit -d 'Maximum number of items to show; with --all, number of items per request' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l before -d 'Show only items that failed before this time, such as 2026-11-21T09:00:00Z' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l type -d 'Show only items of this type: job, or outbox for an effect' -r -f -a "job\t''
outbox\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l reason -d 'Show only items with this reason code' -r -f -a "actions_unreadable\t''
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
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l all -d 'Show all pages'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -l exact-times -d 'Show timestamps instead of ages in the table'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from help" -f -a "list" -d 'List dead letters, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show one dead letter, and whether it may be replayed'
complete -c svcctl -n "__fish_svcctl_using_subcommand dead-letters; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l idempotency-key -d 'Key of an earlier request for the same replay [default: a new key]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l retries -d 'Maximum number of retries if the service is busy or the connection is lost' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -l dry-run -d 'Show the item and whether it may be replayed, without replaying it'
complete -c svcctl -n "__fish_svcctl_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -f -a "list" -d 'List release runs, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -f -a "show" -d 'Show one release run: its state, its attempts, and what happens next'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and not __fish_seen_subcommand_from list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l status -d 'Show only release runs with this status' -r -f -a "queued\t''
dispatching\t''
running\t''
reporting\t''
succeeded\t''
failed\t''
timed_out\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l repository -d 'Show only release runs of this repository' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l limit -d 'Maximum number of items to show; with --all, number of items per request' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l before -d 'Show only items that are older than the item with this ID' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l all -d 'Show all pages'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -l exact-times -d 'Show timestamps instead of ages in the table'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from help" -f -a "list" -d 'List release runs, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show one release run: its state, its attempts, and what happens next'
complete -c svcctl -n "__fish_svcctl_using_subcommand releases; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -f -a "list" -d 'List reconciliations, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and not __fish_seen_subcommand_from list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l status -d 'Show only items with this status' -r -f -a "open\t''
leased\t''
completed\t''
dead_letter\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l limit -d 'Maximum number of items to show; with --all, number of items per request' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l before -d 'Show only items that are older than the item with this ID' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l all -d 'Show all pages'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -l exact-times -d 'Show timestamps instead of ages in the table'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from help" -f -a "list" -d 'List reconciliations, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand reconcile; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -f -a "list" -d 'List the audit events of an installation, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and not __fish_seen_subcommand_from list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l limit -d 'Maximum number of items to show; with --all, number of items per request' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l before -d 'Show only items that are older than the item with this ID' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l all -d 'Show all pages'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -l exact-times -d 'Show timestamps instead of ages in the table'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the audit events of an installation, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -f -a "list" -d 'List all installations that the service knows'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and not __fish_seen_subcommand_from list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from help" -f -a "list" -d 'List all installations that the service knows'
complete -c svcctl -n "__fish_svcctl_using_subcommand installations; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand slo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "validate" -d 'Check whether agent cards are valid, and show what is wrong and where'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "explain" -d 'Show what kind of card a file contains, and what to change to make it valid'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "convert" -d 'Convert a card to another variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "codes" -d 'Explain the codes with which validation reports problems'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "schema" -d 'Print the JSON Schema (draft 2020-12) of a variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "push" -d 'Register agent cards, or replace the registered cards with the same names'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "list" -d 'List the registered agent cards, sorted by name'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "show" -d 'Print a registered agent card, byte for byte as it was pushed'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "delete" -d 'Remove a registered agent card'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "sign" -d 'Sign an agent card, and print it with the signature'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "verify" -d 'Use trusted keys to verify the signatures of agent cards'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "jwks" -d 'Print the public half of a signing key, as a JSON Web Key Set'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and not __fish_seen_subcommand_from validate explain convert codes schema push list show delete sign verify jwks help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l exclude -d 'Do not read files and folders that match the pattern, which is written as in a .gitignore file of the current folder; may be repeated' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l max-bytes -d 'Maximum size of a card in bytes; a larger card is reported as not valid; values above the default have an effect only with --offline' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -s o -l output -d 'Format of the report' -r -f -a "text\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'
sarif\t'SARIF 2.1.0, for code scanning'
junit\t'JUnit XML, for test reports'
github\t'Annotations for a GitHub workflow run'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l offline -d 'Check with the validator that is built into svcctl, not with the service'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l ndjson -d 'Read one card per line from every file, not only from .ndjson and .jsonl files'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l no-ignore -d 'In folders, also read files that .gitignore and .ignore files exclude, and those in .git and node_modules'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l fix -d 'Apply the suggestions that leave nothing to decide, and write each card that is valid afterwards'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l diff -d 'Print what --fix changes as a unified diff; without --fix, nothing is written'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -l fix-partly -d 'Also write cards that are not valid afterwards; implies --fix, unless --diff is given'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l to -d 'Variant of the new card: current (protocolVersion 1.0 and 1.2) or legacy (0.3)' -r -f -a "current\t''
legacy\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -l lossy -d 'Omit the parts that have no equivalent, and list them'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from codes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l variant -d 'Variant to print the schema of' -r -f -a "current\t''
legacy\t''"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l name -d 'Name of the card, if one file is given: a-z, 0-9, \'.\', \'_\' and \'-\' [default: the file name without its extension]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l if-match -d 'Replace the card only if it has this digest, so that another writer\'s change is not lost; only if one file is given' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -l create -d 'Register the card only if the name is not in use'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from push" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l limit -d 'Maximum number of items to show; with --all, number of items per request' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l after -d 'Show only cards whose name sorts after this one' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l all -d 'Show all pages'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -l exact-times -d 'Show timestamps instead of ages in the table'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l if-match -d 'Delete the card only if it has this digest' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l key -d 'File with the private key in PEM format; refused if users outside its group can read it' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l key-id -d 'ID by which verifiers find the key' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -l replace -d 'Replace all signatures of the card with the new one'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from sign" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l jwks -d 'Keys to trust: a JSON Web Key Set in a file, or at an https:// address' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l key -d 'File with the private key in PEM format; refused if users outside its group can read it' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l key-id -d 'ID by which verifiers find the key' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from jwks" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "validate" -d 'Check whether agent cards are valid, and show what is wrong and where'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "explain" -d 'Show what kind of card a file contains, and what to change to make it valid'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "convert" -d 'Convert a card to another variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "codes" -d 'Explain the codes with which validation reports problems'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON Schema (draft 2020-12) of a variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "push" -d 'Register agent cards, or replace the registered cards with the same names'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the registered agent cards, sorted by name'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print a registered agent card, byte for byte as it was pushed'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "delete" -d 'Remove a registered agent card'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "sign" -d 'Sign an agent card, and print it with the signature'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Use trusted keys to verify the signatures of agent cards'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "jwks" -d 'Print the public half of a signing key, as a JSON Web Key Set'
complete -c svcctl -n "__fish_svcctl_using_subcommand cards; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -f -a "stdio" -d 'Serve MCP over standard input and output, to the program that starts this command'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -f -a "doctor" -d 'Compare the MCP settings of this environment with those of the running daemon, and test /mcp as a client would'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and not __fish_seen_subcommand_from stdio doctor help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from stdio" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from help" -f -a "stdio" -d 'Serve MCP over standard input and output, to the program that starts this command'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from help" -f -a "doctor" -d 'Compare the MCP settings of this environment with those of the running daemon, and test /mcp as a client would'
complete -c svcctl -n "__fish_svcctl_using_subcommand mcp; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "status" -d 'Show whether the relay is on, and how busy it is'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "pair" -d 'Enter the code that a plugin shows, so that your agents can propose changes to the open file'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "sessions" -d 'Show and end sessions, each of which connects one device to one open file'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "devices" -d 'Show and revoke devices: copies of the plugin that people have paired'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "invocations" -d 'Show the actions that agents proposed, and deny those that have not begun'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "audit" -d 'Show the audit log of the relay, and verify that it was not changed'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and not __fish_seen_subcommand_from status pair sessions devices invocations audit help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -l token-file -d 'File with your own access token, or - for standard input; not the operator token' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from pair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -f -a "list" -d 'List sessions, newest first, including those that have ended'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -f -a "show" -d 'Show one session: its owner, its state, and how long agents may still read without approval'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -f -a "revoke" -d 'End a session: its plugin is disconnected, and invocations that have not begun are cancelled'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from sessions" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -f -a "list" -d 'List devices, newest first, including those that were revoked'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -f -a "revoke" -d 'Revoke a device permanently: its sessions end, and its key cannot be paired again'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from devices" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -f -a "list" -d 'List invocations, newest first, without their arguments or results'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -f -a "show" -d 'Show one invocation: who proposed it, who decided, and its outcome'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -f -a "deny" -d 'Deny an invocation, and all steps of its proposal that have not begun'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from invocations" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -f -a "list" -d 'List the events of the relay\'s audit log, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -f -a "verify" -d 'Verify the hashes and signatures of the events in the relay\'s audit log'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from audit" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show whether the relay is on, and how busy it is'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "pair" -d 'Enter the code that a plugin shows, so that your agents can propose changes to the open file'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "sessions" -d 'Show and end sessions, each of which connects one device to one open file'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "devices" -d 'Show and revoke devices: copies of the plugin that people have paired'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "invocations" -d 'Show the actions that agents proposed, and deny those that have not begun'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "audit" -d 'Show the audit log of the relay, and verify that it was not changed'
complete -c svcctl -n "__fish_svcctl_using_subcommand relay; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand reload" -l control-socket -d 'Control socket of the service [default: that of --url]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand reload" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reload" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reload" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand reload" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand reload" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand reload" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand reload" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -l keep -d 'Leave svcd and the simulator running at the end, with three dead letters, and show commands to try next'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -f -a "relay" -d 'Watch an agent change a design file with a person\'s consent'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and not __fish_seen_subcommand_from relay help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l url -d 'Address of the service: unix:/PATH, https://HOST, or http://HOST for this machine only' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l installation -d 'Number of the installation [default: the only one, if there is exactly one]' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l token-file -d 'File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]' -r -F
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -s o -l output -d 'Output format' -r -f -a "table\t'Human-readable text'
json\t'One JSON document'
ndjson\t'One JSON document per line, one line per item'"
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l timeout -d 'Maximum time for one request, in seconds' -r
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -l yes -d 'Approve without asking'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from relay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from help" -f -a "relay" -d 'Watch an agent change a design file with a person\'s consent'
complete -c svcctl -n "__fish_svcctl_using_subcommand demo; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "status" -d 'Show whether the service is ready, and if not, why'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "dead-letters" -d 'Show dead letters: jobs and effects that the service has given up on'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "replay" -d 'Replay one dead letter that is safe to replay'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "releases" -d 'Show the state of releases, and what happens next'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "reconcile" -d 'Show what is being reconciled, and the deadline of each reconciliation'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "audit" -d 'Show the audit events: what was done, and by whom'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "installations" -d 'Show the installations of the app on the forge'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "slo" -d 'Show the service-level signals: which ones are firing, since when, and what to check next'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "cards" -d 'Validate agent cards, show what is wrong and where, sign them, and register them with the service'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "mcp" -d 'Serve the Model Context Protocol to a program on this machine, and diagnose the MCP setup'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "relay" -d 'Pair with a plugin, and manage how agents access open design files'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "reload" -d 'Make the service read its secrets again: the operator token, the secrets of webhooks and results, the app\'s key'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "completions" -d 'Print the completion script for a shell'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "demo" -d 'Watch releases succeed and fail, with a real daemon, real sockets and a simulated forge'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and not __fish_seen_subcommand_from status dead-letters replay releases reconcile audit installations slo cards mcp relay reload completions demo help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from dead-letters" -f -a "list" -d 'List dead letters, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from dead-letters" -f -a "show" -d 'Show one dead letter, and whether it may be replayed'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from releases" -f -a "list" -d 'List release runs, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from releases" -f -a "show" -d 'Show one release run: its state, its attempts, and what happens next'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from reconcile" -f -a "list" -d 'List reconciliations, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from audit" -f -a "list" -d 'List the audit events of an installation, newest first'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from installations" -f -a "list" -d 'List all installations that the service knows'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "validate" -d 'Check whether agent cards are valid, and show what is wrong and where'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "explain" -d 'Show what kind of card a file contains, and what to change to make it valid'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "convert" -d 'Convert a card to another variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "codes" -d 'Explain the codes with which validation reports problems'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "schema" -d 'Print the JSON Schema (draft 2020-12) of a variant'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "push" -d 'Register agent cards, or replace the registered cards with the same names'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "list" -d 'List the registered agent cards, sorted by name'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "show" -d 'Print a registered agent card, byte for byte as it was pushed'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "delete" -d 'Remove a registered agent card'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "sign" -d 'Sign an agent card, and print it with the signature'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "verify" -d 'Use trusted keys to verify the signatures of agent cards'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from cards" -f -a "jwks" -d 'Print the public half of a signing key, as a JSON Web Key Set'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from mcp" -f -a "stdio" -d 'Serve MCP over standard input and output, to the program that starts this command'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from mcp" -f -a "doctor" -d 'Compare the MCP settings of this environment with those of the running daemon, and test /mcp as a client would'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "status" -d 'Show whether the relay is on, and how busy it is'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "pair" -d 'Enter the code that a plugin shows, so that your agents can propose changes to the open file'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "sessions" -d 'Show and end sessions, each of which connects one device to one open file'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "devices" -d 'Show and revoke devices: copies of the plugin that people have paired'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "invocations" -d 'Show the actions that agents proposed, and deny those that have not begun'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from relay" -f -a "audit" -d 'Show the audit log of the relay, and verify that it was not changed'
complete -c svcctl -n "__fish_svcctl_using_subcommand help; and __fish_seen_subcommand_from demo" -f -a "relay" -d 'Watch an agent change a design file with a person\'s consent'
