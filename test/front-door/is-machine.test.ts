import { expect, it } from 'vitest'
import { isMachine } from '../../src/front-door/routes/tracking/is-machine.ts'
import { BROWSER } from './http-client.ts'

const agent = (text: string) => ({ 'user-agent': text })

it.each<[boolean, Record<string, string>]>([
  [false, BROWSER],
  [false, agent('Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.0')],
  [false, agent('Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.12026; Pro)')],
  [
    false,
    agent('Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Trident/7.0; Microsoft Outlook 16.0.4266; ms-office)'),
  ],
  [false, agent('MacOutlook/16.50.21061301 (Intelx64 Mac OS X Version 10.15.7)')],
  [
    false,
    agent(
      'Mozilla/5.0 (iPhone; CPU iPhone OS 16_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    ),
  ],
  [false, { ...BROWSER, purpose: 'visit' }],
  [true, {}],
  [true, agent(' ')],
  [true, agent('curl/8.0')],
  // Apple's proxy.
  [true, agent('Mozilla/5.0')],
  // Gmail, before it shows a mail.
  [
    true,
    agent(
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0',
    ),
  ],
  [true, agent('Mozilla/5.0 (compatible; Mimecast)')],
  [true, { ...BROWSER, 'x-purpose': 'preview' }],
  [true, { ...BROWSER, 'x-moz': 'prefetch' }],
  [true, { ...BROWSER, 'Sec-Purpose': 'prefetch' }],
])('that it is a machine is %s of %j', (expected, headers) => {
  for (const visited of ['link', 'image'] as const)
    expect([visited, isMachine(new Headers(headers), visited)]).toEqual([visited, expected])
})

it.each([
  'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
  'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
  'Outlook-Android/2.0',
  'Outlook-iOS/2.0',
])('%s loads images when a person opens the mail, and follows no link', (text) => {
  expect(isMachine(new Headers(agent(text)), 'image')).toBe(false)
  expect(isMachine(new Headers(agent(text)), 'link')).toBe(true)
  expect(isMachine(new Headers({ ...agent(text), purpose: 'prefetch' }), 'image')).toBe(true)
})
