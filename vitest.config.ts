import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { PATIENCE_MS } from './test/support/at-load.ts'

const onBun = 'bun' in process.versions
// Libraries have parts for each runtime: without this, tests on Bun would run those for Node.
const conditions = onBun ? ['bun', 'module', 'node'] : undefined

/** Many seconds each: whole stores that are killed, damaged and compared, other runtimes, Chromium. */
const LONG = [
  'test/campaigns/kill-{sender,updater}.test.ts',
  'test/contacts/{merges,reachable-limits}.test.ts',
  'test/dashboard/{build,contacts,framing,hints,home,hostile,hostile-forms,imports,live}.test.ts',
  'test/dashboard/{operations,optimistic,pages,reference,settings,shell}.test.ts',
  'test/dashboard/*-page.test.ts',
  'test/end-to-end/{deploy,engines,failed-reads,failed-writes,first-install,import,partitions,upgrade}.test.ts',
  'test/end-to-end/{killed-start,restarted-postgres,start-steps,stopped-start}.test.ts',
  'test/front-door/{late-stores,outages}.test.ts',
  'test/runtimes/{conformance,drain,probes,sdk-node,smuggling,transactions}.test.ts',
  'test/sdk/browser/{app,consent,delivery,life,page,push,service}.test.ts',
  'test/sdk/node/package.test.ts',
  'test/security/{exposure,injection,page-words,slow-callers}.test.ts',
  'test/stores/{pooler,postgres,store-mode}.test.ts',
  'test/timeline/{failover,kill-clickhouse,ship-resent,ship-visitors,views}.test.ts',
  'test/verify/{command,damage,late-clickhouse,live,lost,postgres-damage,restore,rules,segments,uncompared}.test.ts',
  'test/web-events/{finish-web-erasures,kill-clickhouse,views,web-partitions}.test.ts',
  'test/workers/{change-partitions,contagion,cut-changes,cut-off,main}.test.ts',
]

/** These measure time or memory: nothing runs beside them. */
const SERIAL = [
  'test/async/{shared-timeouts,with-timeout}.test.ts',
  'test/front-door/{rate-limiter,serve}.test.ts',
  'test/security/concurrency-limit.test.ts',
  'test/sdk/node/memory.test.ts',
  'test/timeline/{engagement,read-unshipped}.test.ts',
  'test/workers/lease.test.ts',
]

/** Every part of the product under load, killed, frozen and measured: these keep the machine busy by themselves. */
const FAULTS = ['test/faults/faults.test.ts', 'test/bench/{segments,verify}.test.ts']

/** These take longest: begun last, they would be waited for with nothing beside them. */
const FIRST = [
  'dashboard/pages',
  'end-to-end/killed-start',
  'verify/lost',
  'dashboard/campaigns-page',
  'dashboard/segments-page',
  'end-to-end/engines',
  'verify/damage',
  'verify/uncompared',
  'dashboard/analytics-page',
  'verify/rules',
  'workers/cut-off',
  'verify/restore',
  'dashboard/shell',
  'sdk/browser/delivery',
  'verify/command',
  'dashboard/contacts',
  'dashboard/boards-page',
  'dashboard/templates-page',
  'verify/live',
  'timeline/ship-resent',
  'workers/cut-changes',
  // Of the fast ones.
  'campaigns/races',
  'segments/build-races',
  'timeline/held-up-erasures',
  'dashboard/board-mail',
  'end-to-end/import-sending',
  'timeline/run-timeline',
  'security/secrets',
  'dashboard/sql-api',
  'faults/check-segments',
  'deliveries/run-deliveries',
  'web-events/crash',
  'segments/compile-to-clickhouse',
]

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification) => {
      const at = FIRST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return project.config.sequence.groupOrder * 1000 + (at === -1 ? FIRST.length : at)
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

/**
 * Projects run one after the other, each with as many files at a time. Most files wait for engines most of the time.
 * `isolate`: every file loads its modules anew. Loading takes longer than many a file.
 * `loader`: Bun reads TypeScript by itself, as it does for the product. Vite takes longer, but only there can a test
 * replace a module.
 */
const project = (
  name: string,
  files: { include: string[]; exclude?: string[] },
  order: number,
  { maxWorkers, isolate, loader }: { maxWorkers: number; isolate: boolean; loader: 'bun' | 'vite' },
) => ({
  ssr: { resolve: { ...(conditions && { conditions, externalConditions: conditions }) } },
  test: {
    name,
    include: files.include,
    exclude: [...configDefaults.exclude, ...(files.exclude ?? [])],
    // Bun runs tests in threads alone; the engines' native addons want processes elsewhere.
    pool: onBun ? ('threads' as const) : ('forks' as const),
    ...(onBun && loader === 'bun' && { experimental: { viteModuleRunner: false, nodeLoader: false } }),
    maxWorkers,
    isolate,
    sequence: { groupOrder: order },
    // For what hangs. How long something takes is for tests with a bound (test/support/at-load.ts).
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
})

export default defineConfig({
  test: {
    sequence: { sequencer: SlowestFirst },
    globalSetup: 'test/support/run-engines.ts',
    projects: [
      project('fast', { include: ['test/**/*.test.ts'], exclude: [...LONG, ...SERIAL, ...FAULTS] }, 0, {
        maxWorkers: 8,
        isolate: false,
        loader: 'bun',
      }),
      project('serial', { include: SERIAL }, 1, { maxWorkers: 1, isolate: true, loader: 'vite' }),
      project('long', { include: LONG }, 2, { maxWorkers: 4, isolate: true, loader: 'bun' }),
      project('faults', { include: FAULTS }, 3, { maxWorkers: 1, isolate: true, loader: 'vite' }),
    ],
  },
})
