import { verify } from '../../src/admin/verify/verify.ts'
import { createLogger } from '../../src/log.ts'
import { checkSegments } from './check-segments.ts'
import type { World } from './world.ts'

/**
 * Returns the findings of `admin verify` in these businesses, and faults of the segments of those that have some, as
 * complaints.
 */
export async function verifyWorld(
  { own }: World,
  businessIds: string[],
  withSegments: string[] = businessIds,
): Promise<string[]> {
  const nothing = () => undefined
  const log = createLogger({ level: 'silent', name: 'verify' })
  const never = new AbortController().signal
  const progress = { advance: nothing, showStatus: nothing }
  const deps = {
    ...own,
    ...progress,
    writer: own.sql,
    sliceSize: 20_000,
    maxKept: 100,
    log,
    config: { leaseMs: 3000 },
    signal: never,
    waitMs: 120_000,
    startedAt: new Date(),
  }
  const verdict = await verify(deps, { businessIds, repair: false }).catch((error: Error) => error)
  if (verdict instanceof Error) return [`verify: ${verdict.message}`]
  const { differences, notCompared, uncompared } = verdict
  return [
    ...[...differences, ...uncompared].map((one) => `verify: ${JSON.stringify(one)}`),
    ...(notCompared > 0 ? [`verify: ${notCompared} contacts do not come to rest`] : []),
    ...(await checkSegments(own, withSegments)),
  ]
}
