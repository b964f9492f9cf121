/**
 * People and programs that manage a business while others send events: campaigns, templates, suppressions, contacts and
 * their consent, saved statements, charts, statements of the SQL page, and the parts of an import from the dashboard.
 * They use a secret key or the session of a signed-in person.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createSession } from '../../src/accounts/sessions.ts'
import { setRole } from '../../src/accounts/members.ts'
import { createUser } from '../../src/accounts/users.ts'
import { insertBusiness } from '../../src/businesses/businesses.ts'
import { insertKey } from '../../src/businesses/keys.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import { type Business, UNLIMITED } from './create-businesses.ts'
import { type Attempt, isKept } from './ledger.ts'
import type { Chance } from './seeded.ts'
import { type Traffic, bearer, record, repeat } from './traffic.ts'

/** What a manager makes. Its mark is in the store as often as it was made. */
export type Kind = 'campaign' | 'template' | 'query' | 'suppression' | 'tag' | 'consent' | 'row'

export interface Thing {
  kind: Kind
  mark: string
  /** Attempts to make it. */
  made: Attempt[]
  /** Attempts to delete or rename it. */
  removed: Attempt[]
}

/** The business of the managers, and all that they did. */
export interface Managed {
  business: Business
  cookie: string
  things: Thing[]
  /** Attempts that only read. */
  reads: Attempt[]
}

export async function createManaged(sql: Sql): Promise<Managed> {
  const businessId = await insertBusiness(sql, { name: 'Managed', rateLimit: UNLIMITED })
  const { key: secretKey } = await insertKey(sql, businessId, 'secret')
  const email = `${businessId}@managers.example`
  const userId = await createUser(sql, { email })
  if (userId === null) throw new Error('the manager exists already')
  await setRole(sql, businessId, userId, 'owner')
  const token = await createSession(sql, userId, { address: '127.0.0.1', userAgent: 'faults' })
  return { business: { businessId, secretKey, campaigns: [] }, cookie: `sluice=${token}`, things: [], reads: [] }
}

export const addressOf = (mark: string): string => `${mark}@managed.example`

interface Manager extends Managed {
  url: string
  chance: Chance
  stopping: AbortSignal
}

const MANAGERS = 4
const PAUSE_MS = 100

export function startManagers(managed: Managed, { url, chance }: { url: string; chance: Chance }): Traffic {
  const stopping = new AbortController()
  const run = async (manager: Manager): Promise<void> => {
    while (!manager.stopping.aborted) {
      await manager.chance.pick(STORIES)(manager)
      await sleep(manager.chance.between(1, PAUSE_MS))
    }
  }
  const managers = Array.from({ length: MANAGERS }, () =>
    run({ ...managed, url, chance: chance.fork(), stopping: stopping.signal }),
  )
  return {
    async stop() {
      stopping.abort()
      await Promise.all(managers)
    },
  }
}

/** Each once: the rows of a part share theirs. */
export const attemptsOf = ({ things, reads }: Managed): Attempt[] => [
  ...new Set([...things.flatMap(({ made, removed }) => [...made, ...removed]), ...reads]),
]

type Story = (manager: Manager) => Promise<void>

const STORIES: Story[] = [manageCampaign, manageTemplate, manageQuery, suppress, manageContact, importRows, read]

async function manageCampaign(manager: Manager): Promise<void> {
  const campaign = open(manager, 'campaign')
  const body = { name: campaign.mark, trigger: { event: 'never' } }
  const id = await create(manager, campaign, '/campaigns', body, ['campaign', 'campaignId'])
  if (id === undefined) return
  if (manager.chance.is(0.5)) return remove(manager, campaign, `/campaigns/${id}`)
  // Renamed, it is gone by its old name.
  const renamed = open(manager, 'campaign')
  campaign.removed = renamed.made
  await change(manager, renamed.made, 'PATCH', `/campaigns/${id}`, { name: renamed.mark })
}

async function manageTemplate(manager: Manager): Promise<void> {
  const template = open(manager, 'template')
  const variants = { en: { text: 'Hello {{contact.firstName}}' } }
  const body = { name: template.mark, channel: 'sms', defaultLanguage: 'en', variants }
  const id = await create(manager, template, '/templates', body, ['template', 'templateId'])
  if (id !== undefined && manager.chance.is(0.5)) await remove(manager, template, `/templates/${id}`)
}

async function manageQuery(manager: Manager): Promise<void> {
  const query = open(manager, 'query')
  const body = { name: query.mark, statement: 'select count() from timeline', parameters: {} }
  const id = await create(manager, query, '/sql/queries', body, ['query', 'id'], 'session')
  // A business has a limited number of them.
  if (id !== undefined && manager.chance.is(0.9)) await remove(manager, query, `/sql/queries/${id}`, 'session')
}

async function suppress(manager: Manager): Promise<void> {
  const { mark, made } = open(manager, 'suppression')
  const suppressions = [{ channel: 'email', address: addressOf(mark) }]
  await change(manager, made, 'POST', '/suppressions', { suppressions })
}

/** A new contact, who gets a tag and opts in to mails. */
async function manageContact(manager: Manager): Promise<void> {
  const { url, business, chance, reads, stopping } = manager
  const mark = crypto.randomUUID()
  const body = { event: 'introduced', identity: { email: addressOf(mark) }, idempotencyKey: mark }
  const track = () => record(reads, { method: 'POST', url: `${url}/api/sdk/track`, headers: bearer(business), body })
  let contactId: string | undefined
  await repeat(
    async () => {
      const made = await track()
      contactId = made.data.contactId
      return made
    },
    () => contactId !== undefined,
    stopping,
  )
  if (contactId === undefined) return
  const by = chance.pick(['key', 'session'] as const)
  const tag = open(manager, 'tag')
  await change(manager, tag.made, 'PATCH', `/contacts/${contactId}`, { addTags: [tag.mark] }, by)
  const consent = open(manager, 'consent', contactId)
  const choice = { email: true, method: 'faults' }
  await change(manager, consent.made, 'PUT', `/contacts/${contactId}/subscriptions`, choice, by)
}

const PARTS = 2
const ROWS = 10
/** Each line is an event. */
const IMPORTED = { format: 'ndjson', delimiter: ',', columns: [], mapping: [], timezone: 'UTC', name: '' }

/** As the page of imports does it. A part whose answer is lost is sent again. */
async function importRows(manager: Manager): Promise<void> {
  const { reads, stopping } = manager
  const begin = { file: 'rows.ndjson', fields: [], rows: PARTS * ROWS }
  const begun = await send(manager, reads, 'POST', '/imports', begin, 'session')
  const importId = begun.data.importId
  if (begun.outcome !== 'answered' || importId === undefined) return
  for (let part = 0; part < PARTS; part += 1) {
    const rows = Array.from({ length: ROWS }, () => open(manager, 'row'))
    const lines = rows.map(({ mark }) => {
      const event = { event: 'imported', identity: { email: addressOf(mark) }, occurredAt: '2026-01-02T03:04:05Z' }
      return `${JSON.stringify(event)}\n`
    })
    const body = {
      importId,
      ...IMPORTED,
      firstRow: part * ROWS + 1,
      text: lines.join(''),
      numbers: lines.map(() => 1),
    }
    // All rows of a part share its attempts.
    const attempts: Attempt[] = []
    for (const row of rows) row.made = attempts
    await repeat(() => send(manager, attempts, 'POST', '/imports/rows', body, 'session'), isKept, stopping)
  }
}

/** Charts and the SQL page. They change nothing, so any answer of an available service will do. */
async function read(manager: Manager): Promise<void> {
  const { chance, reads } = manager
  const statement = { statement: 'select count() from timeline' }
  if (chance.is(0.3)) return void (await send(manager, reads, 'POST', '/sql', statement, 'session'))
  const [path, ...by] = chance.pick([
    ['/analytics/series', 'key', 'session'],
    ['/analytics/revenue', 'key', 'session'],
    ['/analytics/stages', 'key', 'session'],
    ['/campaigns', 'key', 'session'],
    ['/boards', 'session'],
    ['/audit', 'session'],
    ['/status', 'session'],
  ] as const)
  await send(manager, reads, 'GET', path, undefined, chance.pick(by))
}

function open({ things }: Manager, kind: Kind, mark: string = crypto.randomUUID()): Thing {
  const thing = { kind, mark, made: [], removed: [] }
  things.push(thing)
  return thing
}

type By = 'key' | 'session'

/** Returns the id from the answer. */
async function create(
  manager: Manager,
  { made }: Thing,
  path: string,
  body: object,
  [name, id]: [string, string],
  by: By = manager.chance.pick(['key', 'session']),
): Promise<string | undefined> {
  await change(manager, made, 'POST', path, body, by)
  const answered = made.find(({ outcome }) => outcome === 'answered')
  return (answered?.data as Record<string, Record<string, string>> | undefined)?.[name]?.[id]
}

const remove = (manager: Manager, { removed }: Thing, path: string, by: By = 'key'): Promise<void> =>
  change(manager, removed, 'DELETE', path, undefined, by)

/** Repeats what was refused. What may have been done is not repeated. */
async function change(
  manager: Manager,
  attempts: Attempt[],
  method: string,
  path: string,
  body: object | undefined,
  by: By = manager.chance.pick(['key', 'session']),
): Promise<void> {
  await repeat(
    () => send(manager, attempts, method, path, body, by),
    ({ outcome }) => outcome !== 'refused',
    manager.stopping,
  )
}

const send = (
  { url, business, cookie }: Manager,
  attempts: Attempt[],
  method: string,
  path: string,
  body: object | undefined,
  by: By,
): Promise<Attempt> =>
  record(attempts, {
    method,
    url: by === 'key' ? `${url}/api${path}` : `${url}/dashboard/api/b/${business.businessId}${path}`,
    headers: by === 'key' ? bearer(business) : { cookie, 'sec-fetch-site': 'same-origin' },
    body,
  })
