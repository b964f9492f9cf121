import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { serve } from '../../src/front-door/serve.ts'

const OPTIONS = { port: 0, host: '127.0.0.1', reusePort: false, idleSeconds: 10 }

it('closes in good time under callers that keep their connections busy, and cuts none of them short', async () => {
  const listening = await serve(() => sleep(50, new Response('{}')), OPTIONS)
  const agent = new Agent({ keepAlive: true, maxSockets: 10 })
  /** 'answered', or the code of what went wrong. */
  const ask = () =>
    new Promise<string>((resolve) => {
      const asked = request(listening.url, { agent }, (response) => {
        response.resume().on('end', () => resolve('answered'))
      })
      asked.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code))).end()
    })
  const callers = Array.from({ length: 10 }, async () => {
    for (;;) {
      const outcome = await ask()
      if (outcome !== 'answered') return outcome
    }
  })
  await sleep(200)
  const began = performance.now()
  await listening.close(3000)
  expect(performance.now() - began).toBeLessThan(1000)
  // One that sends in the very moment in which its idle connection ends can be unlucky.
  const refused = (await Promise.all(callers)).filter((outcome) => outcome === 'ECONNREFUSED')
  expect(refused.length).toBeGreaterThan(7)
  agent.destroy()
})
