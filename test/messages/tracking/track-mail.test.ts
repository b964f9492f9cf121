/** Which addresses of a mail are tracked, and how the rest of its HTML is preserved (campaigns, "A campaign"). */
import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hostsIn } from '../../../src/messages/tracking/fixed-hosts.ts'
import { readTarget } from '../../../src/messages/tracking/read-target.ts'
import { MAX_TARGET, readLinkToken, readOpenToken } from '../../../src/messages/tracking/token.ts'
import { MAX_LINKS, trackMail } from '../../../src/messages/tracking/track-mail.ts'
import { runs } from '../../support/runs.ts'

const key = randomBytes(32)
const message = {
  businessId: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d36',
  messageId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
}
const address = 'https://mail.example'

function track(html: string, tracking = { opens: false, clicks: true }): string {
  return trackMail({ language: 'en', html }, { tracking, address, key, message, hosts: hostsIn(html) }).html ?? ''
}

const TRACKED = /"https:\/\/mail\.example\/c\/([\w-]+)"/g

/** Replaces each tracked address by its target, in brackets. */
const targets = (html: string): string =>
  track(html).replaceAll(TRACKED, (_, token: string) => `[${readLinkToken(key, token)?.target}]`)

describe('a link', () => {
  it.each([
    ['in double quotes', '<a href="https://x.io/a">x</a>', '<a href=[https://x.io/a]>x</a>'],
    ['in single quotes', `<a href='https://x.io/a'>x</a>`, '<a href=[https://x.io/a]>x</a>'],
    ['without quotes', '<a href=https://x.io/a>x</a>', '<a href=[https://x.io/a]>x</a>'],
    ['without quotes, before another word', '<a href=https://x.io/a/ id=b>', '<a href=[https://x.io/a/] id=b>'],
    ['with blanks around it', '<A\n HREF = " https://x.io/a "\ttitle=b >', '<A\n HREF = [https://x.io/a]\ttitle=b >'],
    ['behind a slash', '<a/href="http://x.io">', '<a/href=[http://x.io/]>'],
    ['of an area', '<area href="https://x.io/a" shape="rect">', '<area href=[https://x.io/a] shape="rect">'],
    [
      'with references',
      '<a href="https://x.io/?a=1&amp;b=2&#38;c=3&#x26;d">',
      '<a href=[https://x.io/?a=1&b=2&c=3&d]>',
    ],
    ['with bare ampersands', '<a href="https://x.io/?a=1&b=2&copy=3">', '<a href=[https://x.io/?a=1&b=2&copy=3]>'],
    [
      'with other letters',
      '<a href="https://bücher.example/ä?ß">',
      '<a href=[https://xn--bcher-kva.example/%C3%A4?%C3%9F]>',
    ],
    [
      'twice: the first one',
      '<a href="https://x.io/a" href="https://x.io/b">',
      '<a href=[https://x.io/a] href="https://x.io/b">',
    ],
    [
      'after a tag with a sign in a value',
      '<p title="a>b"><a href="https://x.io/a">',
      '<p title="a>b"><a href=[https://x.io/a]>',
    ],
    ['after a comparison', '1 < 2 <a href="https://x.io/a">', '1 < 2 <a href=[https://x.io/a]>'],
    [
      'after a comment',
      '<!-- <a href="https://x.io/b"> --><a href="https://x.io/a">',
      '<!-- <a href="https://x.io/b"> --><a href=[https://x.io/a]>',
    ],
    ['after an empty comment', '<!--><a href="https://x.io/a">', '<!--><a href=[https://x.io/a]>'],
    [
      'in a condition',
      '<!--[if !mso]><!--><a href="https://x.io/a"><!--<![endif]-->',
      '<!--[if !mso]><!--><a href=[https://x.io/a]><!--<![endif]-->',
    ],
    [
      'after a style',
      '<style>a<b{}</style ><a href="https://x.io/a">',
      '<style>a<b{}</style ><a href=[https://x.io/a]>',
    ],
  ])('%s is tracked', (_, html, expected) => {
    expect(targets(html)).toBe(expected)
  })

  it.each([
    ['to unsubscribe', '<a href="https://mail.example/u/abc">'],
    ['to the preferences', '<a href="https://mail.example/u/abc#preferences">'],
    ['to unsubscribe, in another spelling', '<a href="HTTPS://MAIL.example:443/u/abc?x">'],
    ['to write a mail', '<a href="mailto:a@x.io">'],
    ['to call', '<a href="tel:+123">'],
    ['that runs', '<a href="javascript:alert(1)">'],
    ['within the mail', '<a href="#top">'],
    ['that is not absolute', '<a href="/a">'],
    ['without a scheme', '<a href="//x.io/a">'],
    ['that is not an address', '<a href="https://">'],
    ['that is empty', '<a href="">'],
    ['without a value', '<a href>'],
    ['without an href', '<a name="https://x.io/a" data-href="https://x.io/a">'],
    ['of another element', '<link href="https://x.io/a"><img src="https://x.io/a"><abbr href="https://x.io/a">'],
    ['with a reference of another kind', '<a href="https://x.io/?a=1&eacute;">'],
    ['with a reference to no character', '<a href="https://x.io/&#0;&#128;">'],
    ['in a comment', '<!-- <a href="https://x.io/a"> -->'],
    ['for one mail program', '<!--[if mso]><a href="https://x.io/a"></a><![endif]-->'],
    ['in a script', '<script>"<a href=\\"https://x.io/a\\">"</script>'],
    ['in a title', '<title><a href="https://x.io/a"></title>'],
    ['in a tag without an end', '<a href="https://x.io/a"'],
    ['in quotes without an end', '<a href="https://x.io/a><p>'],
  ])('%s stays as it is', (_, html) => {
    expect(track(html)).toBe(html)
  })

  it('is tracked up to a length', () => {
    const long = (length: number) => 'https://x.io/'.padEnd(length, 'a')
    expect(readTarget(long(MAX_TARGET))).toBe(long(MAX_TARGET))
    expect(readTarget(long(MAX_TARGET + 1))).toBeNull()
  })

  it('is tracked up to a number of them', () => {
    const html = '<a href="https://x.io/a">x</a>'.repeat(MAX_LINKS + 1)
    expect(track(html).match(TRACKED)).toHaveLength(MAX_LINKS)
    expect(track(html).endsWith('<a href="https://x.io/a">x</a>')).toBe(true)
  })
})

describe('an open', () => {
  const opened = (html: string, clicks = false) => track(html, { opens: true, clicks })
  const IMAGE = /<img src="https:\/\/mail\.example\/o\/([\w-]+)" width="1" height="1" alt="" style="border:0">/

  it('is found out by an image at the end of the body', () => {
    for (const [before, after] of [
      ['<body><p>x</p>', '</body></html>'],
      ['<p>x</p>', ''],
      ['</body>', '</BODY >'],
      ['<a href="mailto:a@x.io">', '</body><!-- </body> -->'],
    ] as const) {
      const html = opened(before + after)
      const [image = '', token = ''] = IMAGE.exec(html) ?? []
      expect(html).toBe(before + image + after)
      expect(readOpenToken(key, token)).toEqual(message)
    }
  })

  it('is found out beside clicks', () => {
    const html = opened('<body><a href="https://x.io/a">x</a></body><a href="https://x.io/b">x</a>', true)
    expect(html.match(TRACKED)).toHaveLength(2)
    expect(html.replace(IMAGE, '!').replaceAll(TRACKED, '-')).toBe('<body><a href=->x</a>!</body><a href=->x</a>')
  })
})

it('a mail stays as it is when nothing is asked for, and so does one without HTML', () => {
  const html = '<a href="https://x.io/a">x</a>'
  expect(track(html, { opens: false, clicks: false })).toBe(html)
  const text = { language: 'en', text: 'https://x.io/a' }
  expect(trackMail(text, { tracking: { opens: true, clicks: true }, address, key, message, hosts: new Set() })).toBe(
    text,
  )
})

it('nothing but addresses of links changes, whatever the HTML', () => {
  const part = fc.constantFrom(
    '<',
    '>',
    '<a ',
    '<p ',
    'href',
    '=',
    '"',
    "'",
    ' ',
    '/',
    '!--',
    '-->',
    '<!',
    '</a',
    '<style>',
    '</style>',
    '&amp;',
    'x',
    'https://x.io/a',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const html = parts.join('')
      const plain = track(html).replaceAll(TRACKED, (_, token: string) => `"${readLinkToken(key, token)?.target}"`)
      const withoutQuotes = (text: string) => text.replaceAll(/["'\s]|&amp;/g, '').replaceAll('&', '')
      expect(withoutQuotes(plain)).toBe(withoutQuotes(html))
    }),
    { numRuns: runs(3000) },
  )
})

it('takes time that grows with the length alone', () => {
  for (const html of [`<a '`, '<!--', '<a href="', '<style>', '<a href=x ', '<', '</', '<!', '<a/', '&#'].map((one) =>
    one.repeat(Math.ceil(1_000_000 / one.length)),
  )) {
    const began = performance.now()
    track(html, { opens: true, clicks: true })
    expect(performance.now() - began).toBeLessThan(5000)
  }
})
