// @long
/** Health checks of load balancers, byte for byte as they send them (docs/deploy.md). No worker runs here. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FrontDoorProcess, startFrontDoor } from '../support/front-door-process.ts'
import { RUNTIMES } from '../support/runtimes.ts'
import { type RawAnswer, readAnswers, speakRaw } from '../support/speak-raw.ts'
import { createBusiness, openStack, type Stack } from '../support/stack.ts'

const lines = (...sent: string[]) => [...sent, '', ''].join('\r\n')

const PROBES: Record<string, (path: string) => string> = {
  'haproxy, option httpchk GET': (path) => lines(`GET ${path} HTTP/1.0`),
  'haproxy, option httpchk with the path alone': (path) => lines(`OPTIONS ${path} HTTP/1.0`),
  'haproxy, http-check send': (path) => lines(`GET ${path} HTTP/1.1`, 'host: sluice', 'connection: close'),
  'nginx, health_check': (path) => lines(`GET ${path} HTTP/1.0`, 'Host: sluice', 'Connection: close'),
  'nginx, a check of the upstream by HEAD': (path) => lines(`HEAD ${path} HTTP/1.0`),
  Caddy: (path) =>
    lines(
      `GET ${path} HTTP/1.1`,
      'Host: 127.0.0.1:8080',
      'User-Agent: Caddy/2.10',
      'Accept-Encoding: gzip',
      'Connection: close',
    ),
  Kubernetes: (path) =>
    lines(
      `GET ${path} HTTP/1.1`,
      'Host: 10.1.2.3:8080',
      'User-Agent: kube-probe/1.34',
      'Accept: */*',
      'Connection: close',
    ),
  'a balancer of Amazon': (path) =>
    lines(
      `GET ${path} HTTP/1.1`,
      'Host: 10.1.2.3:8080',
      'Connection: close',
      'User-Agent: ELB-HealthChecker/2.0',
      'Accept-Encoding: gzip, compressed',
    ),
  'a balancer of Google': (path) =>
    lines(`GET ${path} HTTP/1.1`, 'Host: 10.1.2.3', 'User-Agent: GoogleHC/1.0', 'Connection: close'),
  'a balancer of Azure': (path) =>
    lines(`GET ${path} HTTP/1.1`, 'Host: 10.1.2.3:8080', 'User-Agent: Load Balancer Agent', 'Connection: close'),
  'OPTIONS in HTTP/1.1': (path) => lines(`OPTIONS ${path} HTTP/1.1`, 'Host: x', 'Connection: close'),
  'HEAD in HTTP/1.1': (path) => lines(`HEAD ${path} HTTP/1.1`, 'Host: x', 'Connection: close'),
  'an empty Host': (path) => lines(`GET ${path} HTTP/1.1`, 'Host:', 'Connection: close'),
}

describe.each(Object.keys(RUNTIMES))('on %s', (runtime) => {
  let stack: Stack
  let frontDoor: FrontDoorProcess
  beforeAll(async () => {
    stack = await openStack()
    frontDoor = await startFrontDoor(stack, { ANSWER_TIMEOUT_MS: '100' }, runtime)
  })
  afterAll(async () => {
    await frontDoor.stop()
    await stack.close()
  })

  const ask = async (sent: string): Promise<RawAnswer | undefined> => {
    const { text } = await speakRaw(frontDoor.url, sent)
    return readAnswers(text, sent.split(' ')[0])[0]
  }

  it.each(Object.entries(PROBES))('answers %s', async (_, sent) => {
    const paths = ['/healthz', '/readyz?for=traffic', '/readyz']
    const answers = await Promise.all(paths.map((path) => ask(sent(path))))
    expect(answers.map((answer) => answer?.status)).toEqual([200, 200, 503])
    const isHead = sent('/').startsWith('HEAD')
    if (!isHead) expect(answers[2]?.body).toContain('workers: no worker has live-0')
    for (const answer of answers) expect(answer?.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('does not read other methods or other words as a check', async () => {
    const statuses = await Promise.all(
      ['POST /healthz', 'DELETE /readyz', 'GET /healthz/', 'GET //healthz'].map(
        async (sent) => (await ask(lines(`${sent} HTTP/1.1`, 'Host: x', 'Connection: close')))?.status,
      ),
    )
    expect(statuses).toEqual([405, 405, 404, 404])
    for (const query of ['for=', 'for=people', 'for=traffic&for=traffic', 'for=Traffic']) {
      const answer = await ask(lines(`GET /readyz?${query} HTTP/1.0`))
      expect([query, answer?.status]).toEqual([query, 400])
      expect(answer?.body).toContain('for must be traffic')
    }
  })

  it('answers other paths without a Host as before: on Bun, where they have no address, with 400', async () => {
    const statuses = await Promise.all(
      ['GET /metrics', 'GET /api/contacts', 'POST /healthz'].map(
        async (sent) => (await ask(lines(`${sent} HTTP/1.0`)))?.status,
      ),
    )
    expect(statuses).toEqual(runtime === 'bun' ? [400, 400, 400] : [200, 401, 405])
  })

  it('accepts events while no worker runs, as the check for traffic says', async () => {
    const { secretKey } = await createBusiness(stack.sql)
    const answer = await fetch(`${frontDoor.url}/api/sdk/track`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ event: 'e', identity: { email: 'ada@example.com' } }),
    })
    expect(answer.status).toBe(202)
  })

  it.each([
    [16_384, 200],
    [16_385, 414],
    [40_000, 414],
  ])('answers a path of %i characters with %i, in the envelope', async (length, status) => {
    const path = '/healthz?a='.padEnd(length, 'a')
    const answer = await ask(lines(`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close'))
    expect(answer?.status).toBe(status)
    const body = JSON.parse(answer?.body ?? '') as { success: boolean; error?: { code: string } }
    expect([body.success, body.error?.code]).toEqual([status === 200, status === 200 ? undefined : 'uri_too_long'])
  })
})
