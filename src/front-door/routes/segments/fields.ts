import { faultOf } from '../../../rules/faults.ts'
import { listSegmentFields } from '../../../segments/segment-fields.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { trimText } from '../../../rules/events/text.ts'
import { invalidRequest, uncleanIssues } from '../../http/check-body.ts'
import { queryOf } from '../../http/read-page.ts'

export const FIELDS = 'What a rule can read.'
const MAX_QUERY = 256

export async function getSegmentFields(
  app: AppContext,
  context: RequestContext,
  { business }: Principal,
): Promise<Reply> {
  const query = trimText(queryOf(context).get('query') ?? '')
  const issues = uncleanIssues({ query })
  if (query.length > MAX_QUERY) issues.push(faultOf('query', 'characters_up_to', { max: MAX_QUERY }))
  if (issues.length > 0) throw invalidRequest(issues)
  return { message: FIELDS, data: { groups: await listSegmentFields(app, business.id, query) } }
}
