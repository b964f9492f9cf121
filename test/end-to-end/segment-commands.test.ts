/** The operators' commands for segments. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { runAdminQuietly } from './run-admin.ts'

let stack: Stack
let pipeline: Pipeline
let folder: string
let businessId: string
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
  folder = await mkdtemp(join(tmpdir(), 'sluice-segments-'))
  await writeFile(join(folder, 'vip'), '{ "any": [{ "tag": "vip", "operator": "has" }] }')
  await writeFile(join(folder, 'wrong'), '{ "tag": "vip", "operator": "is" }')
  await writeFile(join(folder, 'broken'), '{ "tag"')
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await stack.close()
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

const admin = (...words: string[]) => runAdminQuietly(['segment', ...words], stack.config)
async function adminJson(...words: string[]): Promise<Record<string, unknown>> {
  const { exitCode, out } = await admin(...words, '--json')
  return { exitCode, ...(JSON.parse(out) as Record<string, unknown>) }
}
const create = (file: string, ...words: string[]) =>
  adminJson('create', '--business', businessId, '--name', 'VIPs', '--rule-file', join(folder, file), ...words)

it('creates, lists and explains', async () => {
  expect((await admin('list', '--business', businessId)).out).toBe('There are no segments yet\n')
  const created = await create('vip', '--description', ' The best ')
  expect(created).toMatchObject({
    exitCode: 0,
    segment: { name: 'VIPs', description: 'The best', status: 'computing' },
  })
  const { segmentId } = created['segment'] as { segmentId: string }
  expect(await adminJson('list', '--business', businessId)).toMatchObject({ segments: [{ segmentId, memberCount: 0 }] })
  expect((await admin('list', '--business', businessId)).out).toContain(`${segmentId}  computing, 0 %  0        1`)
  const [entry] = await stack.sql`select action, actor_kind, target from audit_log where business_id = ${businessId}`
  expect(entry).toEqual({ action: 'segment.create', actor_kind: 'command', target: segmentId })

  await pipeline.track(track(businessId, eventFact('visit', { email: 'a@x.io' }, { tags: ['vip'] })))
  const [contact] = await stack.sql<[{ id: string }]>`select id from contacts where business_id = ${businessId}`
  expect(await adminJson('explain', segmentId, '--contact', contact.id)).toMatchObject({
    member: true,
    enteredAt: null,
    changesAt: null,
    rule: { any: [{ tag: 'vip', operator: 'has', matches: true, seen: true }], matches: true },
  })
  expect((await admin('explain', segmentId, '--contact', contact.id)).out).toBe(
    'A member\n  yes any of:\n    yes {"tag":"vip","operator":"has"} saw true\n',
  )
  const { query } = await adminJson('sql', segmentId)
  const selected = await stack.clickhouse.query({ query: String(query), format: 'JSONEachRow' })
  expect(await selected.json()).toEqual([])
  expect((await admin('sql', segmentId)).out).toContain(businessId)
  expect(await adminJson('sql', businessId)).toMatchObject({ error: { code: 'segment_not_found' } })
  expect(await adminJson('explain', segmentId, '--contact', businessId)).toMatchObject({
    exitCode: 1,
    error: { code: 'contact_not_found' },
  })
  expect(await adminJson('explain', businessId, '--contact', contact.id)).toMatchObject({
    exitCode: 1,
    error: { code: 'segment_not_found' },
  })
})

it('computes what depends on the default currency anew when that is changed', async () => {
  await writeFile(join(folder, 'spent'), '{ "attribute": "revenue", "operator": "exists" }')
  await create('spent')
  await runAdminQuietly(['business', 'update', businessId, '--currency', 'eur'], stack.config)
  const rules = await stack.sql<{ rule: object }[]>`
    select rule from segment_rules where business_id = ${businessId} and state = 'building'`
  expect(rules).toMatchObject([{ rule: { currency: 'EUR' } }])
})

it('refuses what it cannot do', async () => {
  expect(await create('wrong')).toMatchObject({ exitCode: 1, error: { code: 'invalid_rule' } })
  expect(await create('broken')).toMatchObject({ exitCode: 2, error: { code: 'usage' } })
  expect(await create('missing')).toMatchObject({ exitCode: 2, error: { code: 'usage' } })
  expect(await create('vip', '--description', 'x'.repeat(2001))).toMatchObject({ exitCode: 2 })
  const named = (name: string) =>
    adminJson('create', '--business', businessId, '--rule-file', join(folder, 'vip'), '--name', name)
  for (const name of [' ', 'x'.repeat(257), 'a\0b']) expect(await named(name)).toMatchObject({ exitCode: 2 })
  expect(await named('x'.repeat(256))).toMatchObject({ exitCode: 0 })
  const other = crypto.randomUUID()
  expect(await adminJson('list', '--business', other)).toMatchObject({ error: { code: 'business_not_found' } })
  expect(await adminJson('list')).toMatchObject({ exitCode: 2 })
  for (const command of ['create', 'list', 'explain', 'sql'])
    expect((await admin(command, '--help')).out).toContain(`Usage: admin segment ${command}`)
})
