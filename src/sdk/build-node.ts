/** Builds `@sluice/node`: one plain ES module, and the types of its exports. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type OutputOptions, rolldown } from 'rolldown'

const PACKAGE = fileURLToPath(new URL('node', import.meta.url))
const TSC = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url))

/** Returns the package as one module. */
export async function bundlePackage(options: OutputOptions = {}): Promise<string> {
  const build = await rolldown({ input: join(PACKAGE, 'sluice.ts'), transform: { target: 'es2022' } })
  const { output } = await build.generate({ format: 'es', ...options })
  await build.close()
  return output[0].code
}

/**
 * Returns the types in one self-contained file: the interfaces from the source, and the class as declared by the
 * compiler.
 */
async function describeTypes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-types-'))
  try {
    await promisify(execFile)(TSC, ['-p', PACKAGE, '--noEmit', 'false', '--emitDeclarationOnly', '--outDir', folder])
    const shapes = await readFile(join(folder, 'types.d.ts'), 'utf8')
    const types = await readFile(join(folder, 'sluice.d.ts'), 'utf8')
    return `${shapes}${types.replace(/^(import|export) type .*\n/gm, '')}`
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Writes the files that npm packs into `folder`. */
export async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'sluice.js'), await bundlePackage())
  await writeFile(join(folder, 'sluice.d.ts'), await describeTypes())
}

if (import.meta.main) await buildPackage(join(PACKAGE, 'dist'))
