/**
 * Backtests against the engine: what happened to the contacts of a shop, and what a campaign really did or would have
 * done.
 */
import { pino } from 'pino'
import { planBacktest } from '../../src/campaigns/backtest/plan-backtest.ts'
import { type BacktestResult, type Progress, runBacktest } from '../../src/campaigns/backtest/run-backtest.ts'
import { readCampaign } from '../../src/campaigns/list-campaigns.ts'
import { loadMessaging } from '../../src/campaigns/messaging.ts'
import { withMessaging } from '../../src/rules/campaigns/messaging.ts'
import type { Sample } from '../../src/rules/campaigns/backtest-tally.ts'
import { loadDefinitions } from '../../src/segments/load-definitions.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import { type Lease, takeLease } from '../../src/timeline/lease.ts'
import { shipOutbox } from '../../src/timeline/shipping/ship-outbox.ts'
import type { BatchAnswer, TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline, batch, eventFact, openPipeline, track } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { type Engine, type Shop, openEngine, openShop, submitTo } from './engine-lab.ts'

export interface Asked {
  /** Epoch ms. Default: from the beginning to the clock of the engine. */
  from?: number
  to?: number
  maxEntrants?: number
  signal?: AbortSignal
  clickhouse?: ClickHouseClient
  onProgress?: (progress: Progress) => void
}

export interface BacktestLab {
  stack: Stack
  pipeline: Pipeline
  engine: Engine
  shop: Shop
  /** Continues with another business, at the beginning. */
  renew(): Promise<void>
  /** Does everything that falls due before this instant, each at its own instant, and moves the clock there. */
  goTo(at: number): Promise<void>
  /**
   * Records a live event at the instant of the clock. Returns the contact. `ago`: how much earlier the event is dated,
   * in ms.
   */
  does(event: string, who: object, more?: { ago?: number; value?: number; properties?: object }): Promise<string>
  /** The same, in a batch. */
  imports(event: string, who: object, ago?: number): Promise<void>
  ship(): Promise<void>
  /** Runs a backtest over everything that is shipped. */
  backtest(campaignId: string, asked?: Asked): Promise<BacktestResult>
  /** Returns the real enrolments of a campaign, in the form of a backtest. */
  really(campaignId: string): Promise<Sample[]>
  close(): Promise<void>
}

export async function openBacktestLab(): Promise<BacktestLab> {
  const stack = await openStack()
  const { sql, clickhouse } = stack
  const pipeline = await openPipeline(sql)
  const engine = openEngine(stack, submitTo(pipeline))
  const log = pino({ level: 'silent' })
  const lease: Lease = await takeLease({ sql, log }, 600_000)
  const lab: BacktestLab = {
    stack,
    pipeline,
    engine,
    shop: openShop(stack, engine, pipeline, ''),
    async renew() {
      // The engine serves all businesses.
      await sql`update due_steps set held = true`
      engine.clock.now = NOW
      const { businessId } = await createBusiness(sql)
      lab.shop = openShop(stack, engine, pipeline, businessId)
    },
    async goTo(at) {
      for (;;) {
        const next = (await lab.shop.due()).find(({ held }) => !held)
        if (next === undefined || next.due_at >= at) break
        await engine.drain(Math.max(engine.clock.now, next.due_at))
      }
      engine.clock.now = at
    },
    async does(event, who, { ago = 0, value, properties } = {}) {
      const { now } = engine.clock
      const fact = eventFact(event, who, {
        occurredAt: now - ago,
        ...(value !== undefined && { value }),
        ...(properties && { properties: JSON.stringify(properties) }),
      })
      const call = { ...track(lab.shop.businessId, fact), receivedAt: now }
      return ((await pipeline.apply(call))[0] as TrackAnswer).contactId
    },
    async imports(event, who, ago = 0) {
      const { now } = engine.clock
      const call = batch(lab.shop.businessId, [eventFact(event, who, { occurredAt: now - ago })])
      const [answer] = (await pipeline.apply({ ...call, receivedAt: now })) as BatchAnswer[]
      if (answer === undefined) throw new Error('the batch was not applied')
    },
    async ship() {
      while (await shipOutbox({ sql, clickhouse, log }, lease)) continue
    },
    async backtest(campaignId, { from = NOW, to = engine.clock.now, ...more } = {}) {
      const { businessId } = lab.shop
      const found = await readCampaign(sql, businessId, campaignId)
      if (found === null) throw new Error('there is no such campaign')
      const campaign = withMessaging(found, await loadMessaging(sql, businessId))
      const definitions = await loadDefinitions(sql, businessId)
      const business = { id: businessId, timezone: 'UTC' }
      const plan = planBacktest({ business, campaign, definitions, from, to, now: engine.clock.now })
      await lab.ship()
      const { signal } = new AbortController()
      const inTurn = <Result>(work: () => Promise<Result>) => work()
      return await runBacktest({ sql, clickhouse, log, signal, inTurn, onProgress: () => undefined, ...more }, plan)
    },
    async really(campaignId) {
      const rows = await sql<Row[]>`
        select e.contact_id as "contactId", e.enrolled_at as "enrolledAt", e.state, e.ended_at as "endsAt",
          (select d.step from due_steps d where d.business_id = e.business_id and d.enrolment_id = e.id) as "stepId",
          (select coalesce(json_agg(json_build_object('stepId', m.step, 'channel', m.channel, 'at', m.claimed_at,
              'reason', m.reason) order by m.claimed_at, m.id), '[]')
            from messages m where m.business_id = e.business_id and m.enrolment_id = e.id) as sends
        from enrolments e
        where e.business_id = ${lab.shop.businessId} and e.campaign_id = ${campaignId}`
      return rows.map(shown).toSorted(byContact)
    },
    async close() {
      await lease.release()
      await engine.close()
      await stack.close()
    },
  }
  await lab.renew()
  return lab
}

type Row = Omit<Sample, 'enrolledAt' | 'endsAt' | 'sends'> & {
  enrolledAt: number
  endsAt: number | null
  sends: (Omit<Sample['sends'][number], 'at'> & { at: number })[]
}

const isoTime = (at: number): string => new Date(at).toISOString()

const shown = ({ enrolledAt, endsAt, stepId, state, sends, ...row }: Row): Sample => ({
  ...row,
  state,
  enrolledAt: isoTime(enrolledAt),
  endsAt: endsAt === null ? null : isoTime(endsAt),
  stepId: state === 'active' ? stepId : null,
  sends: sends.map((send) => ({ ...send, at: isoTime(send.at) })),
})

export const byContact = (one: Sample, other: Sample): number => (keyOf(one) < keyOf(other) ? -1 : 1)
const keyOf = ({ contactId, enrolledAt }: Sample): string => `${contactId} ${enrolledAt}`
