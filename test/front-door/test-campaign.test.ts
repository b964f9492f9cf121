/** `POST /api/campaigns/{id}/test` (campaigns, "Reading"). */
import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_CAMPAIGN_TESTS } from '../../src/campaigns/test-campaign.ts'
import { openService } from '../support/service.ts'
import { type SimulationClient, openClient, send } from './simulation-client.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ PUBLIC_URL: 'https://shop.example' }))
let client: SimulationClient
beforeEach(async () => {
  client = await openClient(service)
})

const test = (campaignId: string, body: object) => client.ask('POST', `/api/campaigns/${campaignId}/test`, body)
async function sent(campaignId: string, body: object) {
  const { status, body: answer } = await test(campaignId, body)
  expect([status, answer.message]).toEqual([200, 'The sequence was sent.'])
  return answer.data['sends'] as Record<'stepId' | 'channel' | 'outcome' | 'reason' | 'messageId', string>[]
}
const shown = (sends: Awaited<ReturnType<typeof sent>>) =>
  sends.map(({ stepId, outcome, reason }) => `${stepId} ${outcome}${reason === undefined ? '' : ` ${reason}`}`)

interface Logged {
  to: string
  message: { subject?: string; text?: string }
}
async function logged(channel: string): Promise<Logged[]> {
  const { body } = await client.ask('GET', `/api/channels/${channel}/log`)
  return (body.data['messages'] as Logged[]).toReversed()
}
const counts = () =>
  Promise.all(
    ['enrolments', 'due_steps', 'messages', 'contacts', 'subscriptions'].map(
      (table) =>
        service.sql`select count(*)::int from ${service.sql(table)} where business_id = ${client.tenant.businessId}`,
    ),
  )

/** Publishes a campaign with the wait and the branches that a sequence can have. */
async function wholeSequence(): Promise<string> {
  const mail = (text: string) => client.template(text)
  const rule = { customField: 'plan', operator: 'equals', value: 'pro' }
  return client.draft([
    send('hello', await mail('Hello {{contact.firstName}}')),
    { id: 'w', type: 'wait', for: 'P30D' },
    {
      id: 'f',
      type: 'wait_for',
      event: 'visit',
      timeout: 'P7D',
      steps: [send('heard', await mail('heard'))],
      otherwise: [send('unheard', await mail('unheard'))],
    },
    { id: 'u', type: 'update', traits: { plan: 'pro' } },
    { id: 'b', type: 'branch', rule, steps: [send('pro', await mail('{{contact.customFields.plan}}'))], otherwise: [] },
    {
      id: 's',
      type: 'split',
      parts: [
        { percent: 1, steps: [send('one', await mail('one'))] },
        { percent: 99, steps: [send('two', await mail('two'))] },
      ],
    },
    { id: 't', type: 'send', channel: 'sms', template: await client.template('text', 'sms') },
  ])
}

describe('a test of a campaign', () => {
  beforeEach(async () => {
    // The branch needs the field to exist.
    await client.ask('POST', '/api/sdk/identify', { identity: { email: 'x@x.io' }, traits: { plan: 'free' } })
  })

  it('sends the whole sequence at once, the first way everywhere, and nobody is enrolled', async () => {
    const campaignId = await wholeSequence()
    const before = await counts()
    const to = { email: 'tester@x.io', sms: '+972501234567' }
    const sends = await sent(campaignId, { to })
    expect(shown(sends)).toEqual(['hello', 'unheard', 'pro', 'one', 't'].map((id) => `${id} accepted`))
    expect(await counts()).toEqual(before)
    const mails = await logged('email')
    expect(mails.map(({ to: recipient, message }) => [recipient, message.text])).toEqual([
      ['tester@x.io', 'Hello there'],
      ['tester@x.io', 'unheard'],
      ['tester@x.io', 'pro'],
      ['tester@x.io', 'one'],
    ])
    expect((await logged('sms')).map(({ to: recipient }) => recipient)).toEqual(['+972501234567'])
    const entries = await service.sql`
      select target, details from audit_log where business_id = ${client.tenant.businessId} and action = 'campaign.test'`
    expect(entries).toEqual([{ target: campaignId, details: {} }])
  })

  it('follows the way of a contact, whatever its consent, and changes nothing of it', async () => {
    const { body } = await client.ask('POST', '/api/sdk/identify', {
      identity: { email: 'ada@x.io' },
      profile: { firstName: 'Ada' },
    })
    const { contactId } = body.data as { contactId: string }
    const sends = await sent(await wholeSequence(), { to: 'tester@x.io', contactId })
    expect(shown(sends)).toEqual([
      'hello accepted',
      'unheard accepted',
      'pro accepted',
      expect.stringMatching(/^(one|two) accepted$/),
      't skipped no_address',
    ])
    expect((await logged('email'))[0]?.message.text).toBe('Hello Ada')
    const { body: after } = await client.ask('GET', `/api/contacts/${contactId}`)
    expect(after.data['contact']).toMatchObject({ customFields: {}, enrolments: [] })
  })

  it('sends nothing to a suppressed address, and says why a template failed', async () => {
    await client.ask('POST', '/api/suppressions', { suppressions: [{ channel: 'sms', address: '+972501234567' }] })
    const campaignId = await client.draft([
      { id: 't', type: 'send', channel: 'sms', template: await client.template('text', 'sms') },
      send('gone', '0198c5a0-9c3d-7a10-b7f2-8d4e6a1c9b35'),
    ])
    const sends = await sent(campaignId, { to: { email: 'a@x.io', sms: '+972501234567' } })
    expect(shown(sends)).toEqual(['t skipped suppressed', 'gone template_failed the business has no such template'])
  })

  it('takes turns of the channel, in a second and in a day', async () => {
    const template = await client.template('text')
    const campaignId = await client.draft(['a', 'b', 'c'].map((id) => send(id, template)))
    await client.ask('PUT', '/api/channels/email', { provider: 'log', perSecond: 1, dailyBudget: 2 })
    const before = Date.now()
    const sends = await sent(campaignId, { to: 'a@x.io' })
    expect(shown(sends)).toEqual(['a accepted', 'b accepted', 'c not_sent daily_budget'])
    expect(Math.floor(Date.now() / 1000)).toBeGreaterThan(Math.floor(before / 1000))
    const [use] = await service.sql`
      select sent_in_day::int as many from channel_use where business_id = ${client.tenant.businessId}`
    expect(use).toEqual({ many: 2 })
  })

  it.each<[object, string]>([
    [{ to: 'a b@x.io' }, 'to must be one email address'],
    [{ to: '12' }, 'to must be a phone number'],
    [{ to: { email: 'ada' } }, 'to.email must be one email address'],
    [{ to: { sms: 'ada@x.io' } }, 'to.sms must be a phone number'],
    [{}, 'to'],
    [{ to: 1 }, 'to'],
  ])('refuses %j', async (body, message) => {
    const answer = await test(await client.draft([]), body)
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)])
  })

  it(`is sent at most ${MAX_CAMPAIGN_TESTS} times a day`, async () => {
    const campaignId = await client.draft([])
    await service.sql`
      insert into audit_log (business_id, actor_kind, actor_id, actor_name, action, target, at)
      select ${client.tenant.businessId}, 'key', 'k', 'k', 'campaign.test', 'c', now() - interval '23 hours'
      from generate_series(2, ${MAX_CAMPAIGN_TESTS})`
    expect(await sent(campaignId, { to: 'a@x.io' })).toEqual([])
    const { status, body } = await test(campaignId, { to: 'a@x.io' })
    expect([status, body.error.code]).toEqual([409, 'limit_reached'])
  })

  it('is of a campaign and a contact of the business', async () => {
    const unknown = '0198c5a0-9c3d-7a10-b7f2-8d4e6a1c9b35'
    expect((await test(unknown, { to: 'a@x.io' })).status).toBe(404)
    expect((await test(await client.draft([]), { to: 'a@x.io', contactId: unknown })).status).toBe(404)
  })
})
