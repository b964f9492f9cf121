import { setTimeout as sleep } from 'node:timers/promises'
import { untilQuiet } from '../measure.ts'
import { readCpu } from '../process-tree.ts'
import { PARTS } from '../stack.ts'
import { type Scenario, atMost, rounded } from './scenario.ts'

export const idle: Scenario = {
  name: 'idle',
  title: 'idle',
  cold: true,
  async run(bench) {
    const { stack } = bench
    await untilQuiet(stack)
    // The start must finish first, and the runtime continues to compile for a while.
    await sleep(bench.length(1000, 180_000))
    const before = readCpu(stack.pids)
    const started = performance.now()
    await sleep(bench.length(3000, 60_000))
    const after = readCpu(stack.pids)
    const share = (us: number) => us / (performance.now() - started) / 10
    const shares = PARTS.map((part) => [part, share(after[part] - before[part])] as const)
    return {
      checks: [
        atMost(
          'everything',
          shares.reduce((sum, [, percent]) => sum + percent, 0),
          2,
          '% of a core',
        ),
      ],
      notes: [shares.map(([part, percent]) => `${part} ${rounded(percent)} %`).join(', ')],
    }
  },
}
