/**
 * Live events of a business without segments and campaigns, and of one with 50 segments, of which each event touches
 * three, and 5 campaigns, of which one event in eight matches one.
 */
import { insertCampaign } from '../../campaigns/campaign-lab.ts'
import { insertSegment } from '../../segments/segments-support.ts'
import type { Bench, Callers } from '../bench.ts'
import { NAMES } from '../generator/traffic.ts'
import type { Measured } from '../measure.ts'
import { type Scenario, atLeast, noError } from './scenario.ts'

const SEGMENTS = 50
const CAMPAIGNS = 5
const MIN_SHARE = 0.9
const CROWD = { pace: { kind: 'closed' }, connections: 512 } as const

interface Round {
  without: Measured
  with: Measured
}

export const features: Scenario = {
  name: 'features',
  title: `single \`track\`, closed loop, without segments and campaigns, and with ${SEGMENTS} and ${CAMPAIGNS}`,
  async run(bench) {
    const senders = {
      without: await bench.openCallers({ kind: 'typical', prefix: 'without-' }),
      with: await bench.openCallers({ kind: 'typical', prefix: 'with-' }),
    }
    await use(bench, senders.with)
    const rounds: Round[] = []
    // The first round is not counted: it warms up.
    for (let round = 0; round <= bench.length(1, 5); round += 1) {
      const measured = await measureInTurn(bench, senders, round)
      if (round > 0) rounds.push(measured)
    }
    const [median] = rounds.toSorted((a, b) => shareOf(a) - shareOf(b)).slice(Math.floor(rounds.length / 2))
    if (!median) throw new Error('Nothing was measured')
    return {
      checks: [
        atLeast('events/s with them, times those without', shareOf(median), MIN_SHARE, 'times'),
        noError(median.with.load),
        noError(median.without.load),
      ],
      measured: { 'without them': median.without, 'with them': median.with },
      notes: [`By round: ${rounds.map((round) => shareOf(round).toFixed(2)).join(', ')}.`],
    }
  },
}

const shareOf = (round: Round): number => round.with.rate / round.without.rate

async function measureInTurn(bench: Bench, senders: Record<keyof Round, Callers>, round: number): Promise<Round> {
  const load = (callers: Callers) => bench.send([callers, { ...CROWD, seconds: bench.length(2, 10) }])
  if (round % 2 === 0) return { without: await load(senders.without), with: await load(senders.with) }
  const first = await load(senders.with)
  return { without: await load(senders.without), with: first }
}

async function use({ stack: { own } }: Bench, { businessIds }: Callers): Promise<void> {
  const [businessId = ''] = businessIds
  const touched = NAMES.flatMap((event) => [
    { event, metric: 'last', operator: 'within_days', value: 30 } as const,
    { event, metric: 'count', operator: 'greater_than', value: 3 } as const,
    { event, metric: 'count', operator: 'greater_than', value: 1_000_000 } as const,
  ])
  const others = Array.from(
    { length: SEGMENTS - touched.length },
    (_, n) => ({ event: `never_sent_${n}`, metric: 'count', operator: 'greater_than', value: 2 }) as const,
  )
  for (const rule of [...touched, ...others]) await insertSegment(own.sql, businessId, rule)
  const definition = {
    steps: [{ id: 'later', type: 'wait', for: 'P1D' }],
    quietHours: null,
    caps: [],
    holdOut: 0,
    tracking: { opens: false, clicks: false },
  }
  for (let n = 0; n < CAMPAIGNS; n += 1) {
    const trigger = n === 0 ? (NAMES[0] ?? '') : `never_sent_${n}`
    await insertCampaign(own.sql, businessId, { trigger, canEnterAgain: true, definition, firstStep: 'later' })
  }
}
