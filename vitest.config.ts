import { readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { PATIENCE_MS } from './test/support/at-load.ts'

const onBun = 'bun' in process.versions
// Libraries have parts for each runtime: without this, tests on Bun would run those for Node.
const conditions = onBun ? ['bun', 'module', 'node'] : undefined

/**
 * The first line of a file decides its project:
 *
 *     // @long      many seconds: whole stores that are killed, damaged and compared, other runtimes, browsers
 *     // @pages     the dashboard in Chromium; the files of a worker share a service and a browser
 *     // @serial    it measures time or memory, so nothing runs beside it
 *     // @faults    every part of the product under load, killed, frozen and measured: it keeps the machine busy by itself
 */
const MARKED = ['long', 'pages', 'serial', 'faults'] as const

/** A mark that is written in another way is taken as unknown: its file would run in the wrong project. */
function readMark(source: string): string | undefined {
  const [, loose] = /^\s*\/\/\s*(@.*)$/m.exec(source.slice(0, 300)) ?? []
  return /^\/\/ @(\w+)\n/.exec(source)?.[1] ?? loose
}

const marks = new Map(
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => [`test/${name}`, readMark(readFileSync(`test/${name}`, 'utf8'))]),
)
const unknown = [...marks].filter(([, mark]) => mark !== undefined && !MARKED.some((one) => one === mark))
if (unknown.length > 0) throw new Error(`not a project: ${unknown.join(' ')}`)
const marked = (wanted?: (typeof MARKED)[number]) =>
  [...marks].filter(([, mark]) => (wanted ? mark === wanted : mark !== undefined)).map(([file]) => file)

/** Seconds of the slowest files, for where no run before has measured them. */
const SECONDS = JSON.parse(readFileSync('test/durations.json', 'utf8')) as Record<string, number>

/** What is begun last is waited for with nothing beside it. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = ({ project }: TestSpecification) => project.config.sequence.groupOrder
    const duration = (file: TestSpecification) =>
      this.ctx.cache.getTestSpecificationResult(file)?.duration ??
      1000 * (SECONDS[relative(this.ctx.config.root, file.moduleId)] ?? 0)
    return files.toSorted((a, b) => order(a) - order(b) || duration(b) - duration(a))
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
  {
    maxWorkers,
    isolate,
    loader,
    environment = 'node',
  }: { maxWorkers: number; isolate: boolean; loader: 'bun' | 'vite'; environment?: string },
) => ({
  ssr: { resolve: { ...(conditions && { conditions, externalConditions: conditions }) } },
  test: {
    name,
    include: files.include,
    exclude: [...configDefaults.exclude, ...(files.exclude ?? [])],
    // Bun runs tests in threads alone; the engines' native addons want processes elsewhere.
    pool: onBun ? ('threads' as const) : ('forks' as const),
    ...(onBun && loader === 'bun' && { experimental: { viteModuleRunner: false, nodeLoader: false } }),
    environment,
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
    // A worker of pages closes a service and a browser.
    teardownTimeout: 100_000,
    projects: [
      project('fast', { include: ['test/**/*.test.ts'], exclude: marked() }, 0, {
        maxWorkers: 8,
        isolate: false,
        loader: 'bun',
      }),
      project('serial', { include: marked('serial') }, 1, { maxWorkers: 1, isolate: true, loader: 'vite' }),
      project('pages', { include: marked('pages') }, 2, {
        maxWorkers: 2,
        isolate: false,
        loader: 'bun',
        environment: './test/dashboard/shared-environment.ts',
      }),
      project('long', { include: marked('long') }, 3, { maxWorkers: 4, isolate: true, loader: 'bun' }),
      project('faults', { include: marked('faults') }, 4, { maxWorkers: 1, isolate: true, loader: 'vite' }),
    ],
  },
})
