import { hashWindowKey } from '../contacts/save/window-hashes.ts'
import { arrayLiteral } from '../stores/write-columns.ts'
import { windowKey } from '../rules/segments/windows/window-key.ts'
import { windowedConditionsOf } from '../rules/segments/windows/windows-of.ts'
import type { ResolvedRule } from '../rules/segments/rule.ts'
import type { SegmentDeps } from './segment-deps.ts'

const STEP = 5000

interface Rule {
  business_id: string
  no: number
  rule: ResolvedRule
}

/**
 * Removes rules that are no longer evaluated, step by step: first their members, then the counts and sums that only
 * they read, and then the rules.
 * @param windowed whether to remove rules that read the timeline, or those that do not
 * @returns true while there is more to do
 */
export async function removeRetired(deps: SegmentDeps, windowed = false): Promise<boolean> {
  const { sql } = deps
  // A rule that replaces another one reads the other's members until the history is complete.
  const rules = await sql<Rule[]>`
    select r.business_id, r.no, r.rule from segment_rules r
    where r.state = 'retired' and not exists (
      select from segment_rules s where s.business_id = r.business_id and s.replaces = r.no and s.switched_at is not null
    )`
  const rule = rules.find((one) => windowed === windowedConditionsOf(one.rule).length > 0)
  if (!rule) return false
  if (await removeMembers(deps, rule)) return true
  if (windowed && (await removeWindows(deps, rule))) return true
  await sql`
    with removed as (
      delete from segment_rules where business_id = ${rule.business_id} and no = ${rule.no} and state = 'retired' returning no
    )
    delete from segment_sizes where business_id = ${rule.business_id} and segment_no in (select no from removed)`
  return true
}

async function removeMembers({ sql }: SegmentDeps, rule: Rule): Promise<boolean> {
  const { count } = await sql`
    with chosen as materialized (
      select contact_id from segment_members
      where business_id = ${rule.business_id} and segment_no = ${rule.no} and cause <> '' limit ${STEP}
    )
    delete from segment_members m using chosen
    where m.business_id = ${rule.business_id} and m.contact_id = chosen.contact_id and m.segment_no = ${rule.no}`
  return count > 0
}

async function removeWindows({ sql }: SegmentDeps, rule: Rule): Promise<boolean> {
  const others = await sql<{ rule: ResolvedRule }[]>`
    select rule from segment_rules where business_id = ${rule.business_id} and state <> 'retired'`
  const kept = new Set(others.flatMap((other) => keysOf(other.rule)))
  const left = keysOf(rule.rule).filter((key) => !kept.has(key))
  const { count } = await sql`
    with chosen as materialized (
      select contact_id, key_hash from segment_windows
      where business_id = ${rule.business_id} and key_hash = any (${arrayLiteral(left.map(hashWindowKey))}::text::uuid[])
      limit ${STEP}
    )
    delete from segment_windows w using chosen
    where w.business_id = ${rule.business_id} and w.contact_id = chosen.contact_id and w.key_hash = chosen.key_hash`
  return count > 0
}

const keysOf = (rule: ResolvedRule): string[] => windowedConditionsOf(rule).map(windowKey)
