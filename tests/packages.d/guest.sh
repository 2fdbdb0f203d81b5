# The container: a Debian root that systemd-nspawn boots, with no network except its own loopback interface.
# shellcheck shell=bash disable=SC2034,SC2154,SC2016

suite=bookworm
# What systemd needs, and what the guide uses.
include=dbus,systemd,systemd-sysv,curl,jq,openssl,sqlite3
nspawn=
leader=
root=
others=()

# Runs a command in the container.
guest() {
    nsenter --all --target "$leader" -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
}

# Runs a program of this machine on the loopback interface of the container.
beside() {
    nsenter --net --target "$leader" -- "$@"
}

# Does the same in the background. With a function in the background, $! would be a subshell and not the program.
background() {
    setpriv --pdeathsig KILL nsenter --net --target "$leader" -- "$@" 9>&- &
    others+=($!)
}

end_others() {
    ((${#others[@]} == 0)) || kill "${others[@]}" 2>/dev/null || true
    others=()
}

end_container() {
    end_others
    if [[ -n $nspawn ]]; then
        # The second signal ends the container without waiting for its units, the last one in any case.
        local signal
        for signal in TERM TERM KILL; do
            kill -s "$signal" "$nspawn" || break
            timeout 5 tail --pid="$nspawn" -s 0.1 -f /dev/null && break
        done
    fi
    [[ -z $root ]] || rm -rf --one-file-system "$root"
}

# Makes the root once, and a copy of it for each run.
debian() {
    local base=$place/$suite
    if [[ ! -e $base.made || $(<"$base.made") != "$include" ]]; then
        rm -rf --one-file-system "$base" "$base.made"
        timeout 300 debootstrap --variant=minbase --include="$include" "$suite" "$base"
        printf '%s' "$include" >"$base.made"
    fi
    root=$(mktemp -d -p "$place" root-XXXXXX)
    cp -a --reflink=auto "$base/." "$root"
}

# The container dies with this script.
boot() {
    setpriv --pdeathsig KILL systemd-nspawn --boot --register=no --keep-unit --private-network --settings=no --link-journal=no \
        --machine="svc-tests-$$" --directory="$root" --console=pipe </dev/null 9>&- &
    nspawn=$!
    local tries
    for tries in {1..300}; do
        kill -0 "$nspawn"
        leader=$(cat "/proc/$nspawn/task/$nspawn/children")
        leader=${leader%% *}
        [[ -n $leader ]] && guest test -S /run/systemd/private && break
        leader=
        sleep 0.1
    done
    [[ -n $leader ]]
    note="$(timeout 60 nsenter --all --target "$leader" -- systemctl is-system-running --wait), $(guest systemctl --version | head -n 1)"
    [[ $note == running* ]]
    sandbox
}

# Runs a program in a sandbox: where this machine is a container itself, that may be impossible. These are no lines of the
# daemon's unit, whose mistakes are to be found.
sandbox() {
    guest systemd-run --quiet --wait --property=PrivateUsers=yes --property=PrivateDevices=yes --property=ProtectSystem=strict \
        --property=ProcSubset=pid --property=ProtectKernelTunables=yes --property=MemoryMax=1G /bin/true
}
