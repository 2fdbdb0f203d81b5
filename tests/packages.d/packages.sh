# Steps about the packages themselves: what they hold, and what installing, upgrading and removing them does.
# shellcheck shell=bash disable=SC2034,SC2154,SC2016

deb=
rpm=
older=
# What version 0.1.0 was packaged with.
packager=3.8.0

tools() {
    local tool missing=()
    declare -A packages=([debootstrap]=debootstrap [dh]=debhelper [node]=nodejs [openssl]=openssl [rpmbuild]=rpm
        [systemd-nspawn]=systemd-container)
    if [[ " ${steps[*]} " == *" linted "* ]]; then
        packages+=([git]=git [lintian]=lintian [rpmlint]=rpmlint [sqlite3]=sqlite3 [strace]=strace)
    fi
    for tool in "${!packages[@]}"; do
        command -v "$tool" || missing+=("${packages[$tool]}")
    done
    if ((${#missing[@]} > 0)); then
        apt-get update -q
        apt-get install -q -y --no-install-recommends "${missing[@]}"
    fi
}

packages() {
    local built
    packaging/build "$profile" >"$place/built"
    mapfile -t built < <(tail -n 2 "$place/built")
    deb=${built[0]}
    rpm=${built[1]}
    note=$(stat -c '%n %s' "$deb" "$rpm" "$target"/packages/tree/usr/bin/* | sed 's#.*/##' | tr '\n' ' ')bytes
}

linted() {
    lintian --allow-root --fail-on error,warning "$deb"
    rpmlint --config packaging/rpm/rpmlint.toml "$rpm" | tee /dev/stderr | grep -q ' 0 errors, 0 warnings'
    dpkg-deb --control "$deb" "$root/control"
    [[ -s $root/control/md5sums ]]
}

# The same files in another folder make the same packages.
identical() {
    local copy
    copy=$(mktemp -d)
    git ls-files -z --cached --others --exclude-standard | tar c --null --files-from=- | tar x -C "$copy"
    mkdir -p "$copy/target/tools"
    [[ ! -e $target/tools ]] || cp -a "$target/tools/." "$copy/target/tools"
    env -u CARGO_TARGET_DIR "$copy/packaging/build" "$profile"
    cmp "$deb" "$copy/target/packages/${deb##*/}"
    cmp "$rpm" "$copy/target/packages/${rpm##*/}"
    rm -rf "$copy"
}

# Installs the Debian package, or the given one, and keeps the settings as they were changed.
install_deb() {
    cp "${1:-$deb}" "$root/root/svcd.deb"
    guest dpkg --force-confold --install /root/svcd.deb
}

install() {
    local said
    said=$(install_deb)
    grep -q 'Next: ' <<<"$said" || fail "the next step is not printed"
    local unit
    for unit in svcd.service svcd.socket; do
        [[ $(guest systemctl is-active "$unit") == inactive ]] || fail "installing started $unit"
        [[ $(guest systemctl is-enabled "$unit") == disabled ]] || fail "installing enabled $unit"
    done
    note=$(guest svcctl --version)
}

# A wrong setting keeps the daemon from starting, and what is said names it.
settings() {
    refuses SVC_WEBHOOK_SECRET_FILE 'Environment=SVC_WEBHOOK_SECRET_FILE=/etc/svc/gone'
    refuses SVC_OF_AN_OLDER_VERSION 'Environment=SVC_OF_AN_OLDER_VERSION=1'
    # What systemd itself does not know is ignored, with the file and the line.
    drop_in 'WatchdogUSec=1'
    guest systemctl start svcd
    guest journalctl --sync
    guest journalctl --no-pager | grep 'svcd.service.d/tests.conf:2: Unknown key'
    guest rm /etc/systemd/system/svcd.service.d/tests.conf
    guest systemctl daemon-reload
}

drop_in() {
    guest mkdir -p /etc/systemd/system/svcd.service.d
    printf '[Service]\n%s\n' "$1" | guest tee /etc/systemd/system/svcd.service.d/tests.conf
    guest systemctl daemon-reload
}

# Starts the daemon with a line of a drop-in that it must refuse, and checks that the journal has a name.
refuses() {
    guest systemctl stop svcd
    # The file of settings counts more than Environment=.
    drop_in "$2"
    cp -a "$root/etc/svc/svcd.env" "$root/etc/svc/svcd.env.kept"
    sed -i "/^$1=/d" "$root/etc/svc/svcd.env"
    ! guest systemctl start svcd || fail "it started with $2"
    [[ $(property ExecMainStatus) == 78 ]] || fail "it ended with $(property ExecMainStatus)"
    mv "$root/etc/svc/svcd.env.kept" "$root/etc/svc/svcd.env"
    guest journalctl --sync
    said | grep -q "$1" || fail "$1 is not named"
    # The printed command names the drop-in and its line.
    guest sh -c "$(said | grep -o 'grep -rns .*')" | grep "svcd.service.d/tests.conf:2:" || fail "the line of $1 is not found"
    guest rm /etc/systemd/system/svcd.service.d/tests.conf
    guest systemctl daemon-reload
    guest systemctl reset-failed svcd
}

# Prints what the daemon said in its last run.
said() {
    guest journalctl --no-pager -o cat "_SYSTEMD_INVOCATION_ID=$(property InvocationID)"
}

remove() {
    answers "202 accepted" kept
    guest dpkg --remove svcd
    are_gone
    [[ -e $root/var/lib/svc/svc.db && -e $root/etc/svc/svcd.env && -e $root/etc/svc/webhook.secret ]]
}

reinstall() {
    install_deb
    [[ $(property ActiveState) == inactive ]] || fail "installing started it"
    guest systemctl start svcd
    answers "200 duplicate" kept
}

# What it made at run time is kept and named: the data contains the audit events.
purge() {
    local printed
    printed=$(guest dpkg --purge svcd)
    are_gone
    [[ ! -e $root/etc/svc/svcd.env ]] || fail "the settings are still there"
    [[ ! -e $root/etc/systemd/system/sockets.target.wants/svcd.socket ]] || fail "the socket is still enabled"
    [[ -e $root/var/lib/svc/svc.db ]] || fail "the data was removed"
    local left
    for left in /var/lib/svc /etc/svc "user svc"; do
        grep -q "svcd leaves .*$left" <<<"$printed" || fail "$left is left, and not named"
    done
}

are_gone() {
    local unit
    for unit in svcd.service svcd.socket; do
        ! guest systemctl is-active "$unit" || fail "$unit still runs"
        ! guest systemctl cat "$unit" || fail "$unit is still known"
    done
    [[ ! -e $root/usr/bin/svcd ]]
}

# The package of version 0.1.0, from the commit that CHANGELOG names, with the tools it was built with then.
older_deb() {
    local commit source=$place/older
    commit=$(sed -n 's/^## 0\.1\.0.*`\([0-9a-f]*\)`.*/\1/p' CHANGELOG.md)
    older=$place/older-$commit-$profile.deb
    [[ ! -e $older ]] || return 0
    if [[ $("$target/tools/bin/cargo-deb" --version 2>/dev/null) != "cargo-deb $packager" ]]; then
        cargo install --debug --root "$target/tools" cargo-deb --version "$packager" --locked
    fi
    rm -rf "$source"
    mkdir "$source"
    git archive "$commit" | tar x -C "$source"
    (
        cd "$source" || exit
        export CARGO_TARGET_DIR=$target/older
        cargo build --profile "$profile" --locked
        "$target/tools/bin/cargo-deb" deb --profile "$profile" --no-build --fast --output "$older.part"
    )
    mv "$older.part" "$older"
    rm -rf "$source"
}

# From version 0.1.0, while a release is running, with a change of the schema.
upgrade() {
    older_deb
    guest systemctl disable --now svcd.socket
    guest dpkg --purge svcd
    rm -rf "$root/var/lib/svc"
    install_deb "$older"
    start
    background node tests/packages.d/forge.mjs 9000 0
    local number
    for number in {1..20}; do
        answers "202 accepted" "older-$number"
    done
    within 60 holds dispatched v1.older-20 1
    local before after
    before=$(schema)
    install_deb
    within 60 is_ready
    after=$(schema)
    for number in {1..20}; do
        answers "200 duplicate" "older-$number"
    done
    [[ $(guest svcctl releases list -A --output json | grep -o 'refs/tags/v1\.older-[0-9]*' | sort -u | wc -l) == 20 ]] ||
        fail "releases are missing"
    dispatched v1.older-20 1
    answers "202 accepted" newer
    within 60 holds dispatched v1.newer 1
    ((before == 31 && after > before)) || fail "schema $before, then $after"
    note="schema $before to $after"
}

is_ready() {
    beside node -e 'if (!(await fetch("http://127.0.0.1:7080/health/ready")).ok) process.exit(1)' --input-type=module
}

# Prints the newest schema step of the database.
schema() {
    sqlite3 -readonly "$root/var/lib/svc/svc.db" 'PRAGMA user_version'
}

# The schema admits version 0.1.0, which goes on with the data of the newer one. A schema that does not is refused.
back() {
    install_deb "$older"
    within 60 is_ready
    answers "200 duplicate" older-1
    answers "200 duplicate" newer
    answers "202 accepted" back
    within 60 holds dispatched v1.back 1

    guest systemctl stop svcd
    local kept
    kept=$(sqlite3 "$root/var/lib/svc/svc.db" 'SELECT oldest_reader_step FROM schema_compatibility')
    sqlite3 "$root/var/lib/svc/svc.db" "UPDATE schema_compatibility SET oldest_reader_step = $(schema)"
    install_deb "$older"
    ! guest systemctl start svcd || fail "an older daemon started over a schema that it does not know"
    [[ $(property ExecMainStatus) == 78 ]] || fail "it ended with $(property ExecMainStatus)"
    guest journalctl --sync
    said | grep "$(schema)" | grep -w 31 || fail "the versions are not named"
    note=$(said | grep "$(schema)" | grep -w 31 | tail -n 1)
    sqlite3 "$root/var/lib/svc/svc.db" "UPDATE schema_compatibility SET oldest_reader_step = $kept"
    install_deb
    guest systemctl reset-failed svcd
    guest systemctl start svcd
    answers "200 duplicate" back
    end_others
}

# The RPM into the same root: its scripts run there, without the systemd of the container.
rpm_package() {
    local before after
    guest dpkg --purge svcd
    rm -rf "$root/var/lib/svc" "$root/etc/svc"
    before=$(folders)
    rpm --root "$root" --nodeps --install "$rpm" | tee /dev/stderr | grep -q 'Next: '
    guest systemctl daemon-reload
    [[ $(property ActiveState) == inactive ]] || fail "installing started it"
    rpm --root "$root" --verify --nodeps svcd
    start
    answers "202 accepted" rpm
    rpm --root "$root" --nodeps --upgrade --replacepkgs --force "$rpm"
    guest systemctl restart svcd
    answers "200 duplicate" rpm
    guest systemctl stop svcd
    rpm --root "$root" --nodeps --erase svcd | tee /dev/stderr | grep -q 'svcd leaves /var/lib/svc'
    [[ -e $root/var/lib/svc/svc.db && -e $root/etc/svc/webhook.secret && ! -e $root/usr/bin/svcd ]]
    rm -rf "$root/var/lib/svc" "$root/etc/svc"
    after=$(folders)
    [[ $before == "$after" ]] || fail "folders are left: $(diff <(printf '%s\n' "$before") <(printf '%s\n' "$after"))"
}

# Prints the folders in which the package has files.
folders() {
    (cd "$root" && find etc usr/lib usr/share -type d \( -name svc -o -name svcd -o -name 'svc*.d' -o -path '*svc*' \) | sort)
}
