/** Explains why a contact entered a campaign or did not, what it waits for, and the checks before each message. */
import { explainCampaign } from '../../../campaigns/explain-campaign.ts'
import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { queryOf } from '../../http/read-page.ts'
import { contactNotFound } from '../contacts/contact-not-found.ts'
import { requireCampaign } from './reading.ts'

export const EXPLAINED = 'The explanation.'

export async function getExplanation(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const sent = queryOf(context).get('contactId')
  if (sent === null) throw invalidRequest([faultOf('contactId', 'required')])
  const businessId = principal.business.id
  const campaign = await requireCampaign(app, context, businessId)
  const contactId = readId(sent)
  if (contactId === null) throw contactNotFound()
  const deps = { ...app, signal: context.request.signal }
  const explained = await explainCampaign(deps, campaign, { businessId, contactId })
  if (explained === 'contact_not_found') throw contactNotFound()
  if (explained === 'unavailable') throw new RequestError('unavailable', { headers: { 'Retry-After': '1' } })
  return { message: EXPLAINED, data: explained }
}
