/** LiquidJS without files, with limits on memory, steps and output: a template fails on every machine, or on none. */
import { Context, type Emitter, Liquid, type Template, toValueSync } from 'liquidjs'

/** Strings and lists that filters and ranges create, in characters and items. */
const MEMORY_LIMIT = 5_000_000
/** Rendered tags and outputs, counted in each round of a loop. */
const MAX_STEPS = 50_000
/** All output including captures, in UTF-16 units. */
const MAX_OUTPUT = 1_048_576

/** These tags read files. */
const FILE_TAGS = ['include', 'render', 'layout', 'block']
const DATE_FILTERS = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string']

class LimitError extends Error {
  override name = 'LimitError'
}

export interface LiquidEngine {
  parse(source: string): Template[]
  /** The paths of values that it reads. Each segment is a name, or a list when a value decides it. */
  reads(parsed: Template[]): unknown[][]
  /** `now`: epoch milliseconds. */
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

/** `now` and `today` are the caller's instant of the rendering, not the clock's. */
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

/** As LiquidJS prints it, except that objects are printed as JSON. */
function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? value.map(toText).join('') : JSON.stringify(value)
}

/** LiquidJS' message about a template, without the excerpt that follows it. */
export function describeFault(error: unknown): string {
  const message = error instanceof Error ? error.message : 'it cannot be rendered'
  return (message.split('\n')[0] ?? message).slice(0, 300)
}

export type { Template as ParsedTemplate }
