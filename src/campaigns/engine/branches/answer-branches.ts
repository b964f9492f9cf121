/**
 * Answers branches whose rules count or sum events of the timeline. A claim that reaches such a branch locks nothing
 * while ClickHouse works: it leaves the enrolment there, together with the last row of the outbox at that moment. Once
 * the timeline has this row, it has everything that was answered before the branch was reached. Its counts are then
 * read and stored with the enrolment, which becomes due again.
 */
import type { Config } from '../../../config.ts'
import type { Logger } from '../../../log.ts'
import { walkSteps } from '../../../rules/campaigns/walk-steps.ts'
import type { Rule } from '../../../rules/segments/rule.ts'
import { loadDefinitions } from '../../../segments/load-definitions.ts'
import type { Postponed } from '../../../segments/windows/postponed.ts'
import { type ClickHouseClient, isAlive } from '../../../stores/clickhouse.ts'
import { describeFault } from '../../../stores/insert-lines.ts'
import type { Sql } from '../../../stores/postgres.ts'
import { type BranchAnswers, askTimeline, windowsOfRules } from '../../branch-answers.ts'
import type { VersionKey } from '../../versions.ts'
import type { SetSizes } from './set-sizes.ts'
import type { VersionCache } from '../claim/version-cache.ts'

export interface BranchDeps {
  sql: Sql
  clickhouse: ClickHouseClient
  log: Logger
  config: Pick<Config, 'leaseMs'>
  versions: VersionCache
  sizes: SetSizes
  /**
   * Time limit of one set. A set that takes longer is tried again later with fewer enrolments. A business whose turn
   * takes longer continues in the next round.
   */
  turnMs: number
  /** Epoch milliseconds. */
  now: () => number
}

/** Number of businesses that are answered at the same time, so that a slow rule of one does not delay the others. */
const BUSINESSES_AT_ONCE = 3

/** A branch at which enrolments wait. */
interface AskingBranch extends VersionKey {
  step: string
}

interface Asking {
  enrolmentId: string
  contactId: string
  askedOutboxId: number
}

/**
 * One round: answers a set of each branch, those that asked first. A branch whose counts cannot be read delays neither
 * the other branches of its business nor other businesses. Rejects when ClickHouse is away.
 * @param postponed keys of branches
 * @returns the number of answered enrolments
 */
export async function answerBranches(deps: BranchDeps, postponed: Postponed, signal: AbortSignal): Promise<number> {
  const below = await readFirstUnshipped(deps.sql)
  const waiting = chooseBranches(await listAsking(deps.sql, below), postponed)
  const businesses = [...Map.groupBy(waiting, ({ businessId }) => businessId).values()]
  let answered = 0
  let fault: { error: unknown } | undefined
  const answerNext = async () => {
    for (let next = businesses.shift(); next && !fault && !signal.aborted; next = businesses.shift()) {
      try {
        const count = await answerBusiness(deps, { branches: next, below, postponed }, signal)
        answered += count
      } catch (error) {
        fault ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: BUSINESSES_AT_ONCE }, answerNext))
  if (fault !== undefined) throw fault.error
  return answered
}

const keyOf = ({ businessId, campaignId, version, step }: AskingBranch): string =>
  `${businessId} ${campaignId} ${version} ${step}`

/** Branches that failed before come last, because their turns may take long. */
function chooseBranches(branches: readonly AskingBranch[], postponed: Postponed): AskingBranch[] {
  const put = new Set(postponed.keys())
  const failures = (branch: AskingBranch) => postponed.failures(keyOf(branch))
  return branches.filter((branch) => !put.has(keyOf(branch))).toSorted((a, b) => failures(a) - failures(b))
}

/** The outbox is shipped in the order of its ids, so everything below this row is in ClickHouse. */
async function readFirstUnshipped(sql: Sql): Promise<number> {
  const [first] = await sql<{ id: number }[]>`
    select id from outbox where shipped_at is null and resend is null order by id limit 1`
  return first?.id ?? Number.MAX_SAFE_INTEGER
}

/** One index probe for each branch at which enrolments wait, however many there are. */
async function listAsking(sql: Sql, below: number): Promise<AskingBranch[]> {
  return sql<AskingBranch[]>`
    with recursive asking as (
      (
        select business_id, campaign_id, version, step, asked_outbox_id from due_steps where asked_outbox_id is not null
        order by business_id, campaign_id, version, step, asked_outbox_id limit 1
      )
      union all
      select next.business_id, next.campaign_id, next.version, next.step, next.asked_outbox_id
      from asking a cross join lateral (
        select d.business_id, d.campaign_id, d.version, d.step, d.asked_outbox_id from due_steps d
        where d.asked_outbox_id is not null
          and (d.business_id, d.campaign_id, d.version, d.step) > (a.business_id, a.campaign_id, a.version, a.step)
        order by d.business_id, d.campaign_id, d.version, d.step, d.asked_outbox_id limit 1
      ) next
    )
    select business_id as "businessId", campaign_id as "campaignId", version, step
    from asking where asked_outbox_id < ${below}`
}

interface Turn {
  /** Per business. */
  branches: readonly AskingBranch[]
  below: number
  postponed: Postponed
}

/** Rejects when ClickHouse is away. */
async function answerBusiness(
  deps: BranchDeps,
  { branches, below, postponed }: Turn,
  signal: AbortSignal,
): Promise<number> {
  const until = performance.now() + deps.turnMs
  let answered = 0
  for (const branch of branches) {
    const began = performance.now()
    if (signal.aborted || began >= until) break
    const key = keyOf(branch)
    const limit = AbortSignal.any([signal, AbortSignal.timeout(deps.turnMs)])
    let asking: Asking[] = []
    try {
      asking = await findAsking(deps.sql, branch, { below, size: deps.sizes.of(key) })
      answered += await answerSet(deps, branch, asking, limit)
      postponed.succeeded(key)
      deps.sizes.answered(key, { many: asking.length, share: (performance.now() - began) / deps.turnMs })
    } catch (error) {
      if (signal.aborted || !(await isAlive(deps.clickhouse))) throw error
      const faulty = { ...branch, many: asking.length, reason: describeFault(error) }
      if (deps.sizes.failed(key, asking.length)) {
        deps.log.warn(faulty, 'a branch was not answered, trying again for fewer')
        // A smaller set is a different query, so the pause does not grow.
        postponed.succeeded(key)
      } else {
        deps.log.error(faulty, 'a branch was not answered, trying again')
        await putLast(deps.sql, branch, asking)
      }
      postponed.failed(key)
    }
  }
  return answered
}

async function answerSet(
  deps: BranchDeps,
  branch: AskingBranch,
  asking: readonly Asking[],
  signal: AbortSignal,
): Promise<number> {
  const { businessId } = branch
  const rule = await findRule(deps, branch)
  const windows = rule === null ? [] : windowsOfRules([rule], await loadDefinitions(deps.sql, businessId))
  const contactIds = [...new Set(asking.map(({ contactId }) => contactId))]
  const now = deps.now()
  const answers = await askTimeline(deps, { businessId, windows, contactIds, now }, signal)
  return await storeAnswers(deps.sql, { businessId, asking, answers, at: now })
}

/**
 * Compares by an index range. For equal values, Postgres expects few rows, and would read and sort everything that
 * waits at the branch.
 */
async function findAsking(
  sql: Sql,
  { businessId, campaignId, version, step }: AskingBranch,
  { below, size }: { below: number; size: number },
) {
  return sql<Asking[]>`
    select enrolment_id as "enrolmentId", contact_id as "contactId", asked_outbox_id as "askedOutboxId" from due_steps
    where asked_outbox_id is not null
      and (business_id, campaign_id, version, step, asked_outbox_id)
        >= (${businessId}::uuid, ${campaignId}::uuid, ${version}::integer, ${step}::text, 0)
      and (business_id, campaign_id, version, step, asked_outbox_id)
        < (${businessId}::uuid, ${campaignId}::uuid, ${version}::integer, ${step}::text, ${below}::bigint)
    order by business_id, campaign_id, version, step, asked_outbox_id limit ${size}`
}

/**
 * Moves an enrolment behind all others at the branch, so that one that cannot be answered does not delay them. It then
 * waits for a later row of the outbox.
 */
async function putLast(
  sql: Sql,
  { businessId, campaignId, version, step }: AskingBranch,
  asking: readonly Asking[],
): Promise<void> {
  for (const { enrolmentId, askedOutboxId } of asking)
    await sql`
      update due_steps set asked_outbox_id = 1 + (
        select asked_outbox_id from due_steps
        where asked_outbox_id is not null
          and (business_id, campaign_id, version, step) = (${businessId}::uuid, ${campaignId}::uuid, ${version}::integer, ${step}::text)
        order by business_id desc, campaign_id desc, version desc, step desc, asked_outbox_id desc limit 1
      )
      where business_id = ${businessId} and enrolment_id = ${enrolmentId} and asked_outbox_id = ${askedOutboxId}`
}

/** Null when the version no longer exists. The claim reports that. */
async function findRule({ sql, versions }: BranchDeps, { step: stepId, ...key }: AskingBranch): Promise<Rule | null> {
  const version = await versions.read(sql, key)
  const found = walkSteps(version?.definition.steps ?? []).find(({ step }) => step.id === stepId)
  return found?.step.type === 'branch' ? found.step.rule : null
}

interface Answered {
  businessId: string
  asking: readonly Asking[]
  /** By contact. */
  answers: ReadonlyMap<string, BranchAnswers>
  /** Instant of the counts, in epoch milliseconds. */
  at: number
}

/**
 * An enrolment that was merged, or has asked again, since it was found is left for the next look, like those that
 * others have locked.
 */
async function storeAnswers(sql: Sql, { businessId, asking, answers, at }: Answered): Promise<number> {
  const rows = asking.map(({ enrolmentId, contactId, askedOutboxId }) => ({
    enrolment_id: enrolmentId,
    contact_id: contactId,
    asked: askedOutboxId,
    answers: { at, values: answers.get(contactId) },
  }))
  const { count } = await sql`
    with answered as materialized (
      select d.business_id, d.enrolment_id, x.answers
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (enrolment_id uuid, contact_id uuid, asked bigint, answers jsonb)
      join due_steps d on d.business_id = ${businessId} and d.enrolment_id = x.enrolment_id
      where d.contact_id = x.contact_id and d.asked_outbox_id = x.asked
      order by d.enrolment_id for update of d skip locked
    )
    update due_steps d set answers = x.answers, asked_outbox_id = null, due_at = d.began_at
    from answered x where d.business_id = x.business_id and d.enrolment_id = x.enrolment_id`
  return count
}
