/**
 * Measures the time from a live event to the first message at a fixed rate, and the latency of live callers during a
 * burst.
 */
import type { Bench } from '../bench.ts'
import { NAMES } from '../generator/traffic.ts'
import { type LiveBeside, RATE, measureLiveBeside } from '../live-beside.ts'
import type { Measured } from '../measure.ts'
import { openPace } from '../scenarios/open-loop.ts'
import { type Burst, prepareBurst } from './measure-burst.ts'
import { insertMailing } from './fill-campaign.ts'
import type { Sink } from './sinks.ts'

const PEOPLE = 2000

export interface EventToSend {
  rate: number
  sent: number
  /** Milliseconds from the receipt of the event until the message was handed over. */
  p50: number
  p99: number
  load: Measured['load']
}

/** One event in eight begins a campaign. */
export async function measureEvents(bench: Bench, sink: Sink): Promise<EventToSend> {
  const { sql } = bench.stack.own
  const callers = await bench.openCallers({ kind: 'known', prefix: 'sends-', people: PEOPLE })
  const [trigger = ''] = NAMES
  const [businessId = ''] = callers.businessIds
  await sink.receive(businessId)
  // Transactional, to include people without an opt-in.
  const campaignId = await insertMailing(sql, businessId, { trigger, channel: sink.channel, kind: 'transactional' })
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

export const measureBeside = (bench: Bench, sink: Sink, many: number): Promise<LiveBeside<Burst>> =>
  measureLiveBeside(bench, 'beside-', async () => ({
    ...(await prepareBurst(bench, sink, many)),
    seconds: bench.length(3, 30),
  }))
