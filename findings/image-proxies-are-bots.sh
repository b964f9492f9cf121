#!/usr/bin/env bash
# isbot 5.2.3: the image proxies of Gmail and Yahoo Mail are bots. They load the images of a mail when the person opens it,
# so a tracker that leaves bots out counts no opens of these two providers.
# Fails when this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent isbot@5.2.3
cat >check.mjs <<'JS'
import assert from 'node:assert'
import { isbot } from 'isbot'

assert.equal(isbot('Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)'), true)
assert.equal(isbot('YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html'), true)
assert.equal(isbot('Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'), false)
JS
node check.mjs
echo "still so"
