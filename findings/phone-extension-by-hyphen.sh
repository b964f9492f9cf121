#!/usr/bin/env bash
# libphonenumber-js 1.13.16, full metadata: a German mobile number with its extension after a hyphen is read as one number of
# twelve digits, "possible" but not valid. With "ext." the same extension is read. Who compares possible numbers takes two
# desks behind one switchboard for two people, or stores a number that nobody has.
# Fails when this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent libphonenumber-js@1.13.16
cat >check.mjs <<'JS'
import assert from 'node:assert'
import { parsePhoneNumberFromString as read } from 'libphonenumber-js/max'

const hyphen = read('+49 170 1234567-12')
assert.deepEqual([hyphen.number, hyphen.ext, hyphen.isPossible(), hyphen.isValid()], ['+49170123456712', undefined, true, false])
const written = read('+49 170 1234567 ext. 12')
assert.deepEqual([written.number, written.ext, written.isValid()], ['+491701234567', '12', true])
JS
node check.mjs
echo "still so"
