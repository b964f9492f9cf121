/** Routes about analytics, the settings of a business, and the installation. */
import { eventFact, track } from '../../support/facts.ts'
import * as made from './business.ts'
import { type ActingBusiness, word } from './business.ts'
import { type AuditedCalls, type Call, ONLY_READS, ONLY_TRIES, adds, counts, nothing, on } from './call.ts'

const NAMED = { name: 'Other' }
const SPEND_FILE = 'day,channel,source,amount\n2024-02-28,email,news,1\n'
const CHART = { title: 'Events', kind: 'series', query: {}, days: 7, page: 'analytics?days=7', size: 'half' }

const newSpend = () => ({ spend: [{ day: '2024-02-28', channel: 'email', source: word(), amount: 1 }] })

async function withSpend({ owner }: ActingBusiness): Promise<Call> {
  await owner.send('POST', '/analytics/spend', newSpend())
  return { query: 'from=2024-02-28&to=2024-02-29' }
}

async function withBoards(business: ActingBusiness): Promise<Call> {
  const [first, second] = [await made.addBoard(business), await made.addBoard(business)]
  return { json: { ids: [second, first] } }
}

const withBoard = async (business: ActingBusiness): Promise<Call> => ({
  ids: { boardId: await made.addBoard(business) },
  json: { isOn: true, recipients: [business.owner.actor.id] },
})

async function withMailedBoard(business: ActingBusiness): Promise<Call> {
  const { ids, json } = await withBoard(business)
  await business.owner.send('PUT', `/boards/${ids?.['boardId']}/mail`, json)
  return { ...(ids && { ids }) }
}

const addKey = (business: ActingBusiness): Promise<string> => business.create('/keys', { kind: 'secret' }, 'keyId')

const withDelivery = async (business: ActingBusiness): Promise<Call> => ({
  json: { deliveryId: await made.addDelivery(business) },
})

async function withDeliveries(business: ActingBusiness): Promise<Call> {
  await made.addDelivery(business)
  return { json: { all: true } }
}

const withDeadLetter = async (business: ActingBusiness): Promise<Call> => {
  const request = track(business.businessId, eventFact('signup', { email: 'ann@x.io' }))
  const id = await made.addDeadLetter(business, { ...request, n: 1, requestId: word() })
  return { json: { deadLetterIds: [id] } }
}

async function withoutVerifyRun({ service }: ActingBusiness): Promise<Call> {
  await service.sql`delete from verify_runs`
  return {}
}

async function withVerifyRun(business: ActingBusiness): Promise<Call> {
  await withoutVerifyRun(business)
  await business.service.sql`insert into verify_runs (id, started_by) values (gen_random_uuid(), 'boss@x.io')`
  return {}
}

export const OF_ANALYTICS: AuditedCalls = {
  'POST /analytics/spend': [counts('spend.import', () => ({ json: newSpend() }))],
  'DELETE /analytics/spend': [counts('spend.delete', withSpend)],
  'POST /analytics/spend/file': [
    adds('spend.import', { json: { text: SPEND_FILE, save: true } }),
    nothing(ONLY_READS, { json: { text: SPEND_FILE, save: false } }, 'to check the file'),
  ],
  'POST /boards': [adds('board.create', { json: NAMED })],
  'PUT /boards': [adds('board.order', withBoards)],
  'PUT /boards/:boardId': [adds('board.update', on('boardId', made.addBoard, { ...NAMED, version: 1, charts: [] }))],
  'DELETE /boards/:boardId': [adds('board.delete', on('boardId', made.addBoard))],
  'POST /boards/:boardId/charts': [adds('board.update', on('boardId', made.addBoard, CHART))],
  'PUT /boards/:boardId/mail': [adds('board.mail', withBoard)],
  'DELETE /boards/:boardId/mail/me': [adds('board.mail', withMailedBoard)],
  'POST /sql': [adds('sql.run', { json: { statement: 'select 1' } })],
  'POST /sql/queries': [adds('query.create', { json: made.QUERY })],
  'PUT /sql/queries/:queryId': [adds('query.update', on('queryId', made.addQuery, { ...made.QUERY, ...NAMED }))],
  'DELETE /sql/queries/:queryId': [adds('query.delete', on('queryId', made.addQuery))],
}

/** Those of the objects that the demo data contain, too. */
const DEMO = [
  ...Array<string>(2).fill('campaign.create'),
  'campaign.publish',
  'demo.load',
  ...Array<string>(3).fill('segment.create'),
  'spend.import',
  ...Array<string>(2).fill('template.create'),
]

export const OF_SETTINGS: AuditedCalls = {
  'PATCH /business': [adds('business.update', { json: NAMED })],
  'POST /origins/test': [nothing(ONLY_TRIES, { json: { origin: 'https://shop.example' } })],
  'POST /demo': [adds(DEMO, {})],
  'POST /keys': [adds('key.create', { json: { kind: 'secret' } })],
  'DELETE /keys/:keyId': [adds('key.revoke', on('keyId', addKey))],
  'PUT /people/:userId': [
    adds('person.role', on('userId', made.addColleague, { role: 'analyst' })),
    adds(['invitation.revoke', 'person.role'], on('userId', made.addInviter, { role: 'analyst' }), 'of an inviter'),
  ],
  'DELETE /people/:userId': [
    adds('person.remove', on('userId', made.addColleague)),
    adds(['invitation.revoke', 'person.remove'], on('userId', made.addInviter), 'of an inviter'),
  ],
  'POST /invitations': [adds('person.invite', { json: { email: 'ann@x.io', role: 'analyst' } })],
  'POST /invitations/:invitationId/resend': [adds('person.invite', on('invitationId', made.addInvitation))],
  'DELETE /invitations/:invitationId': [adds('invitation.revoke', on('invitationId', made.addInvitation))],
  'POST /destinations': [adds('destination.add', { json: made.DESTINATION })],
  'PATCH /destinations/:destinationId': [adds('destination.update', on('destinationId', made.addDestination, NAMED))],
  'DELETE /destinations/:destinationId': [adds('destination.remove', on('destinationId', made.addDestination))],
  'POST /destinations/:destinationId/test': [
    nothing('the conversion is made up, and counted nowhere', on('destinationId', made.addDestination)),
  ],
  'POST /deliveries/retry': [
    adds('delivery.retry', withDelivery),
    adds('delivery.retry', withDeliveries, 'of all that were given up'),
  ],
  'POST /operations/businesses': [adds('business.create', { json: NAMED })],
  'POST /operations/dead-letters/replay': [adds('dead-letter.replay', withDeadLetter)],
  'POST /operations/dead-letters/drop': [adds('dead-letter.drop', withDeadLetter)],
  'POST /operations/verify': [adds('stores.verify', withoutVerifyRun)],
  'POST /operations/verify/stop': [adds('stores.verify-stop', withVerifyRun)],
}
