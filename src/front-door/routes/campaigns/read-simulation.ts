/** Reads the body of a call that simulates a campaign. */
import type { Static } from '@sinclair/typebox'
import type { MadeUp } from '../../../campaigns/simulation/person.ts'
import type { Issue } from '../../../errors.ts'
import type { SimulatedEvent } from '../../../rules/campaigns/simulate.ts'
import type { FieldType } from '../../../rules/events/facts.ts'
import { readIso } from '../../../rules/events/read-iso.ts'
import { isClean, trimText } from '../../../rules/events/text.ts'
import { fits, readTraits } from '../../../rules/events/traits.ts'
import { faultOf, moveFault } from '../../../rules/faults.ts'
import { readIdentity } from '../../../rules/identity/identity.ts'
import { readProfile } from '../../../rules/identity/profile.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { SimulateSchema } from './simulation-schemas.ts'

export interface ReadSimulation {
  /** Null when `madeUp` is set. */
  contactId: string | null
  madeUp: MadeUp | null
  event: { name: string; properties: Record<string, unknown> } | null
  /** Epoch ms. */
  from: number
  answers: SimulatedEvent[]
}

export interface ReadingContext {
  /** Country of the business, for national phone numbers. */
  country: string | null
  fields: ReadonlyMap<string, FieldType>
  /** Epoch ms. */
  now: number
}

type Sent = Static<typeof SimulateSchema>
type SentContact = NonNullable<Sent['contact']>

const check = compileCheck(SimulateSchema)
const MAX_ISSUES = 20
const MAX_FIELDS = 500

/** Throws RequestError `invalid_request`. */
export function readSimulation(body: unknown, context: ReadingContext): ReadSimulation {
  const { contactId, contact, event, from: sentFrom, answers = [] } = requireBody(check(body))
  const issues: Issue[] = []
  if ((contactId === undefined) === (contact === undefined)) issues.push(faultOf('', 'either_contact'))
  const madeUp = contact === undefined ? null : readMadeUp(contact, context, issues)
  const from = sentFrom === undefined ? context.now : readInstant(sentFrom, FROM, 'from', issues)
  const read = {
    contactId: contactId ?? null,
    madeUp,
    event: event === undefined ? null : { properties: {}, ...event },
    from,
    answers: readAnswers(answers, from, issues),
  }
  if (event !== undefined) refuseUnclean(event.name, 'event.name', issues)
  if (issues.length > 0) throw invalidRequest(issues.slice(0, MAX_ISSUES))
  return read
}

interface Range {
  /** Both bounds are inclusive. */
  first: number
  last: number
  words: string
}

const FROM: Range = { first: 0, last: Date.UTC(2100, 0) - 1, words: 'from 1970 to 2099' }
const LAST_ANSWER = Date.UTC(10_000, 0) - 1

/** Epoch ms. */
function readInstant(sent: string | number, { first, last, words }: Range, path: string, issues: Issue[]): number {
  const at = typeof sent === 'string' ? readIso(trimText(sent)) : Math.floor(sent)
  if (at !== undefined && at >= first && at <= last) return at
  const message = `${path} must be an ISO 8601 date or date-time, or a number of epoch milliseconds, ${words}`
  issues.push({ path, message })
  return first
}

function readAnswers(sent: NonNullable<Sent['answers']>, from: number, issues: Issue[]): SimulatedEvent[] {
  const range = { first: from, last: LAST_ANSWER, words: 'not before from and not beyond the year 9999' }
  return sent.map(({ event, at, properties }, index) => {
    refuseUnclean(event, `answers.${index}.event`, issues)
    const instant = readInstant(at, range, `answers.${index}.at`, issues)
    return { event, at: instant, ...(properties && { properties }) }
  })
}

function refuseUnclean(text: string, path: string, issues: Issue[]): void {
  if (!isClean(text)) issues.push(faultOf(path, 'clean_text'))
}

/** Reads a made-up contact. Values that other calls skip with a warning are errors here. */
function readMadeUp(sent: SentContact, { country, fields }: ReadingContext, issues: Issue[]): MadeUp {
  const { email, phone, tags = [], customFields = {}, subscriptions = {}, ...profile } = sent
  const identity = readIdentity({ ...(email && { email }), ...(phone && { phone }) }, country)
  const read = readProfile(profile, { keyed: true })
  issues.push(
    ...inContact('identity', identity.faults, identity.warnings),
    ...inContact('profile', read.faults, read.warnings),
  )
  for (const [index, tag] of tags.entries()) refuseUnclean(tag, `contact.tags.${index}`, issues)
  return {
    identity: identity.identity ?? {},
    profile: read.profile,
    tags,
    customFields: readFields(customFields, fields, issues),
    subscriptions,
  }
}

/**
 * Returns faults and warnings as issues with paths in `contact`. Both begin with the path of their field, as in other
 * calls. Characters that cannot be stored are replaced without an issue.
 */
function inContact(part: string, faults: readonly Issue[], warnings: readonly string[], place = 'contact'): Issue[] {
  const move = (text: string) => text.replace(`${part}.`, `${place}.`)
  const refused = warnings.filter((warning) => !warning.endsWith('they were replaced'))
  return [
    ...faults.map((fault) => moveFault(fault, move(fault.path))),
    ...refused.map((warning) => {
      const message = move(warning).replace(/ was (ignored|not stored|skipped): /, ' is not usable: ')
      return { path: message.split(' ')[0] ?? '', message }
    }),
  ]
}

function readFields(
  sent: Record<string, unknown>,
  fields: ReadonlyMap<string, FieldType>,
  issues: Issue[],
): MadeUp['customFields'] {
  const { traits, faults, warnings } = readTraits(sent)
  const path = 'contact.customFields'
  if (Object.keys(sent).length > MAX_FIELDS) issues.push(faultOf(path, 'fields_up_to', { max: MAX_FIELDS }))
  else issues.push(...inContact('traits', faults, warnings, path))
  const customFields: MadeUp['customFields'] = {}
  for (const [key, value] of Object.entries(traits)) {
    const type = fields.get(key)
    if (type !== undefined && !fits(type, value)) issues.push(faultOf(`${path}.${key}`, 'of_the_type', { type }))
    else if (value !== null) customFields[key] = value
  }
  return customFields
}
