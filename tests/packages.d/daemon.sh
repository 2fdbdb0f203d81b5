# Steps about the daemon that runs in the container: what it does with webhooks, reloads, disks and restarts.
# shellcheck shell=bash disable=SC2034,SC2154,SC2016

# The current webhook secret and operator token.
secret=
token=

# Sends one webhook, signed with the current secret or the given one, and compares the answer.
answers() {
    local wanted=$1 id=$2 answer
    answer=$(SECRET=${3:-$secret} beside node tests/packages.d/webhooks.mjs send "$id")
    [[ $answer == "$wanted" ]] || fail "webhook $id: $answer, not $wanted"
}

# Writes standard input to a secret file.
put_secret() {
    guest install -o svc -g svc-operators -m "${2:-0400}" /dev/stdin "/etc/svc/$1"
}

# Uses the operator API with a token.
operator() {
    printf '%s' "$1" | guest install -m 0600 /dev/stdin /root/token
    guest svcctl --token-file /root/token installations list
}

property() {
    guest systemctl show --value --property="$1" svcd.service
}

start() {
    secret=$(openssl rand -hex 32)
    token=$(openssl rand -hex 32)
    openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 2>/dev/null | put_secret forge.pem
    put_secret webhook.secret <<<"$secret"
    put_secret operator.token 0440 <<<"$token"
    cat >>"$root/etc/svc/svcd.env" <<END
SVC_WEBHOOK_SECRET_FILE=/etc/svc/webhook.secret
SVC_OPERATOR_API_TOKEN_FILE=/etc/svc/operator.token
SVC_OPERATOR_ACTOR_ID=tests:packages
SVC_FORGE_APP_ID=1
SVC_FORGE_PRIVATE_KEY_FILE=/etc/svc/forge.pem
SVC_FORGE_API_URL=http://127.0.0.1:9000
END
    guest systemctl start svcd
    guest svcctl status
    operator "$token"
}

dead_letter() {
    dead_letter_of refused
}

# A dispatch that the forge refuses becomes a dead letter; after its replay, the forge accepts it. The webhook has this id.
dead_letter_of() {
    background node tests/packages.d/forge.mjs 9000 0
    answers "202 accepted" "$1"
    within 30 holds dead_letters 1
    local id
    id=$(guest svcctl dead-letters list -A --output json | grep -m 1 -oP '"itemId": *"\K[^"]+')
    guest svcctl dead-letters show outbox "$id"
    guest svcctl replay outbox "$id"
    within 30 holds dead_letters 0
    within 30 holds dispatched "v1.$1" 2
    end_others
}

# Checks the number of open dead letters.
dead_letters() {
    local found
    found=$(guest svcctl dead-letters list -A --output json | grep -o '"itemId"' | wc -l || true)
    ((found == $1)) || fail "$found dead letters, not $1"
}

# Checks how often the forge was asked to run the workflow for a tag.
dispatched() {
    beside node -e '
        const [tag, wanted] = process.argv.slice(1);
        fetch("http://127.0.0.1:9000/dispatches").then((answer) => answer.json()).then((times) => {
            if (times[tag] !== Number(wanted)) throw new Error(`${tag}: ${times[tag]} times, not ${wanted}`);
        });' "$@"
}

# A member of the group needs no root; a stranger reaches neither the socket nor the token.
operators() {
    guest useradd --groups svc-operators member
    guest useradd stranger
    guest runuser -u member -- svcctl status
    guest runuser -u member -- svcctl dead-letters list -A
    local said code=0
    ! guest runuser -u stranger -- svcctl dead-letters list -A || fail "a stranger used the operator API"
    said=$(guest runuser -u stranger -- svcctl status 2>&1) || code=$?
    ((code == 69)) || fail "a stranger got $code from svcctl status: $said"
    grep -q 'must be in the group' <<<"$said" || fail "a stranger is not told about the group: $said"
}

webhook() {
    answers "202 accepted" webhook
    answers "200 duplicate" webhook
    answers "401 unauthenticated" forged "another-secret-of-the-same-forge"
}

# Checks that the current secret and token are accepted, and that the old ones are refused.
only_current() {
    local id=$1 old_secret=$2 old_token=$3 code=0
    answers "202 accepted" "$id"
    answers "401 unauthenticated" "$id-old" "$old_secret"
    operator "$token"
    operator "$old_token" || code=$?
    ((code == 4)) || fail "with the old token svcctl ended with $code"
}

reload() {
    local pid old_secret=$secret old_token=$token
    pid=$(property MainPID)
    secret=$(openssl rand -hex 32)
    token=$(openssl rand -hex 32)
    put_secret webhook.secret <<<"$secret"
    put_secret operator.token 0440 <<<"$token"
    guest systemctl reload svcd
    only_current reload "$old_secret" "$old_token"

    # One valid and one invalid secret: neither is taken.
    old_token=$(openssl rand -hex 32)
    put_secret operator.token 0440 <<<"$old_token"
    put_secret webhook.secret <<<short
    if guest systemctl reload svcd; then
        fail "a reload with a bad secret succeeded"
    fi
    only_current reload-bad short "$old_token"
    put_secret webhook.secret <<<"$secret"
    put_secret operator.token 0440 <<<"$token"
    guest systemctl reload svcd
    [[ $(property MainPID) == "$pid" ]] || fail "a reload ended the process"
}

hup() {
    local pid old_secret=$secret
    pid=$(property MainPID)
    secret=$(openssl rand -hex 32)
    put_secret webhook.secret <<<"$secret"
    guest systemctl kill -s HUP svcd
    within 10 holds answers "200 duplicate" webhook
    answers "401 unauthenticated" hup "$old_secret"
    [[ $(property MainPID) == "$pid" && $(property NRestarts) == 0 ]] || fail "SIGHUP ended the process"
}

# Prints the lines of the daemon itself, without those of systemd about it and of the command that reloads it.
lines() {
    guest journalctl --no-pager -o cat _SYSTEMD_UNIT=svcd.service SYSLOG_IDENTIFIER=svcd "$@"
}

journal() {
    answers "401 unauthenticated" unsigned "a-secret-that-is-not-ours"
    local all shown
    # journald reads the daemon's standard error asynchronously.
    guest journalctl --sync
    all=$(lines)
    shown=$(lines -p warning)
    grep -q event=webhook.bad_signature <<<"$shown" || fail "the warning about a signature is not shown"
    grep -q event=daemon.ready <<<"$all" || fail "the daemon says nothing"
    if diff <(grep -E '^level=(error|warn) ' <<<"$all") <(printf '%s\n' "$shown"); then
        note="$(wc -l <<<"$shown") of $(wc -l <<<"$all") lines"
    else
        fail "the lines with a priority are not the warnings and errors"
    fi
    ! grep -vE '^level=' <<<"$all" || fail "lines have a second timestamp, or a priority as text"
}

# A daemon that hangs is ended by the watchdog and started again.
watchdog() {
    local pid begin=$SECONDS
    pid=$(property MainPID)
    guest systemctl kill --kill-whom=main --signal=STOP svcd
    within 90 holds replaced "$pid"
    guest journalctl --sync
    guest journalctl --no-pager -u svcd | grep -q "Watchdog timeout" || fail "the watchdog did not end it"
    within 30 guest systemctl is-active --quiet svcd
    answers "202 accepted" watchdog
    note="running again after $((SECONDS - begin)) s"
}

# Checks that the process is another one.
replaced() {
    local pid
    pid=$(property MainPID)
    [[ $pid != "$1" && $pid != 0 ]] || fail "it is still process $pid"
}

disk() {
    guest systemctl stop svcd
    guest mv /var/lib/svc /var/lib/svc.kept
    guest install -d -o svc -g svc-operators -m 0700 /var/lib/svc
    guest mount -t tmpfs -o size=16m,mode=0700 tmpfs /var/lib/svc
    guest systemctl start svcd
    answers "202 accepted" disk
    local pid answer number taken=() refused=()
    pid=$(property MainPID)
    ! guest dd if=/dev/zero of=/var/lib/svc/filler bs=4k || fail "the disk was not filled"

    # Some still fit into space that SQLite has already allocated.
    for number in {1..200}; do
        answer=$(SECRET=$secret beside node tests/packages.d/webhooks.mjs send "full-$number")
        case $answer in
            "202 accepted") taken+=("full-$number") ;;
            "503 unavailable") refused+=("full-$number") ;;
            *) fail "on a full disk: $answer" ;;
        esac
        ((${#refused[@]} < 5)) || break
    done
    ((${#refused[@]} == 5)) || fail "nothing was refused on a full disk"
    [[ $(property MainPID) == "$pid" ]] || fail "a full disk ended the process"

    guest rm /var/lib/svc/filler
    within 30 holds answers "202 accepted" "${refused[0]}"
    for number in "${refused[@]:1}"; do
        answers "202 accepted" "$number"
    done
    for number in "${taken[@]}" disk; do
        answers "200 duplicate" "$number"
    done
    [[ $(property MainPID) == "$pid" && $(property NRestarts) == 0 ]] || fail "a full disk ended the process"
    note="${#taken[@]} taken, ${#refused[@]} refused while full"

    guest systemctl stop svcd
    guest umount /var/lib/svc
    guest rmdir /var/lib/svc
    guest mv /var/lib/svc.kept /var/lib/svc
    guest systemctl start svcd
}

failures() {
    guest systemctl stop svcd
    # Another program uses the address.
    background node -e 'require("net").createServer().listen(7080, "127.0.0.1")'
    within 10 beside bash -c ': </dev/tcp/127.0.0.1/7080'
    ! guest systemctl start svcd || fail "it started without its address"
    within 300 has_failed 10
    end_others
    within 150 guest systemctl is-active --quiet svcd
    answers "202 accepted" failures
    note="up again after $(property NRestarts) failed starts"
}

has_failed() {
    [[ $(property NRestarts) -ge $1 ]]
}

restarts() {
    guest systemctl stop svcd
    guest systemctl enable --now svcd.socket
    guest systemctl start svcd
    answers "202 accepted" socket

    local load opened number code=0 printed=$place/load
    opened=$(guest systemctl show --value --property=ActiveEnterTimestampMonotonic svcd.socket)
    background node tests/packages.d/forge.mjs 9000 "$delay"
    SECRET=$secret background node tests/packages.d/webhooks.mjs load 40 >"$printed"
    load=${others[1]}
    for ((number = 1; number < rounds; number++)); do
        guest systemctl restart svcd
        sleep 1
    done
    # The last restart is that of an upgrade.
    install_deb
    sleep 1
    kill "$load"
    wait "$load" || code=$?
    note="$(<"$printed")"
    ((code == 0)) || fail "$note"
    beside node -e '
        fetch("http://127.0.0.1:9000/effects").then((answer) => answer.json()).then((effects) => {
            const times = Object.values(effects);
            if (times.length === 0 || times.some((n) => n > 1)) throw new Error(JSON.stringify(effects));
        });'
    end_others
    [[ $(guest systemctl show --value --property=ActiveEnterTimestampMonotonic svcd.socket) == "$opened" ]] ||
        fail "the socket was closed"
}

# The unit leaves the daemon little of the machine: systemd's own measure, from 0 to 10.
exposure() {
    guest systemd-analyze security --no-pager --threshold=12 svcd.service
    note=$(guest systemd-analyze security --no-pager svcd.service | grep -o 'Overall exposure.*')
}

# Compares the system calls that the daemon makes, from its first to its last, with those that the unit allows.
calls() {
    local traced=$place/calls pid tracer tries
    guest systemctl stop svcd
    # A process that stops itself before it becomes the daemon can be traced from the daemon's first call on.
    drop_in $'ExecStart=\nExecStart=/bin/sh -c "kill -STOP $$$$; exec /usr/bin/svcd"'
    guest systemctl start --no-block svcd
    within 10 holds is_stopped
    pid=$(outside "$(property MainPID)")
    strace -f -qq -o "$traced" -p "$pid" 9>&- &
    tracer=$!
    for tries in {1..50}; do
        grep -q "TracerPid:[[:space:]]*$tracer" "/proc/$pid/status" && break
        sleep 0.1
    done
    kill -CONT "$pid"
    within 60 guest systemctl is-active --quiet svcd

    dead_letter_of calls-refused
    answers "401 unauthenticated" calls-forged "another-secret-of-the-same-forge"
    guest systemctl reload svcd
    guest svcctl slo
    beside node -e 'for (const path of ["metrics", "health/ready"]) await fetch(`http://127.0.0.1:7080/${path}`)' --input-type=module
    guest systemctl stop svcd
    wait "$tracer" || true
    guest rm /etc/systemd/system/svcd.service.d/tests.conf
    guest systemctl daemon-reload

    local made allowed refused
    made=$(sed -nE 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/p' "$traced" | sort -u)
    allowed=$(guest systemctl show --value --property=SystemCallFilter svcd.service | tr ' ' '\n' | sort -u)
    refused=$(comm -23 <(printf '%s\n' "$made") <(printf '%s\n' "$allowed") | tr '\n' ' ')
    printf 'made: %s\n' "$(tr '\n' ' ' <<<"$made")"
    note="makes $(wc -l <<<"$made") of the $(wc -l <<<"$allowed") allowed; refused: ${refused:-none}"
    [[ -z $refused ]] || fail "$note"
    guest systemctl start svcd
}

is_stopped() {
    local pid
    pid=$(property MainPID)
    [[ $(guest cat "/proc/$pid/status" | grep ^State) == *stopped* ]]
}

# Prints the number that a process of the container has outside.
outside() {
    local status
    for status in /proc/[0-9]*/status; do
        if [[ $(readlink "${status%status}ns/pid") == "$(readlink "/proc/$leader/ns/pid")" ]] &&
            grep -qE "^NSpid:.*[[:space:]]$1$" "$status"; then
            status=${status#/proc/}
            printf '%s' "${status%/status}"
            return
        fi
    done
    fail "no process $1"
}
