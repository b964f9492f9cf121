/**
 * Creates campaigns with messages through the API, by webhook and by mail: two messages after the trigger, unless the
 * goal follows. Mails need an opt-in.
 */
import type { Business } from './create-businesses.ts'
import { bearer } from './traffic.ts'
import type { World } from './world.ts'

const GOAL = 'course_bought'
/** Only events with this prefix of their marks: one in 16, because each causes two messages. */
const WEBHOOKS = { trigger: 'lesson_done', mark: '0' }
export const SERIES_TRIGGER = 'mails_wanted'
export const STEPS = ['first', 'pause', 'second'] as const

type Call = <Data>(method: string, path: string, body: object) => Promise<Data>

export async function createMessages({ url, sink }: World, business: Business): Promise<void> {
  const call = async <Data>(method: string, path: string, body: object): Promise<Data> => {
    const response = await fetch(`${url}/api/${path}`, {
      method,
      headers: { ...bearer(business), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      keepalive: false,
    })
    const answer = await response.text()
    if (!response.ok) throw new Error(`${method} /api/${path}: ${response.status} ${answer}`)
    return (JSON.parse(answer) as { data: Data }).data
  }
  await call('PUT', 'channels/webhook', { provider: 'webhook', url: sink.url, secret: 'whsec_ZmF1bHRzZmF1bHRz' })
  const sender = 'Faults <faults@sender.example>'
  await call('PUT', 'channels/email', { provider: 'smtp', host: '127.0.0.1', port: sink.mailPort, sender })
  const event = '{"event":{{ event.name | json }}}'
  await publishSeries(call, business, { channel: 'webhook', variant: { body: event }, ...WEBHOOKS })
  const mail = { subject: 'Mail', text: event }
  await publishSeries(call, business, { channel: 'email', variant: mail, trigger: SERIES_TRIGGER, mark: '' })
}

interface Series {
  channel: string
  variant: object
  trigger: string
  mark: string
}

async function publishSeries(
  call: Call,
  { businessId, campaigns }: Business,
  { channel, variant, trigger, mark }: Series,
): Promise<void> {
  const { template } = await call<{ template: { templateId: string } }>('POST', 'templates', {
    name: 'Faults',
    channel,
    variants: { en: variant },
    defaultLanguage: 'en',
  })
  const send = { type: 'send', channel, template: template.templateId }
  const { campaign } = await call<{ campaign: { campaignId: string } }>('POST', 'campaigns', {
    name: `Messages by ${channel}`,
    trigger: {
      event: trigger,
      ...(mark !== '' && { where: [{ property: 'mark', operator: 'starts_with', value: mark }] }),
    },
    goal: { event: GOAL },
    canEnterAgain: true,
    quietHours: null,
    steps: [
      { id: STEPS[0], ...send },
      { id: STEPS[1], type: 'wait', for: 'PT1S' },
      { id: STEPS[2], ...send },
    ],
  })
  const { campaignId } = campaign
  await call('POST', `campaigns/${campaignId}/publish`, {})
  campaigns.push({ businessId, campaignId, trigger, mark, goal: GOAL, canEnterAgain: true, hasSteps: true })
}
