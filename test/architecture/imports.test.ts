/**
 * Which modules may import which. A module is a folder or a single file of `src`. Modules are arranged in layers, and every
 * import leads to a lower layer. The pages have layers of their own. No files import each other in a circle, imports of
 * types and lazy imports included.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = new URL('../../', import.meta.url)

/** From the lowest layer up. A module may import the modules of lower layers, and none of its own layer. */
const LAYERS: string[][] = [
  ['src/version.ts', 'src/config.ts', 'src/log.ts', 'src/async', 'src/rules', 'src/sdk'],
  ['src/errors.ts', 'src/process', 'src/metrics.ts', 'src/stores', 'src/dashboard'],
  ['src/audit'],
  ['src/stream', 'src/businesses', 'src/outbound'],
  ['src/outbox', 'src/deliveries', 'src/accounts', 'src/request-log'],
  ['src/contacts', 'src/web-events', 'src/migrate', 'src/erasure'],
  ['src/timeline', 'src/embedded', 'src/imports', 'src/messages'],
  ['src/segments', 'src/verify-runs'],
  ['src/campaigns', 'src/analytics'],
  ['src/calls'],
  ['src/demo'],
  ['src/front-door', 'src/admin', 'workers'],
  ['src/cli.ts'],
]

const PAGES = 'src/dashboard/src/'

/** Of the pages, from the lowest layer up. `features/*` is each feature but the rules, which are below the others. */
const PAGE_LAYERS: string[][] = [
  ['api.d.ts', 'csv.ts', 'download.ts', 'fill-in.ts', 'store.ts', 'without-path.ts'],
  ['data-of.ts', 'slow-charts.ts', 'texts'],
  ['format.ts', 'preferences.ts'],
  ['translate-error.ts'],
  ['client.ts'],
  ['parts'],
  ['session'],
  ['page-row.ts'],
  ['pages.ts'],
  ['features/rules'],
  ['features/*'],
  ['navigation.ts', 'searches.ts'],
  ['shell'],
  ['routes'],
  ['router.ts'],
  ['main.tsx'],
]

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src', 'workers'], { cwd: ROOT })
  .toString()
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file))

const imports = new Map(files.map((file) => [file, importsOf(file)]))

function importsOf(file: string): string[] {
  const source = readFileSync(new URL(file, ROOT), 'utf8')
  return [...source.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  )
}

const holds = (module: string, file: string): boolean =>
  module.endsWith('/*') ? file.startsWith(module.slice(0, -1)) : file === module || file.startsWith(`${module}/`)

const layerOf = (layers: string[][], file: string): number =>
  layers.findIndex((modules) => modules.some((module) => holds(module, file)))
const moduleOf = (layers: string[][], file: string): string =>
  layers.flat().find((module) => holds(module, file)) ?? file

/** Returns the imports of other modules that do not lead to a lower layer. */
const risingImports = (layers: string[][], among: ReadonlyMap<string, readonly string[]>): string[] =>
  [...among].flatMap(([file, targets]) =>
    targets
      .filter(
        (target) =>
          among.has(target) &&
          moduleOf(layers, target) !== moduleOf(layers, file) &&
          layerOf(layers, target) >= layerOf(layers, file),
      )
      .map((target) => `${file} -> ${target}`),
  )

/** The files of the pages, by their paths below `PAGES`. */
const pageImports = new Map(
  [...imports]
    .filter(([file]) => file.startsWith(PAGES))
    .map(([file, targets]) => [file.slice(PAGES.length), targets.map((target) => target.replace(PAGES, ''))]),
)

it.each([
  ['src', LAYERS, files],
  ['the pages', PAGE_LAYERS, [...pageImports.keys()]],
] as const)('every file of %s stands in a room', (_, layers, among) => {
  expect(among.filter((file) => layerOf(layers, file) < 0)).toEqual([])
  expect(layers.flat().filter((module) => !among.some((file) => moduleOf(layers, file) === module))).toEqual([])
})

it('imports lead down', () => {
  expect(risingImports(LAYERS, imports)).toEqual([])
  expect(risingImports(PAGE_LAYERS, pageImports)).toEqual([])
})

it('a feature of the pages uses of another only what its links offer', () => {
  expect(pageImports.size).toBeGreaterThan(500)
  const featureOf = (file: string) => /^features\/(?!rules\/)([^/]+)\//.exec(file)?.[1]
  const past = [...pageImports].flatMap(([file, targets]) =>
    targets
      .filter((target) => {
        const feature = featureOf(target)
        if (feature === undefined || feature === featureOf(file) || target === `features/${feature}/links.ts`)
          return false
        // The router knows the search parameters of each page.
        return !(/^(searches\.ts|routes\/)/.test(file) && target.endsWith('/search.ts'))
      })
      .map((target) => `${file} -> ${target}`),
  )
  expect(past).toEqual([])
})

it('no files import each other in a circle', () => {
  // Repeatedly removes the files that import none of the remaining files. Each file that stays is in a circle, or leads
  // to one.
  const left = new Map(files.map((file) => [file, (imports.get(file) ?? []).filter((target) => imports.has(target))]))
  for (let before = -1; before !== left.size;) {
    before = left.size
    for (const [file, targets] of left) if (!targets.some((target) => left.has(target))) left.delete(file)
  }
  const leadsTo = (from: string, seen = new Set<string>()): Set<string> => {
    for (const target of left.get(from) ?? [])
      if (left.has(target) && !seen.has(target)) leadsTo(target, seen.add(target))
    return seen
  }
  expect([...left.keys()].filter((file) => leadsTo(file).has(file))).toEqual([])
})

it('only transaction.ts begins transactions', () => {
  // The driver's own `begin` and `reserve` do not survive the end of their connection.
  const BEGINS = /\b(?:sql|tx)(?:\s*\.\s*(?:begin|reserve|savepoint)\b|`\s*begin\b)/i
  const beginning = files.filter((file) => BEGINS.test(readFileSync(new URL(file, ROOT), 'utf8')))
  expect(beginning.filter((file) => file !== 'src/stores/transaction.ts')).toEqual([])
})

it('routes and commands only map input and outcome: operations own the transaction and the audit entry', () => {
  const OWNED: Record<string, RegExp> = {
    'src/stores/transaction.ts': /^inTransaction$/,
    'src/audit/audit.ts': /^record/,
    'src/accounts/record-account-change.ts': /^record/,
  }
  const outside = files.filter((file) => /^src\/(?:front-door|admin)\//.test(file))
  expect(outside.length).toBeGreaterThan(200)
  const owned = outside.flatMap((file) =>
    Object.entries(OWNED).flatMap(([module, names]) =>
      namesFrom(file, module)
        .filter((name) => name === '*' || names.test(name))
        .map((name) => `${file}: ${name}`),
    ),
  )
  expect(owned).toEqual([])
  expect(namesFrom('src/accounts/manage-users.ts', 'src/audit/audit.ts')).toEqual(['Actor', 'recordAudit'])
})

/** What the file imports from a module, or exports from it; `*` when that is not a list of names. */
function namesFrom(file: string, module: string): string[] {
  const source = readFileSync(new URL(file, ROOT), 'utf8')
  const statements = [...source.matchAll(/\b(?:import|export)\b([^'"()`;=]*)\(?\s*'(\.[^']+)'/g)]
  return statements
    .filter(([, , path = '']) => join(dirname(file), path) === module)
    .flatMap(([, clause = '']) => /\{([^}]*)\}/.exec(clause)?.[1]?.split(',') ?? ['*'])
    .map(
      (part) =>
        part
          .replace(/^\s*type\b/, '')
          .trim()
          .split(/\s/)[0] ?? '',
    )
    .filter((name) => name !== '')
}
