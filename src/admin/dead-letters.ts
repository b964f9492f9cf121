/** `admin dead-letters …`: requests that could not be applied. */
import process from 'node:process'
import { commandActor } from '../audit/command-actor.ts'
import { type DeadLetterChange, type ReplayOutcome, listDeadLetters, replayDeadLetters } from '../stream/dead-letter.ts'
import { dropAllDeadLetters, dropDeadLetters } from '../timeline/resync/drop-dead-letters.ts'
import { checkId, readInteger } from './read-option.ts'
import { type Command, CommandError, type Option, type CommandArguments } from './command.ts'
import { truncateList, describeMore } from './truncate-list.ts'
import { createProgressLine } from './progress-line.ts'
import { withPostgres } from './open-postgres.ts'
import { withSubmitter } from './open-submitter.ts'
import { formatTable } from './format-help.ts'

const MAX_LISTED = 10_000

const BUSINESS: Option = { value: 'ID', help: 'Only this business' }

const list: Command = {
  name: 'dead-letters list',
  summary: 'List requests that could not be applied, oldest first',
  options: {
    business: BUSINESS,
    limit: { value: 'N', help: `Maximum number of dead letters, up to ${MAX_LISTED} (100)` },
    payload: { help: 'Include the requests themselves; they contain personal data' },
  },
  async run(config, args) {
    const limit = readInteger('--limit', args.text('limit') ?? '100', MAX_LISTED)
    const { shown, truncated } = await withPostgres(config, async (sql) =>
      truncateList(await listDeadLetters(sql, { businessId: businessOf(args), limit: limit + 1 }), limit),
    )
    const deadLetters = shown.map(({ id, businessId, partition, streamId, kind, reason, ...letter }) => ({
      deadLetterId: id,
      businessId,
      kind,
      reason,
      partition,
      streamId,
      receivedAt: letter.receivedAt === null ? null : new Date(letter.receivedAt).toISOString(),
      createdAt: letter.createdAt.toISOString(),
      ...(args.flag('payload') && { payload: letter.payload }),
    }))
    const lines = deadLetters.map((letter) => [
      letter.deadLetterId,
      letter.createdAt,
      letter.kind,
      letter.reason,
      letter.payload ?? '',
    ])
    const more = describeMore(truncated, `these are the oldest ${limit}`)
    return {
      json: { deadLetters, truncated },
      text: (lines.length ? formatTable(lines) : 'There are no dead letters') + more,
    }
  },
}

const replay: Command = {
  name: 'dead-letters replay',
  summary: 'Send one dead letter, or all, to the workers again; applied ones leave the list',
  positionals: ['ID|all'],
  options: { business: BUSINESS },
  async run(config, args) {
    const results: { deadLetterId: string; outcome: string }[] = []
    const progressLine = createProgressLine(process.stderr, Date.now)
    await withSubmitter(config, async (deps) => {
      const chosen = readChosen(args)
      for await (const { id, ...read } of replayDeadLetters(deps, changeOf(args, 'replay'), chosen)) {
        results.push({ deadLetterId: id, outcome: outcomeOf(read, id) })
        progressLine.draw(`Replayed: ${results.length} so far`)
      }
    }).finally(() => progressLine.end())
    const done = results.every(({ outcome }) => outcome === 'applied' || outcome === 'queued')
    const lines = results.map(({ deadLetterId, outcome }) => [deadLetterId, outcome])
    const text = lines.length ? formatTable(lines) : 'There are no dead letters'
    return { json: { results }, text, exitCode: done ? 0 : 1 }
  },
}

const drop: Command = {
  name: 'dead-letters drop',
  summary: 'Delete one dead letter, or all, permanently',
  positionals: ['ID|all'],
  options: { business: BUSINESS },
  async run(config, args) {
    const dropped: string[] = []
    const progressLine = createProgressLine(process.stderr, Date.now)
    await withPostgres(config, async (sql) => {
      const [chosen, change] = [readChosen(args), changeOf(args, 'drop')]
      const pages = chosen === 'all' ? dropAllDeadLetters(sql, change) : [await dropDeadLetters(sql, change, chosen)]
      for await (const ids of pages) {
        dropped.push(...ids)
        progressLine.draw(`Dropped: ${dropped.length} so far`)
      }
    }).finally(() => progressLine.end())
    if (dropped.length === 0 && args.positional(0) !== 'all') throw notFound(args.positional(0))
    return { json: { dropped }, text: `Dropped: ${dropped.length}` }
  },
}

export const DEAD_LETTER_COMMANDS: Command[] = [list, replay, drop]

const changeOf = (args: CommandArguments, verb: 'replay' | 'drop'): DeadLetterChange => ({
  actor: commandActor(`admin dead-letters ${verb}`),
  businessId: businessOf(args),
  target: args.positional(0),
})

function businessOf(args: CommandArguments): string | null {
  const business = args.text('business')
  return business === undefined ? null : checkId('--business', business)
}

function readChosen(args: CommandArguments): string[] | 'all' {
  const id = args.positional(0)
  return id === 'all' ? id : [checkId('ID', id)]
}

/**
 * Returns `applied`, `queued`, or the reason why the letter stays. Throws CommandError when the letter does not exist.
 */
function outcomeOf(read: ReplayOutcome, id: string): string {
  if (read.outcome === 'not_found') throw notFound(id)
  if (read.outcome === 'not_replayable') return `not replayable: ${read.reason}`
  return read.outcome === 'failed' ? 'failed again' : read.outcome
}

const notFound = (id: string) => new CommandError('dead_letter_not_found', `There is no dead letter ${id}`)
