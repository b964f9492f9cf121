import { openPace } from './open-loop.ts'
import { type Scenario, atMost, noError } from './scenario.ts'

const LIVE = 2000
const PAST = 5000
const SIZE = 500

export const liveBesideBackfill: Scenario = {
  name: 'live-beside-backfill',
  title: '2,000/s live beside 5,000/s backfill',
  async run(bench) {
    const live = await bench.openCallers({ kind: 'typical', prefix: 'live-' })
    const past = await bench.openCallers({ kind: 'batch', prefix: 'past-', size: SIZE })
    const send = (seconds: number) =>
      bench.send([live, { ...openPace(LIVE), seconds }], [past, { ...openPace(PAST / SIZE), seconds }])
    const warm = await send(bench.length(1, 10))
    const measured = await send(bench.length(4, 60))
    return {
      checks: [
        atMost('live p99', measured.load.latency.p99, 60, 'ms'),
        ...[...warm.loads, ...measured.loads].map(noError),
      ],
      measured: { 'live, and a batch of 500 ten times a second': measured },
    }
  },
}
