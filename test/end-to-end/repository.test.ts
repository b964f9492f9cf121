/** Rules for the repository itself. */
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('there is one lock file, and it names no place to download from', () => {
  const locks = readdirSync(root).filter((name) => /lock|shrinkwrap/.test(name))
  expect(locks).toEqual(['package-lock.json'])
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
  expect(lock).not.toContain('"resolved"')
  expect(lock).not.toMatch(/https?:\/\/[^"]*(registry|npmjs|\.tgz)/)
})

test('the lock file holds the parts of every platform, which npm ci demands', () => {
  type Package = Partial<Record<'dependencies' | 'optionalDependencies', Record<string, string>>> & { version?: string }
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Package>
  }
  /** Node looks next to the package itself, and then in each directory above. */
  const isThere = (path: string, name: string): boolean =>
    packages[`${path}${path && '/'}node_modules/${name}`]?.version !== undefined ||
    (path !== '' && isThere(path.replace(/\/?node_modules\/(@[^/]+\/)?[^/]+$/, ''), name))
  const missing = Object.entries(packages).flatMap(([path, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }).filter((name) => !isThere(path, name)),
  )
  expect(missing).toEqual([])
  const ci = readFileSync(join(root, '.ci/run'), 'utf8')
  expect(ci).toMatch(/^npm ci$/m)
})

test('npm and Bun let the same packages run their install scripts', () => {
  const { allowScripts, trustedDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    allowScripts: Record<string, boolean>
    trustedDependencies: string[]
  }
  expect(trustedDependencies).toEqual(Object.keys(allowScripts))
})

test('commands that run long replace the shell that npm starts, so that a signal reaches them', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const name of ['start', 'serve', 'workers', 'admin']) expect(scripts[name]).toBe(`exec bun src/cli.ts ${name}`)
})

test('the CI script can be run', () => {
  expect(() => accessSync(join(root, '.ci/run'), constants.X_OK)).not.toThrow()
})
