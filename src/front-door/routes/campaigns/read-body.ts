/** Reads the bodies of calls that create or change campaigns. */
import type { Static } from '@sinclair/typebox'
import { uuidv7 } from 'uuidv7'
import type { CampaignTrigger } from '../../../campaigns/campaign.ts'
import type { CampaignChange } from '../../../campaigns/update-campaign.ts'
import type { Definition } from '../../../rules/campaigns/definition.ts'
import { checkKeys } from '../../../rules/campaigns/check-keys.ts'
import type { EnrolPer } from '../../../rules/campaigns/enrolment-key.ts'
import type { WhileActive } from '../../../rules/campaigns/while-active.ts'
import type { Goal } from '../../../rules/campaigns/event-condition.ts'
import { readEnrolPer, readGoal } from '../../../rules/campaigns/read-goal.ts'
import { readDefinition } from '../../../rules/campaigns/read-definition.ts'
import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import { listFieldTypes } from '../../../segments/load-definitions.ts'
import type { AppContext, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../http/check-body.ts'
import { isRecord } from '../../../rules/is-record.ts'
import { readId } from '../../../rules/read-id.ts'
import { readTrigger } from './read-trigger.ts'
import { CheckedCampaignSchema, CheckedChangeSchema } from './schemas.ts'

const checkCampaign = compileCheck(CheckedCampaignSchema)
const checkChange = compileCheck(CheckedChangeSchema)
const DEFINED = ['steps', 'quietHours', 'caps', 'holdOut', 'tracking', 'topic', 'senders'] as const

type Sent = Static<typeof CheckedCampaignSchema>

/** Throws RequestError `invalid_request`. */
export async function readCampaignBody(
  { sql, now }: Pick<AppContext, 'sql' | 'now'>,
  businessId: string,
  body: unknown,
): Promise<Omit<Sent, 'trigger' | keyof Keys> & { trigger: CampaignTrigger; definition: Definition } & Keys> {
  const sent = requireBody(checkCampaign(body))
  refuseUnclean(sent)
  const fields = await listFieldTypes(sql, businessId)
  const read = readDefinition(body as Record<string, unknown>, { fields, newId: uuidv7 })
  if ('faults' in read) throw invalidRequest(read.faults)
  const trigger = readTrigger(sent.trigger, body, now())
  const { enrolPer = 'contact', whileActive = 'ignore', goal = null } = readKeys(sent, body)
  const { steps } = read.definition
  const faults = checkKeys({ enrolPer, whileActive, goal, steps, isByEvent: 'event' in trigger })
  if (faults.length > 0) throw invalidRequest(faults)
  return { ...sent, trigger, definition: read.definition, enrolPer, whileActive, goal }
}

interface Keys {
  enrolPer?: EnrolPer
  whileActive?: WhileActive
  goal?: Goal | null
}

/** Reads the fields that were sent. Throws RequestError `invalid_request`. */
function readKeys({ enrolPer, whileActive, goal }: Partial<Sent>, body: unknown): Keys {
  const raw = isRecord(body) && isRecord(body['goal']) ? body['goal'] : {}
  const keys: Keys = whileActive === undefined ? {} : { whileActive }
  if (enrolPer !== undefined && enrolPer !== null) {
    const read = readEnrolPer(enrolPer)
    if ('faults' in read) throw invalidRequest(read.faults)
    keys.enrolPer = read.enrolPer
  }
  if (goal) {
    const read = readGoal(goal.event, raw)
    if ('faults' in read) throw invalidRequest(read.faults)
    keys.goal = read.goal
  }
  return keys
}

/**
 * Reads a change. Its definition is checked later, together with the current one. Throws RequestError
 * `invalid_request`.
 */
export function readChangeBody({ now }: Pick<AppContext, 'now'>, body: unknown): CampaignChange {
  const { trigger, goal, enrolPer, whileActive, ...sent } = requireBody(checkChange(body))
  refuseUnclean({ ...sent, ...(trigger && { trigger }), ...(goal && { goal }) })
  const raw = isRecord(body) ? body : {}
  const definition = Object.fromEntries(
    DEFINED.flatMap((field) => (Object.hasOwn(raw, field) ? [[field, raw[field]] as const] : [])),
  )
  const isCleared = Object.hasOwn(raw, 'goal') && raw['goal'] === null
  const change = {
    ...sent,
    definition,
    ...(trigger && { trigger: readTrigger(trigger, body, now()) }),
    ...readKeys({ ...(goal && { goal }), enrolPer, ...(whileActive && { whileActive }) }, body),
    ...(isCleared && { goal: null }),
  }
  if (Object.keys(change).length === 1 && Object.keys(definition).length === 0) throw invalidRequest([NOTHING])
  return change
}

const NOTHING = faultOf('', 'at_least_one', {
  fields: `name, trigger, canEnterAgain, enrolPer, whileActive, goal, ${DEFINED.join(', ')}`,
})

function refuseUnclean({ name, trigger, goal }: Partial<Sent>): void {
  const unclean = uncleanIssues({
    name,
    'trigger.event': trigger && 'event' in trigger ? trigger.event : undefined,
    'goal.event': goal?.event,
  })
  if (unclean.length > 0) throw invalidRequest(unclean)
}

export function requireCampaignId({ params }: RequestContext): string {
  const id = readId(params['campaignId'])
  if (id === null) throw new RequestError('not_found')
  return id
}
