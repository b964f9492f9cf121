/**
 * Builds the browser script and the npm form beside it. The script is kept in the repository, so that every runtime serves it
 * from a clean clone without a build; a test holds it to its sources.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type OutputOptions, rolldown } from 'rolldown'
import description from './browser/package.json' with { type: 'json' }

const inBrowser = (path: string) => fileURLToPath(new URL(`browser/${path}`, import.meta.url))

/** Served as `/sluice.js`. */
export const SCRIPT = inBrowser('sluice.js')

export function buildScript(): Promise<string> {
  const banner = `/* Sluice ${description.version}. Built from src/sdk/browser: npm run build:browser */`
  return bundle('script.ts', { format: 'iife', minify: true, comments: false, postBanner: banner })
}

/** For bundlers, which minify by themselves. */
export function buildModule(): Promise<string> {
  return bundle('index.ts', { format: 'es' })
}

/** The public types need nothing but themselves. */
export async function buildTypes(): Promise<string> {
  return `${await readFile(inBrowser('api.ts'), 'utf8')}\nexport declare const startSluice: StartSluice\n`
}

async function bundle(entry: string, options: OutputOptions): Promise<string> {
  // Browsers since 2020. Older ones cannot read the script, and the page goes on without it.
  const build = await rolldown({ input: inBrowser(entry), transform: { target: 'es2020' } })
  const { output } = await build.generate(options)
  await build.close()
  return output[0].code
}

if (import.meta.main) {
  await mkdir(inBrowser('dist'), { recursive: true })
  await writeFile(SCRIPT, await buildScript())
  await writeFile(inBrowser('dist/index.js'), await buildModule())
  await writeFile(inBrowser('dist/index.d.ts'), await buildTypes())
}
