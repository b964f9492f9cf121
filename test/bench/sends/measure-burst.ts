/** Measures many messages that are due at once: the cost of each, and the number per second. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { untilQuiet } from '../measure.ts'
import { readCpu } from '../process-tree.ts'
import { PARTS, type Part, type Stack } from '../stack.ts'
import { fillMailing, insertMailing, setActive } from './fill-campaign.ts'
import type { Sink } from './sinks.ts'

const LOOK_MS = 50
const LIMIT_MS = 1_200_000

export interface Burst {
  many: number
  /** Seconds until the last enrolment has ended. */
  seconds: number
  /** Microseconds of CPU per message. */
  cpu: Record<Part, number>
}

export interface ReadyBurst {
  /** Starts sending, and resolves when all are sent. */
  go(): Promise<Burst>
}

export async function prepareBurst(bench: Bench, sink: Sink, many: number): Promise<ReadyBurst> {
  const { stack } = bench
  const { sql } = stack.own
  const callers = await bench.openCallers({ kind: 'known', prefix: 'burst-', people: 1 })
  const businessId = callers.businessIds[0] ?? ''
  await setActive(sql, businessId, false)
  await sink.receive(businessId)
  const campaignId = await insertMailing(sql, businessId, { trigger: 'never_sent', channel: sink.channel })
  await fillMailing(sql, { businessId, campaignId, many, dueAt: Date.now() })
  return {
    async go() {
      await untilQuiet(stack)
      const before = readCpu(stack.pids)
      const started = performance.now()
      await setActive(sql, businessId, true)
      await untilSent(stack, businessId, campaignId)
      const seconds = (performance.now() - started) / 1000
      const after = readCpu(stack.pids)
      await checkSent(stack, campaignId, many)
      const cpu = PARTS.map((part) => [part, (after[part] - before[part]) / many] as const)
      return { many, seconds, cpu: Object.fromEntries(cpu) as Record<Part, number> }
    },
  }
}

/** Each query is a single index lookup. */
async function untilSent({ own: { sql } }: Stack, businessId: string, campaignId: string): Promise<void> {
  const deadline = Date.now() + LIMIT_MS
  while (Date.now() < deadline) {
    const left = await sql`
      select from due_steps where business_id = ${businessId} and campaign_id = ${campaignId} and not held limit 1`
    if (left.length === 0) return
    await sleep(LOOK_MS)
  }
  throw new Error(`The messages that are due are not sent after ${LIMIT_MS} ms`)
}

/** Checks that each person received exactly one message: a fast but wrong result is worthless. */
async function checkSent({ own: { sql } }: Stack, campaignId: string, many: number): Promise<void> {
  const [row] = await sql<[{ sent: number; persons: number; finished: number }]>`
    select count(*)::int as sent, count(distinct contact_id)::int as persons,
      (select count(*)::int from enrolments where campaign_id = ${campaignId} and state = 'finished') as finished
    from messages where campaign_id = ${campaignId} and state = 'sent'`
  if (row.sent === many && row.persons === many && row.finished === many) return
  throw new Error(`${many} were due, and ${row.sent} messages went to ${row.persons} persons; ${row.finished} finished`)
}
