/** What a round found, in words and for programs. */
import type { Difference, DifferenceKind } from './difference.ts'
import type { Uncompared } from './inspect.ts'
import type { Verdict } from './verify.ts'

/** Differences shown one by one: to a person, and in JSON. */
const SHOWN = 20
const SHOWN_AS_JSON = 1000

const NAMES: Record<DifferenceKind, string> = {
  events: 'timeline',
  statistics: 'statistics',
  revenue: 'revenue',
  orders: 'orders',
  contact: 'snapshot',
  merge: 'merge',
  doubled: 'doubled events',
  visitor: 'visitor',
  key: 'idempotency key',
  erasure: 'erasure',
  business: 'business',
  view: 'view',
  table: 'table',
  postgres: 'in Postgres',
  redis: 'partition',
  groups: 'groups',
}

/**
 * Null when nothing is known to differ, and the shipper left some waiting or something could not be compared. Contacts
 * that change all the time are told and count as agreeing: on a busy system there always are some.
 */
export function agrees({ differences, differing, stuck, uncompared }: Verdict): boolean | null {
  if (differences.length > 0 || differing > 0) return false
  return stuck > 0 || uncompared.length > 0 ? null : true
}

export function toJson(verdict: Verdict, seconds: number) {
  const { businesses, contacts, visitors, notCompared, stuck, differing, found, differences, uncompared, repaired } =
    verdict
  return {
    agree: agrees(verdict),
    seconds: Math.round(seconds * 10) / 10,
    businesses,
    contacts,
    visitors,
    notCompared,
    stuck,
    differing,
    found,
    differences: differences.slice(0, SHOWN_AS_JSON),
    uncompared: uncompared.slice(0, SHOWN_AS_JSON),
    // Of very many that differ, not even all were kept.
    truncated: countFound(verdict) > SHOWN_AS_JSON || uncompared.length > SHOWN_AS_JSON,
    repaired,
  }
}

const countFound = ({ found }: Verdict): number => Object.values(found).reduce((sum, count) => sum + count, 0)

export function toText(verdict: Verdict, seconds: number): string {
  const { businesses, contacts, visitors, notCompared, stuck, differences, uncompared } = verdict
  const isPartial = notCompared > 0 || uncompared.length > 0
  const compared = `${plural(contacts, 'contact')} and ${plural(visitors, 'visitor')} of ${plural(businesses, 'business', 'businesses')} in ${seconds.toFixed(1)} s`
  return [
    ...repairsOf(verdict),
    agrees(verdict) === false
      ? `${summaryOf(verdict)} (${compared}):`
      : `Postgres and ClickHouse agree${isPartial ? ' as far as they could be compared' : ''}: ${compared}.`,
    ...differences.slice(0, SHOWN).map((one) => `  ${describe(one)}`),
    ...(countFound(verdict) > SHOWN
      ? [`  … and ${countFound(verdict) - SHOWN} more: --json shows up to ${SHOWN_AS_JSON}`]
      : []),
    ...(notCompared > stuck
      ? [
          `${plural(notCompared - stuck, 'contact or visitor', 'contacts or visitors')} changed all the time and could not be compared.`,
        ]
      : []),
    ...(stuck > 0
      ? [
          `${plural(stuck, 'contact or visitor', 'contacts or visitors')} waited for the shipper all the time: are the workers and ClickHouse well?`,
        ]
      : []),
    ...uncompared.slice(0, SHOWN).map(describeUncompared),
    ...(uncompared.length > SHOWN ? [`${uncompared.length - SHOWN} more could not be compared.`] : []),
    ...adviceOf(verdict),
  ].join('\n')
}

const describeUncompared = ({ businessId, what, reason }: Uncompared): string =>
  `Business ${businessId} could not be compared (${what}): ${reason}.`

const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

function summaryOf({ differing, found, differences }: Verdict): string {
  const visitors = found['visitor'] ?? 0
  const others = differences.filter(({ contactId, kind }) => contactId === null && kind !== 'visitor').length
  const who = [
    ...(differing > visitors ? [plural(differing - visitors, 'contact')] : []),
    ...(visitors > 0 ? [plural(visitors, 'visitor')] : []),
    ...(others > 0 || differing === 0 ? [plural(others || differences.length, 'other thing')] : []),
  ]
  const kinds = Object.entries(found).map(([kind, count]) => `${NAMES[kind as DifferenceKind]} ${count}`)
  const verb = differing + others === 1 ? 'differs' : 'differ'
  return `${who.join(' and ')} ${verb}: ${kinds.join(', ')}`
}

function describe({ kind, businessId, contactId, name, postgres, clickhouse, note, eventIds }: Difference): string {
  const where = [contactId && `contact ${contactId}`, !contactId && businessId && `business ${businessId}`, name]
  const both = postgres !== null || clickhouse !== null
  return [
    [NAMES[kind], ...where.filter(Boolean)].join(' '),
    ...(kind === 'postgres' || kind === 'redis' || kind === 'groups' ? [postgres ?? ''] : []),
    ...(both && SIDES.has(kind) ? [`Postgres ${postgres ?? 'none'}, ClickHouse ${clickhouse ?? 'none'}`] : []),
    note,
    eventIds?.join(' ') ?? '',
  ]
    .filter(Boolean)
    .join(': ')
}

/** Those of which both stores say something. */
const SIDES = new Set<DifferenceKind>([
  'events',
  'statistics',
  'revenue',
  'orders',
  'contact',
  'merge',
  'doubled',
  'visitor',
  'key',
  'erasure',
  'view',
])

function repairsOf({ repaired }: Verdict): string[] {
  if (!repaired) return []
  const { saves, copies, contacts, visitors, erasures, corrected, keys, tables } = repaired
  const done = [
    tables > 0 && `${plural(tables, 'table')} made again`,
    saves > 0 && `${plural(saves, 'save')} sent again`,
    copies > 0 && `${plural(copies, 'doubled event')} made single`,
    contacts > 0 && `${plural(contacts, 'contact')} sent again`,
    visitors > 0 && `${plural(visitors, 'visitor')} sent again`,
    erasures > 0 && `${plural(erasures, 'erasure')} finished again`,
    corrected > 0 && `${plural(corrected, 'contact')} corrected in Postgres`,
    keys > 0 && `${plural(keys, 'idempotency key')} restored in Postgres`,
  ].filter(Boolean)
  return [done.length > 0 ? `Repaired: ${done.join(', ')}.` : 'Nothing needed repair.']
}

/** What to do next. */
function adviceOf(verdict: Verdict): string[] {
  if (agrees(verdict) !== false) return []
  const { repaired, differences } = verdict
  const kinds = new Set(differences.map(({ kind }) => kind))
  const isOwn = kinds.has('postgres') || kinds.has('redis') || kinds.has('groups')
  return [
    ...(isRestored(verdict) ? [AFTER_RESTORE] : repaired ? [LEFT] : [REPAIR]),
    ...(isOwn
      ? ['What breaks a rule within Postgres or Redis is not touched: please report it, with the logs of its time.']
      : []),
  ]
}

/** ClickHouse knows people or events that Postgres has no trace of. */
const isRestored = ({ differences }: Verdict): boolean =>
  differences.some(({ isAhead, kind }) => isAhead === true || kind === 'business')

const REPAIR =
  'Next: admin verify --repair. It sends again what the outbox holds, and all snapshots, statistics and visitors; it corrects Postgres where the timeline and a second record agree against it; it deletes only what was erased or doubled.'
const LEFT = 'What is left cannot be repaired: neither the outbox nor the other records say what is right.'
const AFTER_RESTORE =
  'ClickHouse knows more than Postgres: was Postgres restored from a backup? Next: stop all front doors and workers, then run admin recover. It saves what only ClickHouse has to files that admin import takes. A repair leaves these contacts alone.'
