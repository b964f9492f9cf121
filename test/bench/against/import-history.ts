/** Imports a file of purchases by the command of the build that is measured. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runtimeCommand } from '../../../src/embedded/processes/run-engine.ts'
import { environmentWithout } from '../../../src/embedded/processes/engine-command.ts'
import type { Bench } from '../bench.ts'
import { startMeter } from '../cpu-meter.ts'
import { untilQuiet } from '../measure.ts'
import { run } from './build-revision.ts'
import { type Figures, cpuFigures } from './figures.ts'

const PURCHASES = 69_659
const CUSTOMERS = 23_570
const FIRST_DAY = Date.UTC(1997, 0, 1)
const DAYS = 545
const DAY_MS = 86_400_000
const MAPPING = [
  '--map=platformCustomerId=customer',
  '--map=occurredAt=date',
  '--map=value=amount',
  '--set=event=purchase',
  '--set=type=purchase',
]

/** Seconds count from the start of the command until everything is in ClickHouse. Each round has its own business. */
export async function importHistory(bench: Bench, at: number): Promise<Figures> {
  const { stack } = bench
  const rows = bench.length(Math.round(PURCHASES / 20), PURCHASES)
  const callers = await bench.openCallers({ kind: 'typical', prefix: `import-${at}-` })
  const [businessId = ''] = callers.businessIds
  const [key = ''] = callers.plan({ pace: { kind: 'closed' }, connections: 1, seconds: 1 }).keys
  const file = join(stack.folder, `purchases-${at}.csv`)
  await writeFile(file, composePurchases(rows))
  await untilQuiet(stack)
  const meter = startMeter(stack)
  const started = performance.now()
  const [command = '', ...args] = runtimeCommand(stack.cli, [
    'admin',
    'import',
    file,
    `--business=${businessId}`,
    `--url=${stack.url}`,
    `--key=${key}`,
    ...MAPPING,
    '--json',
  ])
  await run(command, args, stack.folder, { ...environmentWithout(), DATA_DIR: stack.dataDir })
  await untilQuiet(stack)
  const seconds = (performance.now() - started) / 1000
  const used = meter()
  await rm(file)
  const cpu = Object.fromEntries(Object.entries(used).map(([part, us]) => [part, us / rows])) as typeof used
  return { 'rate, rows/s': rows / seconds, ...cpuFigures(cpu, 'a row') }
}

/** As in the purchases of CDNOW: a third of the customers bought in the first weeks, many only once, some often. */
export function composePurchases(rows: number): string {
  const customers = Math.ceil((rows / PURCHASES) * CUSTOMERS)
  const lines = Array.from({ length: rows }, (_, n) => {
    const customer = n < customers ? n : Math.floor(customers * ((n * 0.618_033_988_75) % 1) ** 2)
    const day = new Date(FIRST_DAY + ((n * 7919) % DAYS) * DAY_MS).toISOString().slice(0, 10)
    return `${customer + 1},${day},${((n * 31) % 5) + 1},${(((n * 797) % 9000) / 100 + 5).toFixed(2)}`
  })
  return ['customer,date,quantity,amount', ...lines, ''].join('\n')
}
