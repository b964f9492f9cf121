/** Creates a campaign with messages through the API: two messages after the trigger, unless the goal follows. */
import type { Business } from './create-businesses.ts'
import type { World } from './world.ts'

const TRIGGER = 'lesson_done'
const GOAL = 'course_bought'
/** Prefix of the marks of triggering events: one in 16, because each causes two messages. */
const MARK = '0'
export const STEPS = ['first', 'pause', 'second'] as const

export async function createMessages({ url, sink }: World, business: Business): Promise<void> {
  const call = async <Data>(method: string, path: string, body: object): Promise<Data> => {
    const response = await fetch(`${url}/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${business.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      keepalive: false,
    })
    const answer = await response.text()
    if (!response.ok) throw new Error(`${method} /api/${path}: ${response.status} ${answer}`)
    return (JSON.parse(answer) as { data: Data }).data
  }
  await call('PUT', 'channels/webhook', { provider: 'webhook', url: sink.url, secret: 'whsec_ZmF1bHRzZmF1bHRz' })
  const { template } = await call<{ template: { templateId: string } }>('POST', 'templates', {
    name: 'Faults',
    channel: 'webhook',
    variants: { en: { body: '{"event":{{ event.name | json }}}' } },
    defaultLanguage: 'en',
  })
  const send = { type: 'send', channel: 'webhook', template: template.templateId }
  const { campaign } = await call<{ campaign: { campaignId: string } }>('POST', 'campaigns', {
    name: 'Messages',
    trigger: { event: TRIGGER, where: [{ property: 'mark', operator: 'starts_with', value: MARK }] },
    goal: { event: GOAL },
    canEnterAgain: true,
    quietHours: null,
    steps: [
      { id: STEPS[0], ...send },
      { id: STEPS[1], type: 'wait', for: 'PT1S' },
      { id: STEPS[2], ...send },
    ],
  })
  await call('POST', `campaigns/${campaign.campaignId}/publish`, {})
  const { businessId } = business
  const { campaignId } = campaign
  business.campaigns.push({
    businessId,
    campaignId,
    trigger: TRIGGER,
    mark: MARK,
    goal: GOAL,
    canEnterAgain: true,
    hasSteps: true,
  })
}
