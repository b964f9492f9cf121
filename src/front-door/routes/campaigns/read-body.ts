/** Reads the bodies of calls that create or change campaigns. */
import type { Static } from '@sinclair/typebox'
import { uuidv7 } from 'uuidv7'
import type { CampaignTrigger } from '../../../campaigns/campaign.ts'
import type { CampaignChange } from '../../../campaigns/update-campaign.ts'
import type { Definition } from '../../../rules/campaigns/definition.ts'
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
const DEFINED = ['steps', 'quietHours', 'caps', 'holdOut', 'tracking', 'senders'] as const

type Sent = Static<typeof CheckedCampaignSchema>

/** Throws RequestError `invalid_request`. */
export async function readCampaignBody(
  { sql, now }: Pick<AppContext, 'sql' | 'now'>,
  businessId: string,
  body: unknown,
): Promise<Omit<Sent, 'trigger'> & { trigger: CampaignTrigger; definition: Definition }> {
  const sent = requireBody(checkCampaign(body))
  refuseUnclean(sent)
  const fields = await listFieldTypes(sql, businessId)
  const read = readDefinition(body as Record<string, unknown>, { fields, newId: uuidv7 })
  if ('faults' in read) throw invalidRequest(read.faults)
  return { ...sent, trigger: readTrigger(sent.trigger, body, now()), definition: read.definition }
}

/**
 * Reads a change. Its definition is checked later, together with the current one. Throws RequestError
 * `invalid_request`.
 */
export function readChangeBody({ now }: Pick<AppContext, 'now'>, body: unknown): CampaignChange {
  const { trigger, goal, ...sent } = requireBody(checkChange(body))
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
    ...(goal && { goal: { event: goal.event } }),
    ...(isCleared && { goal: null }),
  }
  if (Object.keys(change).length === 1 && Object.keys(definition).length === 0) throw invalidRequest([NOTHING])
  return change
}

const NOTHING = faultOf('', 'at_least_one', { fields: `name, trigger, canEnterAgain, goal, ${DEFINED.join(', ')}` })

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
