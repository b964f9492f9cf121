/**
 * Each contact must be a member of exactly the segments whose rules its facts match, and its clock must wake when time
 * changes that. Excludes rules that are being computed, and rules that count or sum events of the timeline, because
 * their members follow later.
 */
import { sleep } from '../../async/sleep.ts'
import { type ConfigCache, loadBusinesses } from '../../contacts/load/load-businesses.ts'
import { compareMembers, type MemberComparison, type WrongMember } from './compare-members.ts'
import { correctMembers } from './correct-members.ts'
import { isComparable } from './expected-membership.ts'
import type { BusinessKind, CompareDeps } from './kind.ts'
import { confirmDifferences } from './confirm-differences.ts'

/** Contacts per query. */
const PAGE = 1000
const PATIENCE = { sightings: 2, attempts: 5, pauseMs: 100 }
/** The pause after each page is half the time that the page took, up to this limit in milliseconds. */
const MAX_PAUSE_MS = 2000
const FIRST = '00000000-0000-0000-0000-000000000000'
const PART = 'segment members'

export const SEGMENT_MEMBERS: BusinessKind<WrongMember> = {
  name: 'segment membership',
  values: 'none',
  part: PART,
  async *find(deps, businessId) {
    const left = { due: 0 }
    const hasRules = await hasJudgedRules(deps, businessId)
    for (let after: string | undefined = hasRules ? FIRST : undefined; after && !deps.signal.aborted;) {
      const started = performance.now()
      const ids = await listContacts(deps, businessId, after)
      const { due, changing, items } = await comparePage(deps, businessId, ids, left.due > 0)
      left.due += due
      yield { items, changing }
      after = ids.at(-1)
      if (after) await sleep(Math.min((performance.now() - started) / 2, MAX_PAUSE_MS), deps.signal)
    }
    if (left.due > 0) yield { items: [], unstable: [{ what: PART, reason: reasonOf(left.due) }] }
  },
  describe: ({ contactId, segmentId, expected, changesAt }) => ({
    contactId,
    segmentId,
    ...(expected !== null && { expected }),
    name: `of segment ${segmentId}`,
    postgres: expected === null ? null : expected ? 'not a member' : 'a member',
    note: noteOf(expected, changesAt),
    wrong: 'postgres',
  }),
  repair: async (deps, businessId, items) => ({ members: await correctMembers(deps, businessId, items) }),
}

const reasonOf = (due: number): string =>
  `${due === 1 ? '1 contact waits' : `${due} contacts wait`} for the segment worker all the time`

function noteOf(expected: boolean | null, changesAt: number | null): string {
  if (expected !== null) return expected ? 'should be a member, but is not' : 'is a member, but should not be'
  const at = new Date(changesAt ?? 0)
  return `time changes it ${Number.isNaN(at.getTime()) ? 'later' : `at ${at.toISOString()}`}, but nothing wakes the segment worker then`
}

async function hasJudgedRules({ sql }: CompareDeps, businessId: string): Promise<boolean> {
  const configs: ConfigCache = new Map()
  const [business] = await loadBusinesses(sql, configs, [businessId])
  return business?.segments?.all.some(isComparable) ?? false
}

async function listContacts({ sql }: CompareDeps, businessId: string, after: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from contacts where business_id = ${businessId} and id > ${after} order by business_id, id limit ${PAGE}`
  return rows.map(({ id }) => id)
}

/**
 * A difference counts when it is seen twice at the same version of the contact. `isLate`: whether waiting for the
 * worker has not helped before.
 */
async function comparePage(deps: CompareDeps, businessId: string, ids: string[], isLate: boolean) {
  const seen = new Map<string, number>()
  const late = new Set<string>()
  let due: string[] = []
  const { confirmed, open } = await confirmDifferences(deps.signal, PATIENCE, async (left = ids) => {
    const found = await compareMembers(deps.sql, businessId, left)
    due = isLate ? [] : found.due
    if (isLate) for (const id of found.due) late.add(id)
    const { same, moved } = compareVersions(seen, found)
    return {
      differing: same.map((one) => [one.contactId, one.members]),
      unstable: [...found.changed, ...moved.map(({ contactId }) => contactId), ...due],
    }
  })
  const isOpen = new Set(open)
  for (const id of due) if (isOpen.has(id)) late.add(id)
  return { items: confirmed.flat(), due: late.size, changing: open.filter((id) => !late.has(id)).length }
}

/** Separates contacts that are seen for the first time, or again at the same version, from the others. */
function compareVersions(seen: Map<string, number>, { wrong }: MemberComparison) {
  const isSame = ({ contactId, version }: { contactId: string; version: number }) =>
    (seen.get(contactId) ?? version) === version
  const [same, moved] = [wrong.filter(isSame), wrong.filter((one) => !isSame(one))]
  for (const { contactId, version } of wrong) seen.set(contactId, version)
  return { same, moved }
}
