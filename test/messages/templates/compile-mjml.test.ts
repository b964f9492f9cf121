/** MJML loses no word of a template, and says its language. */
import { describe, expect, it } from 'vitest'
import { compileMjml } from '../../../src/messages/templates/compile-mjml.ts'

const BODY =
  '<mj-section><mj-column><mj-text>Bye &amp; caf&eacute; {{ contact.city }}</mj-text></mj-column></mj-section>'
const wrap = (body: string, head = '') => `<mjml>${head}<mj-body>${body}${BODY}</mj-body></mjml>`
const column = (inner: string) => wrap(`<mj-section><mj-column>${inner}</mj-column></mj-section>`)

describe('MJML is refused', () => {
  it.each([
    [
      'a text in a column',
      column('Your order\n has shipped.<mj-text>Bye</mj-text>'),
      '"Your order has shipped." is lost',
    ],
    ['a text in the body', wrap('Hello'), '"Hello" is lost'],
    ['a word that is kept once and lost once', column('<mj-text>Hi Ada</mj-text>Ada'), '"Ada" is lost'],
    ['a text that is not closed', column('<mj-text>Hello'), '"Hello" is lost'],
    ['a text within a text', column('<mj-text>Hello <mj-text>World</mj-text>'), '<mj-text> stands within a text'],
    ['an included file', wrap('<mj-include path="./footer.mjml" />'), 'mj-include reads a file'],
    ['capital letters', column('<MJ-TEXT>Hello</MJ-TEXT>'), '<MJ-TEXT> must be written in small letters'],
    ['an image in capital letters', column('<Mj-Image src="a.png" />'), '<Mj-Image> must be written in small letters'],
    ['a second body', `<mjml><mj-body>${BODY}</mj-body><mj-body>${BODY}</mj-body></mjml>`, 'more than one mj-body'],
    [
      'a media query that would be lost',
      wrap(
        '',
        '<mj-head><mj-style inline="inline">.a { color: red } @media (max-width: 9px) { .a { color: blue } }</mj-style></mj-head>',
      ),
      'loses @media',
    ],
    ['Liquid between elements', wrap('{% if contact.city %}{% endif %}'), '{% if contact.city %} is lost'],
    ['a color of a value', column('<mj-text color="{{ contact.city }}">x</mj-text>'), 'invalid value'],
  ])('for %s', async (_, source, message) => {
    expect(await compileMjml(source, 'en')).toEqual({
      fault: expect.objectContaining({ message: expect.stringContaining(message) as string }) as object,
    })
  })
})

describe('MJML is compiled', () => {
  it.each([
    ['with nothing but a text', wrap('')],
    ['with comments', wrap('<!-- Spring <mj-include> --><!--[if mso]>Outlook<![endif]-->')],
    ['with CDATA', column('<mj-text><![CDATA[Hi <b>there</b>]]></mj-text>')],
    ['with a sign in a text', column('<mj-text>3 < 4 & 5 > 4 <3</mj-text>')],
    [
      'with signs in an attribute',
      column('<mj-image src="a.png" alt="a > b: it\'s Hello" title="{{ contact.city | append: 1 }}" />'),
    ],
    ['with MJML in an attribute', column('<mj-image src="a.png" alt="<MJ-TEXT>" />')],
    ['with raw HTML', wrap('<mj-raw><style>.b { }</style><p>Raw {% if contact.city %}words{% endif %}</p></mj-raw>')],
    [
      'with a head',
      wrap(
        '',
        '<mj-head><mj-title>Spring</mj-title><mj-preview>Look inside</mj-preview><mj-attributes><mj-all color="red" /></mj-attributes>' +
          '<mj-style inline="inline">.a { color: red }</mj-style><mj-style>@media (max-width: 9px) { .a { color: blue } }</mj-style>' +
          '<mj-html-attributes><mj-selector path=".a"><mj-html-attribute name="data-id">42 words</mj-html-attribute></mj-selector></mj-html-attributes></mj-head>',
      ),
    ],
    [
      'with every element for text',
      column(
        '<mj-button href="https://x.example">Buy now</mj-button><mj-table><tr><td>Pen</td></tr></mj-table>' +
          '<mj-accordion><mj-accordion-element><mj-accordion-title>Why</mj-accordion-title><mj-accordion-text>Because</mj-accordion-text></mj-accordion-element></mj-accordion>' +
          '<mj-social><mj-social-element name="web" href="https://x.example">Share</mj-social-element></mj-social>' +
          '<mj-navbar hamburger="hamburger"><mj-navbar-link href="https://x.example">Home</mj-navbar-link></mj-navbar>',
      ),
    ],
  ])('%s', async (_, source) => {
    expect(await compileMjml(source, 'en')).toEqual({ html: expect.stringContaining('Bye') as string })
  })

  it.each([
    ['de', '<mjml>', 'lang="de" dir="ltr"'],
    ['he', '<mjml>', 'lang="he" dir="rtl"'],
    ['ar-EG', '<mjml owa="desktop">', 'lang="ar-EG" dir="rtl"'],
    ['pa-Arab', '<mjml>', 'lang="pa-Arab" dir="rtl"'],
    ['de', '<mjml lang="fr">', 'lang="fr" dir="auto"'],
    ['he', '<mjml dir="ltr">', 'lang="he" dir="ltr"'],
  ])('in the language %s of %s', async (language, opening, expected) => {
    const compiled = await compileMjml(`${opening}<mj-body>${BODY}</mj-body></mjml>`, language)
    const html = 'html' in compiled ? compiled.html : compiled.fault.message
    expect([...html.matchAll(/\blang="[^"]*" dir="[^"]*"/g)].map(String)).toEqual([expected, expected])
  })
})
