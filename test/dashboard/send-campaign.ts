/** Creates a campaign that has sent a message, through the callers' API. */
import { expect, vi } from 'vitest'
import { speakTo } from '../front-door/http-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import type { Service } from '../support/service.ts'

export interface SentCampaign {
  campaignId: string
  templateId: string
  contactId: string
  messageId: string
}

interface Wanted {
  /** The name of both the campaign and the template. */
  name?: string
  html?: string
  /** Steps after the first one, which sends the template. */
  steps?: object[]
}

/** Emails a contact at once, by the channel `log`. */
export async function sendCampaign(
  service: Service,
  key: string,
  { name = 'Welcome', html = '<p>Hello {{contact.firstName}}</p>', steps = [] }: Wanted = {},
): Promise<SentCampaign> {
  const speak = speakTo(service.url)
  const send = async (method: string, path: string, json?: object): Promise<Record<string, unknown>> => {
    const { status, body } = await speak(method, `/api/${path}`, { key, json })
    expect([path, status, body]).toMatchObject([path, 200, {}])
    return body.data
  }
  const identity = { email: 'zoe@x.io' }
  const { contactId } = await send('POST', 'sdk/identify', { identity, profile: { name: 'Zoe Zimmer' } })
  await send('PUT', `contacts/${String(contactId)}/subscriptions`, { email: true, method: 'test' })
  const variants = { en: { subject: name, html } }
  const made = await send('POST', 'templates', { name, channel: 'email', variants, defaultLanguage: 'en' })
  const { templateId } = made['template'] as { templateId: string }
  const first = { type: 'send', channel: 'email', template: templateId }
  const wanted = { name, trigger: { event: 'signup' }, goal: { event: 'paid' }, steps: [first, ...steps] }
  const { campaignId } = (await send('POST', 'campaigns', wanted))['campaign'] as { campaignId: string }
  await send('POST', `campaigns/${campaignId}/publish`)
  await send('POST', 'sdk/track', { event: 'signup', identity })
  const messages = async () => (await send('GET', `messages?campaignId=${campaignId}&state=sent`))['messages'] as Sent[]
  await vi.waitUntil(async () => (await messages()).length === 1, { timeout: PATIENCE_MS })
  const [{ messageId } = { messageId: '' }] = await messages()
  return { campaignId, templateId, contactId: String(contactId), messageId }
}

type Sent = { messageId: string }
