# The commands of the guide, as the package has it, for a person who follows it: only names, addresses and what is typed into
# an editor are others. The forge is the one beside the container.
# shellcheck shell=bash disable=SC2034,SC2154,SC2016

# Prints the one block of a page that contains a text, with changes.
block() {
    local page=$1
    shift
    node tests/blocks.mjs block "$root/usr/share/doc/svcd/docs/$page.md" "$@"
}

# Runs that block as root, in the folder /root/guide.
follow() {
    block "$@" >"$root/root/guide/commands"
    guest HOME=/root bash -euxo pipefail -c 'cd /root/guide && . ./commands' </dev/null
}

guide() {
    export BLOCKS=$place/blocks
    : >"$BLOCKS"
    guest dpkg --purge svcd
    rm -rf "$root/var/lib/svc" "$root/etc/svc" "$root/root/guide"
    mkdir "$root/root/guide"
    cp "$deb" "$root/root/guide"
    install_deb
    background node tests/packages.d/forge.mjs 9000 0
    guide_to_a_release
    guide_to_a_replay
    guide_to_an_upgrade
    guide_to_cards
    end_others
    note=$(node tests/blocks.mjs rest "$root"/usr/share/doc/svcd/docs/*.md)
}

guide_to_a_release() {
    openssl rand -hex 32 >"$root/etc/svc/webhook.secret"
    secret=$(<"$root/etc/svc/webhook.secret")
    openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 >"$root/etc/svc/forge.pem" 2>/dev/null
    local result_secret
    result_secret=$(openssl rand -hex 32)
    put_secret result.secret <<<"$result_secret"
    {
        block connect-github SVC_FORGE_APP_ID 123456 1 NAME person
        printf 'SVC_FORGE_API_URL=http://127.0.0.1:9000\nSVC_RESULT_SECRET_FILE=/etc/svc/result.secret\n'
    } >"$root/root/guide/settings"
    rm -f "$root/usr/bin/editor"
    printf '#!/bin/sh\ncat /root/guide/settings >>"$1"\n' >"$root/usr/bin/editor"
    chmod 755 "$root/usr/bin/editor"
    guest useradd person
    follow connect-github usermod NAME person
    guest svcd check-config
    follow connect-github 'enable --now svcd.socket svcd'
    answers "202 accepted" guide
    within 30 holds dispatched v1.guide 1
    follow connect-github 'svcctl releases list' 42 4711 v0.1.0 v1.guide

    # What the workflow run does.
    beside curl -sS http://127.0.0.1:9000/runs >"$root/root/guide/runs"
    guest jq -r --arg secret "$result_secret" '.[0] | @sh "
        RELEASE_RUN_ID=\(.inputs.release_run_id) ATTEMPT_ID=\(.inputs.attempt_id) NONCE=\(.inputs.nonce) GITHUB_SHA=\(.head_sha)
        GITHUB_RUN_ID=\(.id) GITHUB_RUN_ATTEMPT=1 SVC_RESULT_SECRET=\($secret) SVC_URL=http://127.0.0.1:7080"' \
        /root/guide/runs >"$root/root/guide/run"
    block releases X-Svc-Result-Signature >"$root/root/guide/commands"
    guest bash -euxo pipefail -c '
        cd /root/guide
        . ./run
        digest=$(sha256sum /etc/hostname | cut -d " " -f 1)
        printf "{\"version\":1,\"decision\":\"accepted\",\"headCommit\":\"%s\",\"findings\":{\"critical\":0,\"high\":0,\"medium\":0,\"low\":0},\"artifact\":{\"digest\":\"sha256:%s\"}}" \
            "$GITHUB_SHA" "$digest" >result.json
        . ./commands' </dev/null
    guest svcctl releases wait v1.guide --timeout 1m
}

guide_to_a_replay() {
    local id ids
    for id in refused-a refused-b refused-c; do
        answers "202 accepted" "$id"
    done
    within 30 holds dead_letters 3
    mapfile -t ids < <(guest svcctl dead-letters list --output json | grep -oP '"itemId": *"\K[^"]+')
    follow dead-letters 'dead-letters summary' 'show outbox ID' "show outbox ${ids[0]}" 'replay outbox ID' "replay outbox ${ids[0]}" \
        'close outbox ID' "close outbox ${ids[1]}"
    # There is no terminal to ask on.
    follow dead-letters 'jq .summary' 'apply plan.json' 'apply --yes plan.json'
    within 30 holds dead_letters 0
}

guide_to_an_upgrade() {
    follow upgrade 'systemctl enable --now svcd.socket &&'
    follow upgrade 'apt install'
    follow upgrade 'PRAGMA user_version'
    follow upgrade .backup
    follow upgrade /var/lib/svc/old
    within 60 is_ready
    answers "200 duplicate" guide
}

guide_to_cards() {
    local folder=$root/root/guide card=$root/usr/share/doc/svcd/docs/examples/agent-card.json name digest
    rm -rf "$folder"
    mkdir -p "$folder/agents" "$folder/more" "$folder/.well-known"
    for name in agent-card.json card.json agents/one.json more/two.json; do
        cp "$card" "$folder/$name"
    done
    guest svcctl cards convert --to legacy --lossy /root/guide/card.json >"$folder/.well-known/agent-card.json"
    follow agent-cards 'cards explain'
    follow agent-cards agent-cards/validate
    digest=$(guest sha256sum /root/guide/agent-card.json | cut -d ' ' -f 1)
    follow agent-cards 'cards push' DIGEST "$digest"
    follow agent-cards 'cards sign' https://keys.example/jwks.json jwks.json

    # Settings by themselves.
    { block mcp SVC_MCP=true && block design-files SVC_RELAY=true; } >"$folder/settings"
    guest svcd check-config --env-file /root/guide/settings
}
