/** Computes the members of new and edited rules, beside those of the rules in force (segments, "Membership": bulk). */
import { loadBusinesses } from '../contacts/load/load-businesses.ts'
import { enterBuilt } from '../rules/segments/membership/enter-built.ts'
import { faultKind } from '../stores/postgres.ts'
import type { Build } from './build.ts'
import type { Nominations } from './nominations.ts'
import { saveInShortSets } from './save-in-sets.ts'
import { type ContactId, type Settle, saveSettled } from './save-settled.ts'
import type { SegmentDeps } from './segment-deps.ts'

/** Contacts evaluated in one step, at most. */
const STEP_SIZE = 2000
/** At most this many answers, each of which may become a row, and this many contacts, in each first set of a step. */
const FIRST_SET = { answers: 2000, contacts: 250 }
/** Time limit of a round. Other contacts may become due meanwhile, so a round gives way to them after this. */
const ROUND_MS = 250

/**
 * Evaluates the next contacts of each business whose rules are being built: the nominated ones, or all. When all of
 * them have been evaluated, the rules are put in force.
 *
 * Contacts that are created or changed meanwhile are evaluated by their saves, which know these rules, too. Rules that
 * read the timeline are built elsewhere: see windows/build-windowed.ts.
 * @returns true while there is more to do
 */
export async function buildMembers(
  deps: SegmentDeps,
  signal: AbortSignal,
  nominations?: Nominations,
): Promise<boolean> {
  const builds = (await findBuilds(deps)).filter(({ isWindowed }) => !isWindowed)
  nominations?.keepOnly(builds.map(({ build }) => build.business_id))
  const until = performance.now() + ROUND_MS
  let waiting = 0
  for (const { build } of beginAnywhere(builds)) {
    if (signal.aborted || performance.now() >= until) break
    const prepare = () => Promise.resolve(enter(deps))
    if (!(await buildStep(deps, build, prepare, { nominations, until }))) waiting += 1
  }
  // A build that waits for ClickHouse does not delay the others.
  if (waiting > 0 && waiting === builds.length) await nominations?.wait(ROUND_MS)
  return builds.length > 0
}

/** Starts at a random place, so that builds that had no turn in one round get one in another. */
function beginAnywhere<One>(all: One[]): One[] {
  const from = Math.floor(Math.random() * all.length)
  return [...all.slice(from), ...all.slice(0, from)]
}

const enter =
  ({ now }: SegmentDeps): Settle =>
  (context, contact, { segments }) => {
    if (segments) enterBuilt(context, segments, contact, now())
  }

/**
 * Lists the builds under way. A segment is not switched again before the history of its last switch is written, and neither are the other rules that are built in the same pass.
 * `isWindowed`: one of the rules reads the timeline.
 */
export async function findBuilds(deps: SegmentDeps): Promise<{ build: Build; isWindowed: boolean }[]> {
  const { sql, configs } = deps
  const builds = await sql<Build[]>`
    select b.business_id, b.epoch, b.cursor, b.total, b.requested_at::text, (
        select count(*) from segment_rules r where r.business_id = b.business_id and r.state = 'building'
      ) as rules
    from segment_builds b
    where not exists (
      select from segment_rules r join segment_rules c using (business_id, segment_id)
      where r.business_id = b.business_id and r.state = 'building' and c.switched_at is not null
    )
    order by b.requested_at`
  // Read the rules as they are since the edits; the cache may be older.
  for (const { business_id } of builds) configs.delete(business_id)
  const ids = builds.map(({ business_id }) => business_id)
  const businesses = ids.length === 0 ? [] : await loadBusinesses(sql, configs, ids)
  const windowed = new Set(
    businesses.flatMap(({ id, segments }) =>
      segments?.all.some(({ isBuilding, isWindowed }) => isBuilding && isWindowed) ? [id] : [],
    ),
  )
  return builds.map((build) => ({ build, isWindowed: windowed.has(build.business_id) }))
}

/**
 * @param prepare returns the function that settles these contacts
 * @param until when the step ends at the latest; by default, when all of these contacts are settled
 * @returns false when it could do nothing yet, because ClickHouse has not answered
 */
export async function buildStep(
  deps: SegmentDeps,
  build: Build,
  prepare: (contacts: ContactId[]) => Promise<Settle>,
  { nominations, until = Infinity }: { nominations?: Nominations | undefined; until?: number } = {},
): Promise<boolean> {
  const { sql, now } = deps
  const { business_id, epoch } = build
  const nominated = nominations?.next(build, STEP_SIZE) ?? 'walk'
  if (nominated === 'later') return false
  const contacts = nominated === 'walk' ? await walkOn(deps, build) : nominated.map((id) => ({ business_id, id }))
  if (contacts.length === 0) {
    await putInForce(deps, business_id, epoch)
    return true
  }
  const settle = await prepare(contacts)
  const first = Math.min(FIRST_SET.contacts, Math.ceil(FIRST_SET.answers / Math.max(1, build.rules)))
  const done = await saveInShortSets(contacts, (set) => buildSet(deps, set, settle), { first, until })
  await sql`
    update segment_builds set cursor = ${contacts[done - 1]!.id}, done = done + ${done},
      total = greatest(total, done + ${done})
    where business_id = ${business_id} and epoch = ${epoch}`
  deps.log.debug({ businessId: business_id, contacts: done, at: now() }, 'segments: contacts looked at')
  return true
}

const walkOn = ({ sql }: SegmentDeps, { business_id, cursor }: Build) => sql<ContactId[]>`
  select ${business_id}::uuid as business_id, id from contacts
  where business_id = ${business_id} and id > ${cursor ?? FIRST}
  order by business_id, id limit ${STEP_SIZE}`

const FIRST = '00000000-0000-0000-0000-000000000000'

/** Evaluates a set of contacts. A contact that changed meanwhile is evaluated again. */
async function buildSet(deps: SegmentDeps, contacts: ContactId[], settle: Settle): Promise<void> {
  for (let attempts = 0; ; attempts += 1) {
    const settled = await saveSettled(deps, contacts, settle)
    if (settled.length === contacts.length) return
    if (attempts >= MAX_ATTEMPTS) throw new Error('contacts change faster than they can be looked at')
  }
}
const MAX_ATTEMPTS = 100

async function putInForce({ sql, now, log }: SegmentDeps, businessId: string, epoch: number): Promise<void> {
  try {
    await sql`select switch_segment_rules(${businessId}, ${epoch}, ${now()})`
  } catch (error) {
    // The rules were edited meanwhile: the next step starts the pass again.
    if (faultKind(error) !== 'conflict') throw error
    log.debug({ businessId }, 'segments: the rules were edited while they were built')
  }
}
