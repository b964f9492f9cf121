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
/** What they make of escaped text can have signs that are not escaped. */
const MAKE_SIGNS = new Set(['json', 'jsonify', 'inspect', 'base64_decode'])
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
    return new Markup(String(toLines.call(this, toHtml(this, withoutRaw(value)))))
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

function toHtml(self: FilterThis, value: unknown): string {
  if (value instanceof Markup) return Markup.htmlOf(value)
  return Array.isArray(value) ? value.map((one) => toHtml(self, one)).join('') : String(escape.call(self, value))
}

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

/** `text`: of what the markup shows. `html`: of HTML, with values escaped before. `plain`: as if there was no Markup. */
type Way = 'text' | 'html' | 'plain'

/**
 * A filter of texts. Of Markup without elements it changes the text, which is escaped after it. Of other Markup it changes
 * the HTML, with the values among its inputs escaped. When it has an input that cannot be escaped, such as an object, its
 * result is not Markup.
 */
function acceptMarkup(name: string, filter: Filter): Filter {
  return function (value: unknown, ...args: unknown[]): unknown {
    const inputs = [withoutRaw(value), ...args]
    const way = chooseWay(name, inputs)
    if (way === undefined) return filter.call(this, ...(inputs as [unknown])) as unknown
    const [first, ...rest] = inputs.map((one, index) => {
      const isFixed = index > 0 && TypeGuards.isQuotedToken(this.token.args[index - 1])
      return isFixed ? one : mapStrings(this, one, (part) => toInput(this, part, way))
    })
    return mark(this, filter.call(this, first, ...rest), way)
  }
}

/** Undefined without Markup. */
function chooseWay(name: string, inputs: unknown[]): Way | undefined {
  const parts = partsOf(inputs)
  const markups = parts.filter((one) => one instanceof Markup)
  if (markups.length === 0) return undefined
  if (OF_ADDRESSES.has(name) || markups.every((one) => Markup.textOf(one) !== undefined)) return 'text'
  return MAKE_SIGNS.has(name) || parts.some((one) => !isEscapable(one)) ? 'plain' : 'html'
}

/** The parts of a list at every depth, each list once: a template can put a list into itself many times. */
function partsOf(list: unknown[], seen = new Set<unknown>()): unknown[] {
  if (seen.has(list)) return []
  seen.add(list)
  return list.flatMap((one: unknown) => (Array.isArray(one) ? partsOf(one, seen) : [one]))
}

const isEscapable = (value: unknown): boolean => value === null || typeof value !== 'object' || value instanceof Markup

function toInput(self: FilterThis, part: string | Markup, way: Way): string {
  if (way === 'html') return toHtml(self, part)
  if (typeof part === 'string') return part
  return way === 'text' ? textOf(part) : part.valueOf()
}

/** Some filters return a generator of their result. */
function mark(self: FilterThis, result: unknown, way: Way): unknown {
  if (way === 'plain') return result
  if (isGenerator(result)) return markYielded(self, result, way)
  return mapStrings(self, result, (part) =>
    way === 'text' ? new Markup(toHtml(self, part), part.valueOf()) : new Markup(part.valueOf()),
  )
}

function* markYielded(self: FilterThis, result: Generator, way: Way): Generator<unknown, unknown> {
  return mark(self, yield result, way)
}

const isGenerator = (value: unknown): value is Generator =>
  typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function'

/** `raw` holds when no other filter follows it. */
const withoutRaw = (value: unknown): unknown =>
  value instanceof Markup && Markup.isRaw(value) ? value.valueOf() : value

const textOf = (markup: Markup): string => Markup.textOf(markup) ?? unescape(Markup.htmlOf(markup))

/** Changes texts and Markup, also in lists of any depth. */
function mapStrings(self: FilterThis, value: unknown, change: (part: string | Markup) => unknown): unknown {
  if (typeof value === 'string' || value instanceof Markup) return change(value)
  if (!Array.isArray(value)) return value
  self.context.memoryLimit.use(value.length)
  return value.map((one: unknown) => mapStrings(self, one, change))
}
