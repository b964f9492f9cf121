/** Campaigns over HTTP, from the draft to the report (campaigns, "A campaign", "Status", "Reading"). */
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as schemas from '../../src/front-door/routes/campaigns/schemas.ts'
import { MessageData, MessagesData, SettledData } from '../../src/front-door/routes/messages/schemas.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ PUBLIC_URL: 'https://shop.example' }))
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql)
})

const ask = (method: string, path: string, json?: unknown, key = tenant.secretKey) => speak(method, path, { key, json })
const code = ({ status, body }: Answer) => [status, body.error?.code]
const pathsOf = ({ body }: Answer) => body.error?.issues?.map(({ path }) => path)

type Shown = Record<string, unknown> & { campaignId: string }
const shown = (answer: Answer) => dataOf(schemas.PublishedData, answer)['campaign'] as Shown
const draft = async (more: object = {}) =>
  shown(await ask('POST', '/api/campaigns', { name: 'Welcome', trigger: { event: 'signup' }, ...more }))
const change = (id: string, to: string) => ask('POST', `/api/campaigns/${id}/${to}`)

async function template(channel = 'email'): Promise<string> {
  const variants = {
    en: channel === 'email' ? { subject: 'Hello', text: 'Hello {{contact.firstName}}' } : { text: 'Hi' },
  }
  const { body } = await ask('POST', '/api/templates', { name: 'T', channel, variants, defaultLanguage: 'en' })
  return (body.data['template'] as { templateId: string }).templateId
}
const send = (id: string, name: string, channel = 'email') => ({ id, type: 'send', channel, template: name })

async function subscribe(email: string): Promise<string> {
  const { body } = await ask('POST', '/api/sdk/track', { event: 'seen', identity: { email } })
  const { contactId } = body.data as { contactId: string }
  await ask('PUT', `/api/contacts/${contactId}/subscriptions`, { email: true, method: 'form' })
  return contactId
}
const track = (event: string, email: string) => ask('POST', '/api/sdk/track', { event, identity: { email } })

describe('a draft', () => {
  it('keeps what it does, with ids for steps that have none', async () => {
    const name = await template()
    const steps = [send('a', name), { type: 'wait', for: 'P3D' }]
    const created = await draft({
      steps,
      quietHours: null,
      caps: [{ channel: 'email', atMost: 2, days: 7 }],
      holdOut: 5,
    })
    expect(created).toMatchObject({
      status: 'draft',
      version: 1,
      quietHours: null,
      holdOut: 5,
      caps: [{ channel: 'email', atMost: 2, days: 7, whenReached: 'wait' }],
      steps: [
        { ...steps[0], kind: 'marketing' },
        { type: 'wait', for: 'P3D', id: expect.any(String) as string },
      ],
    })
    expect(shown(await ask('GET', `/api/campaigns/${created.campaignId}`))).toEqual(created)
    const { campaigns } = dataOf(schemas.CampaignsData, await ask('GET', '/api/campaigns'))
    expect(campaigns).toMatchObject([{ campaignId: created.campaignId, version: 1 }])
  })

  it('may change in all, and is deleted', async () => {
    const { campaignId } = await draft({ goal: { event: 'paid' } })
    const path = `/api/campaigns/${campaignId}`
    const changed = shown(
      await ask('PATCH', path, {
        name: 'Hi',
        trigger: { event: 'joined' },
        goal: null,
        canEnterAgain: true,
        holdOut: 1,
      }),
    )
    expect(changed).toMatchObject({
      name: 'Hi',
      trigger: { event: 'joined' },
      goal: null,
      canEnterAgain: true,
      holdOut: 1,
      version: 1,
    })
    expect(shown(await ask('GET', path))).toEqual(changed)
    expect((await ask('DELETE', path)).status).toBe(200)
    expect(code(await ask('DELETE', path))).toEqual([404, 'not_found'])
    const [{ count }] = await service.sql<[{ count: number }]>`
      select campaign_count as count from businesses where id = ${tenant.businessId}`
    expect(count).toBe(0)
  })

  it('goes back to the quiet hours of the business', async () => {
    const { campaignId } = await draft({ quietHours: null })
    const path = `/api/campaigns/${campaignId}`
    expect(shown(await ask('PATCH', path, { name: 'Hi' }))).toHaveProperty('quietHours', null)
    expect(shown(await ask('PATCH', path, { quietHours: 'default' }))).not.toHaveProperty('quietHours')
    expect(shown(await ask('GET', path))).not.toHaveProperty('quietHours')
    expect(await draft({ quietHours: 'default' })).not.toHaveProperty('quietHours')
  })

  it.each<[string, object, string]>([
    ['a step of no type', { steps: [{ type: 'dance' }] }, 'steps[0].type'],
    [
      'a step inside that is wrong',
      { steps: [{ type: 'split', parts: [{ percent: 100, steps: [{ type: 'wait' }] }] }] },
      'steps[0].parts[0].steps[0].for',
    ],
    ['a hold-out of 51', { holdOut: 51 }, 'holdOut'],
    ['a cap of none', { caps: [{ channel: 'email', atMost: 0, days: 1 }] }, 'caps[0].atMost'],
    ['quiet hours without an end', { quietHours: { from: '21:00' } }, 'quietHours.to'],
    ['a goal of nothing', { goal: {} }, 'goal.event'],
    [
      'a condition of no operator',
      { trigger: { event: 'e', where: [{ property: 'plan', operator: 'is', value: 'pro' }] } },
      'trigger.where[0].operator',
    ],
    ['sources that do not trigger', { trigger: { event: 'e', sources: ['batch'] } }, 'trigger.sources'],
    ['a field of a trigger that does not exist', { trigger: { event: 'e', when: [] } }, 'trigger.when'],
    ['a segment that has no id', { trigger: { segment: 'vip', on: 'enter' } }, 'trigger.segment'],
    ['a segment that nobody can be in like that', { trigger: { segment: randomUUID(), on: 'in' } }, 'trigger.on'],
    ['what no browser captures', { trigger: { web: 'hover' } }, 'trigger.web'],
    ['a trigger of nothing', { trigger: {} }, 'trigger'],
    ['conditions on a segment', { trigger: { segment: randomUUID(), on: 'enter', where: [] } }, 'trigger.where'],
  ])('is refused with %s', async (_, more, path) => {
    const sent = { name: 'n', trigger: { event: 'e' }, ...more }
    const refused = await ask('POST', '/api/campaigns', sent)
    expect(code(refused)).toEqual([400, 'invalid_request'])
    expect(pathsOf(refused)).toEqual([path])
    const { campaignId } = await draft()
    expect(pathsOf(await ask('PATCH', `/api/campaigns/${campaignId}`, more))).toEqual([path])
  })

  it('keeps the conditions of its trigger as they were sent', async () => {
    const where = [
      { property: 'plan', operator: 'in', value: ['pro', 'team'], ignoreCase: true },
      { property: 'value', operator: 'between', value: [0.1, 1e21] },
      { property: 'gift', operator: 'is_true' },
    ]
    const { campaignId, trigger } = await draft({ trigger: { event: 'paid', where, sources: ['live'] } })
    expect(JSON.stringify(trigger)).toBe(JSON.stringify({ event: 'paid', where, sources: ['live'] }))
    const path = `/api/campaigns/${campaignId}`
    expect(shown(await ask('PATCH', path, { trigger: { event: 'paid', where: [] } }))['trigger']).toEqual({
      event: 'paid',
    })
    expect(shown(await ask('GET', path))['trigger']).toEqual({ event: 'paid' })
  })

  it('is listed in pages, oldest first', async () => {
    const ids = [await draft(), await draft(), await draft()].map(({ campaignId }) => campaignId)
    const page = async (query: string) => {
      const { campaigns, nextCursor } = dataOf(schemas.CampaignsData, await ask('GET', `/api/campaigns?${query}`))
      return [(campaigns as Shown[]).map(({ campaignId }) => campaignId), nextCursor]
    }
    expect(await page('limit=2')).toEqual([ids.slice(0, 2), ids[1]])
    expect((await ask('DELETE', `/api/campaigns/${ids[1]}`)).status).toBe(200)
    expect(await page(`limit=2&cursor=${ids[1]}`)).toEqual([ids.slice(2), null])
    expect(await page('')).toEqual([[ids[0], ids[2]], null])
    expect(pathsOf(await ask('GET', '/api/campaigns?limit=501'))).toEqual(['limit'])
    expect(pathsOf(await ask('GET', '/api/campaigns?cursor=x'))).toEqual(['cursor'])
  })

  it('is refused a change of nothing', async () => {
    const { campaignId } = await draft()
    expect(code(await ask('PATCH', `/api/campaigns/${campaignId}`, { other: 1 }))).toEqual([400, 'invalid_request'])
  })
})

describe('publishing', () => {
  it.each<[string, (name: string) => object, string]>([
    ['a template that does not exist', () => ({ steps: [send('a', randomUUID())] }), 'steps[0].template'],
    ['a template of another channel', (name) => ({ steps: [send('a', name, 'sms')] }), 'steps[0].template'],
    ['an unknown segment', () => ({ trigger: { segment: randomUUID(), on: 'enter' } }), 'trigger.segment'],
    [
      'a branch on an unknown segment',
      () => ({ steps: [{ type: 'branch', rule: { segment: randomUUID(), operator: 'is_member' } }] }),
      'steps[0].rule.segment',
    ],
    [
      'a wait for the goal',
      () => ({ goal: { event: 'paid' }, steps: [{ type: 'wait_for', event: 'paid', timeout: 'P1D' }] }),
      'steps[0].event',
    ],
    ['steps after an exit', (name) => ({ steps: [{ type: 'exit' }, send('a', name)] }), 'steps[1]'],
  ])('refuses %s', async (_, more, path) => {
    const { campaignId } = await draft(more(await template()))
    const refused = await change(campaignId, 'publish')
    expect(code(refused)).toEqual([400, 'invalid_request'])
    expect(pathsOf(refused)).toEqual([path])
  })

  it('refuses a channel whose settings are not complete', async () => {
    const { campaignId } = await draft({ steps: [send('a', await template())] })
    const settings = { host: 'mail.example', port: 25, sender: 'not an address' }
    await service.sql`
      insert into channels (business_id, channel, provider, settings, revision)
      values (${tenant.businessId}, 'email', 'smtp', ${JSON.stringify(settings)}::text::jsonb, gen_random_uuid())`
    expect(pathsOf(await change(campaignId, 'publish'))).toEqual(['steps[0].channel'])
  })

  it('keeps the templates and the segments that it names', async () => {
    const name = await template()
    const rule = { event: 'paid', metric: 'count', operator: 'greater_than_or_equal', value: 1 }
    const { body } = await ask('POST', '/api/segments', { name: 'Buyers', rule })
    const { segmentId } = body.data['segment'] as { segmentId: string }
    const branch = { type: 'branch', rule: { segment: segmentId, operator: 'is_member' }, steps: [send('a', name)] }
    const { campaignId } = await draft({ steps: [branch] })
    expect((await change(campaignId, 'publish')).status).toBe(200)
    expect(code(await ask('DELETE', `/api/templates/${name}`))).toEqual([409, 'in_use'])
    expect(code(await ask('DELETE', `/api/segments/${segmentId}`))).toEqual([409, 'in_use'])
    expect((await change(campaignId, 'archive')).status).toBe(200)
    expect((await ask('DELETE', `/api/templates/${name}`)).status).toBe(200)
    expect((await ask('DELETE', `/api/segments/${segmentId}`)).status).toBe(200)
  })
})

describe('the status', () => {
  it('goes its way, and is locked elsewhere', async () => {
    const { campaignId: id } = await draft()
    for (const to of ['pause', 'resume', 'archive']) expect(code(await change(id, to))).toEqual([409, 'locked'])
    const steps: [string, string][] = [
      ['publish', 'published'],
      ['publish', 'published'],
      ['pause', 'paused'],
      ['pause', 'paused'],
      ['publish', 'paused'],
      ['resume', 'published'],
      ['archive', 'archived'],
      ['archive', 'archived'],
    ]
    for (const [to, status] of steps) expect(shown(await change(id, to))['status']).toBe(status)
    for (const to of ['publish', 'pause', 'resume']) expect(code(await change(id, to))).toEqual([409, 'locked'])
    expect(code(await ask('PATCH', `/api/campaigns/${id}`, { name: 'x' }))).toEqual([409, 'locked'])
    expect(code(await ask('DELETE', `/api/campaigns/${id}`))).toEqual([409, 'locked'])
    const log = await service.sql<{ action: string }[]>`
      select action from audit_log where business_id = ${tenant.businessId} and action like 'campaign.%' order by id`
    expect(log.map(({ action }) => action.slice(9))).toEqual(['create', 'publish', 'pause', 'resume', 'archive'])
  })

  it('published locks trigger, goal and re-entry; other steps make a version, and a name does not', async () => {
    const name = await template()
    const { campaignId } = await draft({ goal: { event: 'paid' }, steps: [send('a', name)] })
    await change(campaignId, 'publish')
    const path = `/api/campaigns/${campaignId}`
    for (const locked of [
      { trigger: { event: 'x' } },
      { goal: { event: 'x' } },
      { goal: null },
      { canEnterAgain: true },
    ])
      expect(code(await ask('PATCH', path, locked))).toEqual([409, 'locked'])
    const same = { trigger: { event: 'signup' }, goal: { event: 'paid' }, canEnterAgain: false, name: 'Hi' }
    expect(shown(await ask('PATCH', path, same))).toMatchObject({ name: 'Hi', version: 1 })
    const steps = [send('a', name), { id: 'w', type: 'wait', for: 'P1D' }]
    const changed = await ask('PATCH', path, { steps })
    expect(shown(changed)).toMatchObject({ version: 2 })
    expect(changed.body.data['warnings']).toEqual([
      expect.stringContaining('steps[0].template has no link to unsubscribe'),
    ])
    expect(shown(await ask('PATCH', path, { steps: [{ id: 'w', type: 'wait', for: 'P1D' }] }))).toMatchObject({
      version: 3,
    })
    const taken = await ask('PATCH', path, { steps: [{ id: 'a', type: 'wait', for: 'P1D' }] })
    expect(pathsOf(taken)).toEqual(['steps[0].id'])
    expect(pathsOf(await ask('PATCH', path, { steps: [send('b', randomUUID())] }))).toEqual(['steps[0].template'])
    expect(shown(await ask('GET', path))).toMatchObject({ version: 3 })
  })
})

describe('a broadcast', () => {
  const DAY = 86_400_000
  const trigger = (segment: string, at?: unknown) => ({ segment, on: 'members', ...(at !== undefined && { at }) })

  async function segment(): Promise<string> {
    const rule = { event: 'paid', metric: 'count', operator: 'greater_than_or_equal', value: 1 }
    const { body } = await ask('POST', '/api/segments', { name: 'Buyers', rule })
    const { segmentId } = body.data['segment'] as { segmentId: string }
    const status = async () => {
      const { body: read } = await ask('GET', `/api/segments/${segmentId}`)
      return (read.data['segment'] as { status: string }).status
    }
    await expect.poll(status, { timeout: PATIENCE_MS }).toBe('ready')
    return segmentId
  }
  const report = async (id: string) =>
    dataOf(schemas.ReportData, await ask('GET', `/api/campaigns/${id}/report`))['report'] as {
      broadcast: Record<string, unknown> | null
    }

  it('enrols the members of the publish, and reports how far it is', { timeout: PATIENCE_MS }, async () => {
    const segmentId = await segment()
    await track('paid', 'ann@x.io')
    await track('paid', 'bob@x.io')
    const { campaignId, ...drafted } = await draft({ trigger: trigger(segmentId) })
    expect(drafted['trigger']).toEqual({ segment: segmentId, on: 'members' })
    expect((await report(campaignId)).broadcast).toBeNull()
    expect((await change(campaignId, 'publish')).status).toBe(200)
    await track('paid', 'cat@x.io')
    await expect
      .poll(async () => (await report(campaignId)).broadcast, { timeout: PATIENCE_MS })
      .toMatchObject({ members: 2, enrolled: 2, doneAt: expect.any(String) as string })
    const { enrolments } = dataOf(schemas.EnrolmentsData, await ask('GET', `/api/campaigns/${campaignId}/enrolments`))
    const { broadcast } = await report(campaignId)
    expect(enrolments).toMatchObject([{ enrolledAt: broadcast!['at'] }, { enrolledAt: broadcast!['at'] }])
    expect(code(await ask('DELETE', `/api/segments/${segmentId}`))).toEqual([409, 'in_use'])
    await change(campaignId, 'archive')
    expect((await ask('DELETE', `/api/segments/${segmentId}`)).status).toBe(200)
  })

  it('waits for its instant, which is locked once it is published', { timeout: PATIENCE_MS }, async () => {
    const segmentId = await segment()
    const at = new Date(Date.now() + DAY)
    const { campaignId } = await draft({ trigger: trigger(segmentId, at.toISOString().replace('Z', '+00:00')) })
    const path = `/api/campaigns/${campaignId}`
    const later = new Date(Date.now() + 2 * DAY).toISOString()
    expect(shown(await ask('PATCH', path, { trigger: trigger(segmentId, later) }))['trigger']).toMatchObject({
      at: later,
    })
    expect((await change(campaignId, 'publish')).status).toBe(200)
    expect(await report(campaignId)).toMatchObject({
      enrolments: { enrolled: 0 },
      broadcast: { at: later, members: null, enrolled: 0, doneAt: null },
    })
    for (const other of [at.toISOString(), undefined])
      expect(code(await ask('PATCH', path, { trigger: trigger(segmentId, other) }))).toEqual([409, 'locked'])
    expect(shown(await ask('PATCH', path, { trigger: trigger(segmentId, later) }))).toMatchObject({ version: 1 })
    const { campaigns } = dataOf(schemas.CampaignsData, await ask('GET', '/api/campaigns'))
    expect(campaigns).toMatchObject([{ trigger: { on: 'members', at: later } }])
  })

  it.each<[string, unknown]>([
    ['a number', 5],
    ['no instant', 'tomorrow'],
    ['a day that does not exist', '2026-02-30T09:00:00Z'],
    ['an instant more than a year ahead', new Date(Date.now() + 365 * DAY + 3_600_000).toISOString()],
    ['a list', ['2026-02-03']],
  ])('is refused for %s', async (_, at) => {
    const sent = { name: 'n', trigger: trigger(randomUUID(), at) }
    const refused = await ask('POST', '/api/campaigns', sent)
    expect([...code(refused), pathsOf(refused)]).toEqual([400, 'invalid_request', ['trigger.at']])
    const { campaignId } = await draft()
    expect(pathsOf(await ask('PATCH', `/api/campaigns/${campaignId}`, { trigger: sent.trigger }))).toEqual([
      'trigger.at',
    ])
  })

  it('may be a year ahead, and has no `at` for entering or leaving', async () => {
    const at = new Date(Date.now() + 365 * DAY - 60_000).toISOString()
    expect((await draft({ trigger: trigger(randomUUID(), at) }))['trigger']).toMatchObject({ at })
    const sent = { name: 'n', trigger: { segment: randomUUID(), on: 'enter', at } }
    expect(pathsOf(await ask('POST', '/api/campaigns', sent))).toEqual(['trigger.at'])
  })

  it(
    'is not published with another entry, nor for a segment that does not exist',
    { timeout: PATIENCE_MS },
    async () => {
      const again = await draft({ trigger: trigger(await segment()), canEnterAgain: true })
      expect(pathsOf(await change(again.campaignId, 'publish'))).toEqual(['canEnterAgain'])
      const unknown = await draft({ trigger: trigger(randomUUID()) })
      expect(pathsOf(await change(unknown.campaignId, 'publish'))).toEqual(['trigger.segment'])
    },
  )

  it('is refused another word', async () => {
    const sent = { name: 'n', trigger: { segment: randomUUID(), on: 'stay' } }
    expect(pathsOf(await ask('POST', '/api/campaigns', sent))).toEqual(['trigger.on'])
  })
})

describe('a trigger with conditions', () => {
  it('is locked once published; in another order of words it is the same', async () => {
    const where = [{ property: 'plan', operator: 'equals', value: 'pro' }]
    const { campaignId } = await draft({ trigger: { event: 'paid', where } })
    await change(campaignId, 'publish')
    const path = `/api/campaigns/${campaignId}`
    const same = { where: [{ value: 'pro', property: 'plan', ignoreCase: false, operator: 'equals' }], event: 'paid' }
    expect(shown(await ask('PATCH', path, { trigger: same }))).toMatchObject({ version: 1, trigger: { where } })
    for (const trigger of [
      { event: 'paid' },
      { event: 'paid', where: [{ ...where[0], value: 'team' }] },
      { event: 'paid', where, sources: ['live'] },
    ])
      expect(code(await ask('PATCH', path, { trigger }))).toEqual([409, 'locked'])
  })
})

describe('messages', () => {
  it('can be read from the event to the report', { timeout: PATIENCE_MS }, async () => {
    const steps = [send('hello', await template()), { id: 'w', type: 'wait', for: 'P3D' }]
    const { campaignId } = await draft({ steps })
    await change(campaignId, 'publish')
    const contactId = await subscribe('ann@x.io')
    await track('signup', 'ann@x.io')
    await track('signup', 'bob@x.io')
    const list = async (query: string) =>
      dataOf(MessagesData, await ask('GET', `/api/messages?${query}`)) as {
        messages: Record<string, unknown>[]
        nextCursor: string | null
      }
    await expect.poll(async () => (await list('state=sent')).messages.length, { timeout: PATIENCE_MS }).toBe(1)
    const [message] = (await list(`contactId=${contactId}`)).messages
    expect(message).toMatchObject({
      campaignId,
      contactId,
      stepId: 'hello',
      state: 'sent',
      to: 'ann@x.io',
      provider: 'log',
    })
    const one = dataOf(MessageData, await ask('GET', `/api/messages/${String(message!['messageId'])}`))['message']
    expect(one).toEqual({
      ...message,
      data: null,
      attachments: [],
      rendering: { language: 'en', subject: 'Hello', text: 'Hello there' },
    })
    const all = await list(`campaignId=${campaignId}`)
    expect(all.messages).toHaveLength(2)
    const first = await list(`campaignId=${campaignId}&limit=1`)
    const second = await list(`campaignId=${campaignId}&limit=1&cursor=${first.nextCursor}`)
    expect([...first.messages, ...second.messages]).toEqual(all.messages)
    expect(code(await ask('GET', '/api/messages?state=lost'))).toEqual([400, 'invalid_request'])
    expect(code(await ask('GET', '/api/messages?contactId=x'))).toEqual([400, 'invalid_request'])

    const path = `/api/campaigns/${campaignId}`
    const enrolments = async () =>
      dataOf(schemas.EnrolmentsData, await ask('GET', `${path}/enrolments?state=active`))['enrolments']
    // The message to the other may still be under way.
    await expect
      .poll(enrolments, { timeout: PATIENCE_MS })
      .toMatchObject([{ stepId: 'w', version: 1, endedAt: null }, { stepId: 'w' }])
    const { report } = dataOf(schemas.ReportData, await ask('GET', `${path}/report`))
    expect(report).toMatchObject({
      enrolments: { enrolled: 2, active: 2 },
      conversionRate: 0,
      steps: [{ stepId: 'hello', sent: 1, skipped: { no_opt_in: 1 } }],
    })
    await ask('DELETE', `/api/contacts/${contactId}`)
    expect((await list(`campaignId=${campaignId}`)).messages).toHaveLength(1)
    expect(code(await ask('GET', `/api/messages/${String(message!['messageId'])}`))).toEqual([404, 'not_found'])
    const after = dataOf(schemas.ReportData, await ask('GET', `${path}/report`))['report']
    expect(after).toMatchObject({
      enrolments: { enrolled: 2, active: 1, stopped: 1 },
      steps: [{ sent: 1, skipped: { no_opt_in: 1 } }],
    })
    const none = dataOf(schemas.ReportData, await ask('GET', `${path}/report?to=2020-01-01`))['report']
    expect(none).toMatchObject({ enrolments: { enrolled: 0 }, conversionRate: null })
  })

  it('that are unknown are settled by a person, once', { timeout: PATIENCE_MS }, async () => {
    const { campaignId } = await draft({ steps: [send('hello', await template())] })
    await change(campaignId, 'publish')
    await subscribe('ann@x.io')
    await track('signup', 'ann@x.io')
    const read = async () => {
      const [row] = await service.sql<{ id: string; state: string }[]>`
        select id, state from messages where business_id = ${tenant.businessId}`
      return row
    }
    await expect.poll(async () => (await read())?.state, { timeout: PATIENCE_MS }).toBe('sent')
    const path = `/api/messages/${(await read())!.id}/settle`
    expect(code(await ask('POST', path, { state: 'failed' }))).toEqual([409, 'locked'])
    await service.sql`update messages set state = 'unknown' where business_id = ${tenant.businessId}`
    expect(code(await ask('POST', path, { state: 'bounced' }))).toEqual([400, 'invalid_request'])
    for (const _ of [1, 2])
      expect(dataOf(SettledData, await ask('POST', path, { state: 'failed' }))['message']).toMatchObject({
        state: 'failed',
      })
    expect(code(await ask('POST', path, { state: 'sent' }))).toEqual([409, 'locked'])
  })

  it('are those of their business', async () => {
    const other = await createBusiness(service.sql)
    const { campaignId } = await draft()
    for (const [method, path] of [
      ['GET', `/api/campaigns/${campaignId}/report`],
      ['GET', `/api/campaigns/${campaignId}/enrolments`],
      ['PATCH', `/api/campaigns/${campaignId}`],
      ['DELETE', `/api/campaigns/${campaignId}`],
      ['POST', `/api/campaigns/${campaignId}/pause`],
    ] as const)
      expect(code(await ask(method, path, method === 'PATCH' ? { name: 'x' } : undefined, other.secretKey))).toEqual([
        404,
        'not_found',
      ])
  })
})
