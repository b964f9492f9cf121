/** LiquidJS without files, with limits on memory, steps and output: a template fails on every machine, or on none. */
import { Context, type Emitter, Liquid, type StaticAnalysis, type Template, analyzeSync, toValueSync } from 'liquidjs'
import { registerDateFilters } from './date-filters.ts'
import { escapeOutput, print, registerMarkup } from './markup.ts'
import { registerNumberFilters } from './number-filters.ts'
import { type Registers, setRegisters } from './registers.ts'
import { StandIn, greet, registerStandIns } from './stand-in.ts'
import './token-positions.ts'

/** Strings and lists that filters and ranges create, in characters and items. */
const MEMORY_LIMIT = 5_000_000
/** Rendered tags and outputs, counted in each round of a loop. */
const MAX_STEPS = 50_000
/** All output including captures, in UTF-16 units. */
const MAX_OUTPUT = 1_048_576

/** These tags read files. */
const FILE_TAGS = ['include', 'render', 'layout', 'block']

/** LiquidJS' own type knows texts alone; other values are printed when they are written. */
type OutputEscape = (value: unknown) => string

class LimitError extends Error {
  override name = 'LimitError'
}

export interface LiquidEngine {
  parse(source: string): Template[]
  /** The paths of values that it reads. Each segment is a name, or a list when a value decides it. */
  reads(parsed: Template[]): unknown[][]
  render(parsed: Template[], values: object, registers: Registers): string
}

/** @param escapes whether values are escaped for HTML */
export function createLiquidEngine(escapes: boolean): LiquidEngine {
  const liquid: Liquid = new Liquid({
    outputEscape: (escapes ? escapeWord : StandIn.wordOf) as OutputEscape,
    ownPropertyOnly: true,
    strictFilters: true,
    memoryLimit: MEMORY_LIMIT,
  })
  for (const name of FILE_TAGS) delete liquid.tags[name]
  // The same values must give the same message whenever it is rendered.
  liquid.unregisterFilter('sample')
  registerDateFilters(liquid)
  registerNumberFilters(liquid)
  if (escapes) registerMarkup(liquid)
  registerStandIns(liquid)
  limitSteps(liquid)
  return {
    parse: (source) => liquid.parse(source),
    reads: (parsed) => uniquePaths(analyzeSync(parsed).globals),
    render(parsed, values, registers) {
      const context = new Context(greet(values, registers.language), liquid.options, { sync: true }, { liquid })
      setRegisters(context, registers)
      return String(toValueSync(liquid.renderer.renderTemplates(parsed, context)))
    },
  }
}

const escapeWord: typeof escapeOutput = function (value: unknown) {
  return escapeOutput.call(this, StandIn.wordOf(value)) as unknown
}

/** LiquidJS compares each path with each other one. */
function uniquePaths(found: StaticAnalysis['globals']): unknown[][] {
  const paths = Object.values(found).flatMap((variables) => variables.map((one) => one.toArray() as unknown[]))
  return [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()]
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
    const text = print(StandIn.wordOf(value))
    const written = readCount(this.context, 'written') + text.length
    if (written > MAX_OUTPUT) throw new LimitError('the message becomes too large')
    this.context.setRegister('written', written)
    this.buffer += text
  }
}

const readCount = (context: Context, name: string): number => Number(context.getRegister(name) ?? 0)

/** LiquidJS' message about a template, without the excerpt that follows it. */
export function describeFault(error: unknown): string {
  const message = error instanceof Error ? error.message : 'it cannot be rendered'
  // Each runtime has words of its own for it.
  if (/call stack/i.test(message)) return 'its tags are nested too deep'
  return (message.split('\n')[0] ?? message).slice(0, 300)
}

export type { Template as ParsedTemplate }
