#!/usr/bin/env bash
# mjml 5.4.1: a media query in <mj-style inline="inline"> is dropped, and `errors` is empty. The rules beside it are
# inlined. So a mail that looks right on a desktop keeps its desktop sizes on a phone, and nothing says so.
# Fails when this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent mjml@5.4.1
cat >check.mjs <<'JS'
import assert from 'node:assert'
import mjml2html from 'mjml'

const css = '.price { color: red } @media (max-width: 480px) { .price { font-size: 30px } }'
const mail = (attribute) => `<mjml><mj-head><mj-style${attribute}>${css}</mj-style></mj-head><mj-body><mj-section><mj-column>
  <mj-text><p class="price">19.90</p></mj-text></mj-column></mj-section></mj-body></mjml>`
const inlined = await mjml2html(mail(' inline="inline"'))
const embedded = await mjml2html(mail(''))
assert.deepEqual(inlined.errors, [])
assert.match(inlined.html, /color: ?red/)
assert.doesNotMatch(inlined.html, /font-size: ?30px/)
assert.match(embedded.html, /font-size: ?30px/)
JS
node check.mjs
echo "still so"
