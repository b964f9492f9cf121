/** A numbered file that was applied somewhere is never edited: `migrate` would refuse that database. What changes is a new file. */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The first 16 hexadecimal digits of the SHA-256 of each; a new file gets its line when it is released. */
const RELEASED = {
  'postgres/0001_businesses_and_keys.sql': 'b49a031463911480',
  'postgres/0002_contacts.sql': 'a4e4a8a4a7140c87',
  'postgres/0003_campaigns.sql': 'e6326ba97572336c',
  'postgres/0004_pipeline.sql': '643636efc790712c',
  'postgres/0005_timeline.sql': '82ec893f6f468b35',
  'postgres/0006_redis_run.sql': 'a308cf76e118f9a9',
  'postgres/0007_change_partitions.sql': '35798f9757c237d3',
  'postgres/0008_outbox_changed.sql': 'e7baf38d1d7d10dc',
  'postgres/0009_resend.sql': 'cef8e32c333967e4',
  'postgres/0010_timeline_trouble.sql': 'f24b383e469dcf58',
  'postgres/0011_visitors.sql': 'ae18e06e8f73bd4f',
  'postgres/0012_web_events.sql': 'f1f2e9a16ed14a1e',
  'postgres/0013_deliveries.sql': '5a1dcf69419798ca',
  'postgres/0014_visitor_touches.sql': '237568aaadc2132b',
  'postgres/0015_forgotten_visitors.sql': 'c7ca52fc4800982a',
  'postgres/0016_crowded_visitors.sql': 'c7206219b7deb43b',
  'postgres/0017_erasures_beside.sql': 'b056a442a36053af',
  'postgres/0018_delivery_clicks.sql': '049631f77e00c73b',
  'postgres/0019_packed_events.sql': '233beede0a0abca8',
  'postgres/0020_limits.sql': 'b93710727cca4ad1',
  'postgres/0021_page_identify.sql': 'b36c35ddeb469f08',
  'postgres/0022_set_aside.sql': '2c77f617f8fab61d',
  'postgres/0023_contact_list.sql': '9f83d6017e3162ea',
  'postgres/0024_waiting_links.sql': 'bf836dbe6bc74da8',
  'postgres/0025_bots.sql': '6110791ed67f246b',
  'postgres/0026_send_identities.sql': '5f9afe8bfdab3580',
  'postgres/0028_clean_files.sql': '003ba8ea392c54a7',
  'postgres/0033_removed_tags.sql': '5ffec07b761f40d0',
  'postgres/0034_forgotten_visitors.sql': '18143dd94142d0cd',
  'postgres/0035_contacts_by_age.sql': 'a41d60720683e42a',
  'clickhouse/0001_tables.sql': 'cde533fc197c994a',
  'clickhouse/0002_views.sql': '7999fc9f4c42afb0',
  'clickhouse/0003_public_views.sql': '2b7532f8d2a3e9a8',
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
