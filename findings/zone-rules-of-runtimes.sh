#!/usr/bin/env bash
# Bun 1.4.5 has rules of time zones from before IANA 2026b: its Intl shows British Columbia, Alberta and Morocco an hour off in
# the winter of 2026/27, and has no `process.versions.tz` to tell. moment-timezone 0.6.6 carries 2026f.
# Fails when this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent bun@1.4.5 moment-timezone@0.6.6
cat >check.mjs <<'JS'
import assert from 'node:assert'
import moment from 'moment-timezone'

const at = Date.UTC(2026, 11, 15, 20)
const byRuntime = (timeZone) =>
  new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(at).find(({ type }) => type === 'timeZoneName').value
assert.equal(process.versions.tz, undefined)
assert.equal(moment.tz.dataVersion, '2026f')
for (const [zone, runtime, table] of [
  ['America/Vancouver', 'GMT-08:00', '-07:00'],
  ['America/Edmonton', 'GMT-07:00', '-06:00'],
  ['Africa/Casablanca', 'GMT+01:00', '+00:00'],
])
  assert.deepEqual([byRuntime(zone), moment.tz(at, zone).format('Z')], [runtime, table])
JS
npx bun --bun check.mjs
echo "still so"
