/** Data of contacts that branches read as of today. */
import { valuesIn } from '../../rules/campaigns/walk-steps.ts'
import type { SegmentFacts } from '../../rules/segments/membership/facts.ts'
import { readFacts } from '../../segments/read-facts.ts'
import type { Sql } from '../../stores/postgres.ts'
import { isInvalidQuery } from '../../timeline/reading/query-with-retry.ts'
import { askTimeline, readAnswered, windowsOfRules } from '../branch-answers.ts'
import type { AskDeps } from './ask-clickhouse.ts'
import { BacktestError } from './backtest-error.ts'
import type { PastPerson } from './load-people.ts'
import type { Plan } from './plan-backtest.ts'

type Counts = SegmentFacts['windows']

/**
 * Returns the counts that the branches read from the timeline, by contact. The timeline has everything that was saved,
 * and is queried once for all contacts. Throws BacktestError when it does not answer.
 */
export async function countToday(
  deps: AskDeps & { sql: Sql },
  { business, campaign, definitions, now }: Plan,
  people: readonly PastPerson[],
): Promise<ReadonlyMap<string, Counts>> {
  const windows = windowsOfRules(valuesIn(campaign.steps, 'rule'), definitions)
  if (windows.length === 0) return new Map()
  const contactIds = people.map(({ contactId }) => contactId)
  try {
    const answers = await askTimeline(deps, { businessId: business.id, windows, contactIds, now }, deps.signal)
    return new Map([...answers].map(([contactId, own]) => [contactId, readAnswered(windows, own) ?? new Map()]))
  } catch (error) {
    deps.signal.throwIfAborted()
    if (isInvalidQuery(error)) throw error
    const reason = 'What the branches count cannot be read now. Start the backtest again later.'
    throw new BacktestError(reason, { cause: error })
  }
}

/** Null: the contact was erased meanwhile. */
export async function readToday(
  sql: Sql,
  { business }: Plan,
  contactId: string,
  counts: ReadonlyMap<string, Counts>,
): Promise<SegmentFacts | null> {
  const found = await readFacts(sql, business.id, contactId)
  return found && { ...found.facts, windows: counts.get(contactId) ?? new Map() }
}
