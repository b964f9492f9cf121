/**
 * Random events of two people, with keys: the enrolments are those of a small model of the contract, whatever the
 * micro-batches that the events come in, and whether a worker remembers the people or not.
 */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { NOW, batch, eventFact, openPipeline, track } from '../support/facts.ts'
import { runs } from '../support/runs.ts'
import { createBusiness } from '../support/stack.ts'
import { type EngineLab, useEngineLab } from './use-engine-lab.ts'
import { openShop } from './engine-lab.ts'

let lab: EngineLab
useEngineLab((opened) => (lab = opened))

interface Plan {
  canEnterAgain: boolean
  whileActive: 'ignore' | 'update' | 'restart'
  /** Whether the goal and the wait compare keys, and the goal has a condition. */
  hasSameKey: boolean
  hasWhere: boolean
}
interface Happening {
  who: 0 | 1
  event: 'cart' | 'paid' | 'opened'
  key: string | number | null
  total: 1 | 9
  back: number
  isLive: boolean
  /** With the events before it, as one micro-batch. */
  isTogether: boolean
  /** By a worker that remembers nothing. */
  isElsewhere: boolean
}

const oneOf = fc.constantFrom
const plan: fc.Arbitrary<Plan> = fc.record({
  canEnterAgain: fc.boolean(),
  whileActive: oneOf('ignore', 'update', 'restart'),
  hasSameKey: oneOf(true, true, false),
  hasWhere: fc.boolean(),
})
const happening: fc.Arbitrary<Happening> = fc.record({
  who: oneOf(0, 0, 1),
  event: oneOf('cart', 'cart', 'paid', 'opened'),
  key: oneOf('a', ' a ', 'b', 7, '7', null),
  total: oneOf(1, 9),
  back: oneOf(0, 0, 0, 1, 5, 50),
  isLive: oneOf(true, true, true, false),
  isTogether: fc.boolean(),
  isElsewhere: fc.boolean(),
})

interface Enrolment {
  who: number
  key: string
  state: string
  at: number
  received: number
  /** The total and the date of the event that templates read. */
  total: number
  readAt: number
  /** When its wait began, and the first event that ends it. */
  since: number
  heardAt: number | null
}

/** The contract, event by event. */
function expectedOf({ canEnterAgain, whileActive, hasSameKey, hasWhere }: Plan, all: readonly Happening[]): string[] {
  const enrolments: Enrolment[] = []
  const goals: { who: number; key: string | null; at: number }[] = []
  for (const [n, { who, event, key: sent, total, back, isLive }] of all.entries()) {
    const received = NOW + n * 10
    const at = received - back
    const key = sent === null ? null : String(sent).trim()
    const active = enrolments.filter((one) => one.who === who && one.state === 'active')
    if (event === 'paid') {
      const counts = (!hasWhere || total === 9) && (!hasSameKey || key !== null)
      if (counts) goals.push({ who, key, at })
      for (const one of counts ? active : [])
        if (!hasSameKey || one.key === key) one.state = at >= one.at ? 'converted' : 'stopped'
    }
    if (event === 'opened')
      for (const one of active)
        if (one.key === key && at >= one.since) one.heardAt = Math.min(at, one.heardAt ?? Infinity)
    if (event !== 'cart' || !isLive || key === null) continue
    const same = enrolments.filter((one) => one.who === who && one.key === key)
    const current = same.find(({ state }) => state === 'active')
    if (current && whileActive !== 'ignore' && at >= current.readAt) {
      Object.assign(current, { total, readAt: at })
      if (whileActive === 'restart') Object.assign(current, { since: received, heardAt: null })
    }
    if (canEnterAgain ? current : same.length > 0) continue
    const isReached = goals.some((goal) => goal.who === who && (!hasSameKey || goal.key === key) && goal.at >= at)
    const state = isReached ? 'converted' : 'active'
    enrolments.push({ who, key, state, at, received, total, readAt: at, since: received, heardAt: null })
  }
  return enrolments.map(shown).toSorted()
}

const shown = ({ who, key, state, at, total, since, heardAt }: Omit<Enrolment, 'received' | 'readAt'>): string => {
  const shortly = `person ${who}, ${key}: ${state} from ${at - NOW}`
  if (state !== 'active') return shortly
  return `${shortly}, ${total}, waits since ${since - NOW}${heardAt === null ? '' : ` and ends at ${heardAt - NOW}`}`
}

async function enrolmentsOf(businessId: string): Promise<string[]> {
  const rows = await lab.stack.sql<(Omit<Enrolment, 'total'> & { properties: string | null })[]>`
    select substr(i.value, 2, 1)::integer as who, e.key, e.state, e.enrolled_at as at, e.event_properties as properties,
      d.began_at as since, d.awaited_at as "heardAt"
    from enrolments e
    join identities i on i.business_id = e.business_id and i.contact_id = e.contact_id
    left join due_steps d on d.business_id = e.business_id and d.enrolment_id = e.id
    where e.business_id = ${businessId}`
  return rows
    .map(({ properties, ...row }) => {
      const { total } = JSON.parse(properties ?? '{}') as { total: number }
      return shown({ ...row, total })
    })
    .toSorted()
}

async function live({ canEnterAgain, whileActive, hasSameKey, hasWhere }: Plan, all: readonly Happening[]) {
  const { businessId } = await createBusiness(lab.stack.sql)
  const shop = openShop(lab.stack, lab.engine, lab.pipeline, businessId)
  const where = [{ property: 'total', operator: 'greater_than' as const, value: 5 }]
  await shop.publish([{ type: 'wait_for', event: 'opened', sameKey: true, timeout: 'P1D' }], {
    trigger: 'cart',
    goal: 'paid',
    canEnterAgain,
    keys: {
      enrolPer: { property: 'id' },
      whileActive,
      goalConditions: { ...(hasSameKey && { sameKey: true as const }), ...(hasWhere && { where }) },
    },
  })
  const calls = all.map(({ who, event, key, total, back, isLive }, n) => {
    const receivedAt = NOW + n * 10
    const properties = JSON.stringify({ ...(key !== null && { id: key }), total })
    const fact = eventFact(event, { email: `p${who}@x.io` }, { occurredAt: receivedAt - back, properties })
    return { ...(isLive ? track(businessId, fact) : batch(businessId, [fact])), receivedAt }
  })
  for (let from = 0; from < calls.length;) {
    let to = from + 1
    while (to < calls.length && all[to]!.isTogether) to += 1
    const worker = all[from]!.isElsewhere ? await openPipeline(lab.stack.sql) : lab.pipeline
    await worker.apply(...calls.slice(from, to))
    from = to
  }
  return await enrolmentsOf(businessId)
}

it('the enrolments of each key are those of the model', { timeout: 3_600_000 }, async () => {
  const property = fc.asyncProperty(plan, fc.array(happening, { minLength: 1, maxLength: 20 }), async (one, all) => {
    expect(await live(one, all)).toEqual(expectedOf(one, all))
  })
  await fc.assert(property, { numRuns: runs(300) })
})
