import type { ConfigCache } from '../../contacts/load/load-businesses.ts'
import { loadContacts } from '../../contacts/load/load-state.ts'
import { arrayLiteral } from '../../stores/write-columns.ts'
import type { ContactState } from '../../rules/state.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type ExpectedMembership, expectMembership } from './expected-membership.ts'

/** A membership, or a clock, that does not match the facts of the contact. */
export interface WrongMember {
  contactId: string
  segmentId: string
  no: number
  /**
   * Whether the contact should be a member. Null: the membership is right, but the clock does not wake when time
   * changes it.
   */
  expected: boolean | null
  /** Epoch milliseconds; null unless the clock is wrong. */
  changesAt: number | null
}

export interface MemberComparison {
  /** By contact, with the version at which it was seen. */
  wrong: { contactId: string; version: number; members: WrongMember[] }[]
  /** Contacts that changed during the comparison. */
  changed: string[]
  /** Contacts that wait for the segment worker. */
  due: string[]
}

interface Stored {
  configVersion: number
  /** Rules that are in force, with a complete history. */
  rules: number[]
  contacts: [id: string, version: number, members: number[]][]
}

/**
 * Compares the members of current rules with the facts of these contacts. Reads the facts first, then the members with
 * the versions in one statement. If the version is the same, no save came between them, because each save that changes
 * a membership increments the version.
 */
export async function compareMembers(sql: Sql, businessId: string, ids: string[]): Promise<MemberComparison> {
  const configs: ConfigCache = new Map()
  const wanted = ids.map((id) => ({ business_id: businessId, id }))
  const state = await loadContacts(sql, configs, wanted)
  const now = Date.now()
  const business = state.businesses.get(businessId)
  const stored = await readMembers(sql, businessId, ids)
  const found: MemberComparison = { wrong: [], changed: [], due: [] }
  if (!business?.segments || !stored) return found
  if (stored.configVersion !== business.configVersion) return { ...found, changed: ids }
  const rules = new Set(stored.rules)
  for (const [id, version, members] of stored.contacts) {
    const contact = state.contacts.get(id)
    if (contact?.version !== version) found.changed.push(id)
    else {
      const judged = expectMembership(business.segments, contact, now)
      if (judged === 'due') found.due.push(id)
      else if (judged) addWrong(found, contact, version, differencesOf(contact, judged, rules, new Set(members)))
    }
  }
  return found
}

function addWrong(found: MemberComparison, { id }: ContactState, version: number, members: WrongMember[]): void {
  if (members.length > 0) found.wrong.push({ contactId: id, version, members })
}

function differencesOf(
  { id: contactId, facts }: ContactState,
  { answers, next }: ExpectedMembership,
  rules: Set<number>,
  members: Set<number>,
): WrongMember[] {
  const wrong = answers
    .filter(({ segment: { no }, isMember }) => rules.has(no) && members.has(no) !== isMember)
    .map(({ segment: { no, segmentId }, isMember }) => ({
      contactId,
      segmentId,
      no,
      expected: isMember,
      changesAt: null,
    }))
  const dueAt = facts?.clock.dueAt ?? null
  if (!next || !rules.has(next.segment.no) || (dueAt !== null && dueAt <= next.at)) return wrong
  const { no, segmentId } = next.segment
  return [...wrong, { contactId, segmentId, no, expected: null, changesAt: next.at }]
}

/** Returns only contacts that exist and are not merged. Undefined when there is no such business. */
async function readMembers(sql: Sql, businessId: string, ids: string[]): Promise<Stored | undefined> {
  const [row] = await sql<Stored[]>`
    select b.config_version as "configVersion",
      (select coalesce(json_agg(r.no), '[]') from segment_rules r
        where r.business_id = b.id and r.state = 'current' and r.switched_at is null) as rules,
      (select coalesce(json_agg(json_build_array(c.id, c.version, (
          select coalesce(json_agg(m.segment_no), '[]') from segment_members m
          where m.business_id = c.business_id and m.contact_id = c.id
        ))), '[]')
        from contacts c
        where c.business_id = b.id and c.id = any (${arrayLiteral(ids)}::text::uuid[]) and c.merged_into is null) as contacts
    from businesses b where b.id = ${businessId}`
  return row
}
