/** A customer's website on hosts of its own, with the tag in its pages. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The snippet from the documentation, which people will paste. */
export const SNIPPET = readSnippet()

export const BUSINESS = '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11'

export interface Site {
  port: number
  /** Returns a URL, as in `at('www.shop.example', '/a?b')`. All hosts below `example` and `co.uk` lead here. */
  at(host: string, path: string): string
  /** The HTML of a path, or its script (`.js`), whatever its parameters; `*` stands for every other path. */
  pages: Record<string, string>
  close(): Promise<void>
}

export interface Tag {
  service: string
  attributes?: string
  /** True puts the snippet before it. */
  stub?: boolean
}

/** Returns a page that is several screens long. */
export const page = (head: string, body = ''): string =>
  `<!doctype html><html lang="en"><head><title>A page</title>${head}</head><body style="height: 4000px; margin: 0">${body}</body></html>`

export const tag = ({ service, attributes = '', stub = false }: Tag): string =>
  `${stub ? SNIPPET : ''}<script async src="${service}/sluice.js" data-business="${BUSINESS}" ${attributes}></script>`

export async function openSite(): Promise<Site> {
  const site: Site = {
    port: 0,
    pages: {},
    at: (host, path) => `http://${host}:${site.port}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  const server = createServer(({ url = '/' }, response) => {
    const [path = ''] = url.split('?')
    response.setHeader('Content-Type', path.endsWith('.js') ? 'text/javascript' : 'text/html')
    response.end(site.pages[path] ?? site.pages['*'])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  site.port = (server.address() as AddressInfo).port
  return site
}

function readSnippet(): string {
  const guide = readFileSync(new URL('../../../docs/browser.md', import.meta.url), 'utf8')
  const found = /<script>\n[^]*?<\/script>/.exec(guide)
  if (!found) throw new Error('docs/browser.md has lost its snippet')
  return found[0]
}
