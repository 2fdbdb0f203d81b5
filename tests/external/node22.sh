# Sourced by suites whose packages want Node 22, which is newer than what Debian has: fetches it by name
# into target/ and keeps it there. Sets `node22` to its path. npm runs no install scripts here, so the
# one step that is needed of them is run by hand.

# Fetches packages of npm by name and exact version into a folder, unless they are there.
fetch_packages() {
    local folder=$1
    shift
    if [[ "$(cat "$folder/fetched" 2>/dev/null)" != "$*" ]]; then
        rm -rf "$folder/node_modules" "$folder/fetched"
        mkdir -p "$folder"
        npm install --prefix "$folder" --no-save --no-audit --no-fund --ignore-scripts \
            --prefer-offline "$@"
        printf '%s\n' "$*" >"$folder/fetched"
    fi
}

node22=$target/external/node22/node_modules/node/bin/node
fetch_packages "$target/external/node22" node@22.23.3
if [[ ! -x $node22 ]]; then
    (cd "$target/external/node22/node_modules/node" && node installArchSpecificPackage.js)
fi
