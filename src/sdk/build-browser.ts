/**
 * Builds the browser script and the npm version. The script is kept in the repository, so that every runtime can serve
 * it from a clean clone without a build. A test checks that it matches its sources.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type OutputOptions, rolldown } from 'rolldown'
import description from './browser/package.json' with { type: 'json' }

const inBrowser = (path: string) => fileURLToPath(new URL(`browser/${path}`, import.meta.url))

interface Script {
  entry: string
  format: 'iife' | 'es'
}

/**
 * Scripts served to pages, by name. `sluice.js` loads `sluice-push.js`; a page's service worker imports
 * `sluice-push-sw.js`.
 */
export const SCRIPTS: Record<string, Script> = {
  'sluice.js': { entry: 'script.ts', format: 'iife' },
  'sluice-push.js': { entry: 'push.ts', format: 'es' },
  'sluice-push-sw.js': { entry: 'push-worker.ts', format: 'iife' },
}

export const fileOf = (script: string): string => inBrowser(script)

export function buildScript({ entry, format }: Script): Promise<string> {
  const banner = `/* Sluice ${description.version}. Built from src/sdk/browser: npm run build:browser */`
  return bundle(entry, { format, minify: true, comments: false, postBanner: banner })
}

/** For bundlers, which minify the code themselves. */
export function buildModule(): Promise<string> {
  return bundle('index.ts', { format: 'es' })
}

/** The public types do not depend on other files. */
export async function buildTypes(): Promise<string> {
  return `${await readFile(inBrowser('api.ts'), 'utf8')}\nexport declare const startSluice: StartSluice\n`
}

async function bundle(entry: string, options: OutputOptions): Promise<string> {
  // Browsers since 2020. Older ones cannot parse the script, and the page continues without it.
  const build = await rolldown({ input: inBrowser(entry), transform: { target: 'es2020' } })
  const { output } = await build.generate(options)
  await build.close()
  return output[0].code
}

if (import.meta.main) {
  await mkdir(inBrowser('dist'), { recursive: true })
  for (const [name, script] of Object.entries(SCRIPTS)) await writeFile(fileOf(name), await buildScript(script))
  await writeFile(inBrowser('dist/index.js'), await buildModule())
  await writeFile(inBrowser('dist/index.d.ts'), await buildTypes())
}
