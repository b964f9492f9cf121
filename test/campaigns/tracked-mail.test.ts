/** Mails whose opens and clicks become events (campaigns, "A campaign", "Reading"). */
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { renderAgain } from '../../src/campaigns/read-messages.ts'
import { updateCampaign } from '../../src/campaigns/update-campaign.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { createTemplate } from '../../src/messages/templates/save-template.ts'
import { readLinkToken, readOpenToken } from '../../src/messages/tracking/token.ts'
import { type MessageEvent, messageEventKey } from '../../src/rules/messages/message-event.ts'
import type { ContactAnswer, TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline, type RequestContext, eventFact, track } from '../support/facts.ts'
import { readPeople } from '../support/read-people.ts'
import { runs } from '../support/runs.ts'
import { type Stack, createBusiness } from '../support/stack.ts'
import { ACTOR, ANN, DAY, type Engine, type Shop, openShop } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab))
beforeEach(async () => {
  engine.deps.config = { ...engine.deps.config, publicUrl: 'https://shop.example' }
})

const HTML = '<body><a href="https://x.io/?a={{contact.email}}&amp;b">x</a> <a href="{{unsubscribeUrl}}">y</a></body>'

async function template(): Promise<string> {
  const variants = { en: { subject: 'Hi', html: HTML } }
  const sent = { name: 't', channel: 'email' as const, variants, defaultLanguage: 'en' }
  const created = await createTemplate(engine.deps, { businessId: shop.businessId, actor: ACTOR }, sent)
  if (created.kind !== 'created') throw new Error(JSON.stringify(created))
  return created.template.templateId
}
const send = async (id = 'a') => ({ id, type: 'send', channel: 'email', template: await template() })

async function signUp(identity: object = ANN): Promise<string> {
  const { contactId } = (await pipeline.apply(shop.live('seen', identity)))[0] as TrackAnswer
  await shop.optIn(contactId)
  await pipeline.apply(shop.live('signup', identity, engine.clock.now))
  await engine.drain()
  return contactId
}
const htmlOf = async (at = 0): Promise<string> => (await shop.logged())[at]?.message['html'] ?? ''
const LINK = /"https:\/\/shop\.example\/c\/([\w-]+)"/
const IMAGE = /"https:\/\/shop\.example\/o\/([\w-]+)"/

describe('a mail', () => {
  it('has tracked addresses when it is sent, and not in what is kept', async () => {
    await shop.publish([await send()])
    await signUp()
    const [message] = await shop.messages()
    const { businessId } = shop
    const ids = { businessId, messageId: message!['id'] as string }
    const [key, html] = [await loadMessageKey(stack.sql), await htmlOf()]
    const target = 'https://x.io/?a=ann@x.io&b'
    expect(readLinkToken(key, LINK.exec(html)?.[1] ?? '')).toEqual({ ...ids, target })
    expect(readOpenToken(key, IMAGE.exec(html)?.[1] ?? '')).toEqual(ids)
    expect(html).toMatch(/<a href="https:\/\/shop\.example\/u\/[\w-]+">y<\/a>/)
    const kept = await renderAgain(stack.sql, engine.deps.renderer, businessId, ids.messageId)
    expect(kept?.html).toBe(
      '<body><a href="https://x.io/?a=ann@x.io&amp;b">x</a> <a href="https://shop.example/u/preview">y</a></body>',
    )
  })

  it.each<[object, boolean, boolean]>([
    [{}, true, true],
    [{ opens: false }, true, false],
    [{ clicks: false }, false, true],
    [{ opens: false, clicks: false }, false, false],
  ])('is tracked as its campaign says: %j', async (tracking, clicks, opens) => {
    await shop.publish([await send()], { tracking })
    await signUp()
    const html = await htmlOf()
    expect([LINK.test(html), IMAGE.test(html)]).toEqual([clicks, opens])
  })

  it('is tracked as the version of its enrolment says', async () => {
    const steps = [{ id: 'w', type: 'wait', for: 'P1D' }, await send()]
    const campaignId = await shop.publish(steps, { quietHours: null })
    await signUp()
    const definition = { tracking: { opens: false, clicks: false } }
    const change = { businessId: shop.businessId, actor: ACTOR }
    const update = () => updateCampaign(engine.deps, change, campaignId, { definition })
    expect(await update()).toMatchObject({
      kind: 'updated',
      campaign: { version: 2, ...definition },
      fields: ['tracking'],
    })
    // Repeating the same update makes no other version.
    expect(await update()).toMatchObject({ kind: 'updated', campaign: { version: 2 }, fields: [] })
    await signUp({ email: 'bob@x.io' })
    await engine.drain(NOW + DAY)
    const all = await shop.logged()
    const tracked = Object.fromEntries(
      all.map(({ recipient, message }) => [recipient, LINK.test(message['html'] ?? '')]),
    )
    expect(tracked).toEqual({ 'ann@x.io': true, 'bob@x.io': false })
  })

  it('keeps its addresses without PUBLIC_URL', async () => {
    engine.deps.config = { ...engine.deps.config, publicUrl: undefined }
    await shop.publish([await send()])
    await signUp()
    expect(await htmlOf()).toContain('<a href="https://x.io/?a=ann@x.io&amp;b">')
    expect(await htmlOf()).not.toMatch(IMAGE)
  })
})

describe('what was done with a message', () => {
  const did = (event: MessageEvent, contactId: string, messageId: string, link = '', at = NOW): RequestContext => ({
    kind: 'message_event',
    businessId: shop.businessId,
    receivedAt: at,
    contactId,
    fact: {
      event,
      messageId,
      occurredAt: at,
      properties: JSON.stringify({ messageId, url: link }),
      key: messageEventKey({ event, messageId, occurredAt: at }, { link, sentAt: NOW }),
    },
  })
  /** Sends a mail to a person. */
  async function reader(identity: object = ANN): Promise<{ contactId: string; messageId: string }> {
    await shop.publish([await send()])
    const contactId = await signUp(identity)
    const messages = await shop.messages()
    return { contactId, messageId: messages.at(-1)!['id'] as string }
  }
  const flagsOf = async () => (await shop.messages()).map(({ opened, clicked }) => [opened, clicked])
  const counts = async () => {
    const [person] = await readPeople(stack.sql, shop.businessId)
    return [person?.events['email_opened']?.[2] ?? 0, person?.events['email_clicked']?.[2] ?? 0]
  }

  it('is an event of the contact, and moves the stage', async () => {
    const { contactId, messageId } = await reader()
    const stage = async () =>
      (await stack.sql<[{ stage: number }]>`select stage from contacts where id = ${contactId}`)[0].stage
    expect(await flagsOf()).toEqual([[false, false]])
    expect(await pipeline.apply(did('email_opened', contactId, messageId))).toMatchObject([
      { contactId, deduped: false },
    ])
    expect([await flagsOf(), await counts()]).toEqual([[[true, false]], [1, 0]])
    await pipeline.apply(did('email_clicked', contactId, messageId, 'x'))
    expect([await flagsOf(), await counts(), await stage()]).toEqual([[[true, true]], [1, 1], 1])
  })

  it('starts campaigns and reaches goals, like every live event', async () => {
    const { contactId, messageId } = await reader()
    await shop.publish([{ id: 'w', type: 'wait', for: 'P1D' }], {
      trigger: { event: 'email_clicked', where: [{ property: 'url', operator: 'equals', value: 'https://x.io/' }] },
      goal: 'email_opened',
    })
    await pipeline.apply(did('email_clicked', contactId, messageId, 'https://x.io/b'))
    expect(await shop.enrolments()).toEqual(['finished'])
    await pipeline.apply(did('email_clicked', contactId, messageId, 'https://x.io/'))
    expect(await shop.enrolments()).toEqual(['finished', 'active'])
    await pipeline.apply(did('email_opened', contactId, messageId, '', NOW + 1))
    expect(await shop.enrolments()).toEqual(['finished', 'converted'])
  })

  it('counts once for a message and link in 24 hours, in whatever order and however often it comes', async () => {
    const visit = fc.record({
      event: fc.constantFrom<MessageEvent>('email_opened', 'email_clicked'),
      link: fc.constantFrom('x', 'y'),
      day: fc.nat(2),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(visit, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 }),
        async (batches) => {
          const { businessId } = await createBusiness(stack.sql)
          shop = openShop(stack, engine, pipeline, businessId)
          engine.clock.now = NOW
          const { contactId, messageId } = await reader()
          for (const visits of batches)
            await pipeline.apply(
              ...visits.map(({ event, link, day }) =>
                did(event, contactId, messageId, event === 'email_opened' ? '' : link, NOW + day * DAY),
              ),
            )
          const all = batches.flat()
          const expected = (['email_opened', 'email_clicked'] as const).map(
            (event) =>
              new Set(
                all.flatMap((one) =>
                  one.event === event ? [`${event === 'email_opened' ? '' : one.link} ${one.day}`] : [],
                ),
              ).size,
          )
          expect(await counts()).toEqual(expected)
          expect(await flagsOf()).toEqual([expected.map((many) => many > 0)])
        },
      ),
      { numRuns: runs(5) },
    )
  })

  it('belongs to the survivor of a merge', async () => {
    const { contactId, messageId } = await reader()
    const bob = await pipeline.track(track(shop.businessId, eventFact('seen', { phone: '972541234567' })))
    await pipeline.track(track(shop.businessId, eventFact('seen', { ...ANN, phone: '972541234567' })))
    const [answer] = (await pipeline.apply(did('email_opened', bob.contactId, messageId))) as ContactAnswer[]
    expect(answer!.contactId).toBe(contactId)
    expect([await flagsOf(), await counts()]).toEqual([[[true, false]], [1, 0]])
  })

  it('is recorded neither of an erased person nor of a contact of another business', async () => {
    const { contactId, messageId } = await reader()
    const { businessId: other } = await createBusiness(stack.sql)
    const asked = did('email_opened', contactId, messageId)
    expect(await pipeline.apply({ ...asked, businessId: other })).toMatchObject([{ contactId: null }])
    expect(await flagsOf()).toEqual([[false, false]])
    await pipeline.apply({ kind: 'erase', businessId: shop.businessId, receivedAt: NOW, contactId })
    expect(await pipeline.apply(asked)).toMatchObject([{ contactId: null }])
    expect(await flagsOf()).toEqual([[false, false]])
  })
})
