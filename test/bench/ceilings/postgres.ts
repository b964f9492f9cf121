/**
 * The unavoidable writes (`statement.sql`) for the pipeline's events, in micro-batches of the size that the pipeline
 * achieved.
 */
import { readFile } from 'node:fs/promises'
import { hashKey } from '../../../src/contacts/load/collect-lookups.ts'
import type { EventFact } from '../../../src/rules/events/facts.ts'
import { type Sql, connectPostgres } from '../../../src/stores/postgres.ts'
import { serveTask } from '../task.ts'
import { BUSINESS, readFacts, requestsFor } from './facts.ts'
import { type CeilingPlan, inGroups, spend } from './plan.ts'
import { encodeEvent } from './timeline-line.ts'

const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8')

await serveTask(async ({ stores, traffic, groups, warmUp, events }: CeilingPlan) => {
  const sql = await openEmptyDatabase(stores.databaseUrl)
  const statement = await read('statement.sql')
  const batches = (first: number, requests: number) =>
    inGroups(readFacts(traffic, first, requests).flat().map(toRow), groups.microBatch)
  const warm = requestsFor(traffic, warmUp)
  const measured = batches(warm, requestsFor(traffic, events))
  for (const batch of batches(0, warm)) await save(batch)
  return {
    async run() {
      return await spend(events, async () => {
        for (const batch of measured) await save(batch)
      })
    },
  }

  async function save(rows: Row[]): Promise<void> {
    const column = (of: (row: Row) => string | number | null) => arrayLiteral(rows.map(of))
    await sql.unsafe(
      statement,
      [
        BUSINESS.id,
        column((row) => row.email),
        column((row) => row.event),
        column((row) => row.at),
        column((row) => row.amount),
        column((row) => row.currency),
        column((row) => row.keyHash),
        column((row) => row.tag),
        column((row) => row.traits),
        rows.map((row) => row.line).join('\n'),
      ],
      { prepare: true },
    )
  }
})

async function openEmptyDatabase(databaseUrl: string): Promise<Sql> {
  const admin = connectPostgres(databaseUrl, { max: 1 })
  await admin`drop database if exists ceiling`
  await admin`create database ceiling`
  await admin.end()
  const url = new URL(databaseUrl)
  url.pathname = 'ceiling'
  const sql = connectPostgres(url.href, {
    max: 1,
    name: 'ceiling',
    settings: { plan_cache_mode: 'force_generic_plan' },
  })
  await sql.unsafe(await read('tables.sql'))
  return sql
}

interface Row {
  email: string
  event: string
  at: number
  amount: string | null
  currency: string | null
  keyHash: string | null
  tag: string | null
  traits: string | null
  line: string
}

function toRow(fact: EventFact): Row {
  const { event, occurredAt, meaning, idempotencyKey, traits } = fact
  const amount = meaning.order ? meaning.counted : null
  return {
    email: fact.identity.email ?? '',
    event,
    at: occurredAt,
    amount,
    currency: amount === null ? null : meaning.currency,
    keyHash: idempotencyKey === null ? null : hashKey(idempotencyKey),
    tag: fact.tags[0] ?? null,
    traits: Object.keys(traits).length > 0 ? JSON.stringify(traits) : null,
    line: encodeEvent(fact),
  }
}

/** The texts of the traffic contain nothing that JSON and Postgres would escape differently. */
function arrayLiteral(values: (string | number | null)[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : JSON.stringify(value))).join(',')}}`
}
