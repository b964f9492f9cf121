/**
 * Builds the pages into `built/`, which is committed, so a machine that runs Sluice needs none of these packages.
 * Missing packages of the pages are installed first.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readExamples } from './read-examples.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const ROOT = at('../..')
const BUN = at('../../node_modules/.bin/bun')
const TSC = at('../../node_modules/.bin/tsc')
const VITE = at('node_modules/.bin/vite')
const OPENAPI_TYPESCRIPT = at('node_modules/.bin/openapi-typescript')
/** Not imported but run as a command: the pages are a lower layer than the front door. */
const PRINT_API = at('../front-door/openapi/print-dashboard-api.ts')

export const BUILT = at('built')
export const API_TYPES = at('src/api.d.ts')

/** Examples from docs/analytics.md, for the SQL page. */
const EXAMPLES = at('src/features/data/sql/examples.json')
export const writeExamples = (): void =>
  writeFileSync(EXAMPLES, readExamples(readFileSync(at('../../docs/analytics.md'), 'utf8')))

export const areInstalled = (): boolean => existsSync(at('node_modules/.package-lock.json'))

export function install(): void {
  // Include the development packages, whatever NODE_ENV is.
  if (!areInstalled()) run('npm', ['ci', '--prefix', at('.'), '--include=dev', '--no-audit', '--no-fund'])
}

/** Throws when there is a type error. tsc prints it. */
export const checkTypes = (): void => run(TSC, ['--noEmit', '-p', at('.')])

/** Writes the types of the API, from the description of its routes. */
export function writeApiTypes(file = API_TYPES): void {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-api-'))
  try {
    const description = join(folder, 'openapi.json')
    writeFileSync(description, execFileSync(BUN, ['--bun', PRINT_API], { cwd: ROOT, maxBuffer: 64 * 1024 ** 2 }))
    execFileSync(BUN, ['--bun', OPENAPI_TYPESCRIPT, description, '-o', file], { cwd: folder, stdio: 'pipe' })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Builds the same bytes each time. The environment is empty and the runtime is always Bun, because Vite and its plugins
 * read variables that tests and shells set, and because chunk names differ between runtimes.
 */
export const build = (folder = BUILT): void => {
  const command = [BUN, '--bun', VITE, 'build', '--logLevel', 'error', '--emptyOutDir', '--outDir', folder, at('.')]
  run('env', ['-i', 'NODE_ENV=production', ...command])
}

function run(command: string, args: string[]): void {
  execFileSync(command, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] })
}

if (import.meta.main) {
  if (process.argv.includes('--check-types')) {
    // A clone without the packages of the pages cannot check them. There, the test of the build does.
    if (areInstalled()) checkTypes()
  } else {
    install()
    writeApiTypes()
    writeExamples()
    build()
  }
}
