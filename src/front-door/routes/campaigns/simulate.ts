/** Simulates a campaign. */
import type { Campaign } from '../../../campaigns/campaign.ts'
import { readCampaign } from '../../../campaigns/list-campaigns.ts'
import { loadMessaging } from '../../../campaigns/messaging.ts'
import { loadPerson } from '../../../campaigns/simulation/load-person.ts'
import { type Person, makeUpPerson } from '../../../campaigns/simulation/person.ts'
import { refuseWithoutKey } from '../../../campaigns/simulation/simulated-keys.ts'
import { simulateCampaign } from '../../../campaigns/simulation/simulate-campaign.ts'
import { RequestError } from '../../../errors.ts'
import { inertLinks } from '../../../messages/public-links.ts'
import { checkBranch } from '../../../rules/campaigns/check-branch.ts'
import { withMessaging } from '../../../rules/campaigns/messaging.ts'
import { walkSteps } from '../../../rules/campaigns/walk-steps.ts'
import { namesOf } from '../../../rules/segments/reading/property-path.ts'
import { type Definitions, loadDefinitions, rulesOf } from '../../../segments/load-definitions.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { contactNotFound } from '../contacts/contact-not-found.ts'
import { requireCampaignId } from './read-body.ts'
import { clickHouseUnavailable } from '../../health/clickhouse-unavailable.ts'
import { type ReadSimulation, readSimulation } from './read-simulation.ts'

export const SIMULATED = 'What the campaign would do.'

export async function postSimulate(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business } = principal
  const found = await readCampaign(app.sql, business.id, requireCampaignId(context))
  if (found === null) throw new RequestError('not_found')
  const campaign = withMessaging(found, await loadMessaging(app.sql, business.id))
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const definitions = await loadDefinitions(app.sql, business.id)
  const { fields, country } = definitions
  const now = context.receivedAt
  const sent = readSimulation(body, { country, fields, now })
  refuseBranches(campaign, definitions)
  const event = sent.event ?? eventOf(campaign)
  const keyless = refuseWithoutKey(campaign, event)
  if (keyless !== null) throw invalidRequest([keyless])
  const result = await simulateCampaign(
    { sql: app.sql, renderer: app.renderer.of(business.id) },
    {
      business,
      campaign,
      definitions,
      person: await findPerson(app, business.id, campaign, { definitions, sent, now }),
      event,
      links: inertLinks(app.config),
      from: sent.from,
      answers: sent.answers,
    },
  )
  if ('fault' in result) throw invalidRequest([result.fault])
  return { message: SIMULATED, data: result.simulation }
}

/** Rejects branches with faults, which a draft may have. Throws RequestError `invalid_request`. */
export function refuseBranches({ steps }: Campaign, definitions: Definitions): void {
  const { fields, topics } = definitions
  const rules = { fields, topics, segments: rulesOf(definitions) }
  const faults = walkSteps(steps).flatMap(({ step, path }) =>
    step.type === 'branch' ? checkBranch(step.rule, `${path}.rule`, rules) : [],
  )
  if (faults.length > 0) throw invalidRequest(faults)
}

async function findPerson(
  app: AppContext,
  businessId: string,
  campaign: Campaign,
  { definitions, sent, now }: { definitions: Definitions; sent: ReadSimulation; now: number },
): Promise<Person> {
  const { madeUp, from } = sent
  if (madeUp !== null) return makeUpPerson(madeUp, { from, topics: definitions.topics })
  const contactId = readId(sent.contactId ?? '')
  const person = contactId && (await loadPerson(app, { businessId, contactId }, campaign, { definitions, from, now }))
  if (!person) throw contactNotFound()
  if (person === 'unavailable') throw clickHouseUnavailable(app)
  return person
}

/** The trigger event of a simulation that names none. With keys, it has one that is made up. */
function eventOf({ trigger, enrolPer }: Campaign): { name: string; properties: Record<string, unknown> } | null {
  if ('segment' in trigger) return null
  const properties = enrolPer === 'contact' ? {} : nest(namesOf(enrolPer.property), 'example')
  return { name: 'event' in trigger ? trigger.event : trigger.web, properties }
}

const nest = (names: readonly string[], value: string): Record<string, unknown> =>
  names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<string, unknown>
