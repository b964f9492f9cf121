/** `/sluice.js`, as browsers and caches request it. */
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openService } from '../support/service.ts'
import { speakTo } from './http-client.ts'
import { useOpened } from '../support/use-opened.ts'

const built = readFileSync(new URL('../../src/sdk/browser/sluice.js', import.meta.url), 'utf8')

const service = useOpened(openService)

interface Raw {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** Returns the raw response: nothing is decompressed. */
function ask(headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const asked = request(`${service.url}/sluice.js`, { method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      )
    })
    asked.on('error', reject).end()
  })
}

describe('the browser script', () => {
  it('is served to pages of any origin, to be kept for an hour', async () => {
    const { status, headers, body } = await ask()
    expect([status, body.toString()]).toEqual([200, built])
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': expect.stringMatching(/^public, max-age=3600\b/) as string,
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
      etag: expect.stringMatching(/^W\/"0\.1\.0-[0-9a-f]{16}"$/) as string,
    })
    expect(headers['content-encoding']).toBeUndefined()
    expect(headers['set-cookie']).toBeUndefined()
  })

  it.each(['gzip', 'br, GZIP;q=0.5', 'deflate, gzip'])('is packed for %s', async (accepted) => {
    const { headers, body } = await ask({ 'accept-encoding': accepted })
    expect(headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(body).toString()).toBe(built)
  })

  it.each(['gzip;q=0', 'br', 'identity'])('is not packed for %s', async (accepted) => {
    const { headers, body } = await ask({ 'accept-encoding': accepted })
    expect([headers['content-encoding'], body.toString()]).toEqual([undefined, built])
  })

  it('is not sent again to a browser that has it', async () => {
    const etag = String((await ask()).headers['etag'])
    for (const known of [etag, `"old", ${etag}`, etag.replace('W/', ''), '*']) {
      const { status, headers, body } = await ask({ 'if-none-match': known, 'accept-encoding': 'gzip' })
      expect([known, status, body.length, headers['etag']]).toEqual([known, 304, 0, etag])
      expect(headers['cache-control']).toMatch(/^public/)
      expect(headers['content-encoding']).toBeUndefined()
    }
    expect((await ask({ 'if-none-match': 'W/"0.0.9-0"' })).status).toBe(200)
  })

  it('answers HEAD with the same headers and no body', async () => {
    const [get, head] = await Promise.all([ask(), ask({}, 'HEAD')])
    expect([head.status, head.body.length]).toEqual([200, 0])
    for (const name of ['etag', 'cache-control', 'content-type']) expect(head.headers[name]).toBe(get.headers[name])
  })

  it('accepts no other method', async () => {
    const answer = await speakTo(service.url)('POST', '/sluice.js', { json: {} })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})
