/** LiquidJS without files, with limits on memory, steps and output: the same template fails on every machine, or on none. */
import { Context, type Emitter, Liquid, type Template, toValueSync } from 'liquidjs'

/** Of strings and lists that filters and ranges make, in characters and items. */
const MEMORY_LIMIT = 5_000_000
/** Tags and outputs that are rendered, each round of a loop anew. */
const MAX_STEPS = 50_000
/** Of everything that is written, captures included, in UTF-16 units. */
const MAX_OUTPUT = 1_048_576

/** They read files. */
const FILE_TAGS = ['include', 'render', 'layout', 'block']
const DATE_FILTERS = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string']

class LimitError extends Error {
  override name = 'LimitError'
}

export interface LiquidEngine {
  parse(source: string): Template[]
  /** The paths that it reads of the values, each segment a name, or a list when a value decides it. */
  reads(parsed: Template[]): unknown[][]
  /** `now`: epoch ms. */
  render(parsed: Template[], values: object, now: number): string
}

/** @param escapes whether values are escaped for HTML */
export function createLiquidEngine(escapes: boolean): LiquidEngine {
  const liquid = new Liquid({
    ...(escapes && { outputEscape: 'escape' }),
    ownPropertyOnly: true,
    strictFilters: true,
    timezoneOffset: 0,
    memoryLimit: MEMORY_LIMIT,
  })
  for (const name of FILE_TAGS) delete liquid.tags[name]
  // The same values must give the same message whenever it is rendered.
  liquid.unregisterFilter('sample')
  for (const name of DATE_FILTERS) fixNow(liquid, name)
  limitSteps(liquid)
  return {
    parse: (source) => liquid.parse(source),
    reads: (parsed) => liquid.globalVariableSegmentsSync(parsed),
    render(parsed, values, now) {
      const context = new Context(values, liquid.options, { sync: true }, { liquid })
      context.setRegister('now', now)
      return String(toValueSync(liquid.renderer.renderTemplates(parsed, context)))
    },
  }
}

/** `now` and `today` are the instant of the rendering as the caller gives it, and not that of the clock. */
function fixNow(liquid: Liquid, name: string): void {
  const filter = liquid.filters[name]
  if (typeof filter !== 'function') throw new Error(`LiquidJS has no filter ${name}`)
  liquid.registerFilter(name, function (value: unknown, ...rest: unknown[]): unknown {
    const isNow = value === 'now' || value === 'today'
    return filter.call(this, isNow ? new Date(Number(this.context.getRegister('now'))) : value, ...rest) as unknown
  })
}

function limitSteps(liquid: Liquid): void {
  const { renderer } = liquid
  const render = renderer.renderTemplates.bind(renderer)
  renderer.renderTemplates = function* (templates, context, emitter): IterableIterator<unknown> {
    const steps = readCount(context, 'steps') + Math.max(1, templates.length)
    if (steps > MAX_STEPS) throw new LimitError('the template takes too many steps')
    context.setRegister('steps', steps)
    const rendered: unknown = yield render(templates, context, emitter ?? new LimitedEmitter(context))
    return rendered
  }
}

class LimitedEmitter implements Emitter {
  buffer = ''
  private readonly context: Context
  constructor(context: Context) {
    this.context = context
  }
  write(value: unknown): void {
    const text = toText(value)
    const written = readCount(this.context, 'written') + text.length
    if (written > MAX_OUTPUT) throw new LimitError('the message becomes too large')
    this.context.setRegister('written', written)
    this.buffer += text
  }
}

const readCount = (context: Context, name: string): number => Number(context.getRegister(name) ?? 0)

/** As LiquidJS writes it, but for objects: they are JSON. */
function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? value.map(toText).join('') : JSON.stringify(value)
}

/** What LiquidJS says of a template, without the excerpt that follows. */
export function describeFault(error: unknown): string {
  const message = error instanceof Error ? error.message : 'it cannot be rendered'
  return (message.split('\n')[0] ?? message).slice(0, 300)
}

export type { Template as ParsedTemplate }
