/** People who click through the dashboard: each opens a page, looks at it for a moment, and opens the next one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { setRole } from '../../src/accounts/members.ts'
import { createSession } from '../../src/accounts/sessions.ts'
import { createUser } from '../../src/accounts/users.ts'
import { createHistogram, record, summarise } from './generator/latency.ts'
import type { Latency } from './generator/plan.ts'
import type { Stack } from './stack.ts'

/** The concurrent requests of each page; `ID` is a contact. */
const PAGES = [
  ['/status', '/days'],
  ['/contacts?limit=50', '/contacts/count', '/contact-filters'],
  ['/contacts/ID', '/contacts/ID/timeline?limit=50', '/contacts/ID/visits?limit=10'],
  ['/requests'],
  ['/contacts?limit=50&query=example.com', '/contacts/count?query=example.com'],
  ['/custom-fields'],
  ['/deliveries', '/destinations'],
  ['/keys', '/audit'],
]
const LOOK_MS = 500

export interface Clicks {
  /** Latency of single calls. */
  latency: Latency
  /** Number of responses by HTTP status. Statuses other than 200 include the path. */
  answers: Record<string, number>
}

export interface People {
  /** Their session cookies, as `name=value`. */
  cookies: string[]
  /** Makes them click until `signal` aborts. */
  click(signal: AbortSignal): Promise<Clicks>
}

/** Creates owners of the business, each with a session. */
export async function openPeople(stack: Stack, businessId: string, count: number): Promise<People> {
  const cookies: string[] = []
  for (let n = 0; n < count; n += 1) cookies.push(await openSession(stack, businessId, n))
  const click = async (signal: AbortSignal) => {
    const clicks = { histogram: createHistogram(), answers: {} as Record<string, number> }
    const contactId = await findContact(stack, businessId)
    await Promise.all(
      cookies.map(async (cookie, n) => {
        for (let at = n; !signal.aborted; at += 1) {
          const paths = PAGES[at % PAGES.length] ?? []
          await Promise.all(
            paths.map((path) => read(stack.url, businessId, path.replace('ID', contactId), cookie, clicks)),
          )
          await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
        }
      }),
    )
    return { latency: summarise(clicks.histogram), answers: clicks.answers }
  }
  return { cookies, click }
}

async function openSession({ own: { sql } }: Stack, businessId: string, n: number): Promise<string> {
  const id = await createUser(sql, { email: `person${n}@bench.example`, isOperator: false })
  if (id === null) throw new Error('the user exists')
  const outcome = await setRole(sql, businessId, id, 'owner')
  if (outcome !== 'done') throw new Error(outcome)
  return `sluice=${await createSession(sql, id, { address: '127.0.0.1', userAgent: 'bench' })}`
}

async function findContact({ own: { sql } }: Stack, businessId: string): Promise<string> {
  const [contact] = await sql<{ id: string }[]>`
    select id from contacts where business_id = ${businessId} and merged_into is null limit 1`
  if (contact === undefined) throw new Error('the business has no contact')
  return contact.id
}

async function read(
  url: string,
  businessId: string,
  path: string,
  cookie: string,
  { histogram, answers }: { histogram: ReturnType<typeof createHistogram>; answers: Record<string, number> },
): Promise<void> {
  const began = performance.now()
  const response = await fetch(`${url}/dashboard/api/b/${businessId}${path}`, { headers: { Cookie: cookie } })
  await response.arrayBuffer()
  record(histogram, performance.now() - began)
  const outcome = response.status === 200 ? '200' : `${response.status} ${path.replace(/[\da-f-]{36}/, 'ID')}`
  answers[outcome] = (answers[outcome] ?? 0) + 1
}
