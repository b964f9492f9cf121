/** Random lives: campaigns, a few people, and the actions of callers, workers and the clock. */
import * as fc from 'fast-check'
import { HOUR, MINUTE } from '../engine-lab.ts'
import { type Plan, type PlanMessaging, type Sketch, VIP, ZONES, type Zone } from './plan.ts'
import { LEASE, PEOPLE, PHONE } from './reference.ts'

const oneOf = fc.constantFrom
const EVENTS = ['signup', 'visit', 'paid', 'opened']
const spans = oneOf(1000, LEASE - 1000, LEASE, LEASE + 1000, HOUR)

const leaf: fc.Arbitrary<Sketch> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('send' as const),
      channel: oneOf('email', 'email', 'email', 'webhook'),
      kind: oneOf('marketing', 'marketing', 'transactional'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: spans }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('wait_until' as const),
      minute: oneOf(0, 719, 720, 721, 1439),
      weekdays: fc.option(fc.subarray([1, 5, 6], { minLength: 1 }), { nil: null, freq: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('update' as const), has: fc.boolean() }) },
)
const leaves = fc.array(leaf, { maxLength: 2 })
/** Only `steps` can end with an exit, so that the steps after the branch can be reached. */
const ways = {
  steps: fc
    .tuple(leaves, fc.boolean())
    .map(([steps, exits]): Sketch[] => (exits ? [...steps, { type: 'exit' }] : steps)),
  otherwise: leaves,
}
const on = oneOf({ event: 'opened' }, { event: 'paid' }, { tag: VIP })
const step: fc.Arbitrary<Sketch> = fc.oneof(
  { weight: 4, arbitrary: leaf },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('wait_for' as const),
      event: oneOf('opened', 'signup'),
      ms: spans,
      ...ways,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('branch' as const), on, ...ways }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('split' as const), percent: oneOf(0.01, 50, 99.99), ...ways }),
  },
)
const sketch = fc.array(step, { minLength: 1, maxLength: 4 })
/** A life begins at noon: these hours begin then or soon after. */
const hours = oneOf({ from: 720, to: 750 }, { from: 721, to: 720 }, { from: 780, to: 721 }, { from: 0, to: 1260 })
const quiet = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  { weight: 3, arbitrary: hours },
  { weight: 2, arbitrary: fc.constant('business' as const) },
)

const cap = fc.record({
  atMost: oneOf(1, 2),
  ms: oneOf(HOUR * 3, HOUR * 12, HOUR * 24),
  whenReached: oneOf('wait' as const, 'skip' as const),
})

const plan: fc.Arbitrary<Plan> = fc.record({
  trigger: oneOf('signup', 'visit'),
  goal: oneOf(null, 'paid'),
  canEnterAgain: fc.boolean(),
  quiet,
  caps: fc.array(cap, { maxLength: 3 }).map((caps) => caps.slice(1)),
  holdOut: oneOf(0, 0, 0, 50),
  sketch,
})

const who = fc.nat({ max: PEOPLE - 1 })
const owner = fc.nat({ max: PHONE - 1 })
const which = fc.nat({ max: 7 })
/** How long before its receipt an event occurred, in ms. */
const back = oneOf(0, 0, 0, 1, 1000, HOUR)
const of = <Kind extends string, Rest extends object>(
  kind: Kind,
  rest: { [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
) => fc.record({ kind: fc.constant(kind), ...rest }) as unknown as fc.Arbitrary<{ kind: Kind } & Rest>

/** Actions of callers. */
export type Call =
  | { kind: 'event'; who: number; event: string; back: number; isLive: boolean }
  | { kind: 'consent'; who: number; isGiven: boolean }
  | { kind: 'suppress' | 'erase'; who: number }
  | { kind: 'tag'; who: number; has: boolean }
  | { kind: 'lift' }
  /** The person with an address turns out to be the person with the phone. */
  | { kind: 'merge'; who: number }
  | { kind: 'status'; which: number; status: 'published' | 'paused' | 'archived' }
  | { kind: 'edit'; which: number; sketch: Sketch[] }
  | { kind: 'zone'; who: number; zone: Zone | null }
  | ({ kind: 'messaging' } & PlanMessaging)
  /** The mail channel. */
  | { kind: 'channel'; isPaused: boolean }

/** Actions of workers. */
export type Deed =
  /** Claims without settling. */
  | { kind: 'claim' }
  /** Settles a message in flight. `isTwice`: the first reply is lost. */
  | {
      kind: 'settle'
      which: number
      outcome: 'accepted' | 'refused' | 'bounced' | 'unknown' | 'temporary'
      isTwice: boolean
    }
  /** Passes an update to the live partition. `isTwice`: its entry is read again. */
  | { kind: 'apply'; which: number; isTwice: boolean }
  /** A worker dies with a message and an update in flight. */
  | { kind: 'die'; which: number }
  /** Does everything that is due, with one engine or with two at once. */
  | { kind: 'work'; engines: 1 | 2 }

export type Action =
  | Call
  | Deed
  /** Moves the clock. `near`: to about the instant of something due; otherwise forward by `ms`. */
  | { kind: 'clock'; ms: number; near: { which: number; more: number } | null }

type Near = Extract<Action, { kind: 'clock' }>['near']
const near: fc.Arbitrary<Near> = fc.option(fc.record({ which, more: oneOf(-1, 0, 0, 1) }), { freq: 4, nil: null })

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: of('event', { who, event: oneOf('signup', ...EVENTS), back, isLive: oneOf(true, true, true, false) }),
  },
  { weight: 3, arbitrary: of('consent', { who, isGiven: oneOf(true, true, false) }) },
  { weight: 1, arbitrary: fc.oneof(of('suppress', { who: owner }), of('erase', { who }), of('lift', {})) },
  { weight: 1, arbitrary: of('merge', { who: owner }) },
  { weight: 1, arbitrary: of('tag', { who, has: fc.boolean() }) },
  { weight: 2, arbitrary: of('status', { which, status: oneOf('published', 'published', 'paused', 'archived') }) },
  { weight: 1, arbitrary: of('edit', { which, sketch }) },
  { weight: 2, arbitrary: of('zone', { who, zone: oneOf(null, ...(Object.keys(ZONES) as Zone[])) }) },
  {
    weight: 1,
    arbitrary: of('messaging', { quiet: fc.option(hours, { nil: null }), caps: fc.array(cap, { maxLength: 1 }) }),
  },
  { weight: 1, arbitrary: of('channel', { isPaused: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: of('clock', {
      ms: oneOf(1, 1000, LEASE, 10 * MINUTE, HOUR),
      near,
    }),
  },
  { weight: 4, arbitrary: of('claim', {}) },
  {
    weight: 4,
    arbitrary: of('settle', {
      which,
      outcome: oneOf('accepted', 'accepted', 'refused', 'bounced', 'unknown', 'temporary'),
      isTwice: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: of('apply', { which, isTwice: fc.boolean() }) },
  { weight: 1, arbitrary: of('die', { which }) },
  { weight: 4, arbitrary: of('work', { engines: oneOf(1 as const, 1 as const, 2 as const) }) },
)

export interface Life {
  plans: Plan[]
  /** For each person, whether they have opted in at the beginning. */
  optedIn: boolean[]
  actions: Action[]
}

export const life: fc.Arbitrary<Life> = fc.record({
  plans: fc.array(plan, { minLength: 1, maxLength: 2 }),
  optedIn: fc.array(oneOf(true, true, false), { minLength: PEOPLE, maxLength: PEOPLE }),
  actions: fc.array(action, { minLength: 5, maxLength: 30, size: 'max' }),
})
