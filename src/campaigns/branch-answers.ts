/** The counts and sums of the timeline that the rule of a branch reads. */
import { hashWindowKey } from '../contacts/save/window-hashes.ts'
import { walkWindows } from '../rules/segments/windows/walk-windows.ts'
import type { Rule } from '../rules/segments/rule.ts'
import { type Window, windowsOf } from '../rules/segments/windows/windows-of.ts'
import type { Definitions } from '../segments/load-definitions.ts'
import { readWindows, uniteReadings } from '../segments/windows/read-windows.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Queryable } from '../stores/postgres.ts'
import { resolveBranch } from './branch-rules.ts'

/** Decimals by the hashes of their keys; null without an event. */
export type BranchAnswers = Record<string, string | null>

/**
 * Milliseconds after which an answer is too old, and the timeline is queried again: the business was inactive
 * meanwhile, and may have other counts.
 */
export const ANSWERS_MAX_AGE_MS = 600_000

export function windowsOfRules(rules: readonly Rule[], definitions: Definitions): Window[] {
  const resolved = rules.map((rule) => ({ rule: resolveBranch(rule, definitions), isBuilding: false }))
  return [...windowsOf(resolved).values()]
}

/** The answers as rules read them. Null: one of them was not requested. */
export function readAnswered(windows: readonly Window[], answers: BranchAnswers): ReadonlyMap<string, string> | null {
  const values = new Map<string, string>()
  for (const { key } of windows) {
    const value = answers[hashWindowKey(key)]
    if (value === undefined) return null
    if (value !== null) values.set(key, value)
  }
  return values
}

interface Question {
  businessId: string
  windows: readonly Window[]
  /** None of them is merged. */
  contactIds: readonly string[]
  /** Epoch milliseconds. */
  now: number
}

/** Returns the present counts of the timeline, by contact. */
export async function askTimeline(
  { sql, clickhouse }: { sql: Queryable; clickhouse: ClickHouseClient },
  { businessId, windows, contactIds, now }: Question,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, BranchAnswers>> {
  const merged = await sql<{ id: string; mergedInto: string }[]>`
    select id, merged_into as "mergedInto" from contacts
    where business_id = ${businessId} and merged_into = any (${`{${contactIds.join(',')}}`}::uuid[])`
  const idsOf = new Map(contactIds.map((id) => [id, [id]]))
  for (const { id, mergedInto } of merged) idsOf.get(mergedInto)?.push(id)
  const period = { from: now, until: now }
  const asked = { businessId, windows, contactIds: [...idsOf.values()].flat(), ...period }
  const readings = await readWindows(clickhouse, asked, signal)
  return new Map(
    [...idsOf].map(([contactId, ids]) => {
      const { after } = walkWindows(windows, uniteReadings(readings, ids), period)
      return [contactId, Object.fromEntries([...after].map(([key, { value }]) => [hashWindowKey(key), value ?? null]))]
    }),
  )
}
