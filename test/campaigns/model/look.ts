/** The whole state of campaigns, in a form that the product and the reference model share. */
import type { Sql } from '../../../src/stores/postgres.ts'
import type { ModelEnrolment } from './records.ts'
import type { Reference } from './reference.ts'

export interface View {
  enrolments: string[]
  messages: string[]
}

/** Maps ids of the product to numbers of the model. */
export interface Names {
  people: ReadonlyMap<string, number>
  campaigns: readonly string[]
}

interface EnrolmentRow {
  id: string
  contact_id: string
  campaign_id: string
  version: number
  state: string
  enrolled_at: number
  step: string | null
  due_at: number
  held: boolean
  settled: boolean
  is_claimed: boolean
}

interface MessageRow {
  enrolment_id: string
  step: string
  state: string
  reason: string | null
}

/** `names` and `dueAt` are by the ids of enrolments. */
export async function lookAt(
  sql: Sql,
  businessId: string,
  { people, campaigns }: Names,
): Promise<View & { names: Map<string, string>; dueAt: Map<string, number> }> {
  const enrolments = await sql<EnrolmentRow[]>`
    select e.id, e.contact_id, e.campaign_id, e.version, e.state, e.enrolled_at, d.step, d.due_at, d.held, d.settled,
      d.claim is not null as is_claimed
    from enrolments e left join due_steps d on d.business_id = e.business_id and d.enrolment_id = e.id
    where e.business_id = ${businessId} order by e.id`
  const messages = await sql<MessageRow[]>`
    select enrolment_id, step, state, reason from messages
    where business_id = ${businessId} and contact_id is not null`
  const nameNext = createNaming()
  const names = new Map(
    enrolments.map(({ id, contact_id, campaign_id }) => [
      id,
      nameNext(people.get(contact_id) ?? -1, campaigns.indexOf(campaign_id)),
    ]),
  )
  return {
    names,
    dueAt: new Map(enrolments.map(({ id, due_at }) => [id, due_at])),
    enrolments: enrolments
      .map((one) => {
        const place = one.step === null ? null : { ...one, step: one.step, dueAt: one.due_at, isHeld: one.held }
        const row = place && { ...place, isSettled: one.settled, isClaimed: one.is_claimed }
        return showEnrolment(names.get(one.id)!, { ...one, enrolledAt: one.enrolled_at }, row)
      })
      .toSorted(),
    messages: messages.map((one) => showMessage(names.get(one.enrolment_id), one)).toSorted(),
  }
}

/** Returns the state that the model expects. */
export function expectedOf(model: Reference): View {
  const names = namesOf(model)
  return {
    enrolments: model.enrolments
      .map((one) => {
        const { row } = one
        const place = row && { ...row, step: row.rest[0]!.id, dueAt: row.nextAt, isClaimed: row.claim !== null }
        return showEnrolment(names.get(one)!, one, place)
      })
      .toSorted(),
    messages: model.enrolments
      .flatMap((one) => one.messages.map((message) => showMessage(names.get(one), message)))
      .toSorted(),
  }
}

export function namesOf({ enrolments }: Reference): Map<ModelEnrolment, string> {
  const nameNext = createNaming()
  return new Map(enrolments.map((one) => [one, nameNext(one.person.no, one.campaign)]))
}

/** Numbers the enrolments of a person in a campaign in their order. */
function createNaming(): (person: number, campaign: number) => string {
  const many = new Map<string, number>()
  return (person, campaign) => {
    const name = `person ${person} in campaign ${campaign}`
    many.set(name, (many.get(name) ?? 0) + 1)
    return `${name}, time ${many.get(name)}`
  }
}

interface Place {
  step: string
  dueAt: number
  isHeld: boolean
  isSettled: boolean
  isClaimed: boolean
}

function showEnrolment(
  name: string,
  { version, state, enrolledAt }: { version: number; state: string; enrolledAt: number },
  place: Place | null,
): string {
  const shown = `${name}: version ${version} from ${enrolledAt} on, ${state}`
  if (place === null) return shown
  const { step, dueAt, isHeld, isSettled, isClaimed } = place
  const marks = [isHeld && 'held', isSettled && 'settled', isClaimed && 'claimed'].filter(Boolean)
  return [`${shown}, at ${step} until ${dueAt}`, ...marks].join(' ')
}

const showMessage = (name: string | undefined, { step, state, reason }: Omit<MessageRow, 'enrolment_id'>): string =>
  `${name}: ${step} ${state} ${reason ?? ''}`
