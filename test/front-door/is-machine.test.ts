import { expect, it } from 'vitest'
import { isMachine } from '../../src/front-door/routes/tracking/is-machine.ts'
import { BROWSER } from './http-client.ts'

it.each<[boolean, Record<string, string>]>([
  [false, BROWSER],
  [false, { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.0' }],
  [false, { ...BROWSER, purpose: 'visit' }],
  [true, {}],
  [true, { 'user-agent': ' ' }],
  [true, { 'user-agent': 'curl/8.0' }],
  [true, { 'user-agent': 'Mozilla/5.0' }],
  [true, { 'user-agent': 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)' }],
  [true, { 'user-agent': 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html' }],
  [true, { 'user-agent': 'Mozilla/5.0 (compatible; Mimecast)' }],
  [true, { ...BROWSER, 'x-purpose': 'preview' }],
  [true, { ...BROWSER, 'x-moz': 'prefetch' }],
  [true, { ...BROWSER, 'Sec-Purpose': 'prefetch' }],
])('that it is a machine is %s of %j', (expected, headers) => {
  expect(isMachine(new Headers(headers))).toBe(expected)
})
