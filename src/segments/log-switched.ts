import type { SegmentDeps } from './segment-deps.ts'

const STEP = 2000

/**
 * Writes the membership changes of rules that were put in force to the history: one step for one of them, because
 * contacts may become due meanwhile. It is chosen at random, so that none waits until another is complete.
 * @returns true while there is more to do
 */
export async function logSwitched({ sql }: SegmentDeps): Promise<boolean> {
  const [switched] = await sql<{ business_id: string; no: number }[]>`
    select business_id, no from segment_rules where switched_at is not null order by random() limit 1`
  if (!switched) return false
  await sql`select log_switch_step(${switched.business_id}, ${switched.no}, ${STEP})`
  return true
}
