/** The text part of a mail that has none, made from its HTML. */
import { type Builder, type Element, type Walk, convert } from 'html-to-text'

/**
 * Levels of elements in one another. Real mails have some 60 at most; the libraries that read HTML go down by a call for
 * each level, and every runtime has room for many more than these.
 */
export const MAX_DEPTH = 256

/** With characters that no template can have. */
const CUT = '\0cut\0'

/** Null when the elements are nested too deep. */
export function makeText(html: string): string | null {
  const text = convert(html, {
    wordwrap: false,
    limits: { maxDepth: MAX_DEPTH, ellipsis: CUT },
    formatters: { row: formatRow, cell: formatCell },
    selectors: [
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      { selector: 'img', format: 'skip' },
      // As written: a code or an address in a heading would be another one in capitals.
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
      { selector: 'tr', format: 'row' },
      ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
      ...HIDDEN.map((selector) => ({ selector, format: 'skip' })),
    ],
  })
  return text.includes(CUT) ? null : text
}

/** Not `mso-hide`: it hides only from Outlook what all others show, such as a button. */
const HIDDEN = [
  '[hidden]',
  ...['display:none', 'visibility:hidden', 'max-height:0'].flatMap((style) =>
    [style, style.replace(':', ': ')].map((one) => `[style*="${one}" i]`),
  ),
]

/** MJML and others build the page of tables with this role. */
function isLayout(element: Element): boolean {
  let table: Element | null = element
  while (table !== null && table.name !== 'table') table = table.parent
  return /^(?:presentation|none)$/i.test(table?.attribs?.['role'] ?? '')
}

function formatRow(element: Element, walk: Walk, builder: Builder): void {
  if (isLayout(element)) return walk(element.children, builder)
  builder.openBlock({ leadingLineBreaks: 1 })
  walk(element.children, builder)
  builder.closeBlock({ trailingLineBreaks: 1 })
}

function formatCell(element: Element, walk: Walk, builder: Builder): void {
  walk(element.children, builder)
  if (!isLayout(element)) builder.addInline(' ')
}
