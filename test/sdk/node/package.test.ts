// @long
/** The contents of the npm package: small, typed, complete, and nothing else. It needs only what a web runtime has. */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPackage, bundlePackage } from '../../../src/sdk/build-node.ts'
import type { Sluice, SluiceOptions } from '../../../src/sdk/node/sluice.ts'
import { openHostileService, refuse } from './hostile-service.ts'

const MOST_MINIFIED = 11 * 1024
const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PACKAGE = join(ROOT, 'src/sdk/node')
const TSC = join(ROOT, 'node_modules/.bin/tsc')

const folder = mkdtempSync(join(tmpdir(), 'sluice-node-'))
const installed = join(folder, 'node_modules/@sluice/node')
beforeAll(async () => {
  await buildPackage(join(installed, 'dist'))
  for (const file of ['package.json', 'README.md']) cpSync(join(PACKAGE, file), join(installed, file))
})
afterAll(() => rmSync(folder, { recursive: true }))

it('is under 11 KiB minified', async () => {
  expect(Buffer.byteLength(await bundlePackage({ minify: true, comments: false }))).toBeLessThan(MOST_MINIFIED)
})

it('holds only what is needed', async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: installed })
  const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  const files = packed.files.map(({ path }) => path).toSorted()
  expect(files).toEqual(['README.md', 'dist/sluice.d.ts', 'dist/sluice.js', 'package.json'])
})

it('has no dependency, and no fault that publint finds', async () => {
  const description = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>
  expect(Object.keys(description).filter((name) => /dependencies/i.test(name))).toEqual([])
  expect((await publint({ pkgDir: installed, strict: true })).messages).toEqual([])
})

describe('its types', () => {
  const use = (call: string): string =>
    `import { Sluice, type DeliveryResult } from '@sluice/node'\nconst sluice = new Sluice({ apiKey: 'k' })\n${call}\n`
  const check = (file: string, ...more: string[]) =>
    run(
      TSC,
      ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--ignoreConfig', '--target', 'es2022', ...more, file],
      {
        cwd: folder,
      },
    )
  const node = ['--module', 'nodenext', '--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
  const web = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', '', '--lib', 'es2022,dom']

  it.each([
    ['Node', node],
    ['the web', web],
  ])('need no more than those of %s', async (_where, options) => {
    const right = use(`sluice.track({ event: 'e', identity: { email: 'a@x.io' }, occurredAt: new Date(), value: 1 })
const result: DeliveryResult = await sluice.trackNow({ event: 'e', identity: { phone: 1 } }, { deadlineMs: 5 })
void sluice.trackBatch([{ event: 'e', identity: { platformCustomerId: 1 } }], { onProgress: ({ settled }) => settled + 1 })
void [result.contactId, sluice.flush(), sluice.close(1)]`)
    writeFileSync(join(folder, 'right.ts'), right)
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    await check('right.ts', ...options)
  })

  it.each([
    ['an unknown type', `sluice.track({ event: 'e', identity: {}, type: 'sale' })`, `"sale"' is not assignable`],
    ['nobody', `sluice.track({ event: 'e' })`, `Property 'identity' is missing`],
    [
      'a visitor in a batch',
      `sluice.trackBatch([{ event: 'e', identity: {}, visitorId: 'v' }])`,
      'not assignable to type',
    ],
  ])('refuse %s', async (_what, call, message) => {
    writeFileSync(join(folder, 'wrong.ts'), use(call))
    await expect(check('wrong.ts', ...node)).rejects.toMatchObject({
      stdout: expect.stringContaining(message) as string,
    })
  })
})

it('runs on nothing but what an edge runtime has', async () => {
  const stub = await openHostileService()
  try {
    const { fetch, AbortController, TextEncoder, TextDecoder, URL, crypto, performance, clearTimeout, clearInterval } =
      globalThis
    // As on platforms where timers are numbers.
    const timers = {
      setTimeout: (done: () => void, ms: number) => Number(setTimeout(done, ms)),
      setInterval: (done: () => void, ms: number) => Number(setInterval(done, ms)),
      clearTimeout: (timer: number) => clearTimeout(timer),
      clearInterval: (timer: number) => clearInterval(timer),
    }
    const web = { fetch, AbortController, TextEncoder, TextDecoder, URL, crypto, performance, ...timers }
    const code = await bundlePackage({ format: 'iife', name: 'edge' })
    const edge = runInContext(`${code}\nedge`, createContext(web)) as {
      Sluice: new (options: SluiceOptions) => Sluice
    }
    expect(() => new edge.Sluice({ baseUrl: stub.url })).toThrow('apiKey (or SLUICE_API_KEY)')
    const sluice = new edge.Sluice({ apiKey: 'k', baseUrl: stub.url, minRetryMs: 1 })
    stub.behave(({ number }) => (number % 2 ? refuse(503) : undefined))
    sluice.track({ event: 'a', identity: { email: 'a@x.io' } })
    expect(await sluice.trackNow({ event: 'b', identity: { email: 'a@x.io' } })).toMatchObject({ ok: true })
    expect(await sluice.trackBatch([{ event: 'c', identity: { phone: 1 } }])).toMatchObject({ ok: true, recorded: 1 })
    await sluice.close()
    expect(stub.recorded.map(({ event }) => event)).toEqual(['a', 'b', 'c'])
  } finally {
    await stub.close()
  }
})
