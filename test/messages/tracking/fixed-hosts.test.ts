/** Links whose host a value decides are not tracked (docs/messages.md, "Values"). */
import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { hostsIn } from '../../../src/messages/tracking/fixed-hosts.ts'
import { trackMail } from '../../../src/messages/tracking/track-mail.ts'
import { createLiquidEngine } from '../../../src/messages/templates/liquid-engine.ts'
import { runs } from '../../support/runs.ts'

const hosts = (source: string) => [...hostsIn(source)]

it.each([
  ['<a href="https://shop.example/a?b={{ x }}">', ['shop.example']],
  ['<a href="https://shop.example/{{ x }}">', ['shop.example']],
  ['<a href="https://shop.example?{{ x }}">', ['shop.example']],
  ['<a href="https://Shop.example:8443/a">', ['shop.example:8443']],
  ['<a href="https://shop.example">', ['shop.example']],
  ['{% assign link = "https://shop.example/a" %}<a href="{{ link }}">', ['shop.example']],
  ['<a href="{% if x %}https://a.example/1{% else %}https://b.example/2{% endif %}">', ['a.example', 'b.example']],
  // A value may go on with the host, or begin it.
  ['<a href="https://shop.example{{ x }}">', []],
  ['<a href="https://shop.example{% if x %}/a{% endif %}">', []],
  ['<a href="https://{{ x }}.shop.example/">', []],
  ['<a href="https://{{ x }}/">', []],
  ['<a href="{{ x }}">', []],
  ['<a href="https://shop.example@{{ x }}/">', []],
  ['<a href="https://shop.example:{{ x }}/">', []],
  ['', []],
])('the template %j itself decides %j', (source, expected) => {
  expect(hosts(source)).toEqual(expected)
})

const key = randomBytes(32)
const message = {
  businessId: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d36',
  messageId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
}
const engine = createLiquidEngine(true)

function sent(source: string, x: string): string {
  const html = engine.render(
    engine.parse(source),
    { event: { properties: { x } } },
    { now: 0, language: 'en', currency: 'EUR' },
  )
  const tracking = { opens: false, clicks: true }
  const address = 'https://mail.example'
  return trackMail({ language: 'en', html }, { tracking, address, key, message, hosts: hostsIn(source) }).html ?? ''
}

it('a link to a host of the template is tracked, whatever follows, and one to a host of a value is not', () => {
  const fixed = '<a href="https://shop.example/{{ event.properties.x }}">x</a>'
  expect(sent(fixed, 'a?b=c')).toMatch(/^<a href="https:\/\/mail\.example\/c\/[\w-]+">x<\/a>$/)
  const open = '<a href="{{ event.properties.x }}">x</a>'
  expect(sent(open, 'https://elsewhere.example/')).toBe('<a href="https://elsewhere.example/">x</a>')
  const base = '{% assign base = "https://shop.example" %}<a href="{{ base }}{{ event.properties.x }}">x</a>'
  expect(sent(base, '/a')).toContain('https://mail.example/c/')
  expect(sent(base, '.elsewhere.example/')).toBe('<a href="https://shop.example.elsewhere.example/">x</a>')
})

it('no value makes a tracked link to another host', () => {
  const start = fc.constantFrom(
    'https://shop.example',
    'https://shop.example/',
    'https://',
    '',
    'https://shop.example?a=',
  )
  const value = fc.string({
    unit: fc.constantFrom('a', '.', '/', '@', ':', '\\', '?', '#', 'https://', ' ', 'x.io'),
    maxLength: 8,
  })
  fc.assert(
    fc.property(start, value, (before, x) => {
      const html = sent(`<a href="${before}{{ event.properties.x }}">x</a>`, x)
      const token = /\/c\/([\w-]+)/.exec(html)?.[1]
      if (token === undefined) return
      const target = Buffer.from(token, 'base64url').subarray(32, -18).toString()
      expect(new URL(target).host).toBe('shop.example')
    }),
    { numRuns: runs(2000) },
  )
})
