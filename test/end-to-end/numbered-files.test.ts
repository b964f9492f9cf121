/**
 * A numbered file must not be edited once it has been applied anywhere: `migrate` would refuse that database. Changes
 * need a new file.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The first 16 hexadecimal digits of each file's SHA-256. Add a line for each new file when it is released. */
const RELEASED = {
  'postgres/0001_installation.sql': 'faa928666da57f8d',
  'postgres/0002_businesses.sql': '2f52abdb734e2abe',
  'postgres/0003_accounts.sql': '3d42091c01432b20',
  'postgres/0004_contacts.sql': '26ed2f753b1b577d',
  'postgres/0005_contact_search.sql': '277707968029c6d2',
  'postgres/0006_visitors.sql': '1cd2e861f6613ebd',
  'postgres/0007_stream.sql': '4e3563c688cac7d2',
  'postgres/0008_outbox.sql': '239828898eeab805',
  'postgres/0009_segments.sql': '9543ea92211135bc',
  'postgres/0010_campaigns.sql': '196c68a876426991',
  'postgres/0011_messages.sql': '8e7190371b3014cb',
  'postgres/0012_deliveries.sql': '49573cbbb584f657',
  'postgres/0013_erasures.sql': '9609caa9f10717d4',
  'postgres/0014_analytics.sql': 'fd0462304f0f3d17',
  'postgres/0015_wal_timeline.sql': '20934e4b1ba57444',
  'postgres/0016_keys_and_addresses.sql': '5cc91378beca9c2f',
  'postgres/0017_proven_accounts.sql': '875f6e53ca5b3a63',
  'postgres/0018_whatsapp_ids.sql': '0ae77e17f4f42800',
  'postgres/0019_awaited_events.sql': 'a70759a432b9c100',
  'postgres/0020_topics.sql': '1bb406d0bb5dd90b',
  'postgres/0021_senders.sql': '6903e35f154b03e2',
  'postgres/0022_calls.sql': '3a3f202c30c2b20c',
  'postgres/0023_enrolment_keys.sql': '4017249914a888a9',
  'postgres/0024_call_turns.sql': 'e93c381a34deed5a',
  'clickhouse/0001_tables.sql': 'c22b7f713744dcb1',
  'clickhouse/0002_contact_views.sql': '177d06706f28b7d2',
  'clickhouse/0003_browser_views.sql': '57616bb2acce875c',
  'clickhouse/0004_public_views.sql': 'd2c57e0bb1758c20',
  'clickhouse/0005_public_segment_views.sql': '02f091bb2bf7cb81',
  'clickhouse/0006_topics.sql': '6e073c8ddf7105ab',
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
