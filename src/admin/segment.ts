/** `admin segment …` */
import { commandActor } from '../audit/command-actor.ts'
import type { ExplainedRule } from '../rules/segments/explain-rule.ts'
import { compileToClickHouse } from '../segments/compile-to-clickhouse.ts'
import { type SaveRefusal, createSegment } from '../segments/create-segment.ts'
import { type Explanation, explainSegment } from '../segments/explain-segment.ts'
import { MAX_CONDITIONS, MAX_SEGMENTS } from '../segments/limits.ts'
import { listSegments } from '../segments/list-segments.ts'
import { readRuleInForce } from '../segments/read-rule-in-force.ts'
import type { Sql } from '../stores/postgres.ts'
import { requireBusiness } from './business.ts'
import { type Command, type CommandArguments, CommandError, UsageError } from './command.ts'
import { formatTable } from './format-help.ts'
import { withClickHouse } from './open-clickhouse.ts'
import { withPostgres } from './open-postgres.ts'
import { readOptionFile } from './read-file.ts'
import { checkId, readOption } from './read-option.ts'
import { readSegmentDescription, readSegmentName } from './read-segment.ts'

const BUSINESS = { value: 'ID', help: 'The business that the segment belongs to' }

const create: Command = {
  name: 'segment create',
  summary: 'Create a segment; its members are computed by the workers',
  options: {
    business: BUSINESS,
    name: { value: 'NAME', help: 'Display name' },
    description: { value: 'TEXT', help: 'For people' },
    'rule-file': { value: 'FILE', help: 'File with the rule as JSON, or - for standard input' },
  },
  required: ['business', 'name', 'rule-file'],
  notes: 'The rule is written as for POST /api/segments: see docs/segments.md.',
  async run(config, args) {
    const businessId = checkId('--business', args.text('business') ?? '')
    const name = readOption('--name', args.text('name') ?? '', readSegmentName)
    const description = readOption('--description', args.text('description') ?? '', readSegmentDescription)
    const rule = await readRuleFile(args)
    const created = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      const actor = commandActor('admin segment create')
      return createSegment(sql, { businessId, actor }, { name, description, rule })
    })
    if (created.kind !== 'created') throw refuse(created)
    const { segment } = created
    return { json: { segment }, text: `Segment ${segment.name}: ${segment.segmentId}` }
  },
}

async function readRuleFile(args: CommandArguments): Promise<unknown> {
  const json = await readOptionFile('--rule-file', args.text('rule-file') ?? '', 'the rule as JSON')
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    throw new UsageError(`--rule-file cannot be read as JSON: ${(error as Error).message}`)
  }
}

function refuse(refusal: SaveRefusal): CommandError {
  switch (refusal.kind) {
    case 'faults':
      return new CommandError('invalid_rule', refusal.faults.map(({ message }) => message).join('\n'))
    case 'too_many_segments':
      return new CommandError('limit_reached', `A business has at most ${MAX_SEGMENTS} segments`)
    case 'too_many_conditions':
      return new CommandError('limit_reached', `A business has at most ${MAX_CONDITIONS} conditions in its segments`)
  }
}

const HEADS = ['SEGMENT', 'STATUS', 'MEMBERS', 'VERSION', 'NAME']

const list: Command = {
  name: 'segment list',
  summary: 'List the segments of a business and the number of their members',
  options: { business: BUSINESS },
  required: ['business'],
  async run(config, args) {
    const businessId = checkId('--business', args.text('business') ?? '')
    const segments = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      return listSegments(sql, businessId)
    })
    const lines = segments.map((one) => [
      one.segmentId,
      one.status === 'ready' ? 'ready' : `computing, ${Math.floor(one.progress * 100)} %`,
      String(one.memberCount),
      String(one.version),
      one.warnings.length > 0 ? `${one.name} (has warnings)` : one.name,
    ])
    return { json: { segments }, text: lines.length ? formatTable([HEADS, ...lines]) : 'There are no segments yet' }
  },
}

const explain: Command = {
  name: 'segment explain',
  summary: 'Show why a contact is a member of a segment or not',
  positionals: ['ID'],
  options: { contact: { value: 'ID', help: 'The contact' } },
  required: ['contact'],
  async run(config, args) {
    const segmentId = checkId('ID', args.positional(0))
    const contactId = checkId('--contact', args.text('contact') ?? '')
    const explained = await withPostgres(config, async (sql) => {
      const businessId = await findBusinessOf(sql, segmentId)
      return withClickHouse(config, (clickhouse) =>
        explainSegment({ sql, clickhouse, now: Date.now }, { businessId, segmentId, contactId }),
      )
    })
    if (explained === 'segment_not_found') throw segmentNotFound(segmentId)
    if (explained === 'contact_not_found')
      throw new CommandError('contact_not_found', `The business of the segment has no contact ${contactId}`)
    return { json: explained, text: describe(explained) }
  },
}

const sqlOf: Command = {
  name: 'segment sql',
  summary: 'Print the query of ClickHouse that selects the members of a segment',
  positionals: ['ID'],
  notes:
    'It reads the tables of the internal database. It is as of the moment at which it is printed, and knows what has reached ClickHouse.',
  async run(config, args) {
    const segmentId = checkId('ID', args.positional(0))
    const query = await withPostgres(config, async (sql) => {
      const businessId = await findBusinessOf(sql, segmentId)
      const inForce = await readRuleInForce(sql, businessId, segmentId)
      if (inForce === null) throw segmentNotFound(segmentId)
      const { rule, fields } = inForce
      return compileToClickHouse(rule, { businessId, fields, now: Date.now() })
    })
    return { json: { query }, text: query }
  },
}

/** Throws CommandError when there is no such segment. */
async function findBusinessOf(sql: Sql, segmentId: string): Promise<string> {
  const [found] = await sql<{ businessId: string }[]>`
    select business_id as "businessId" from segments where id = ${segmentId}`
  if (found === undefined) throw segmentNotFound(segmentId)
  return found.businessId
}

const segmentNotFound = (id: string) =>
  new CommandError('segment_not_found', `There is no segment ${id}. To see all: admin segment list --business ID`)

function describe({ member, enteredAt, changesAt, rule }: Explanation): string {
  const since = enteredAt === null ? '' : ` since ${enteredAt}`
  const until = changesAt === null ? '' : `. Time alone changes this at ${changesAt}`
  return [`${member ? `A member${since}` : 'Not a member'}${until}`, ...linesOf(rule, 1)].join('\n')
}

/** Returns a line for each group and condition, with the value that it saw. */
function linesOf(rule: ExplainedRule, depth: number): string[] {
  const line = (words: string) => `${'  '.repeat(depth)}${rule.matches ? 'yes' : 'no '} ${words}`
  if ('all' in rule) return [line('all of:'), ...rule.all.flatMap((inner) => linesOf(inner, depth + 1))]
  if ('any' in rule) return [line('any of:'), ...rule.any.flatMap((inner) => linesOf(inner, depth + 1))]
  if ('not' in rule) return [line('not:'), ...linesOf(rule.not, depth + 1)]
  const { matches: _, seen, ...condition } = rule
  return [line(`${JSON.stringify(condition)} saw ${seen === null ? 'nothing' : JSON.stringify(seen)}`)]
}

export const SEGMENT_COMMANDS: Command[] = [create, list, explain, sqlOf]
