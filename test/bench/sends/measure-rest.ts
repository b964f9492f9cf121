/** Measures the queries and the cost of the campaigns thread while nothing is due, with many waiting enrolments. */
import type { Bench } from '../bench.ts'
import { type IdleCost, measureIdle } from '../segments/measure-clocks.ts'

const DAY_MS = 86_400_000
const CHUNK_ROWS = 250_000
const CAMPAIGNS = 'sluice-campaigns'

/** Uses people who do not exist, because they are read only when they are due. Removes the rows afterwards. */
export async function measureRest(bench: Bench, rows: number): Promise<{ without: IdleCost; beside: IdleCost }> {
  const { sql } = bench.stack.own
  const callers = await bench.openCallers({ kind: 'known', prefix: 'rest-', people: 1 })
  const businessId = callers.businessIds[0] ?? ''
  const without = await measureIdle(bench, CAMPAIGNS)
  const from = Date.now() + DAY_MS
  for (let at = 0; at < rows; at += CHUNK_ROWS)
    await sql`
      insert into due_steps (business_id, enrolment_id, contact_id, campaign_id, version, step, began_at, due_at)
      select ${businessId}, uuidv7(), uuidv7(), ${businessId}, 1, 'a', ${from - DAY_MS}::bigint,
        ${from}::bigint + (n * 7919) % ${30 * DAY_MS}::bigint
      from generate_series(${at}::bigint, ${Math.min(rows, at + CHUNK_ROWS) - 1}::bigint) as n`
  await sql`vacuum (analyze) due_steps`
  await sql`checkpoint`
  try {
    return { without, beside: await measureIdle(bench, CAMPAIGNS) }
  } finally {
    await sql`delete from due_steps where business_id = ${businessId}`
    await sql`vacuum (analyze) due_steps`
  }
}
