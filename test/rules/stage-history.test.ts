/** When a contact reached each stage, from its event statistics. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { STAGES, stageOf } from '../../src/rules/events/journey-stage.ts'
import { stageHistory } from '../../src/rules/events/stage-history.ts'
import { runs } from '../support/runs.ts'

const at = (event: string, firstAt: number) => ({ event, firstAt })

describe("the history of a contact's stage", () => {
  it('begins in the first stage when the contact was created', () => {
    expect(stageHistory(100, [])).toEqual([{ stage: 'Awareness', event: null, at: 100 }])
    expect(stageHistory(100, [at('page_view', 40), at('chatted', 200)])).toEqual([
      { stage: 'Awareness', event: null, at: 40 },
    ])
  })

  it('has the first event of each further stage, whatever the order in which they were recorded', () => {
    const events = [at('purchase', 300), at('add_to_cart', 200), at('product_viewed', 150), at('referral_made', 400)]
    expect(stageHistory(100, events)).toEqual([
      { stage: 'Awareness', event: null, at: 100 },
      { stage: 'Consideration', event: 'product_viewed', at: 150 },
      { stage: 'Decision', event: 'purchase', at: 300 },
      { stage: 'Advocacy', event: 'referral_made', at: 400 },
    ])
  })

  it('leaves out a stage that the contact had passed, and the first one of a contact that begins further', () => {
    expect(stageHistory(100, [at('purchase', 100), at('add_to_cart', 200)])).toEqual([
      { stage: 'Decision', event: 'purchase', at: 100 },
    ])
  })

  it('only moves forward, in order of time, and ends in the furthest stage of all events', () => {
    const event = fc.constantFrom('page_view', 'add_to_cart', 'purchase', 'order_delivered', 'referral_made', 'other')
    const events = fc.uniqueArray(fc.record({ event, firstAt: fc.nat(20) }), { selector: ({ event: name }) => name })
    fc.assert(
      fc.property(fc.nat(20), events, (createdAt, happened) => {
        const history = stageHistory(createdAt, happened)
        const stages = history.map(({ stage }) => STAGES.indexOf(stage))
        const times = history.map((entry) => entry.at)
        expect(stages).toEqual([...new Set(stages)].toSorted((one, other) => one - other))
        expect(times).toEqual(times.toSorted((one, other) => one - other))
        expect(stages.at(-1)).toBe(Math.max(0, ...happened.map(({ event: name }) => stageOf(name) ?? 0)))
      }),
      { numRuns: runs(200) },
    )
  })
})
