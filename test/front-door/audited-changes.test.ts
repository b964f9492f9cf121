/**
 * Every change is in the audit log, with who made it: each route that may change something for a secret key or a session
 * has its calls in `audited/`, and each is made. A new route without one fails.
 */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../src/audit/audit.ts'
import { listRoutes } from '../../src/front-door/app.ts'
import { DASHBOARD_ROUTES } from '../../src/front-door/routes/dashboard/index.ts'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { makeAnalystFolder } from '../support/analyst-engine.ts'
import { type Service, openService } from '../support/service.ts'
import { OF_AUDIENCES } from './audited/audiences.ts'
import { type ActingBusiness, openActingBusiness } from './audited/business.ts'
import type { AuditedCall, AuditedCalls } from './audited/call.ts'
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
].filter(({ method }) => method !== 'GET')
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

it('each route that may change something has its calls, and no other has', () => {
  expect(Object.keys(AUDITED).toSorted()).toEqual([...new Set(ROUTES.map(nameOf))].toSorted())
  expect(Object.values(AUDITED).filter((calls) => calls.length === 0)).toEqual([])
})

it('a route that is only read needs no permission to write', () => {
  const read = ofPeople.filter(({ method, access }) => method === 'GET' && access.endsWith(':write'))
  expect(read.map(nameOf)).toEqual([])
})

const cases = ROUTES.flatMap((route) =>
  (AUDITED[nameOf(route)] ?? []).map((audited) => {
    const { actions, what, reason } = audited
    const outcome = actions.length === 0 ? `nothing: ${reason}` : actions.join(', ')
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
  if (how === 'counted') await call(business, route, audited)
  const changed = await call(business, route, audited)
  const isOwn = route.caller !== 'operator'
  expect(changed).toEqual(audited.actions.map((action) => ({ action, how, actor, isOwn })))
})

interface Row {
  id: number
  businessId: string | null
  actor: Actor
  action: string
  times: number
  details: string
  isCounted: boolean
}

const readLog = () => service.sql<Row[]>`
  select id, business_id as "businessId", json_build_object('kind', actor_kind, 'id', actor_id, 'name', actor_name) as actor,
    action, times, details::text as details, hour is not null as "isCounted"
  from audit_log order by id`

/** Makes one call. Returns the entries that it has added or changed, by action. */
async function call(business: ActingBusiness, { caller, method, path }: ChangingRoute, { prepare }: AuditedCall) {
  const { ids = {}, query = '', json } = typeof prepare === 'function' ? await prepare(business) : prepare
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? '')
  const before = new Map((await readLog()).map((row) => [row.id, row]))
  await business[caller].send(method, `${filled}${query && '?'}${query}`, json)
  const changed = (await readLog()).flatMap((row) => {
    const known = before.get(row.id)
    if (known?.times === row.times && known.details === row.details) return []
    const { action, actor, businessId } = row
    const how = row.isCounted ? 'counted' : known === undefined ? 'added' : 'completed'
    return [{ action, how, actor, isOwn: businessId === business.businessId }]
  })
  return changed.toSorted((a, b) => (a.action < b.action ? -1 : 1))
}
