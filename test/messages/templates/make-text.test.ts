/** The text part that is made from the HTML of a mail. */
import { describe, expect, it } from 'vitest'
import { compileMjml } from '../../../src/messages/templates/compile-mjml.ts'
import { MAX_DEPTH, makeText } from '../../../src/messages/templates/make-text.ts'

describe('the text part', () => {
  it.each([
    ['a code in a heading', '<h1>Your code: aB3xY</h1>', 'Your code: aB3xY'],
    [
      'an address in a heading, once and whole',
      '<h2><a href="https://x.example/AbC">https://x.example/AbC</a></h2><p>Bye</p>',
      'https://x.example/AbC\n\nBye',
    ],
    ['a link', '<p>Buy <a href="https://x.example/AbC">here</a>.</p>', 'Buy here [https://x.example/AbC].'],
    [
      'a table of an order',
      '<table><thead><tr><th>Item</th><th>Qty</th><th>Price</th></tr></thead><tbody><tr><td>Book</td><td>2</td><td>19.90</td></tr>' +
        '<tr><td>Pen</td><td>1</td><td>1.10</td></tr></tbody><tfoot><tr><td colspan="2">Total</td><td>21.00</td></tr></tfoot></table><p>Bye</p>',
      'Item Qty Price\nBook 2 19.90\nPen 1 1.10\nTotal 21.00\n\nBye',
    ],
    [
      'a table within a layout',
      '<table role="presentation"><tr><td><table><tr><td>1</td><td>1.10</td></tr></table></td></tr></table>',
      '1 1.10',
    ],
    [
      'a table of a cell in each row',
      '<table><tr><td><h1>Hi</h1></td></tr><tr><td>A <b>b</b></td></tr></table>',
      'Hi\n\nA b',
    ],
    ['a list', '<ul><li>a</li><li>b</li></ul>', ' * a\n * b'],
  ])('has %s', (_, html, expected) => {
    expect(makeText(html)).toBe(expected)
  })

  it.each([
    '<div hidden>x</div>',
    '<div style="display:none">x</div>',
    '<div style="color:red;DISPLAY: NONE !important;mso-hide:all">x</div>',
    '<span style="visibility: hidden">x</span>',
    '<div style="max-height:0;overflow:hidden">Preview</div>',
    '<table style="display:none"><tr><td>x</td></tr></table>',
    '<h1 hidden>x</h1>',
  ])('leaves out %s', (html) => {
    expect(makeText(`${html}<p>shown</p>`)).toBe('shown')
  })

  it('has a button that is hidden only from Outlook', () => {
    const html = '<a href="https://x.example" style="background:#000;mso-hide:all">Buy</a>'
    expect(makeText(html)).toBe('Buy [https://x.example]')
  })

  it('has the rows of a table of MJML, but no preview and no menu button', async () => {
    const compiled = await compileMjml(
      '<mjml><mj-head><mj-preview>Preview</mj-preview></mj-head><mj-body><mj-section><mj-column>' +
        '<mj-navbar hamburger="hamburger"><mj-navbar-link href="https://x.example">Home</mj-navbar-link></mj-navbar>' +
        '<mj-text><h1>Code aB3</h1></mj-text>' +
        '<mj-table><tr><td>Pen</td><td>1</td><td>1.10</td></tr><tr><td>Total</td><td></td><td>1.10</td></tr></mj-table>' +
        '<mj-button href="https://x.example/AbC">Buy</mj-button></mj-column></mj-section></mj-body></mjml>',
      'en',
    )
    expect('html' in compiled && makeText(compiled.html)).toBe(
      'Home [https://x.example]\n\n\nCode aB3\n\nPen 1 1.10\nTotal 1.10\n\nBuy [https://x.example/AbC]',
    )
  })

  it('is made of as many elements in one another as are allowed, and of no more', () => {
    for (const tag of ['div', 'b', 'ul', 'blockquote']) {
      const nest = (depth: number) => `${`<${tag}>`.repeat(depth)}x${`</${tag}>`.repeat(depth)}`
      expect(makeText(nest(MAX_DEPTH))).toContain('x')
      expect(makeText(nest(MAX_DEPTH + 1))).toBeNull()
    }
  })
})
