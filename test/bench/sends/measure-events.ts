/**
 * Measures the time from a live event to the first message at a fixed rate, and the latency of live callers during a
 * burst.
 */
import type { Bench, Callers } from '../bench.ts'
import { NAMES } from '../generator/traffic.ts'
import type { Measured } from '../measure.ts'
import { openPace } from '../scenarios/open-loop.ts'
import { type Burst, prepareBurst } from './measure-burst.ts'
import { insertMailing } from './fill-campaign.ts'

/** Live events per second. One in eight begins a campaign. */
export const RATE = 400
const PEOPLE = 2000

export interface EventToSend {
  rate: number
  sent: number
  /** Milliseconds from the receipt of the event until the message was handed over. */
  p50: number
  p99: number
  load: Measured['load']
}

const openKnown = (bench: Bench, prefix: string): Promise<Callers> =>
  bench.openCallers({ kind: 'known', prefix, people: PEOPLE })

export async function measureEvents(bench: Bench): Promise<EventToSend> {
  const { sql } = bench.stack.own
  const callers = await openKnown(bench, 'sends-')
  const [trigger = ''] = NAMES
  // Transactional, to include people without an opt-in.
  const campaignId = await insertMailing(sql, callers.businessIds[0] ?? '', { trigger, kind: 'transactional' })
  await bench.send([callers, { ...openPace(RATE), seconds: bench.length(2, 10) }])
  const [{ last }] = await sql<[{ last: number }]>`
    select coalesce(max(received_at), 0) as last from enrolments where campaign_id = ${campaignId}`
  const { load } = await bench.send([callers, { ...openPace(RATE), seconds: bench.length(3, 60) }])
  const [row] = await sql<[{ sent: number; p50: number; p99: number }]>`
    select count(*)::int as sent, coalesce(percentile_cont(0.5) within group (order by m.sent_at - e.received_at), 0) as p50,
      coalesce(percentile_cont(0.99) within group (order by m.sent_at - e.received_at), 0) as p99
    from enrolments e join messages m on m.business_id = e.business_id and m.enrolment_id = e.id
    where e.campaign_id = ${campaignId} and e.received_at > ${last} and m.state = 'sent'`
  if (row.sent === 0) throw new Error('No event has led to a message')
  return { rate: load.sent / load.seconds, ...row, load }
}

export interface BesideBurst {
  alone: Measured['load']
  beside: Measured['load']
  burst: Burst
}

export async function measureBeside(bench: Bench, many: number): Promise<BesideBurst> {
  const callers = await openKnown(bench, 'beside-')
  const send = (seconds: number) => bench.send([callers, { ...openPace(RATE), seconds }])
  await send(bench.length(1, 10))
  const { load: alone } = await send(bench.length(3, 30))
  const ready = await prepareBurst(bench, many)
  const [burst, { load: beside }] = await Promise.all([ready.go(), send(bench.length(3, 30))])
  return { alone, beside, burst }
}
