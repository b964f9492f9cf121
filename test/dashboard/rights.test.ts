/** The permission of each route of the dashboard's API, and each role on each route of a business. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PERMISSIONS, RIGHTS, ROLES, can } from '../../src/accounts/rights.ts'
import { listRoutes } from '../../src/front-door/app.ts'
import { DASHBOARD_ROUTES } from '../../src/front-door/routes/dashboard/index.ts'
import { eventFact, openPipeline, track } from '../support/facts.ts'
import { partOf } from '../support/runs.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { ROUTE_PERMISSIONS } from './route-permissions.ts'
import { type SessionClient, addUser, openSession, signIn } from './session-client.ts'

let service: Service
let mine: string
let theirs: string
const clients = new Map<string, SessionClient>()
beforeAll(async () => {
  service = await openService()
  mine = (await createBusiness(service.sql)).businessId
  // With a contact of its own, it refuses demo data: loading them would take longer than everything else here.
  const pipeline = await openPipeline(service.sql)
  await pipeline.track(track(mine, eventFact('signup', { email: 'ann@x.io' })))
  theirs = (await createBusiness(service.sql)).businessId
  await addUser(service.sql, 'boss@x.io', { isOperator: true })
  for (const role of ROLES) await addUser(service.sql, `${role}@x.io`, { businessId: mine, role })
  for (const role of ROLES) clients.set(role, await signIn(service, `${role}@x.io`))
  clients.set('operator', await signIn(service, 'boss@x.io'))
})
afterAll(() => service.close())

const OPEN = new Set([
  'GET /dashboard/api/installation',
  'GET /dashboard/api/openapi.json',
  'POST /dashboard/api/session',
  'POST /dashboard/api/link/read',
  'POST /dashboard/api/link',
  'POST /dashboard/api/password-reset',
])
const ofBusiness = DASHBOARD_ROUTES.filter(({ path }) => path.startsWith('/dashboard/api/b/'))
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

it('every route of the dashboard is in the list', () => {
  const served = listRoutes().filter(({ path }) => path.startsWith('/dashboard/api/'))
  const listed = new Set(DASHBOARD_ROUTES.map(nameOf))
  expect(served.map(nameOf).filter((name) => !listed.has(name))).toEqual([])
})

it('every route names who may use it', () => {
  for (const route of DASHBOARD_ROUTES) {
    const { access, path } = route
    if (path.startsWith('/dashboard/api/b/'))
      expect([nameOf(route), PERMISSIONS]).toEqual([nameOf(route), expect.arrayContaining([access])])
    else if (path.startsWith('/dashboard/api/operations'))
      expect([nameOf(route), access]).toEqual([nameOf(route), 'operations'])
    else expect([nameOf(route), access]).toEqual([nameOf(route), OPEN.has(nameOf(route)) ? 'anybody' : 'signed-in'])
  }
})

/** Written by hand: a route with the wrong permission would pass all other tests here. */
it('every route needs what the table says, and the table has no other', () => {
  expect(Object.fromEntries(DASHBOARD_ROUTES.map((route) => [nameOf(route), route.access]))).toEqual(ROUTE_PERMISSIONS)
})

it('a role has what the role below it has, and none but the operator has the installation', () => {
  expect(RIGHTS['read-only'].every((one) => can('analyst', one))).toBe(true)
  expect(RIGHTS.analyst.every((one) => can('marketer', one))).toBe(true)
  expect(RIGHTS.marketer.every((one) => can('owner', one))).toBe(true)
  expect(ROLES.filter((role) => can(role, 'operations'))).toEqual([])
})

/** Returns the path with ids that do not exist. */
const pathFor = (path: string, businessId: string) =>
  path
    .replace('/dashboard/api', '')
    .replace(':businessId', businessId)
    .replaceAll(/:\w+/g, () => randomUUID())

const CALLERS = [...ROLES, 'operator'] as const

const bodyFor = (method: string) => (method === 'GET' || method === 'DELETE' ? undefined : {})

describe.each(
  [...ofBusiness, ...DASHBOARD_ROUTES.filter(({ access }) => access === 'operations')].map(
    (route, nth) => [nameOf(route), route, nth] as const,
  ),
)('%s', (_, { method, path, access }, nth) => {
  const mayUse = (role: (typeof CALLERS)[number]) => RIGHTS[role].includes(access as (typeof PERMISSIONS)[number])
  // Of both, so that a route open to all or to none fails in a part, too.
  const tried = [true, false].flatMap((isAllowed) => {
    const callers = CALLERS.filter((role) => mayUse(role) === isAllowed)
    return callers.length === 0 ? [] : partOf(callers, nth)
  })
  it.each(tried)('as %s', async (role) => {
    const { code } = await clientOf(role).send(method, pathFor(path, mine), bodyFor(method))
    if (mayUse(role)) expect(code).not.toBe('not_permitted')
    else expect(code).toBe('not_permitted')
  })

  it('answers alike for a business of others and for one that does not exist', async () => {
    if (!path.includes(':businessId')) return
    const answers = []
    for (const id of [theirs, randomUUID(), 'no-id']) {
      answers.push((await clientOf('owner').send(method, pathFor(path, id), bodyFor(method))).code)
    }
    expect(answers).toEqual(Array(3).fill('business_not_found'))
  })

  it('without a session it answers nothing', async () => {
    const { code } = await openSession(service.url).send(method, pathFor(path, mine), bodyFor(method))
    expect(code).toBe('not_signed_in')
  })
})

function clientOf(role: string): SessionClient {
  const client = clients.get(role)
  if (client === undefined) throw new Error(`no client of ${role}`)
  return client
}
