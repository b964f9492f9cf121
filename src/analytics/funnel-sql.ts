/** ClickHouse query for how far each contact got in a funnel. */
import type { Period } from './buckets.ts'
import { type EventCondition, contactRowsSql, isIn, matchesEventSql } from './events-sql.ts'

/**
 * `in_order`: other events may occur between two steps. `strict`: none may. `any`: the steps in any order; then their
 * events differ, and the first step is the one that was done first.
 */
export const FUNNEL_ORDERS = ['in_order', 'strict', 'any'] as const
export type FunnelOrder = (typeof FUNNEL_ORDERS)[number]

export interface FunnelQuery {
  /** 2 to 10. */
  steps: readonly (EventCondition & { event: string })[]
  order: FunnelOrder
  /** Window in milliseconds: the other steps must be done within this time after the first one. */
  windowMs: number
  /** Period of the first step. */
  period: Period
}

/**
 * Returns a query that selects `contact_id` and `done`, the times of the steps that the contact reached, in epoch
 * milliseconds. The best attempt of a contact counts; of equal ones, the one that got there first. In it, each step has
 * the last time before the next step (in any order: the first time).
 */
export function funnelSql(query: FunnelQuery): string {
  return query.order === 'any' ? anyOrderSql(query) : inOrderSql(query)
}

/** Conditions of the steps' events: `step_1` and so on. */
export const funnelParams = ({ steps }: FunnelQuery): Record<string, string> =>
  Object.fromEntries(steps.map(({ event }, place) => [`step_${place + 1}`, event]))

/**
 * Bits of the steps, and of an event's id. Together with its time they make one number that sorts in the order of the
 * timeline.
 */
const MASK_BITS = 10
const ID_BITS = 128

/**
 * One row per contact, with its events in order: `times`, and `masks` with a bit for each step that an event can be.
 * Contacts without an event that can begin an attempt are left out.
 */
function contactsOf({ steps, order, windowMs, period: { from, to } }: FunnelQuery): string {
  const bits = steps.map((step, place) => `if(${matchesEventSql(step, `step_${place + 1}`)}, ${2 ** place}, 0)`)
  const begins = order === 'any' ? 'mask > 0' : 'bitTest(mask, 0)'
  const rows = contactRowsSql({
    columns: {
      mask: `toUInt16(${bits.join(' + ')})`,
      begins: `${begins} and ${isIn({ from, to })}`,
      packed: `bitShiftLeft(toInt256(occurred_ms), ${ID_BITS + MASK_BITS}) + bitShiftLeft(toInt256(toUInt128(event_id)), ${MASK_BITS}) + mask`,
    },
    where: [isIn({ from, to: to + windowMs + 1 }), ...(order === 'strict' ? [] : [`mask > 0`])],
    aggregates: { happened: 'groupArray(packed)' },
    having: 'max(begins) = 1',
  })
  return `select contact_id, arraySort(happened) as sorted,
  arrayMap(one -> toInt64(bitShiftRight(one, ${ID_BITS + MASK_BITS})), sorted) as times,
  arrayMap(one -> toUInt16(bitAnd(one, ${2 ** MASK_BITS - 1})), sorted) as masks
from (${rows})`
}

/** For each event: its place if it reaches the step, and when that attempt began. */
const NOWHERE = 'tuple(toUInt32(0), toInt64(0))'

/**
 * Step by step: an event reaches a step if the latest event that reached the previous step began within the window. Of
 * all attempts, that one began last, so no other can do better. A lambda that used a whole array would copy it for each
 * element, so arrays are only zipped.
 */
function inOrderSql(query: FunnelQuery): string {
  const { steps, order, windowMs, period } = query
  const latest = (reach: string) => (order === 'strict' ? reach : `arrayFill(one -> one.1 > 0, ${reach})`)
  let sql = `select contact_id, times, masks, arrayEnumerate(times) as places,
  arrayMap((at, mask, place) -> if(bitTest(mask, 0) and at >= ${period.from} and at < ${period.to}, tuple(place, at), ${NOWHERE}),
    times, masks, places) as reach_1
from (${contactsOf(query)})`
  for (let step = 2; step <= steps.length; step += 1) {
    sql = `select *, arrayPushFront(arrayPopBack(${latest(`reach_${step - 1}`)}), ${NOWHERE}) as before_${step},
  arrayMap((at, mask, place, before) -> if(bitTest(mask, ${step - 1}) and before.1 > 0 and at - before.2 <= ${windowMs},
    tuple(place, before.2), ${NOWHERE}), times, masks, places, before_${step}) as reach_${step}
from (${sql})`
  }
  // Backwards from the first time that the last step was reached.
  const first = (step: number) => `arrayFirst(one -> one.1 > 0, reach_${step}).1`
  sql = `select *, ${first(steps.length)} as place_${steps.length} from (${sql})`
  for (let step = steps.length - 1; step >= 1; step -= 1) {
    const next = `place_${step + 1}`
    sql = `select *, if(${next} > 0, before_${step + 1}[${next}].1, ${first(step)}) as place_${step} from (${sql})`
  }
  const places = steps.map((_, place) => `place_${place + 1}`)
  return `select contact_id, arrayMap(place -> times[place], arrayFilter(place -> place > 0, [${places.join(', ')}])) as done
from (${sql})`
}

const NEVER = '9223372036854775807'

/** For each event that can begin an attempt: when each step was done next. */
function anyOrderSql(query: FunnelQuery): string {
  const { steps, windowMs, period } = query
  const next = steps.map(
    (_, place) =>
      `arrayReverseFill(at -> at != ${NEVER}, arrayMap((at, mask) -> if(bitTest(mask, ${place}), at, ${NEVER}), times, masks))`,
  )
  const names = steps.map((_, place) => `next_${place + 1}`)
  return `select contact_id, arraySort(done -> tuple(-toInt64(length(done)), done), attempts)[1] as done
from (
  select contact_id,
    arrayMap((at, ${names.join(', ')}) -> if(at >= ${period.from} and at < ${period.to},
      arraySort(arrayFilter(one -> one != ${NEVER} and one - at <= ${windowMs}, [${names.join(', ')}])), []),
      times, ${next.join(', ')}) as attempts
  from (${contactsOf(query)})
)`
}
