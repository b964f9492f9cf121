import { CROWD } from './saturation.ts'
import { type Scenario, noError, rounded } from './scenario.ts'

const MANY = 1000
const APART = 0.2

export const businesses: Scenario = {
  name: 'businesses',
  title: 'one business with everything; 1,000 businesses evenly',
  async run(bench) {
    const options = { ...CROWD, seconds: bench.length(3, 30) }
    const one = await bench.openCallers({ kind: 'typical', prefix: 'alone-' })
    const alone = await bench.send([one, options])
    const many = await bench.openCallers({ kind: 'typical', prefix: 'many-' }, MANY)
    // The first request of each business is looked up in Postgres.
    await bench.send([many, { ...CROWD, seconds: 10, requests: MANY }])
    const evenly = await bench.send([many, options])
    const [slow = 0, fast = 0] = [alone.rate, evenly.rate].toSorted((a, b) => a - b)
    return {
      checks: [
        {
          goal: 'within 20 % of each other',
          figure: `${rounded(alone.rate)}/s of one, ${rounded(evenly.rate)}/s of 1,000`,
          met: slow >= fast * (1 - APART),
        },
        ...[alone, evenly].map(({ load }) => noError(load)),
      ],
      measured: { 'one business': alone, '1,000 businesses': evenly },
    }
  },
}
