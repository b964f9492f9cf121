/** The pages of the dashboard and their files, as browsers and caches request them. */
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { PAGE_PATHS } from '../../src/dashboard/src/pages.ts'
import { openService } from '../support/service.ts'
import { useOpened } from '../support/use-opened.ts'

const BUILT = new URL('../../src/dashboard/built/', import.meta.url)
const index = readFileSync(new URL('index.html', BUILT), 'utf8')
/** Returns the page without the list of files to load at once, which the front door adds. */
const bodyOf = ({ body }: Raw): string =>
  body.toString().replace(/(?<=\n)(?: {4}<link rel="(?:modulepreload|preload)" [^>]*>\n)+(?= {2}<\/head>)/, '')
const assets = readdirSync(new URL('assets/', BUILT))
const script = assets.find((name) => name.startsWith('vendor-')) ?? ''

const service = useOpened(openService)

interface Raw {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** Returns the raw response: nothing is decompressed, and no path is rewritten. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url)
    const asked = request({ hostname, port, path, method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      )
    })
    asked.on('error', reject).end()
  })
}

const rootOf = ({ body }: Raw): string => /<html[^>]*>/.exec(body.toString())?.[0] ?? ''

describe('the pages', () => {
  it('are what / redirects to', async () => {
    const { status, headers, body } = await ask('/')
    expect([status, headers['location'], body.length]).toEqual([302, '/dashboard', 0])
  })

  it('are one document at every path', async () => {
    for (const path of PAGE_PATHS) {
      const answer = await ask(path.replaceAll(/\$\w+/g, '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11'))
      expect([path, answer.status, answer.headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8'])
      expect(bodyOf(answer)).toBe(index)
    }
  })

  it('allow nothing inline, no frames around them, and no HTML made from strings', async () => {
    const { headers } = await ask('/dashboard')
    const policy = String(headers['content-security-policy']).split('; ')
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]),
    )
    expect(policy.join()).not.toContain('unsafe')
    expect(headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-cache',
      vary: 'Cookie, Accept-Language, Accept-Encoding',
    })
    expect(headers['access-control-allow-origin']).toBeUndefined()
    expect(headers['set-cookie']).toBeUndefined()
    expect(index).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/)
  })

  it('are not sent again to a browser that has them', async () => {
    const etag = String((await ask('/dashboard')).headers['etag'])
    const again = await ask('/dashboard', { 'if-none-match': etag })
    expect([again.status, again.body.length, again.headers['etag']]).toEqual([304, 0, etag])
    const dark = await ask('/dashboard', { 'if-none-match': etag, cookie: 'sluice_theme=dark' })
    expect(dark.status).toBe(200)
  })

  it('come in the theme and the language of the cookies', async () => {
    const chosen = await ask('/dashboard', { cookie: 'a=b; sluice_theme=dark; sluice_language=he' })
    expect(rootOf(chosen)).toBe('<html lang="he" dir="rtl" data-theme="dark">')
    const preferred = await ask('/dashboard', { 'accept-language': 'fr, en;q=0.5, de-AT;q=0.9' })
    expect(rootOf(preferred)).toBe('<html lang="de" dir="ltr" data-theme="system">')
    const both = await ask('/dashboard', { cookie: 'sluice_language=en', 'accept-language': 'he' })
    expect(rootOf(both)).toBe('<html lang="en" dir="ltr" data-theme="system">')
  })

  it('have the browser ask at once for the texts of their language, and for who is signed in', async () => {
    for (const language of ['en', 'de', 'he']) {
      const { body } = await ask('/dashboard', { cookie: `sluice_language=${language}` })
      const head = body.toString()
      expect(head).toContain('<link rel="preload" as="fetch" crossorigin href="/dashboard/api/me">')
      const script = /<link rel="modulepreload" crossorigin href="([^"]*\/shell-[^"]*)">/.exec(head)?.[1] ?? ''
      const save = { en: 'Save', de: 'Speichern', he: 'שמירה' }[language] ?? ''
      expect((await ask(script)).body.toString()).toContain(save)
    }
  })

  it('let the browser ask for the files of the page at once', async () => {
    const hinted = async (path: string) =>
      [
        ...(await ask(path)).body
          .toString()
          .matchAll(/<link rel="((?:module)?preload)"(?: as="style")? crossorigin href="([^"]*)">/g),
      ].map(([, rel, file]) => `${rel} ${file?.replace(/-.{8}\./, '.')}`)
    const business = '/dashboard/b/0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11'
    const contacts = await hinted(`${business}/contacts`)
    for (const file of [
      'modulepreload page.js',
      'modulepreload contacts.js',
      'modulepreload shared.js',
      'preload page.css',
    ])
      expect(contacts).toContain(file.replace(' ', ' /dashboard/assets/'))
    expect(contacts.filter((hint) => /vendor|shell/.test(hint))).toHaveLength(1)
    expect(await hinted(business)).toContain('modulepreload /dashboard/assets/home.js')
    expect((await hinted('/dashboard')).length).toBe(1)
  })

  it.each([
    'sluice_theme="><script>alert(1)</script>',
    'sluice_theme=dark"onload=x',
    'sluice_theme=DARK; sluice_language=EN',
    'sluice_theme=__proto__; sluice_language=constructor',
    'sluice_theme=%64ark; sluice_language=../de',
    `sluice_theme=${'x'.repeat(4000)}`,
    'sluice_theme; sluice_language=; =; ;;',
    "sluice_theme=$&$'; sluice_language=$1",
  ])('put nothing of a cookie into the page: %s', async (cookie) => {
    const answer = await ask('/dashboard', { cookie })
    expect([answer.status, bodyOf(answer)]).toEqual([200, index])
  })

  it('answer HEAD alike, and no other method', async () => {
    const [get, head, post] = await Promise.all([
      ask('/dashboard'),
      ask('/dashboard', {}, 'HEAD'),
      ask('/dashboard', {}, 'POST'),
    ])
    expect([head.status, head.body.length, head.headers['etag']]).toEqual([200, 0, get.headers['etag']])
    expect([post.status, post.headers['allow']]).toEqual([405, 'GET, HEAD'])
  })

  it.each(['/dashboard/', '/dashboard/nothing', '/dashboard/index.html', '/dashboard/manifest.json', '/Dashboard'])(
    'are not at %s',
    async (path) => {
      expect((await ask(path)).status).toBe(404)
    },
  )
})

describe('the files of the pages', () => {
  it('are kept for ever, under the names that the page and they themselves use', async () => {
    for (const name of assets) {
      const { status, headers, body } = await ask(`/dashboard/assets/${name}`)
      expect([name, status]).toEqual([name, 200])
      expect(body.equals(readFileSync(new URL(`assets/${name}`, BUILT)))).toBe(true)
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(headers['content-type']).toMatch(/^(text\/(javascript|css); charset=utf-8|image\/svg\+xml)$/)
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
    const named = [...index.matchAll(/"\/dashboard\/assets\/([^"]+)"/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(2)
    expect(assets).toEqual(expect.arrayContaining(named))
  })

  it('are compressed as the browser accepts it', async () => {
    const path = `/dashboard/assets/${script}`
    const plain = readFileSync(new URL(`assets/${script}`, BUILT))
    const [br, gzip, none, refused] = await Promise.all([
      ask(path, { 'accept-encoding': 'gzip, deflate, br, zstd' }),
      ask(path, { 'accept-encoding': 'gzip, deflate' }),
      ask(path, { 'accept-encoding': 'zstd' }),
      ask(path, { 'accept-encoding': 'br;q=0, gzip;q=0' }),
    ])
    expect([br.headers['content-encoding'], brotliDecompressSync(br.body).equals(plain)]).toEqual(['br', true])
    expect([gzip.headers['content-encoding'], gunzipSync(gzip.body).equals(plain)]).toEqual(['gzip', true])
    expect(br.body.length).toBeLessThan(gzip.body.length)
    for (const { headers, body } of [none, refused]) {
      expect([headers['content-encoding'], body.equals(plain)]).toEqual([undefined, true])
    }
    for (const { headers } of [br, gzip, none]) expect(headers['vary']).toBe('Accept-Encoding')
  })

  it('answer HEAD without a body', async () => {
    const { status, body, headers } = await ask(`/dashboard/assets/${script}`, {}, 'HEAD')
    expect([status, body.length, headers['content-type']]).toEqual([200, 0, 'text/javascript; charset=utf-8'])
  })

  it.each([
    'nothing.js',
    '..%2findex.html',
    '../index.html',
    '..%5cmanifest.json',
    '%2e%2e/manifest.json',
    '....//index.html',
    '__proto__',
    'constructor',
    `${script}/`,
    `${script}%00`,
    `./${script}`,
    '',
  ])('are not found at %s', async (name) => {
    const { status, body } = await ask(`/dashboard/assets/${name}`)
    expect([name, status, JSON.parse(body.toString())]).toMatchObject([name, 404, { error: { code: 'not_found' } }])
  })
})
