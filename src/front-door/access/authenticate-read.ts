import { requireSecretKey } from './authenticate.ts'
import { chargeRead } from './charge.ts'
import type { RequestContext, AppContext } from '../app-context.ts'
import type { Business } from './find-business.ts'
import { acquireSlot } from './concurrency-limit.ts'

/** Management: a secret key, and one unit of a bucket that reading and management have of their own. */
export async function authenticateWrite(app: AppContext, context: RequestContext): Promise<Business> {
  const business = await requireSecretKey(app, context)
  await chargeRead(app, context, business)
  return business
}

/** Reading: the same, and its turn among the reads of its business. */
export async function authenticateRead(app: AppContext, context: RequestContext): Promise<Business> {
  const business = await authenticateWrite(app, context)
  await acquireSlot(app.slots.read, context, business.id)
  return business
}
