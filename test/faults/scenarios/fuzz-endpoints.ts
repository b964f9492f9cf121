import { insertBusiness } from '../../../src/businesses/businesses.ts'
import { insertKey } from '../../../src/businesses/keys.ts'
import { fuzzEndpoints } from '../../fuzz/run-fuzz.ts'
import type { Scenario, Stage } from '../run-scenario.ts'

/** Sends `requests` made-up requests for a separate business. Neither it nor its neighbours are harmed. */
export const fuzzedEndpoints = (requests: number): Scenario => ({
  name: 'fuzzed endpoints',
  frontDoorStays: true,
  async run({ world, chance, check }) {
    const { sql } = world.own
    const businessId = await insertBusiness(sql, { name: 'Fuzzed', rateLimit: 100_000_000 })
    const [secret, publishable] = await Promise.all([
      insertKey(sql, businessId, 'secret'),
      insertKey(sql, businessId, 'publishable'),
    ])
    const callers = { businessId, secretKey: secret.key, publishableKey: publishable.key }
    const seed = chance.below(2 ** 31)
    try {
      await fuzzEndpoints(world.url, callers, { seed, requests })
    } catch (error) {
      // The error names the smallest request that causes it.
      check(false, [error, (error as Error).cause].map(String).join('\n'))
    }
    await checkUnharmed(world, businessId, check)
  },
})

/** Checks that nothing became a dead letter, and that recorded events are counted. */
async function checkUnharmed({ own: { sql } }: Stage['world'], businessId: string, check: Stage['check']) {
  const [{ letters, counted }] = await sql<[{ letters: number; counted: number }]>`
    select (select count(*)::int from dead_letters where business_id = ${businessId}) as letters,
      (select coalesce(sum(count), 0)::int from event_statistics where business_id = ${businessId}) as counted`
  check(letters === 0, `${letters} requests became dead letters`)
  check(counted > 0, 'nothing was recorded')
}
