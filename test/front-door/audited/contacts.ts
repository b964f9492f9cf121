/** Routes about contacts, their fields and their events. */
import { addTopics } from '../../support/topics.ts'
import * as made from './business.ts'
import { type ActingBusiness, word } from './business.ts'
import { type AuditedCalls, type Call, ONLY_READS, adds, completes, counts, nothing, on, once } from './call.ts'
import { changes, changesMany, changesOther, creates } from './entries.ts'

const REPORTED = 'the timeline of the contact has what a server reports'
const newPerson = () => ({ identity: { email: `${word()}@x.io` } })
const EVENT = { event: 'signup', ...newPerson() }
const BEGUN = { file: 'orders.csv', fields: ['email', 'occurredAt', 'event'], rows: 1 }
const FILE = {
  format: 'csv',
  delimiter: ',',
  columns: ['mail', 'when'],
  mapping: [
    { field: 'email', column: 'mail' },
    { field: 'occurredAt', column: 'when' },
    { field: 'event', value: 'purchase' },
  ],
  timezone: 'UTC',
  name: '',
  firstRow: 1,
  text: 'ann@x.io,2026-01-31\n',
}

const addConfirmation = (business: ActingBusiness): Promise<string> =>
  made.addTemplate(business, 'email', '{{confirmUrl}}')

async function withConfirmation(business: ActingBusiness): Promise<Call> {
  const confirmationTemplate = await addConfirmation(business)
  await business.key.send('PUT', '/subscriptions/settings', { confirmationTemplate })
  return { ids: { contactId: await made.addContact(business) }, json: { email: 'pending', method: 'form' } }
}

const withTopic =
  (topics: object) =>
  async (business: ActingBusiness): Promise<Call> => {
    const { ids = {} } = await withConfirmation(business)
    await addTopics(business.service.sql, business.businessId, { news: {} })
    return { ids, json: { topics, method: 'form' } }
  }

const IMPORT = changesMany('import.send', ...BEGUN.fields)

async function withField(business: ActingBusiness): Promise<Call> {
  await made.addContact(business, { plan: 'pro' })
  return { ids: { field: 'plan' }, json: { key: 'plan', description: 'What they pay for.' } }
}

async function withImport({ owner }: ActingBusiness): Promise<Call> {
  const { importId } = await owner.send('POST', '/imports', BEGUN)
  return { json: { ...FILE, importId, numbers: [1] } }
}

export const OF_CONTACTS: AuditedCalls = {
  'POST /sdk/track': [nothing(REPORTED, { json: EVENT })],
  'POST /sdk/track/batch': [nothing(REPORTED, { json: { events: [EVENT] } })],
  'POST /sdk/identify': [nothing(REPORTED, { json: newPerson() })],
  'POST /sdk/identify/batch': [nothing(REPORTED, { json: { identifies: [newPerson()] } })],
  'PATCH /contacts/:contactId': [
    counts(changes('contact.edit', 'tags'), on('contactId', made.addContact, { addTags: ['vip'] })),
  ],
  'PUT /contacts/:contactId/subscriptions': [
    counts(changes('contact.consent', 'email'), on('contactId', made.addContact, { email: true, method: 'form' })),
    counts('contact.confirmation', withConfirmation, 'asking for a confirmation'),
  ],
  'PUT /contacts/:contactId/topics': [
    counts(changes('contact.consent', 'topic news email'), withTopic({ news: { email: true } })),
    counts('contact.confirmation', withTopic({ news: { email: 'pending' } }), 'asking for a confirmation'),
  ],
  'DELETE /contacts/:contactId': [counts('contact.erase', on('contactId', made.addContact))],
  'GET /contacts/:contactId/export': [adds('contact.export', on('contactId', made.addContact))],
  'POST /contacts/names': [
    nothing(ONLY_READS, async (business) => ({ json: { contactIds: [await made.addContact(business)] } })),
  ],
  'POST /subscriptions/batch': [
    counts(changesMany('contact.consent_batch'), () => ({
      json: { subscriptions: [{ ...newPerson(), email: true, method: 'form', at: '2025-03-01' }] },
    })),
  ],
  'PUT /subscriptions/settings': [
    adds(changesOther('templateId', 'subscriptions.settings'), async (business) => {
      const templateId = await addConfirmation(business)
      return { ids: { templateId }, json: { confirmationTemplate: templateId } }
    }),
  ],
  'POST /contact-views': [adds(creates('view.create', 'view', 'id'), { json: made.VIEW })],
  'PUT /contact-views/:viewId': [adds('view.update', on('viewId', made.addView, { name: 'Other' }))],
  'DELETE /contact-views/:viewId': [adds('view.delete', on('viewId', made.addView))],
  'PATCH /custom-fields': [adds(changesOther('field', 'custom-field.describe', 'description'), withField)],
  'POST /imports': [adds(IMPORT, { json: BEGUN })],
  'POST /imports/columns': [nothing(ONLY_READS, { json: { text: 'mail,when\n', delimiter: ',' } })],
  'POST /imports/check': [nothing(ONLY_READS, { json: FILE })],
  'POST /imports/rows': [once(completes(IMPORT, withImport))],
}
