import { requireSecretKey } from './authenticate.ts'
import { chargeRead } from './charge.ts'
import type { Call, Door } from '../app-context.ts'
import type { Business } from './find-business.ts'
import { takeTurn } from './concurrency-limit.ts'

/** Management: a secret key, and one unit of a bucket that reading and management have of their own. */
export async function admitManager(door: Door, call: Call): Promise<Business> {
  const business = await requireSecretKey(door, call)
  await chargeRead(door, call, business)
  return business
}

/** Reading: the same, and its turn among the reads of its business. */
export async function admitReader(door: Door, call: Call): Promise<Business> {
  const business = await admitManager(door, call)
  await takeTurn(door.turns.read, call, business.id)
  return business
}
