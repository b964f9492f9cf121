/** Routes about analytics, the settings of a business, and the installation. */
import { eventFact, track } from '../../support/facts.ts'
import * as made from './business.ts'
import { type ActingBusiness, word } from './business.ts'
import { type AuditedCalls, type Call, ONLY_READS, ONLY_TRIES, adds, counts, nothing, on, once } from './call.ts'
import { changes, changesBusiness, changesMany, changesOther, creates, createsSome } from './entries.ts'

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

async function withDelivery(business: ActingBusiness): Promise<Call> {
  const deliveryId = await made.addDelivery(business)
  return { ids: { deliveryId }, json: { deliveryId } }
}

async function withDeliveries(business: ActingBusiness): Promise<Call> {
  await made.addDelivery(business)
  return { json: { all: true } }
}

const withDeadLetter = async (business: ActingBusiness): Promise<Call> => {
  const request = track(business.businessId, eventFact('signup', { email: 'ann@x.io' }))
  const id = await made.addDeadLetter(business, { ...request, n: 1, requestId: word() })
  return { ids: { deadLetterId: id }, json: { deadLetterIds: [id] } }
}

async function withoutVerifyRun({ service }: ActingBusiness): Promise<Call> {
  await service.sql`delete from verify_runs`
  return {}
}

async function withVerifyRun(business: ActingBusiness): Promise<Call> {
  await withoutVerifyRun(business)
  const [{ id: runId }] = await business.service.sql<[{ id: string }]>`
    insert into verify_runs (id, started_by) values (gen_random_uuid(), 'boss@x.io') returning id`
  return { ids: { runId } }
}

export const OF_ANALYTICS: AuditedCalls = {
  'POST /analytics/spend': [once(counts(changesMany('spend.import'), () => ({ json: newSpend() })))],
  'DELETE /analytics/spend': [once(counts(changesMany('spend.delete'), withSpend))],
  'POST /analytics/spend/file': [
    once(adds(changesMany('spend.import'), { json: { text: SPEND_FILE, save: true } })),
    nothing(ONLY_READS, { json: { text: SPEND_FILE, save: false } }, 'to check the file'),
  ],
  'POST /boards': [adds(creates('board.create', 'board', 'id'), { json: NAMED })],
  'PUT /boards': [adds(changesMany('board.order'), withBoards)],
  'PUT /boards/:boardId': [adds('board.update', on('boardId', made.addBoard, { ...NAMED, version: 1, charts: [] }))],
  'DELETE /boards/:boardId': [adds('board.delete', on('boardId', made.addBoard))],
  'POST /boards/:boardId/charts': [adds('board.update', on('boardId', made.addBoard, CHART))],
  'PUT /boards/:boardId/mail': [adds('board.mail', withBoard)],
  'DELETE /boards/:boardId/mail/me': [once(adds('board.mail', withMailedBoard))],
  'POST /sql': [adds(changesMany('sql.run'), { json: { statement: 'select 1' } })],
  'POST /sql/queries': [adds(creates('query.create', 'query', 'id'), { json: made.QUERY })],
  'PUT /sql/queries/:queryId': [adds('query.update', on('queryId', made.addQuery, { ...made.QUERY, ...NAMED }))],
  'DELETE /sql/queries/:queryId': [adds('query.delete', on('queryId', made.addQuery))],
}

/** The invitation of a person who may no longer invite. */
const LOST = changesOther('invitationId', 'invitation.revoke')
const withInviter = async (business: ActingBusiness): Promise<Call> => ({
  ids: await made.addInviter(business),
  json: { role: 'analyst' },
})

/** Those of the objects that the demo data contain, too. */
const DEMO = [
  createsSome('campaign.create'),
  createsSome('campaign.create'),
  createsSome('campaign.create'),
  createsSome('campaign.publish'),
  changesBusiness('demo.load'),
  createsSome('segment.create'),
  createsSome('segment.create'),
  createsSome('segment.create'),
  { ...changes('sender.save'), target: () => 'reminders', fields: [] },
  changesMany('spend.import'),
  createsSome('template.create'),
  createsSome('template.create'),
]

export const OF_SETTINGS: AuditedCalls = {
  'PATCH /business': [once(adds(changesBusiness('business.update'), { json: NAMED }))],
  'POST /origins/test': [nothing(ONLY_TRIES, { json: { origin: 'https://shop.example' } })],
  'POST /demo': [once(adds(DEMO, {}))],
  'POST /keys': [adds(creates('key.create', 'keyId'), { json: { kind: 'secret' } })],
  'DELETE /keys/:keyId': [once(adds('key.revoke', on('keyId', addKey)))],
  'PUT /people/:userId': [
    once(adds('person.role', on('userId', made.addColleague, { role: 'analyst' }))),
    adds([LOST, changes('person.role')], withInviter, 'of an inviter'),
  ],
  'DELETE /people/:userId': [
    adds('person.remove', on('userId', made.addColleague)),
    adds([LOST, changes('person.remove')], withInviter, 'of an inviter'),
  ],
  'POST /invitations': [
    adds(creates('person.invite', 'invitationId'), { json: { email: 'ann@x.io', role: 'analyst' } }),
  ],
  'POST /invitations/:invitationId/resend': [
    adds(creates('person.invite', 'invitationId'), on('invitationId', made.addInvitation)),
  ],
  'DELETE /invitations/:invitationId': [adds('invitation.revoke', on('invitationId', made.addInvitation))],
  'POST /destinations': [adds(creates('destination.add', 'destinationId'), { json: made.DESTINATION })],
  'PATCH /destinations/:destinationId': [
    adds(changes('destination.update', 'name'), on('destinationId', made.addDestination, NAMED)),
  ],
  'DELETE /destinations/:destinationId': [adds('destination.remove', on('destinationId', made.addDestination))],
  'POST /destinations/:destinationId/test': [
    nothing('the conversion is made up, and counted nowhere', on('destinationId', made.addDestination)),
  ],
  'POST /deliveries/retry': [
    adds(changesOther('deliveryId', 'delivery.retry'), withDelivery),
    adds(changesMany('delivery.retry'), withDeliveries, 'of all that were given up'),
  ],
  'POST /operations/businesses': [adds(creates('business.create', 'businessId'), { json: NAMED })],
  'POST /operations/dead-letters/replay': [adds(changesOther('deadLetterId', 'dead-letter.replay'), withDeadLetter)],
  'POST /operations/dead-letters/drop': [once(adds(changesOther('deadLetterId', 'dead-letter.drop'), withDeadLetter))],
  'POST /operations/verify': [adds(creates('stores.verify', 'runId'), withoutVerifyRun)],
  'POST /operations/verify/stop': [once(adds(changesOther('runId', 'stores.verify-stop'), withVerifyRun))],
}
