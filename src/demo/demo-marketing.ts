/** The segments, templates and campaigns of the demo's language school. */
import { uuidv7 } from 'uuidv7'
import { type Change, recordAudit } from '../audit/audit.ts'
import { type NewCampaign, insertCampaign } from '../campaigns/create-campaign.ts'
import { publishIn } from '../campaigns/publish-campaign.ts'
import type { Config } from '../config.ts'
import { DEFAULT_SENDER, loadChannel } from '../messages/channels/channels.ts'
import { auditOf } from '../messages/channels/sender-audit.ts'
import { storeSender } from '../messages/channels/store-sender.ts'
import { type Contents, readTemplate } from '../messages/templates/read-template.ts'
import type { RenderService } from '../messages/templates/renderer.ts'
import { insertTemplate } from '../messages/templates/save-template.ts'
import { readDefinition } from '../rules/campaigns/read-definition.ts'
import { insertSegment } from '../segments/create-segment.ts'
import { listFieldTypes } from '../segments/load-definitions.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { DEMO_TRIGGER } from './compose-demo.ts'

const SEGMENTS = [
  {
    name: 'Customers',
    description: 'Contacts with at least one payment.',
    rule: { event: 'purchase', metric: 'count', operator: 'greater_than_or_equal', value: 1 },
  },
  {
    name: 'Trial, but no payment',
    description: 'Finished a trial lesson in the last 30 days, and has not paid.',
    rule: {
      all: [
        { event: 'appointment_attended', metric: 'last', operator: 'within_days', value: 30 },
        { event: 'purchase', metric: 'last', operator: 'not_exists' },
      ],
    },
  },
  {
    name: 'Quiet customers',
    description: 'Customers without a lesson for 14 days.',
    rule: {
      all: [
        { event: 'purchase', metric: 'count', operator: 'greater_than_or_equal', value: 1 },
        { event: 'lesson_finished', metric: 'last', operator: 'older_than_days', value: 14 },
      ],
    },
  },
] as const

const TEMPLATES = [
  {
    name: 'Your trial lesson',
    variants: {
      en: {
        subject: '{{contact.firstName}}, your trial lesson',
        html: '<p>Hello {{contact.firstName}},</p><p>thank you for asking for a trial lesson. Choose a time that suits you: a teacher will be there.</p><p><a href="{{unsubscribeUrl}}">Unsubscribe</a></p>',
      },
      de: {
        subject: '{{contact.firstName}}, Ihre Probestunde',
        html: '<p>Hallo {{contact.firstName}},</p><p>danke für Ihre Anfrage. Wählen Sie eine Zeit, die Ihnen passt: Eine Lehrerin oder ein Lehrer wird da sein.</p><p><a href="{{unsubscribeUrl}}">Abmelden</a></p>',
      },
    },
  },
  {
    name: 'We have missed you',
    variants: {
      en: {
        subject: 'Your next lesson, {{contact.firstName}}?',
        html: '<p>Hello {{contact.firstName}},</p><p>your last lesson was a while ago. Book the next one, and go on where you stopped.</p><p><a href="{{unsubscribeUrl}}">Unsubscribe</a></p>',
      },
    },
  },
] as const

const REMINDERS = 'reminders'
const CAMPAIGN = 'Trial lesson'
const DRAFT = 'Win back quiet customers'
const DRAFT_PER_PLAN = 'Checkout of a plan left open'

export interface MarketingDeps {
  sql: Sql
  renderer: RenderService
  config: Pick<Config, 'messageKeepMs' | 'secretsKey'>
}

/**
 * Creates them in one transaction, unless the business already has campaigns: repeated and concurrent calls change
 * nothing. The campaign is published only where email is merely logged. With an email provider of its own, the business
 * would write to people who do not exist, so the campaign remains a draft.
 */
export async function createDemoMarketing({ sql, renderer, config }: MarketingDeps, change: Change): Promise<void> {
  const contents = await Promise.all(TEMPLATES.map((template) => read(renderer, change.businessId, template.variants)))
  await inTransaction(sql, async (tx) => {
    const [business] = await tx<{ campaigns: number }[]>`
      select campaign_count as campaigns from businesses where id = ${change.businessId} for update`
    if (business?.campaigns !== 0) return
    for (const segment of SEGMENTS) require(await insertSegment(tx, change, segment))
    const templates: string[] = []
    for (const [at, { name }] of TEMPLATES.entries()) {
      const stored = await insertTemplate(tx, config, change, { name, channel: 'email', ...contents[at]! })
      templates.push(require(stored).template.templateId)
    }
    await addReminders(tx, change)
    await createCampaigns(tx, config, change, templates)
  })
}

/** A second sender of mails, which also only logs. Its messages take the usual one while it is paused. */
async function addReminders(tx: Queryable, { businessId, actor }: Change): Promise<void> {
  const key = { businessId, channel: 'email', sender: REMINDERS } as const
  const none = { via: null, secret: null, secretNames: [], perSecond: null, former: null, callbackSource: null }
  const next = { ...none, provider: 'log', settings: {}, fallback: DEFAULT_SENDER, dailyBudget: 500, reserve: 10 }
  const isStored = await storeSender(tx, key, { revision: null }, next, Date.now())
  if (isStored) await recordAudit(tx, { ...auditOf(key, 'save'), actor, details: { provider: 'log', changed: [] } })
}

async function read(renderer: RenderService, businessId: string, variants: Record<string, unknown>): Promise<Contents> {
  const checked = await readTemplate(renderer.of(businessId), { channel: 'email', variants, defaultLanguage: 'en' })
  if ('faults' in checked) throw new Error(`a template of the demo is refused: ${checked.faults[0]?.message}`)
  return checked.contents
}

async function createCampaigns(
  tx: Queryable,
  config: MarketingDeps['config'],
  change: Change,
  [welcome, missed]: string[],
): Promise<void> {
  const { businessId } = change
  const fields = await listFieldTypes(tx, businessId)
  const draft = async (
    name: string,
    event: string,
    goalEvent: string,
    steps: object[],
    keys: Pick<NewCampaign, 'enrolPer' | 'whileActive' | 'goalConditions'> = {},
  ) => {
    const definition = readDefinition({ steps }, { fields, newId: uuidv7 })
    if ('faults' in definition) throw new Error(`a campaign of the demo is refused: ${definition.faults[0]?.message}`)
    const campaign = { name, trigger: { event }, canEnterAgain: false, goalEvent, ...keys, ...definition }
    return require(await insertCampaign(tx, change, campaign)).campaign.campaignId
  }
  const send = (template: string | undefined, more: object = {}) => ({
    type: 'send',
    channel: 'email',
    template,
    ...more,
  })
  const isBooked = { type: 'wait_for', event: 'appointment_booked', timeout: 'P2D' }
  const reminded = [
    { type: 'wait_until', time: '09:00', weekdays: [1, 2, 3, 4, 5] },
    send(welcome, { sender: REMINDERS }),
  ]
  const campaignId = await draft(CAMPAIGN, DEMO_TRIGGER, 'purchase', [
    send(welcome),
    { ...isBooked, steps: [], otherwise: reminded },
  ])
  await draft(DRAFT_PER_PLAN, 'checkout_started', 'purchase', [{ type: 'wait', for: 'PT1H' }, send(missed)], {
    enrolPer: { property: 'plan' },
    whileActive: 'restart',
    goalConditions: { sameKey: true },
  })
  await draft(DRAFT, 'lesson_cancelled', 'lesson_finished', [{ type: 'wait', for: 'P14D' }, send(missed)])
  const { provider } = await loadChannel(tx, { businessId, channel: 'email' })
  if (provider !== 'log') return
  const { kind } = await publishIn(tx, { config, now: Date.now }, change, campaignId)
  if (kind !== 'published') throw new Error(`the campaign of the demo cannot be published: ${kind}`)
}

function require<Created extends { kind: string }>(created: Created): Extract<Created, { kind: 'created' }> {
  if (created.kind !== 'created') throw new Error(`the demo cannot be created: ${created.kind}`)
  return created as Extract<Created, { kind: 'created' }>
}
