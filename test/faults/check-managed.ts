/** Compares what the managers of a business were answered with what Postgres holds. */
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { hashAddress } from '../../src/messages/suppressions/hash-address.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import type { Attempt } from './ledger.ts'
import { type Kind, type Managed, type Thing, addressOf, attemptsOf } from './managers.ts'

/** How often each mark is there. */
type Counts = Map<string, number>

/** `forgottenAt`: when Redis last lost all its data. */
export async function checkManaged(sql: Sql, managed: Managed, forgottenAt = -Infinity): Promise<string[]> {
  const { businessId } = managed.business
  const held = await readCounts(sql, managed)
  const wrong = managed.things.flatMap(({ kind, mark, made, removed }) => {
    const [least, most] = expectedCount({ made, removed }, forgottenAt)
    const count = held[kind].get(mark) ?? 0
    return count < least || count > most ? [`${kind} ${mark} is there ${count} times: ${describe(made, removed)}`] : []
  })
  const rejected = attemptsOf(managed).filter(({ outcome, answer }) => outcome === 'rejected' && !isBusy(answer))
  return [
    ...wrong,
    ...(await findHalves(sql, businessId)),
    ...rejected.map(({ answer, detail }) => `a good request of a manager was rejected: ${answer} (${detail})`),
  ]
}

/** The SQL page runs a limited number of statements at once. */
const isBusy = (answer: string): boolean => answer === '429 rate_limited'

/** Returns how often a thing may be there, at least and at most. */
export function expectedCount(
  { made, removed }: Pick<Thing, 'made' | 'removed'>,
  forgottenAt: number,
): [least: number, most: number] {
  const isDone = ({ outcome, sentAt }: Attempt) =>
    outcome === 'answered' || (outcome === 'queued' && sentAt > forgottenAt)
  const mayBeDone = ({ outcome }: Attempt) => outcome !== 'refused' && outcome !== 'rejected'
  if (removed.some(isDone)) return [0, 0]
  const least = made.some(isDone) && !removed.some(mayBeDone) ? 1 : 0
  return [least, made.some(mayBeDone) ? 1 : 0]
}

const describe = (made: Attempt[], removed: Attempt[]): string =>
  [['made', made] as const, ['removed', removed] as const]
    .filter(([, attempts]) => attempts.length > 0)
    .map(([what, attempts]) => `${what} ${attempts.map(({ answer }) => answer).join(', ')}`)
    .join('; ')

async function readCounts(sql: Sql, { business: { businessId }, things }: Managed): Promise<Record<Kind, Counts>> {
  const count = async (rows: PromiseLike<{ mark: string; many: number }[]>): Promise<Counts> =>
    new Map((await rows).map(({ mark, many }) => [mark, many]))
  const named = (table: string) =>
    count(
      sql`select name as mark, count(*)::int as many from ${sql(table)} where business_id = ${businessId} group by 1`,
    )
  const byHash = await count(sql`
    select encode(address_hash, 'hex') as mark, count(*)::int as many from suppressions
    where business_id = ${businessId} group by 1`)
  const key = await loadMessageKey(sql)
  const hashOf = (mark: string) => hashAddress(key, businessId, { channel: 'email', address: addressOf(mark) })
  const suppressed = things.filter(({ kind }) => kind === 'suppression').map(({ mark }) => mark)
  return {
    campaign: await named('campaigns'),
    template: await named('templates'),
    query: await named('saved_queries'),
    suppression: new Map(suppressed.map((mark) => [mark, byHash.get(hashOf(mark)) ?? 0])),
    tag: await count(sql`
      select tag as mark, count(*)::int as many from contacts, unnest(tags) as tag
      where business_id = ${businessId} group by 1`),
    consent: await count(sql`
      select contact_id::text as mark, count(*)::int as many from subscriptions
      where business_id = ${businessId} and channel = 'email' and subscribed group by 1`),
    row: await count(sql`
      select split_part(i.value, '@', 1) as mark, s.count::int as many
      from event_statistics s join identities i using (business_id, contact_id)
      where business_id = ${businessId} and s.event = 'imported' and i.kind = 'email'`),
  }
}

/** A change and its entry in the audit log are made together. */
async function findHalves(sql: Sql, businessId: string): Promise<string[]> {
  const tables = { campaigns: 'campaign', templates: 'template', saved_queries: 'query' }
  const complaints: string[] = []
  for (const [table, name] of Object.entries(tables)) {
    const halves = await sql<{ target: string }[]>`
      with there as (select id::text as target from ${sql(table)} where business_id = ${businessId}),
        made as (select target from audit_log where business_id = ${businessId} and action = ${`${name}.create`}),
        removed as (select target from audit_log where business_id = ${businessId} and action = ${`${name}.delete`})
      (select target from made except select target from removed) except select target from there
      union all (select target from removed intersect select target from there)`
    complaints.push(...halves.map(({ target }) => `${name} ${target} is not as the audit log says`))
  }
  return complaints
}
