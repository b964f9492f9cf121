/** `Prefer: effects`: the answer lists what the call changed for its contact (segments, "Endpoints"). */
import { Type } from '@sinclair/typebox'
import type { Effects } from '../../../rules/effects.ts'
import { prefers } from '../../http/prefers.ts'
import type { AppContext, RequestContext } from '../../app-context.ts'
import { closed, oneOf, orNull, uuid } from '../reply-fields.ts'

const namedSegment = Type.Object({ segmentId: uuid, name: Type.String() }, closed)
const campaignFields = {
  campaignId: uuid,
  name: Type.String(),
  key: orNull(Type.String({ description: 'What the enrolment is about, such as an order. Null: the contact.' })),
  state: oneOf(['active', 'converted', 'stopped', 'finished', 'merged']),
}
const namedCampaign = Type.Object(campaignFields, closed)

export const EffectsSchema = Type.Optional(
  Type.Object(
    {
      entered: Type.Array(namedSegment),
      left: Type.Array(namedSegment),
      enrolled: Type.Array(namedCampaign),
      ended: Type.Array(namedCampaign),
    },
    { ...closed, description: 'Only with `Prefer: effects`. Windowed conditions follow later and are left out.' },
  ),
)

/** Only for callers with a secret key. */
export const wantsEffects = ({ request }: RequestContext, keyed: boolean): boolean =>
  keyed && prefers(request, 'effects')

/** Adds the names of segments and campaigns. Leaves out those that have been deleted in the meantime. */
export async function nameEffects({ sql }: AppContext, context: RequestContext, businessId: string, effects: Effects) {
  context.headers['Preference-Applied'] = 'effects'
  const segmentIds = [...effects.entered, ...effects.left]
  const campaignIds = [...effects.enrolled, ...effects.ended].map(({ campaignId }) => campaignId)
  const names = new Map<string, string>()
  if (segmentIds.length + campaignIds.length > 0) {
    const rows = await sql<{ id: string; name: string }[]>`
      select id, name from segments where business_id = ${businessId} and id = any (${`{${segmentIds.join(',')}}`}::uuid[])
      union all
      select id, name from campaigns where business_id = ${businessId} and id = any (${`{${campaignIds.join(',')}}`}::uuid[])`
    for (const { id, name } of rows) names.set(id, name)
  }
  const segments = (ids: string[]) =>
    ids.flatMap((segmentId) => (names.has(segmentId) ? [{ segmentId, name: names.get(segmentId) }] : []))
  const campaigns = (ended: { campaignId: string; key: string | null; state: string }[]) =>
    ended.flatMap(({ campaignId, key, state }) =>
      names.has(campaignId) ? [{ campaignId, name: names.get(campaignId), key, state }] : [],
    )
  return {
    effects: {
      entered: segments(effects.entered),
      left: segments(effects.left),
      enrolled: campaigns(effects.enrolled),
      ended: campaigns(effects.ended),
    },
  }
}
