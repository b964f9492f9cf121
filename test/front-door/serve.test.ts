// @serial
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { serve } from '../../src/front-door/http/serve.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'

const OPTIONS = { port: 0, host: '127.0.0.1', reusePort: false, idleSeconds: 10 }
const EMPTY = { paths: [], fetch: () => new Response() }

it('closes in time although callers keep their connections busy, and interrupts no request', async () => {
  const [begun, answered] = [new Set<string>(), new Set<string>()]
  const listening = await serve(
    {
      paths: [],
      fetch(call) {
        begun.add(new URL(call.url).pathname)
        return sleep(30 + 40 * Math.random(), new Response('{}'))
      },
    },
    OPTIONS,
  )
  const agent = new Agent({ keepAlive: true, maxSockets: 10 })
  const ask = (path: string) =>
    new Promise<boolean>((resolve) => {
      const asked = request(listening.url + path, { agent }, (response) => {
        response.resume().on('end', () => resolve(Boolean(answered.add(path))))
      })
      asked.on('error', () => resolve(false)).end()
    })
  const callers = Array.from({ length: 10 }, async (_, caller) => {
    for (let n = 0; await ask(`/${caller}-${n}`); n += 1);
  })
  await vi.waitUntil(() => answered.size > 10, { timeout: PATIENCE_MS })
  await sleep(100)
  const started = performance.now()
  await listening.close(3000)
  expect(performance.now() - started).toBeLessThan(atLoad(1000))
  await Promise.all(callers)
  // A request that is sent at the moment when its idle connection is closed has not begun. Its caller may send it
  // again.
  expect([...begun].filter((path) => !answered.has(path))).toEqual([])
  expect(answered.size).toBeGreaterThan(10)
  agent.destroy()
})

it('says of a port that another program has what to do', async () => {
  const other = await serve(EMPTY, OPTIONS)
  const port = Number(new URL(other.url).port)
  await expect(serve(EMPTY, { ...OPTIONS, port })).rejects.toThrow(
    `Cannot listen on PORT ${port} (EADDRINUSE): set PORT to a free one.`,
  )
  await other.close(0)
})
