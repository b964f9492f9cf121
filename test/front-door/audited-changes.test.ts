/**
 * Changes and exports are in the audit log, with their target and who made them: each route that may change or export
 * something with a secret key, or for a user with a right in a business or in the installation, has its calls in
 * `audited/`, and each is made. A new route without one fails. What people change about their own account is in
 * test/accounts/account-audit.test.ts.
 */
import { rm } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../src/audit/audit.ts'
import { listRoutes } from '../../src/front-door/app.ts'
import { DASHBOARD_ROUTES } from '../../src/front-door/routes/dashboard/index.ts'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { makeAnalystFolder } from '../support/analyst-engine.ts'
import { type Service, openService } from '../support/service.ts'
import { OF_AUDIENCES } from './audited/audiences.ts'
import { type ActingBusiness, openActingBusiness } from './audited/business.ts'
import type { AuditedCall, AuditedCalls, Call } from './audited/call.ts'
import { OF_CONTACTS } from './audited/contacts.ts'
import { OF_ANALYTICS, OF_SETTINGS } from './audited/settings.ts'

const AUDITED: AuditedCalls = { ...OF_CONTACTS, ...OF_AUDIENCES, ...OF_ANALYTICS, ...OF_SETTINGS }

let folder: string
let service: Service
beforeAll(async () => {
  folder = await makeAnalystFolder()
  service = await openService({ DATA_DIR: folder, SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' })
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

interface ChangingRoute {
  caller: 'key' | 'owner' | 'operator'
  method: string
  /** As in `AuditedCalls`. */
  path: string
}

const BUSINESS = '/dashboard/api/b/:businessId'
const ofKeys = listRoutes().filter(({ operation }) => operation?.key === 'secret' || operation?.key === 'optional')
/** Without what people change about their own account. */
const ofPeople = DASHBOARD_ROUTES.filter(({ access }) => access !== 'anybody' && access !== 'signed-in')
const ROUTES: ChangingRoute[] = [
  ...ofKeys.map(({ method, path }) => ({ caller: 'key' as const, method, path: path.replace('/api', '') })),
  ...ofPeople.map(({ method, path }) =>
    path.startsWith(BUSINESS)
      ? { caller: 'owner' as const, method, path: path.replace(BUSINESS, '') }
      : { caller: 'operator' as const, method, path: path.replace('/dashboard/api', '') },
  ),
].filter(({ method, path }) => method !== 'GET' || path.endsWith('/export'))
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

it('each route that may change or export something has its calls, and no other has', () => {
  expect(Object.keys(AUDITED).toSorted()).toEqual([...new Set(ROUTES.map(nameOf))].toSorted())
  expect(Object.values(AUDITED).filter((calls) => calls.length === 0)).toEqual([])
})

it('a route that is only read needs no permission to write', () => {
  const read = ofPeople.filter(({ method, access }) => method === 'GET' && access.endsWith(':write'))
  expect(read.map(nameOf)).toEqual([])
})

const cases = ROUTES.flatMap((route) =>
  (AUDITED[nameOf(route)] ?? []).map((audited) => {
    const { entries, what, reason, isOnce } = audited
    const actions = entries.map(({ action }) => action).join(', ')
    const outcome = entries.length === 0 ? `nothing: ${reason}` : `${actions}${isOnce ? ', once' : ''}`
    return [
      `${nameOf(route)}${what && `, ${what},`} by the ${route.caller} records ${outcome}`,
      route,
      audited,
    ] as const
  }),
)

it.each(cases)('%s', async (_, route, audited) => {
  const business = await openActingBusiness(service)
  const { actor } = business[route.caller]
  const how = audited.how === 'counted' && actor.kind === 'user' ? 'added' : audited.how
  // The second change of a key within the hour is counted in the entry of the first.
  if (how === 'counted') await make(business, route, await prepareCall(business, audited))
  const call = await prepareCall(business, audited)
  const { answer, changed } = await make(business, route, call)
  const { ids = {} } = call
  const made = { business, ids, ofPath: ids[/:(\w+)/.exec(route.path)?.[1] ?? ''], answer }
  const isOwn = route.caller !== 'operator'
  expect(changed).toEqual(
    audited.entries.map(({ action, target, fields }) => ({ action, target: target(made), fields, how, actor, isOwn })),
  )
  if (audited.isOnce) expect((await make(business, route, call)).changed).toEqual([])
})

const prepareCall = async (business: ActingBusiness, { prepare }: AuditedCall): Promise<Call> =>
  typeof prepare === 'function' ? prepare(business) : prepare

interface Row {
  id: number
  businessId: string | null
  actor: Actor
  action: string
  target: string | null
  times: number
  details: Record<string, unknown>
  isCounted: boolean
}

const readLog = () => service.sql<Row[]>`
  select id, business_id as "businessId", json_build_object('kind', actor_kind, 'id', actor_id, 'name', actor_name) as actor,
    action, target, times, details, hour is not null as "isCounted"
  from audit_log order by id`

/** Makes one call. Returns its answer, and the entries that it has added or changed, by action. */
async function make(business: ActingBusiness, { caller, method, path }: ChangingRoute, call: Call) {
  const { ids = {}, query = '', json } = call
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? '')
  const before = new Map((await readLog()).map((row) => [row.id, row]))
  const answer = await business[caller].send(method, `${filled}${query && '?'}${query}`, json)
  const changed = (await readLog()).flatMap((row) => {
    const known = before.get(row.id)
    if (known?.times === row.times && isDeepStrictEqual(known.details, row.details)) return []
    const { action, target, actor, businessId } = row
    const fields = [row.details['fields'], row.details['changed']].find((names) => Array.isArray(names)) ?? null
    const how = row.isCounted ? 'counted' : known === undefined ? 'added' : 'completed'
    return [{ action, target, fields, how, actor, isOwn: businessId === business.businessId }]
  })
  return { answer, changed: changed.toSorted((a, b) => (a.action < b.action ? -1 : 1)) }
}
