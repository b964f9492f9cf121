/** Examples for the OpenAPI document. Tests check them against the schemas. */

export const CONTACT_EXAMPLE = {
  contactId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
  firstName: 'Ada',
  lastName: 'Lovelace',
  country: 'GB',
  city: 'London',
  language: 'en',
  timezone: 'Europe/London',
  tags: ['vip'],
  customFields: { plan: 'pro', seats: 5 },
  stage: 'Decision',
  revenue: { total: 49.9, currency: 'USD', byCurrency: { USD: 49.9 } },
  orderCount: 1,
  identities: { email: ['ada@example.com'], phone: ['+972501234567'], platformCustomerId: ['42'] },
  events: [
    {
      event: 'invoice_paid',
      firstAt: '2026-03-01T09:30:00.000Z',
      lastAt: '2026-03-01T09:30:00.000Z',
      count: 1,
    },
  ],
  subscriptions: { email: true, sms: false, whatsapp: false, push: false },
  topics: { newsletter: { email: true, sms: false } },
  visitorIds: ['5f0c6d1be2a94f37a3d8c4b9e17f2a60'],
  visitors: [
    {
      visitorId: '5f0c6d1be2a94f37a3d8c4b9e17f2a60',
      firstSeenAt: '2026-02-27T18:02:11.000Z',
      lastSeenAt: '2026-03-01T09:29:58.000Z',
      firstTouch: {
        at: '2026-02-27T18:02:10.000Z',
        url: 'https://shop.example/',
        referrer: 'https://news.example/',
        utm: { source: 'news', campaign: 'spring' },
        clickIds: { gclid: 'Cj0KCQ' },
      },
      latestTouch: { at: '2026-03-01T09:21:00.000Z', url: 'https://shop.example/pricing' },
    },
  ],
  enrolments: [
    {
      enrolmentId: '0198c5a0-9c3d-7a10-b7f2-8d4e6a1c9b35',
      campaignId: '0198c5a0-9b11-7f02-8a3c-5b2e6f7d8c90',
      key: null,
      state: 'active',
      enrolledAt: '2026-03-01T09:30:00.000Z',
      endedAt: null,
    },
  ],
  segments: [
    { segmentId: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d35', name: 'Buyers', enteredAt: '2026-03-01T09:30:00.120Z' },
  ],
  createdAt: '2026-03-01T09:30:00.120Z',
  mergedFrom: [],
  engagement: { score: 42, lastActiveAt: '2026-03-01T09:30:00.000Z' },
}

const {
  customFields: _fields,
  events: _events,
  visitorIds: _ids,
  visitors: _visitors,
  topics: _topics,
  ...listed
} = CONTACT_EXAMPLE
const {
  enrolments: _enrolments,
  segments: _segments,
  mergedFrom: _from,
  engagement: _engagement,
  ...LISTED_CONTACT_EXAMPLE
} = listed
export { LISTED_CONTACT_EXAMPLE }

export const LISTED_CAMPAIGN_EXAMPLE = {
  campaignId: '0198c5a0-9b11-7f02-8a3c-5b2e6f7d8c90',
  name: 'Welcome',
  status: 'draft',
  version: 1,
  trigger: { event: 'signup' },
  canEnterAgain: false,
  enrolPer: 'contact',
  whileActive: 'ignore',
  goal: { event: 'invoice_paid' },
}

export const CAMPAIGN_EXAMPLE = {
  ...LISTED_CAMPAIGN_EXAMPLE,
  steps: [
    {
      id: 'hello',
      type: 'send',
      channel: 'email',
      template: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d36',
      kind: 'marketing',
    },
    { id: 'pause', type: 'wait', for: 'P3D' },
    {
      id: 'reminder',
      type: 'send',
      channel: 'email',
      template: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d36',
      kind: 'marketing',
    },
  ],
  caps: [],
  holdOut: 0,
  tracking: { opens: true, clicks: true },
}

export const ENROLMENT_EXAMPLE = {
  enrolmentId: '0198c5a0-9c3d-7a10-b7f2-8d4e6a1c9b35',
  contactId: '0198c5a0-7e3f-7000-8000-2b1c4d5e6f70',
  key: null,
  state: 'active',
  stepId: 'pause',
  version: 1,
  enrolledAt: '2026-03-01T09:30:00.000Z',
  since: '2026-03-01T09:30:01.000Z',
  nextAt: '2026-03-04T09:30:01.000Z',
  endedAt: null,
}

export const SIMULATE_EXAMPLE = {
  contact: { firstName: 'Ada', email: 'ada@example.com', timezone: 'Europe/London', customFields: { plan: 'pro' } },
  event: { name: 'signup', properties: { source: 'web' } },
  from: '2026-03-01T09:30:00Z',
  answers: [{ event: 'invoice_paid', at: '2026-03-03T12:00:00Z' }],
}

export const SIMULATION_EXAMPLE = {
  sends: [
    {
      stepId: 'hello',
      at: '2026-03-01T09:30:00.000Z',
      channel: 'email',
      state: 'sent',
      reason: null,
      detail: null,
      message: { language: 'en', subject: 'Welcome, Ada', html: '<p>Hello Ada</p>', text: 'Hello Ada' },
    },
  ],
  state: 'converted',
  endsAt: '2026-03-03T12:00:00.000Z',
}

export const MESSAGE_EXAMPLE = {
  messageId: '0198c5a0-9d10-7c42-9a51-3e8f7b6d2c14',
  source: 'campaign',
  campaignId: CAMPAIGN_EXAMPLE.campaignId,
  enrolmentId: ENROLMENT_EXAMPLE.enrolmentId,
  contactId: ENROLMENT_EXAMPLE.contactId,
  stepId: 'hello',
  templateId: '0198c5a0-8f32-7a15-9c60-1d2e3f4a5b6c',
  channel: 'email',
  state: 'sent',
  reason: null,
  detail: '250 2.0.0 Ok: queued',
  to: 'ada@example.com',
  provider: 'smtp',
  sender: 'default',
  from: { address: 'hello@shop.example', name: 'Shop' },
  sentAt: '2026-03-01T09:30:01.000Z',
  states: [
    { state: 'claimed', at: '2026-03-01T09:30:00.500Z' },
    { state: 'sent', at: '2026-03-01T09:30:01.000Z' },
  ],
}

const sends = { claimed: 0, delivered: 0, bounced: 0, complained: 0, failed: 0, unknown: 0 }
const outcome = { enrolled: 120, converted: 24, conversionRate: 0.2, revenue: { EUR: 1176 } }
export const REPORT_EXAMPLE = {
  contacts: 118,
  enrolments: { enrolled: 120, active: 40, finished: 50, converted: 24, stopped: 6, merged: 0 },
  conversionRate: 0.2,
  steps: [
    { stepId: 'hello', ...sends, entered: 120, sent: 118, opened: 61, clicked: 22, skipped: { no_opt_in: 2 } },
    { stepId: 'reminder', ...sends, entered: 74, sent: 74, opened: 30, clicked: 9, skipped: {} },
  ],
  revenue: outcome.revenue,
  holdOut: null,
  days: [{ day: '2026-03-01', ...outcome }],
  broadcast: null,
}

export const LISTED_SEGMENT_EXAMPLE = {
  segmentId: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d35',
  name: 'Lapsed buyers',
  description: 'Bought, then quiet',
  status: 'computing',
  progress: 0.4,
  memberCount: 0,
  version: 1,
  warnings: [],
  createdAt: '2026-03-01T09:30:00.120Z',
  updatedAt: '2026-03-01T09:30:00.120Z',
}

export const SEGMENT_EXAMPLE = {
  ...LISTED_SEGMENT_EXAMPLE,
  rule: {
    all: [
      { attribute: 'country', operator: 'in', value: ['GB', 'IE'] },
      { event: 'invoice_paid', metric: 'last', operator: 'older_than_days', value: 30 },
    ],
  },
}

const TEMPLATE = {
  templateId: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d36',
  name: 'Welcome',
  channel: 'email' as const,
  defaultLanguage: 'en',
  version: 1,
  createdAt: '2026-03-01T09:30:00.120Z',
  updatedAt: '2026-03-01T09:30:00.120Z',
}

export const LISTED_TEMPLATE_EXAMPLE = { ...TEMPLATE, languages: ['en'] }

export const CHANNEL_SETTINGS_EXAMPLE = {
  provider: 'smtp',
  host: 'smtp.example.com',
  port: 587,
  user: 'shop',
  password: 'secret',
  sender: 'Shop <hello@shop.example>',
  perSecond: 50,
  dailyBudget: 100_000,
  reserve: 0,
}

const { password: _password, ...CHANNEL_SETTINGS } = CHANNEL_SETTINGS_EXAMPLE

export const CHANNEL_EXAMPLE = {
  channel: 'email',
  ...CHANNEL_SETTINGS,
  secure: false,
  secrets: ['password'],
  updatedAt: '2026-03-01T09:30:00.120Z',
  pausedAt: null,
  pauseReason: null,
}

export const NEW_SENDER_EXAMPLE = {
  key: 'receipts',
  channel: 'email',
  ...CHANNEL_SETTINGS_EXAMPLE,
  reserve: 10,
  fallback: 'default',
}

export const SENDER_EXAMPLE = {
  ...CHANNEL_EXAMPLE,
  key: 'receipts',
  isDefault: false,
  from: { address: 'hello@shop.example', name: 'Shop' },
  via: null,
  fallback: 'default',
  reserve: 10,
  usedToday: 97,
  status: 'active',
  check: null,
}

export const LOGGED_MESSAGE_EXAMPLE = {
  messageId: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d37',
  contactId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
  to: 'ada@example.com',
  message: { language: 'en', subject: 'Welcome, Ada', html: '<p>Hello Ada</p>', text: 'Hello Ada' },
  loggedAt: '2026-03-01T09:30:00.120Z',
}

export const SUPPRESSION_EXAMPLE = {
  suppressionId: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d38',
  channel: 'email',
  reason: 'hard_bounce',
  at: '2026-03-01T09:30:00.120Z',
}

export const TEMPLATE_EXAMPLE = {
  ...TEMPLATE,
  variants: { en: { subject: 'Welcome, {{contact.firstName}}', html: '<p>Hello {{contact.firstName}}</p>' } },
}
