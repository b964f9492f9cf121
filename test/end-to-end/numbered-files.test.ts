/** A numbered file that was applied somewhere is never edited: `migrate` would refuse that database. What changes is a new file. */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The first 16 hexadecimal digits of the SHA-256 of each; a new file gets its line when it is released. */
const RELEASED = {
  'postgres/0001_businesses.sql': '71ec7863e1846c6b',
  'postgres/0002_contacts.sql': '4b2501662e5a6be2',
  'postgres/0003_contact_search.sql': '277707968029c6d2',
  'postgres/0004_visitors.sql': '28b5749034dbc10b',
  'postgres/0005_campaigns.sql': '894970081cd2d68a',
  'postgres/0006_deliveries.sql': '5cce8aa5cc9aea50',
  'postgres/0007_stream.sql': '4e3563c688cac7d2',
  'postgres/0008_outbox.sql': '78ae1ec6e1a963e7',
  'postgres/0009_erasures.sql': '9609caa9f10717d4',
  'postgres/0010_installation.sql': '0c795ceb467cb54d',
  'postgres/0011_accounts.sql': 'e171ac8b4f75e9b0',
  'postgres/0012_key_use.sql': '8043a3ff696b6c93',
  'postgres/0013_saved_views.sql': 'acfaacf29243fc87',
  'postgres/0015_custom_field_notes.sql': '10f9ce450a5a1f84',
  'postgres/0016_segments.sql': '7dcb39061c99f87b',
  'postgres/0017_campaign_triggers.sql': '0f75b15ca25731ce',
  'postgres/0018_resend_contacts.sql': '203afef57b7a6002',
  'postgres/0019_consent_history.sql': 'bd0649d42061752a',
  'postgres/0020_segment_windows.sql': '47b402ceb0937bd9',
  'postgres/0021_templates.sql': '7ff6c746478f2091',
  'postgres/0022_channels.sql': '2b182a90f6dfa48a',
  'postgres/0023_suppressions.sql': '21b6b1f47f8704fd',
  'postgres/0024_campaign_steps.sql': 'bd6124dbaafb1138',
  'postgres/0025_broadcasts.sql': 'a2e4ddb84f56f182',
  'postgres/0026_trigger_conditions.sql': 'd802951cc3688444',
  'postgres/0027_channel_secrets.sql': 'f37deb36497ab71a',
  'postgres/0028_callbacks.sql': '72a1c4dfae9702d1',
  'postgres/0029_messaging.sql': 'c759f763b831dc73',
  'postgres/0030_send_rates.sql': '58894e9ae9b068ea',
  'postgres/0031_tracking.sql': '2102145cede74961',
  'postgres/0032_web_triggers.sql': 'ed7052583586e726',
  'postgres/0033_update_steps.sql': 'f15a2f13ac5fea19',
  'postgres/0034_confirmations.sql': '5b57cf3260738301',
  'postgres/0035_channel_pauses.sql': '9e3e6f718e092e30',
  'postgres/0036_saved_queries.sql': 'ac71a55f2236a740',
  'postgres/0040_branches_and_holds.sql': 'f8c01cb59b594dca',
  'postgres/0042_operators.sql': 'ad16fb524f6261a4',
  'postgres/0037_push_subscriptions.sql': '93f5a4d49624cdac',
  'postgres/0038_ad_spend.sql': '71208bbe34c80fbc',
  'postgres/0039_boards.sql': 'aadf4c3172312c2d',
  'clickhouse/0001_tables.sql': 'd9222b0628637546',
  'clickhouse/0002_views.sql': '1c64d040ffcafb17',
  'clickhouse/0003_public_views.sql': '940079d20e1750ea',
  'clickhouse/0004_installation.sql': 'd06a8310b25b189c',
  'clickhouse/0005_segments.sql': 'b785dce41b4af801',
  'clickhouse/0006_public_segment_views.sql': '02f091bb2bf7cb81',
  'clickhouse/0007_subscribed_contacts.sql': 'e83e6155e3f58a86',
}

const SQL = new URL('../../sql/', import.meta.url)
const digest = (name: string): string =>
  createHash('sha256')
    .update(readFileSync(new URL(name, SQL)))
    .digest('hex')
    .slice(0, 16)

test('numbered files are as they were released', () => {
  const names = ['postgres', 'clickhouse'].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, SQL))
      .filter((name) => /^\d{4}_.*\.sql$/.test(name))
      .toSorted()
      .map((name) => `${folder}/${name}`),
  )
  expect(Object.fromEntries(names.map((name) => [name, digest(name)]))).toEqual(RELEASED)
})
