/**
 * The proxies of docs/deploy in front of a real front door: a caller who violates the protocol does not harm others.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../src/embedded/processes/run-engine.ts'
import { type FrontDoorProcess, startFrontDoor } from '../support/front-door-process.ts'
import { ensureCommand } from '../support/ensure-command.ts'
import { speakRaw } from '../support/speak-raw.ts'
import { openStack, type Stack } from '../support/stack.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const read = (name: string) => readFileSync(new URL(`../../docs/deploy/${name}`, import.meta.url), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'sluice-proxies-'))

/** Each listens on plain HTTP, for any address, with these `frontDoors` in place of those in the file. */
const PROXIES: Record<string, (port: number, frontDoors: string[]) => Promise<ChildProcess>> = {
  async caddy(port, frontDoors) {
    const text = read('Caddyfile')
      .replace('sluice.example.com {', `http://:${port} {`)
      .replaceAll('127.0.0.1:8080', frontDoors.join(' '))
    writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n}\n${text}`)
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    const args = ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
    return spawn(await ensureCommand(['caddy'], 'caddy'), args, { env, stdio: 'ignore' })
  },
  async nginx(port, frontDoors) {
    writeFileSync(join(folder, 'sluice-proxy.conf'), read('sluice-proxy.conf'))
    const plain = read('nginx.conf')
      .replace(/^server \{\n {4}listen 80;[\s\S]*$/m, '')
      .replace(/^ *(?:ssl_\w+|listen \[::\]:443) .*\n/gm, '')
      .replace('listen 443 ssl http2', `listen 127.0.0.1:${port}`)
      .replaceAll('/etc/nginx', folder)
    const [, options = ''] = /server 127\.0\.0\.1:8080([^;]*);/.exec(plain) ?? []
    const servers = frontDoors.map((frontDoor) => `server ${frontDoor}${options};`).join('\n')
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    writeFileSync(
      join(folder, 'nginx.conf'),
      `pid ${folder}/nginx.pid; daemon off; events {}
      http { access_log off; ${paths.join(' ')} ${plain.replace(/server 127\.0\.0\.1:8080[^;]*;/, servers)} }`,
    )
    const args = ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')]
    return spawn(await ensureCommand(['nginx'], 'nginx-light'), args, { stdio: 'ignore' })
  },
}

/** Each request ends at the front door, or before it, without a success. */
const BROKEN: Record<string, string> = {
  'an unknown method': 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n',
  'a chunk size with a sign': 'POST /api/sdk/track HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n+0\r\n\r\n',
  'many headers': `GET / HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 250 }, (_, n) => `x${n}: a\r\n`).join('')}\r\n`,
  'large headers': `GET / HTTP/1.1\r\nHost: x\r\n${['A', 'B', 'C'].map((name) => `${name}: ${'a'.repeat(7000)}\r\n`).join('')}\r\n`,
  'a body that breaks off': 'POST /api/sdk/track HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc',
}

let stack: Stack
let frontDoors: FrontDoorProcess[]
beforeAll(async () => {
  stack = await openStack()
  frontDoors = await Promise.all([startFrontDoor(stack), startFrontDoor(stack)])
})
afterAll(async () => {
  await Promise.all(frontDoors.map((frontDoor) => frontDoor.stop()))
  await stack.close()
  rmSync(folder, { recursive: true })
})

describe.each(Object.entries(PROXIES))('%s', (_, start) => {
  let proxy: ChildProcess
  let url: string
  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    proxy = await start(
      port,
      frontDoors.map((frontDoor) => new URL(frontDoor.url).host),
    )
    await vi.waitUntil(isServed, { timeout: PATIENCE_MS })
  })
  afterAll(async () => {
    const gone = once(proxy, 'exit')
    proxy.kill('SIGTERM')
    await gone
  })

  const isServed = () =>
    fetch(`${url}/healthz`).then(
      ({ status }) => status === 200,
      () => false,
    )

  it.each(Object.entries(BROKEN))('goes on after %s', async (_name, request) => {
    for (let n = 0; n < 6; n++) await speakRaw(url, request, { patienceMs: 300 })
    for (let n = 0; n < 4; n++) expect(await isServed()).toBe(true)
  })
})
