/** Reads and changes the settings that apply to all campaigns of a business. */
import { loadMessaging, saveMessaging } from '../../../campaigns/messaging.ts'
import { readMessaging } from '../../../rules/campaigns/messaging.ts'
import { faultOf } from '../../../rules/faults.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { isRecord } from '../../../rules/is-record.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { receiveBody } from '../../http/receive-body.ts'

export const READ = 'What holds for all campaigns.'
export const SAVED = 'It holds for all campaigns from now on.'

export async function getMessaging({ sql }: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  return { message: READ, data: { messaging: await loadMessaging(sql, business.id) } }
}

export async function putMessaging(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  if (!isRecord(body)) throw invalidRequest([{ ...faultOf('', 'object'), message: 'The body must be an object' }])
  const read = readMessaging(body)
  if ('faults' in read) throw invalidRequest(read.faults)
  const { messaging } = read
  await saveMessaging(app.sql, { businessId: business.id, actor }, messaging)
  return { message: SAVED, data: { messaging } }
}
