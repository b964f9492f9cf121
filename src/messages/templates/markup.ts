/**
 * HTML within a template whose values are escaped: what a filter such as `escape` or `newline_to_br` has made, and what
 * was captured. It is not escaped again when it is printed.
 */
import {
  CaptureTag,
  type Context,
  Drop,
  type FilterImplOptions,
  type Liquid,
  TypeGuards,
  filters,
  toValue,
} from 'liquidjs'

type Filter = Exclude<FilterImplOptions, { handler: unknown }>
type FilterThis = ThisParameterType<Filter>

/** LiquidJS' own. */
const escape = filters['escape'] as Filter

export class Markup extends Drop {
  readonly #html: string
  readonly #text: string | undefined
  readonly #isRaw: boolean

  /** @param text the text of which `html` is the escaped form; undefined when it has elements */
  constructor(html: string, text?: string, isRaw = false) {
    super()
    this.#html = html
    this.#text = text
    this.#isRaw = isRaw
  }
  static htmlOf = (markup: Markup): string => markup.#html
  static textOf = (markup: Markup): string | undefined => markup.#text
  /** Whether `raw` has made it, so that it is not escaped yet. */
  static isRaw = (markup: Markup): boolean => markup.#isRaw

  get size(): number {
    return this.valueOf().length
  }
  override valueOf(): string {
    return this.#text ?? this.#html
  }
  override toString(): string {
    return this.valueOf()
  }
}

/** Those of addresses change a text, and none of its escaped form. */
const OF_ADDRESSES = new Set(['url_encode', 'url_decode', 'cgi_escape', 'uri_escape', 'slugify'])
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#34': '"', '#39': "'" }

/** Makes the filters and tags of an engine return Markup and accept it. */
export function registerMarkup(liquid: Liquid): void {
  const original = new Map(
    Object.entries(liquid.filters).filter((one): one is [string, Filter] => typeof one[1] === 'function'),
  )
  for (const [name, filter] of original) liquid.registerFilter(name, acceptMarkup(name, filter))
  for (const name of ['escape', 'xml_escape', 'escape_once']) {
    const filter = requireFilter(original, name)
    liquid.registerFilter(name, function (value: unknown) {
      return escapeOnce(this, value, filter)
    })
  }
  const toLines = requireFilter(original, 'newline_to_br')
  liquid.registerFilter('newline_to_br', function (value: unknown) {
    return new Markup(String(toLines.call(this, toHtml(this, value))))
  })
  liquid.registerFilter('raw', (value: unknown) =>
    value instanceof Markup ? value : new Markup(print(value), undefined, true),
  )
  liquid.registerTag('capture', MarkupCapture)
}

function requireFilter(filters: ReadonlyMap<string, Filter>, name: string): Filter {
  const filter = filters.get(name)
  if (filter === undefined) throw new Error(`LiquidJS has no filter ${name}`)
  return filter
}

const toHtml = (self: FilterThis, value: unknown): string =>
  value instanceof Markup ? Markup.htmlOf(value) : String(escape.call(self, value))

/** For each value that is printed. */
export const escapeOutput: Filter = function (value: unknown): string {
  return toHtml(this, value)
}

function escapeOnce(self: FilterThis, value: unknown, escape: Filter): Markup {
  if (value instanceof Markup && !Markup.isRaw(value)) return value
  const html = String(escape.call(self, toValue(value)))
  return new Markup(html, unescape(html))
}

const unescape = (html: string): string =>
  html.replaceAll(/&(amp|lt|gt|quot|#34|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole)

/** As LiquidJS prints it, except that objects are printed as JSON. */
export function print(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value instanceof Markup) return Markup.htmlOf(value)
  return Array.isArray(value) ? value.map(print).join('') : JSON.stringify(value)
}

class MarkupCapture extends CaptureTag {
  override *render(context: Context): Generator<unknown, void> {
    const html: unknown = yield this.liquid.renderer.renderTemplates(this.templates, context)
    const { variable } = this as unknown as { variable: string }
    context.bottom()[variable] = new Markup(String(html))
  }
}

/**
 * A filter of texts. Of Markup without elements it changes the text, which is escaped after it. Of other Markup it changes
 * the HTML, with the values among its arguments escaped.
 */
function acceptMarkup(name: string, filter: Filter): Filter {
  return function (value: unknown, ...args: unknown[]): unknown {
    const found = [value, ...args].flatMap(markupIn)
    if (found.length === 0) return filter.call(this, value, ...args) as unknown
    const isText = OF_ADDRESSES.has(name) || found.every((one) => Markup.textOf(one) !== undefined)
    const [first, ...rest] = [value, ...args].map((one, index) => {
      if (isText) return mapStrings(one, (part) => (part instanceof Markup ? textOf(part) : part))
      const isFixed = index > 0 && TypeGuards.isQuotedToken(this.token.args[index - 1])
      return isFixed ? one : mapStrings(one, (part) => toHtml(this, part))
    })
    const result: unknown = filter.call(this, first, ...rest)
    const isRaw = found.some((one) => Markup.isRaw(one))
    return mapStrings(result, (part) =>
      isText
        ? new Markup(String(escape.call(this, part)), part as string)
        : new Markup(part as string, undefined, isRaw),
    )
  }
}

const textOf = (markup: Markup): string => Markup.textOf(markup) ?? unescape(Markup.htmlOf(markup))

const markupIn = (value: unknown): Markup[] =>
  value instanceof Markup ? [value] : Array.isArray(value) ? value.filter((one) => one instanceof Markup) : []

/** Changes texts and Markup, also in a list. */
function mapStrings(value: unknown, change: (part: string | Markup) => unknown): unknown {
  if (typeof value === 'string' || value instanceof Markup) return change(value)
  return Array.isArray(value)
    ? value.map((one: unknown) => (Array.isArray(one) ? one : mapStrings(one, change)))
    : value
}
