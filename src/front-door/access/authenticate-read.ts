import { requireSecretKey } from './authenticate.ts'
import { chargeRead } from './charge.ts'
import type { RequestContext, AppContext } from '../app-context.ts'
import type { Business } from './find-business.ts'
import { acquireSlot } from './concurrency-limit.ts'

/** Management calls: require a secret key and charge one unit of the bucket that reads and management calls share. */
export async function authenticateWrite(app: AppContext, context: RequestContext): Promise<Business> {
  const business = await requireSecretKey(app, context)
  await chargeRead(app, context, business)
  return business
}

/** Reads: the same, and a slot among the concurrent reads of the business. */
export async function authenticateRead(app: AppContext, context: RequestContext): Promise<Business> {
  const business = await authenticateWrite(app, context)
  await acquireSlot(app.slots.read, context, business.id)
  return business
}
