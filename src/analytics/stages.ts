/** Number of contacts in each stage, and their moves between stages over time. */
import { STAGES, type Stage, type StageName, namesOfStage } from '../rules/events/journey-stage.ts'
import type { Buckets } from './buckets.ts'
import { NEVER, bucketSql, contactsSql } from './events-sql.ts'
import type { ReadRows } from './read-rows.ts'

/** The stages in which a contact can arrive. */
const LATER: readonly Stage[] = [1, 2, 3, 4]

export interface StageMove {
  /** Null for the stage in which contacts began. */
  from: StageName | null
  to: StageName
  total: number
  /** By bucket. */
  points: number[]
}

/** The present numbers, first stage first. Rejects with QueryFault. */
export async function readStages(
  read: ReadRows,
  businessId: string,
): Promise<{ stage: StageName; contacts: number }[]> {
  const found = await read<{ stage: string; contacts: number }>(
    `select stage, count() as contacts from (${contactsSql({ stage: 'stage' })}) group by stage`,
    { business: businessId },
  )
  const counted = new Map(found.map(({ stage, contacts }) => [stage, contacts]))
  return STAGES.map((stage) => ({ stage, contacts: counted.get(stage) ?? 0 }))
}

/**
 * Moves follow from the first time of each event, as in the history of one contact (src/rules/events/stage-history.ts),
 * so they are right after merges and backfills, too. Rejects with QueryFault.
 */
export async function readStageMoves(read: ReadRows, businessId: string, buckets: Buckets): Promise<StageMove[]> {
  // Of two stages at the same instant, the later stage counts.
  const entries = LATER.map((stage) => {
    const further = LATER.filter((one) => one > stage).map((one) => `at_${one}`)
    return `if(at_${stage} < least(${[...further, NEVER, NEVER].join(', ')}), [tuple(at_${stage}, ${stage})], [])`
  })
  const found = await read<{ bucket: number; before: number; after: number; contacts: number }>(
    `select ${bucketSql(buckets, 'move.1')} as bucket, move.2 as before, move.3 as after, count() as contacts
    from (
      select least(created_ms, ${knownOr('created_ms', 'first_ms')}) as began,
        ${LATER.map((stage) => `${knownOr(NEVER, `first_${stage}`)} as at_${stage}`).join(', ')},
        arrayConcat(${entries.join(', ')}) as later,
        if(arrayExists(one -> one.1 <= began, later), later, arrayPushFront(later, tuple(began, 0))) as path,
        arrayJoin(arrayMap((one, last) -> tuple(toInt64(one.1), last, toInt8(one.2)), path,
          arrayPushFront(arrayPopBack(arrayMap(one -> toInt8(one.2), path)), toInt8(-1)))) as move
      from (${contactsSql({ created_ms: 'created_ms' })}) as contact
      left join (${FIRST_TIMES}) as happened on happened.contact_id = contact.contact_id
    )
    where move.1 >= ${buckets.from} and move.1 < ${buckets.to}
    group by bucket, before, after`,
    {
      business: businessId,
      ...Object.fromEntries(LATER.map((stage) => [`stage_${stage}`, namesOfStage(stage)])),
    },
  )
  return movesOf(found, buckets)
}

/** A contact without events has no row of events. */
const knownOr = (otherwise: string, name: string): string => `if(happened.is_known = 1, happened.${name}, ${otherwise})`

/** By contact: the time of its first event, and of the first event that led to each stage. */
const FIRST_TIMES = `select coalesce(redirect.survivor_id, event_of.contact_id) as contact_id, 1 as is_known,
  min(at_ms) as first_ms,
  ${LATER.map((stage) => `min(if(event in {stage_${stage}: Array(String)}, at_ms, ${NEVER})) as first_${stage}`).join(', ')}
from (
  select contact_id, event, toInt64(first_ms) as at_ms from event_statistics where business_id = {business: UUID}
) as event_of
left join (
  select contact_id, survivor_id from contact_redirects final where business_id = {business: UUID}
) as redirect on redirect.contact_id = event_of.contact_id
group by contact_id`

function movesOf(
  found: readonly { bucket: number; before: number; after: number; contacts: number }[],
  { starts }: Buckets,
): StageMove[] {
  const places = new Map(starts.map((at, place) => [at, place]))
  const byMove = Map.groupBy(found, ({ before, after }) => `${before} ${after}`)
  return [...byMove.values()]
    .map((those) => {
      const [{ before, after } = { before: -1, after: 0 }] = those
      const points = starts.map(() => 0)
      for (const { bucket, contacts } of those) points[places.get(bucket) ?? 0] = contacts
      const total = those.reduce((sum, { contacts }) => sum + contacts, 0)
      return { before, after, total, points }
    })
    .toSorted((one, other) => one.before - other.before || one.after - other.after)
    .map(({ before, after, total, points }) => ({
      from: STAGES[before as Stage] ?? null,
      to: STAGES[after as Stage],
      total,
      points,
    }))
}
