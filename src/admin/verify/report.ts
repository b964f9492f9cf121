/** Formats the findings of a round as text and as JSON. */
import type { Uncompared } from './inspect.ts'
import { type Difference, REPAIRS, type RepairCounts } from './kind.ts'
import { KINDS } from './kinds.ts'
import type { VerifyResult } from './verify.ts'

/** Maximum number of differences in the text, and in JSON. */
const SHOWN = 20
const SHOWN_AS_JSON = 1000

/**
 * Null when nothing is known to differ, but contacts wait for the shipper or a part could not be compared. Contacts
 * that keep changing are reported and count as agreeing, because a busy system always has some.
 */
export function agrees({ differences, differing, stuck, uncompared }: VerifyResult): boolean | null {
  if (differences.length > 0 || differing > 0) return false
  return stuck > 0 || uncompared.length > 0 ? null : true
}

export function toJson(result: VerifyResult, seconds: number) {
  const { differences, uncompared } = result
  return {
    agree: agrees(result),
    seconds: Math.round(seconds * 10) / 10,
    ...result,
    differences: differences.slice(0, SHOWN_AS_JSON),
    uncompared: uncompared.slice(0, SHOWN_AS_JSON),
    // Counted, because `differences` does not contain all of them if there are very many.
    truncated: countFound(result) > SHOWN_AS_JSON || uncompared.length > SHOWN_AS_JSON,
  }
}

const countFound = ({ found }: VerifyResult): number => Object.values(found).reduce((sum, count) => sum + count, 0)

export function toText(result: VerifyResult, seconds: number): string {
  const { businesses, contacts, visitors, notCompared, stuck, differences, uncompared } = result
  const isPartial = notCompared > 0 || uncompared.length > 0
  const compared = `${plural(contacts, 'contact')} and ${plural(visitors, 'visitor')} of ${plural(businesses, 'business', 'businesses')} in ${seconds.toFixed(1)} s`
  return [
    ...repairsOf(result),
    agrees(result) === false
      ? `${summaryOf(result)} (${compared}):`
      : `Postgres and ClickHouse agree${isPartial ? ' as far as they could be compared' : ''}: ${compared}.`,
    ...differences.slice(0, SHOWN).map((one) => `  ${describe(one)}`),
    ...(countFound(result) > SHOWN
      ? [`  … and ${countFound(result) - SHOWN} more. --json lists up to ${SHOWN_AS_JSON}`]
      : []),
    ...(notCompared > stuck
      ? [
          `${plural(notCompared - stuck, 'contact or visitor', 'contacts or visitors')} changed all the time and could not be compared.`,
        ]
      : []),
    ...(stuck > 0
      ? [
          `${plural(stuck, 'contact or visitor', 'contacts or visitors')} waited for the shipper all the time. Check the workers and ClickHouse.`,
        ]
      : []),
    ...uncompared.slice(0, SHOWN).map(describeUncompared),
    ...(uncompared.length > SHOWN ? [`${uncompared.length - SHOWN} more could not be compared.`] : []),
    ...nextStepsOf(result),
  ].join('\n')
}

const describeUncompared = ({ businessId, what, reason }: Uncompared): string =>
  `Business ${businessId} could not be compared (${what}): ${reason}.`

const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

function summaryOf({ differing, found, differences }: VerifyResult): string {
  const visitors = found['visitor'] ?? 0
  const others = differences.filter(({ contactId, kind }) => contactId === null && kind !== 'visitor').length
  const who = [
    ...(differing > visitors ? [plural(differing - visitors, 'contact')] : []),
    ...(visitors > 0 ? [plural(visitors, 'visitor')] : []),
    ...(others > 0 || differing === 0 ? [plural(others || differences.length, 'other thing')] : []),
  ]
  const kinds = Object.entries(found).map(([kind, count]) => `${nameOf(kind)} ${count}`)
  const verb = differing + others === 1 ? 'differs' : 'differ'
  return `${who.join(' and ')} ${verb}: ${kinds.join(', ')}`
}

const nameOf = (kind: string): string => KINDS[kind]?.name ?? kind

function describe({ kind, businessId, contactId, name, postgres, clickhouse, note, eventIds }: Difference): string {
  const where = [contactId && `contact ${contactId}`, !contactId && businessId && `business ${businessId}`, name]
  const values = {
    both:
      postgres === null && clickhouse === null
        ? ''
        : `Postgres ${postgres ?? 'none'}, ClickHouse ${clickhouse ?? 'none'}`,
    own: postgres ?? '',
    none: '',
  }
  return [
    [nameOf(kind), ...where.filter(Boolean)].join(' '),
    values[KINDS[kind]?.values ?? 'both'],
    note,
    eventIds?.join(' ') ?? '',
  ]
    .filter(Boolean)
    .join(': ')
}

function repairsOf({ repaired }: VerifyResult): string[] {
  if (!repaired) return []
  const done = (Object.keys(REPAIRS) as (keyof RepairCounts)[])
    .filter((name) => repaired[name] > 0)
    .map((name) => `${plural(repaired[name], REPAIRS[name][0])} ${REPAIRS[name][1]}`)
  return [done.length > 0 ? `Repaired: ${done.join(', ')}.` : 'Nothing needed repair.']
}

/** Returns the next steps for the operator. */
function nextStepsOf(result: VerifyResult): string[] {
  if (agrees(result) !== false) return []
  const { repaired, differences } = result
  const isOwn = differences.some(({ kind }) => KINDS[kind]?.values === 'own')
  return [
    ...(isRestored(result) ? [AFTER_RESTORE] : repaired ? [NOT_REPAIRABLE] : [REPAIR]),
    ...(isOwn
      ? ['Broken rules within Postgres or Redis are not repaired. Please report them, with the logs of that time.']
      : []),
  ]
}

/** Returns whether ClickHouse has people or events that Postgres does not have at all. */
const isRestored = ({ differences }: VerifyResult): boolean =>
  differences.some(({ isAhead, kind }) => isAhead === true || kind === 'business')

const REPAIR =
  'Next: admin verify --repair. It sends again the events that the outbox still has, and these snapshots, statistics and visitors. It corrects Postgres where the timeline and a second record agree against it, and the members and sizes of segments. It deletes only erased and doubled rows, and wrong members of segments.'
const NOT_REPAIRABLE =
  'The remaining differences cannot be repaired: neither the outbox nor the other records show what is right.'
const AFTER_RESTORE =
  'ClickHouse has more than Postgres, as after a restore of Postgres from a backup. Next: stop all front doors and workers, then run admin recover. It saves the events that only ClickHouse has to files for admin import. A repair does not touch these contacts.'
