/**
 * How the counts and sums of a contact changed over a period: through events that were received, and through events
 * that left the window.
 */
import { addDecimals, negateDecimal } from '../add-decimals.ts'
import { type WindowEvent, type WindowReading, emptyReading } from './window-reading.ts'
import type { Window } from './windows-of.ts'

export interface Period {
  /** Epoch ms. */
  from: number
  /** Instant up to which events leave windows (epoch ms). */
  until: number
}

/** A change at one instant. Events that leave, events from batches and live events are separate steps. */
export interface WindowStep {
  at: number
  isByTime: boolean
  /** The values after the step, for the windows that it changes. */
  values: Map<string, StepValue>
}

export interface StepValue {
  /** Undefined when the window has no event. */
  value: string | undefined
  /** True when every event of the change came in a batch. */
  isBulk: boolean
}

export interface WindowWalk {
  /** The values at the beginning of the period, from the events received earlier. */
  before: Map<string, string | undefined>
  steps: WindowStep[]
  /** The values at the end, and the next time at which time alone changes them (epoch ms). */
  after: Map<string, { value: string | undefined; nextAt: number | null }>
}

interface Move {
  key: string
  at: number
  isByTime: boolean
  event: WindowEvent
}

/** Computes the changes over a period. A window without a reading has no event. */
export function walkWindows(
  windows: readonly Window[],
  readings: ReadonlyMap<string, WindowReading>,
  period: Period,
): WindowWalk {
  const tallies = new Map<string, Tally>()
  const before: WindowWalk['before'] = new Map()
  const moves: Move[] = []
  for (const { key, condition } of windows) {
    const tally = new Tally(condition.metric === 'sum', readings.get(key) ?? emptyReading(), period)
    tallies.set(key, tally)
    before.set(key, tally.value())
    moves.push(...tally.moves(period).map((move) => ({ key, ...move })))
  }
  const steps = stepsOf(moves, tallies)
  const after = [...tallies].map(([key, tally]) => [key, { value: tally.value(), nextAt: tally.nextAt() }] as const)
  return { before, steps, after: new Map(after) }
}

/** One count or sum. */
class Tally {
  readonly #isSum: boolean
  readonly #reading: WindowReading
  readonly #inside: Set<WindowEvent>
  #count: number
  #total: string

  constructor(isSum: boolean, reading: WindowReading, { from }: Period) {
    this.#isSum = isSum
    this.#reading = reading
    const inside = reading.recent.filter(
      ({ receivedAt, leavesAt }) => receivedAt < from && (leavesAt === null || leavesAt >= from),
    )
    this.#inside = new Set(inside)
    this.#count = reading.count + inside.length
    this.#total = addDecimals(reading.total, ...inside.map(({ added }) => added))
  }

  moves({ from, until }: Period): Omit<Move, 'key'>[] {
    const received = this.#reading.recent.filter(
      ({ receivedAt, leavesAt }) => receivedAt >= from && (leavesAt === null || leavesAt > receivedAt),
    )
    return [
      ...received.map((event) => ({ at: event.receivedAt, isByTime: false, event })),
      ...[...this.#inside, ...received].flatMap((event) =>
        event.leavesAt === null || event.leavesAt > until ? [] : [{ at: event.leavesAt, isByTime: true, event }],
      ),
    ]
  }

  apply({ isByTime, event }: Move): void {
    if (isByTime) this.#inside.delete(event)
    else this.#inside.add(event)
    this.#count += isByTime ? -1 : 1
    this.#total = addDecimals(this.#total, isByTime ? negateDecimal(event.added) : event.added)
  }

  value(): string | undefined {
    if (this.#count === 0) return undefined
    return this.#isSum ? this.#total : String(this.#count)
  }

  nextAt(): number | null {
    let next = this.#reading.leavesAt
    for (const { leavesAt } of this.#inside)
      if (leavesAt !== null && (next === null || leavesAt < next)) next = leavesAt
    return next
  }
}

/** At one instant, events that leave come first, and events from batches come before live ones. */
function stepsOf(moves: Move[], tallies: ReadonlyMap<string, Tally>): WindowStep[] {
  const rank = ({ isByTime, event }: Move): number => (isByTime ? 0 : event.isBatch ? 1 : 2)
  const steps: WindowStep[] = []
  let last = -1
  for (const move of moves.sort((a, b) => a.at - b.at || rank(a) - rank(b))) {
    const { key, at, isByTime, event } = move
    if (steps.at(-1)?.at !== at || last !== rank(move)) steps.push({ at, isByTime, values: new Map() })
    last = rank(move)
    const tally = tallies.get(key)!
    tally.apply(move)
    const { values } = steps.at(-1)!
    values.set(key, { value: tally.value(), isBulk: event.isBatch && (values.get(key)?.isBulk ?? true) })
  }
  return steps
}
