# The container: a Debian root that systemd-nspawn boots, with no network except its own loopback interface.
# shellcheck shell=bash disable=SC2034,SC2154,SC2016

suite=bookworm
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
    nsenter --net --target "$leader" -- "$@" 9>&- &
    others+=($!)
}

end_others() {
    ((${#others[@]} == 0)) || kill "${others[@]}" 2>/dev/null || true
    others=()
}

end_container() {
    end_others
    if [[ -n $nspawn ]]; then
        # The second signal ends the container without waiting for its units.
        kill "$nspawn" || true
        sleep 2
        kill "$nspawn" || true
        wait "$nspawn" || true
    fi
    [[ -z $root ]] || rm -rf --one-file-system "$root"
}

# Makes the root once, and a copy of it for each run.
debian() {
    local base=$place/$suite
    if [[ ! -e $base.made ]]; then
        rm -rf --one-file-system "$base"
        timeout 300 debootstrap --variant=minbase --include=dbus,systemd,systemd-sysv "$suite" "$base"
        touch "$base.made"
    fi
    root=$(mktemp -d -p "$place" root-XXXXXX)
    cp -a --reflink=auto "$base/." "$root"
}

boot() {
    systemd-nspawn --boot --register=no --keep-unit --private-network --settings=no --link-journal=no \
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

# Runs a program as confined as the daemon: where this machine is a container itself, that may be impossible.
sandbox() {
    {
        printf '[Service]\nType=oneshot\nExecStart=/bin/true\n'
        grep -E '^(Private|Protect|Restrict|Device|Lock|Memory|Tasks)' packaging/svcd.service
    } >"$root/run-svc-tests.service"
    guest mv /run-svc-tests.service /run/systemd/system/svc-tests.service
    guest systemctl start svc-tests.service
    guest rm /run/systemd/system/svc-tests.service
}
