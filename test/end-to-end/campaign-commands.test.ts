/** The operators' commands for campaigns. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Pipeline, NOW, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { type Engine, type Shop, openEngine, openShop } from '../campaigns/engine-lab.ts'
import { fillDue } from '../support/fill-due.ts'
import { runAdminQuietly } from './run-admin.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
let campaignId: string
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack)
})
afterAll(async () => {
  await engine.close()
  await stack.close()
})
beforeEach(async () => {
  const { businessId } = await createBusiness(stack.sql)
  engine.clock.now = NOW
  shop = openShop(stack, engine, pipeline, businessId)
  const steps = [{ id: 'hello', type: 'send', channel: 'email', template: await shop.template() }]
  campaignId = await shop.publish(steps, { goal: 'purchase' })
})

const admin = (...words: string[]) => runAdminQuietly(['campaign', ...words], stack.config)
async function adminJson(...words: string[]): Promise<Record<string, unknown>> {
  const { exitCode, out } = await admin(...words, '--json')
  return { exitCode, ...(JSON.parse(out) as Record<string, unknown>) }
}
const audit = async () => {
  const rows = await stack.sql<{ action: string; name: string }[]>`
    select action, actor_name as name from audit_log
    where business_id = ${shop.businessId} and action like 'campaign.%' and actor_name like 'admin %' order by id`
  return rows.map(({ action, name }) => `${action}: ${name}`)
}

it('lists and shows them', async () => {
  const { businessId: other } = await createBusiness(stack.sql)
  expect((await admin('list', '--business', other)).out).toBe('There are no campaigns yet\n')
  expect(await adminJson('list', '--business', shop.businessId)).toMatchObject({
    exitCode: 0,
    campaigns: [{ campaignId, status: 'published', trigger: { event: 'signup' } }],
  })
  expect((await admin('list', '--business', shop.businessId)).out).toContain(
    `${campaignId}  published  1        event signup  c`,
  )
  const shown = { campaignId, goal: { event: 'purchase' }, steps: [{ id: 'hello', type: 'send' }] }
  expect(await adminJson('show', campaignId)).toMatchObject({ exitCode: 0, campaign: shown })
  expect(JSON.parse((await admin('show', campaignId)).out)).toMatchObject(shown)
})

it('pauses, resumes and archives, each once', async () => {
  expect(await adminJson('resume', campaignId)).toMatchObject({ exitCode: 0, changed: false })
  for (const isChanged of [true, false])
    expect(await adminJson('pause', campaignId)).toMatchObject({
      exitCode: 0,
      changed: isChanged,
      campaign: { campaignId, status: 'paused' },
    })
  expect((await admin('resume', campaignId)).out).toBe('The campaign c goes on\n')
  expect(await adminJson('archive', campaignId)).toMatchObject({ exitCode: 2 })
  expect(await adminJson('archive', campaignId, '--yes')).toMatchObject({ campaign: { status: 'archived' } })
  expect(await adminJson('resume', campaignId)).toMatchObject({ exitCode: 1, error: { code: 'locked' } })
  expect(await audit()).toEqual([
    'campaign.pause: admin campaign pause',
    'campaign.resume: admin campaign resume',
    'campaign.archive: admin campaign archive',
  ])
})

it('reports', async () => {
  await fillDue(stack.sql, { businessId: shop.businessId, campaignId, step: 'hello', many: 3, dueAt: NOW })
  await engine.drain()
  const [enrolled, step] = [
    { enrolled: 3, finished: 3 },
    { stepId: 'hello', entered: 3, sent: 3 },
  ]
  expect(await adminJson('report', campaignId)).toMatchObject({
    exitCode: 0,
    report: { enrolments: enrolled, steps: [step], conversionRate: 0 },
  })
  const { out } = await admin('report', campaignId)
  expect(out).toContain('c (published): 3 enrolled, 0 active, 3 finished')
  expect(out).toMatch(/^ *1 +email: .*\S +3 +3 .* hello$/m)
  const until = new Date(NOW - 1).toISOString()
  expect(await adminJson('report', campaignId, '--to', until)).toMatchObject({
    report: { enrolments: { enrolled: 0 } },
  })
  expect(await adminJson('report', campaignId, '--from', new Date(NOW).toISOString())).toMatchObject({
    report: { enrolments: enrolled },
  })
})

it('refuses what it cannot do', async () => {
  const unknown = crypto.randomUUID()
  for (const words of [['show'], ['pause'], ['resume'], ['archive', '--yes'], ['report']])
    expect(await adminJson(words[0]!, unknown, ...words.slice(1))).toMatchObject({
      exitCode: 1,
      error: { code: 'campaign_not_found' },
    })
  expect(await adminJson('list', '--business', unknown)).toMatchObject({
    exitCode: 1,
    error: { code: 'business_not_found' },
  })
  expect(await adminJson('report', campaignId, '--from', 'yesterday')).toMatchObject({ exitCode: 2 })
  expect(await adminJson('show', 'x')).toMatchObject({ exitCode: 2 })
  expect((await admin('archive', '--help')).out).toContain('--yes')
})
