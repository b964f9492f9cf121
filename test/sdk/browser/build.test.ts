// @long
/** The served files match the sources and are small. The npm form next to them works and has types. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import type { StartSluice } from '../../../src/sdk/browser/api.ts'
import { SCRIPTS, buildModule, buildScript, buildTypes, fileOf } from '../../../src/sdk/build-browser.ts'

/**
 * Sizes of the script of each page, of the script that its first `push` loads, and of the script that a service worker
 * imports.
 */
const MOST_GZIPPED: Record<string, number> = { 'sluice.js': 5_200, 'sluice-push.js': 1_100, 'sluice-push-sw.js': 700 }
const run = promisify(execFile)
const tsc = fileURLToPath(new URL('../../../node_modules/.bin/tsc', import.meta.url))

describe.each(Object.entries(SCRIPTS))('%s in the repository', (name, script) => {
  const served = readFileSync(fileOf(name), 'utf8')

  it('is what its sources build; else: npm run build:browser', async () => {
    expect(served).toBe(await buildScript(script))
  })

  it('is small when it is gzipped', () => {
    expect(gzipSync(served, { level: 9 }).length).toBeLessThan(MOST_GZIPPED[name] ?? 0)
  })
})

describe('the npm form', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-browser-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)

  it('does nothing on a server, and logs nothing', async () => {
    write('package.json', '{"type":"module"}')
    write('index.js', await buildModule())
    const { startSluice } = (await import(join(folder, 'index.js'))) as { startSluice: StartSluice }
    const sluice = startSluice({ business: 'b', endpoint: 'https://sluice.example' })
    sluice.track('e', { a: 1 })
    sluice.identify({ email: 'a@x.io' })
    expect([sluice.visitorId(), sluice.version]).toEqual([null, '0.1.0'])
  })

  it('has types that enforce the contract', async () => {
    write('index.d.ts', await buildTypes())
    const use = (call: string) =>
      `import { startSluice } from './index.js'\nconst sluice = startSluice({ business: 'b', endpoint: 'e' })\n${call}\n`
    write('right.ts', use(`sluice.track('e', { a: 1 })\nconst id: string | null = sluice.visitorId()\nvoid id`))
    write('wrong.ts', use(`sluice.identify({ mail: 'a@x.io' })`))
    const check = (file: string) =>
      run(tsc, ['--noEmit', '--strict', '--ignoreConfig', '--module', 'nodenext', '--types', '', file], { cwd: folder })
    await check('right.ts')
    await expect(check('wrong.ts')).rejects.toMatchObject({
      stdout: expect.stringContaining("'mail' does not exist in type 'Identity'") as string,
    })
  })
})
