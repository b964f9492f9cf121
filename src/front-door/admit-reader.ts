import { requireSecretKey } from './authenticate.ts'
import { chargeRead } from './charge.ts'
import type { Call, Door } from './door.ts'
import type { Business } from './find-business.ts'

/** Reading and management: a secret key, and one unit of a bucket of their own. */
export async function admitReader(door: Door, call: Call): Promise<Business> {
  const business = await requireSecretKey(door, call)
  await chargeRead(door, call, business)
  return business
}
