// @long
/** Front doors are restarted one after the other under load: no call fails (docs/deploy.md, Restart in order). */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../src/embedded/processes/run-engine.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { ensureCommand } from '../support/ensure-command.ts'
import { type FrontDoorProcess, startFrontDoor } from '../support/front-door-process.ts'
import { type Ending, createKeepAliveClient } from '../support/keep-alive-client.ts'
import { RUNTIMES } from '../support/runtimes.ts'
import { createBusiness, openStack, type Stack } from '../support/stack.ts'

const DRAIN_MS = 4000
const CALLS_PER_SECOND = 200
const folder = mkdtempSync(join(tmpdir(), 'sluice-drain-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs haproxy with the file of docs/deploy, on plain HTTP. */
async function startProxy(port: number, frontDoors: string[]): Promise<ChildProcess> {
  const file = readFileSync(new URL('../../docs/deploy/haproxy.cfg', import.meta.url), 'utf8')
    .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
    .replace(/^ *#? *server .*\n/gm, '')
  const servers = frontDoors.map((address, at) => `    server one${at} ${address}\n`)
  writeFileSync(join(folder, 'haproxy.cfg'), file + servers.join(''))
  const args = ['-db', '-q', '-f', join(folder, 'haproxy.cfg')]
  return spawn(await ensureCommand(['haproxy'], 'haproxy'), args, { stdio: 'ignore' })
}

interface Restarted {
  port: number
  process: FrontDoorProcess
}
const urlOf = ({ port }: Restarted) => `http://127.0.0.1:${port}`

describe.each(Object.keys(RUNTIMES))('on %s', (runtime) => {
  let stack: Stack
  let call: string
  let proxy: ChildProcess
  let proxyUrl: string
  const frontDoors: Restarted[] = []
  const startOne = (port: number) =>
    startFrontDoor(stack, { PORT: String(port), DRAIN_MS: String(DRAIN_MS), ANSWER_TIMEOUT_MS: '100' }, runtime)
  beforeAll(async () => {
    stack = await openStack()
    const { secretKey } = await createBusiness(stack.sql)
    const body = JSON.stringify({ event: 'e', identity: { email: 'ada@example.com' } })
    call = [
      'POST /api/sdk/track HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${secretKey}`,
      'Content-Type: application/json',
      'Prefer: respond-async',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n')
    for (const port of [await freePort(), await freePort()]) frontDoors.push({ port, process: await startOne(port) })
    const port = await freePort()
    proxyUrl = `http://127.0.0.1:${port}`
    proxy = await startProxy(
      port,
      frontDoors.map(({ port }) => `127.0.0.1:${port}`),
    )
    await vi.waitUntil(
      () =>
        fetch(`${proxyUrl}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      { timeout: PATIENCE_MS },
    )
  })
  afterAll(async () => {
    const gone = once(proxy, 'exit')
    proxy.kill('SIGTERM')
    await gone
    await Promise.all(frontDoors.map(({ process }) => process.stop()))
    await stack.close()
  })

  /** Calls at a steady rate until it is stopped. Then resolves to how many calls ended how. */
  function keepCalling(...urls: string[]) {
    const client = createKeepAliveClient(...urls)
    const endings = new Map<Ending, number>()
    const calls: Promise<void>[] = []
    const began = performance.now()
    const timer = setInterval(() => {
      while (calls.length < ((performance.now() - began) / 1000) * CALLS_PER_SECOND) {
        calls.push(client.send(call).then((ending) => void endings.set(ending, (endings.get(ending) ?? 0) + 1)))
      }
    }, 5)
    return async () => {
      clearInterval(timer)
      await Promise.all(calls)
      client.close()
      return Object.fromEntries(endings)
    }
  }

  it('says that it is about to stop, and answers on meanwhile', async () => {
    const one = frontDoors[0]!
    const stopped = one.process.stop()
    const url = urlOf(one)
    for (const path of ['/readyz', '/readyz?for=traffic']) {
      await expect.poll(async () => (await fetch(url + path)).status, { interval: 20 }).toBe(503)
      const answer = await fetch(url + path)
      expect([answer.headers.get('connection'), await answer.text()]).toEqual([
        'close',
        expect.stringContaining('draining'),
      ])
    }
    const healthy = await fetch(`${url}/healthz`)
    expect([healthy.status, healthy.headers.get('connection')]).toEqual([200, 'close'])
    const client = createKeepAliveClient(url)
    expect(await client.send(call)).toBe(202)
    await stopped
    expect(await client.send(call)).toBe('refused')
    one.process = await startOne(one.port)
  })

  // Deno's server says that it closes a connection, but leaves it open until the process exits. A caller that does not
  // close it itself can lose its next request then, so only the header and the probes are tested there, above.
  it.skipIf(runtime === 'deno')('fails no call, neither through the proxy nor without it', async () => {
    const stopThrough = keepCalling(proxyUrl)
    const stopStraight = keepCalling(...frontDoors.map(urlOf))
    await sleep(1000)
    for (const one of frontDoors) {
      await one.process.stop()
      one.process = await startOne(one.port)
      await expect.poll(async () => (await fetch(`${urlOf(one)}/readyz?for=traffic`)).status).toBe(200)
      // Until the proxy has seen it.
      await sleep(2500)
    }
    const [through, straight] = await Promise.all([stopThrough(), stopStraight()])
    expect([Object.keys(through), Object.keys(straight)]).toEqual([['202'], ['202']])
    expect(through['202']).toBeGreaterThan(1000)
    expect(straight['202']).toBeGreaterThan(1000)
  })
})
