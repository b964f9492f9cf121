/**
 * Answers the branches that count or sum up the timeline. A claim that comes to one locks nothing while ClickHouse works: it leaves the
 * enrolment there, with the last row of the outbox of that moment. Once the timeline has this row, it has all that was answered before
 * the branch was reached; then its counts are read and stored with the enrolment, which is due again.
 */
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import { walkSteps } from '../../rules/campaigns/steps.ts'
import type { Rule } from '../../rules/segments/rule.ts'
import { loadDefinitions } from '../../segments/load-definitions.ts'
import type { Postponed } from '../../segments/windows/postponed.ts'
import { type ClickHouseClient, isAlive } from '../../stores/clickhouse.ts'
import { describeFault } from '../../stores/insert-lines.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type BranchAnswers, askTimeline, windowsOfRules } from '../branch-answers.ts'
import type { VersionKey } from '../versions.ts'
import type { VersionCache } from './version-cache.ts'

export interface BranchDeps {
  sql: Sql
  clickhouse: ClickHouseClient
  log: Logger
  config: Pick<Config, 'leaseMs'>
  versions: VersionCache
  /** Epoch ms. */
  now: () => number
}

/** Enrolments answered at once. */
const SET_SIZE = 1000

interface Asking extends VersionKey {
  enrolmentId: string
  contactId: string
  step: string
  askedOutboxId: number
}

/**
 * Answers one set, those that asked first. A business of which the timeline cannot be read does not hold up the others. Rejects when
 * ClickHouse is away.
 * @returns how many were answered
 */
export async function answerBranches(deps: BranchDeps, postponed: Postponed, signal: AbortSignal): Promise<number> {
  const asking = await findAsking(deps.sql, postponed.businesses())
  let answered = 0
  for (const [businessId, those] of Map.groupBy(asking, (one) => one.businessId)) {
    if (signal.aborted) break
    try {
      answered += await answerBusiness(deps, businessId, those, signal)
      postponed.succeeded(businessId)
    } catch (error) {
      if (signal.aborted || !(await isAlive(deps.clickhouse))) throw error
      deps.log.warn({ businessId, reason: describeFault(error) }, 'branches were not answered, trying again')
      postponed.failed(businessId)
    }
  }
  return answered
}

/** The outbox is shipped in the order of its ids: below the first that waits, all is in ClickHouse. */
async function findAsking(sql: Sql, except: readonly string[]): Promise<Asking[]> {
  return sql<Asking[]>`
    select business_id as "businessId", enrolment_id as "enrolmentId", contact_id as "contactId", campaign_id as "campaignId",
      version, step, asked_outbox_id as "askedOutboxId"
    from due_steps
    where asked_outbox_id < coalesce(
        (select o.id from outbox o where o.shipped_at is null and o.resend is null order by o.id limit 1), 9223372036854775807)
      and business_id <> all (${`{${except.join(',')}}`}::uuid[])
    order by asked_outbox_id limit ${SET_SIZE}`
}

async function answerBusiness(
  deps: BranchDeps,
  businessId: string,
  asking: readonly Asking[],
  signal: AbortSignal,
): Promise<number> {
  const definitions = await loadDefinitions(deps.sql, businessId)
  let answered = 0
  for (const those of Map.groupBy(asking, branchOf).values()) {
    const rule = await findRule(deps, those[0]!)
    const windows = rule === null ? [] : windowsOfRules([rule], definitions)
    const contactIds = [...new Set(those.map(({ contactId }) => contactId))]
    const answers = await askTimeline(deps, { businessId, windows, contactIds, now: deps.now() }, signal)
    answered += await storeAnswers(deps.sql, those, answers)
  }
  return answered
}

const branchOf = ({ campaignId, version, step }: Asking): string => `${campaignId} ${version} ${step}`

/** Null: the version is gone. The claim says so. */
async function findRule({ sql, versions }: BranchDeps, { step: stepId, ...key }: Asking): Promise<Rule | null> {
  const version = await versions.read(sql, key)
  const found = walkSteps(version?.definition.steps ?? []).find(({ step }) => step.id === stepId)
  return found?.step.type === 'branch' ? found.step.rule : null
}

/** One that was merged, or has asked again, since it was found, is left for the next look, like what others hold. */
async function storeAnswers(
  sql: Sql,
  asking: readonly Asking[],
  answers: ReadonlyMap<string, BranchAnswers>,
): Promise<number> {
  const rows = asking.map(({ businessId, enrolmentId, contactId, askedOutboxId }) => ({
    business_id: businessId,
    enrolment_id: enrolmentId,
    contact_id: contactId,
    asked: askedOutboxId,
    answers: answers.get(contactId),
  }))
  const { count } = await sql`
    with answered as materialized (
      select d.business_id, d.enrolment_id, x.answers
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (business_id uuid, enrolment_id uuid, contact_id uuid,
        asked bigint, answers jsonb)
      join due_steps d on d.business_id = x.business_id and d.enrolment_id = x.enrolment_id
      where d.contact_id = x.contact_id and d.asked_outbox_id = x.asked
      order by d.enrolment_id for update of d skip locked
    )
    update due_steps d set answers = x.answers, asked_outbox_id = null, due_at = d.began_at
    from answered x where d.business_id = x.business_id and d.enrolment_id = x.enrolment_id`
  return count
}
