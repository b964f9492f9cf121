/** `admin dead-letters …`: requests that could not be applied. */
import process from 'node:process'
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import {
  listDeadLetters,
  pageDeadLetters,
  readReplayOutcome,
  replayDeadLetter,
  type ReplayResult,
} from '../stream/dead-letter.ts'
import { dropDeadLetters } from '../timeline/drop-dead-letters.ts'
import { checkId, readInteger } from './read-option.ts'
import { type Command, CommandError, type Option, type CommandArguments } from './command.ts'
import { truncateList, describeMore } from './truncate-list.ts'
import { createProgressLine } from './progress-line.ts'
import { withPostgres } from './open-postgres.ts'
import { withSubmitter } from './open-submitter.ts'
import { formatTable } from './format-help.ts'
import { recordCommand } from './record-command.ts'

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
      truncateList(await listDeadLetters(sql, { ...businessOf(args), limit: limit + 1 }), limit),
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
      await record(deps.sql, args, 'replay')
      for await (const ids of choose(deps.sql, args)) {
        for (const deadLetterId of ids) {
          const outcome = await replayDeadLetter(deps, deadLetterId)
          // Another command may have applied or dropped it since the list was read.
          if (outcome.kind === 'not_found' && args.positional(0) === 'all') continue
          results.push({ deadLetterId, outcome: outcomeOf(outcome, deadLetterId) })
          progressLine.draw(`Replayed: ${results.length} so far`)
        }
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
      await record(sql, args, 'drop')
      for await (const ids of choose(sql, args)) {
        dropped.push(...(await inTransaction(sql, (tx) => dropDeadLetters(tx, ids))))
        progressLine.draw(`Dropped: ${dropped.length} so far`)
      }
    }).finally(() => progressLine.end())
    if (dropped.length === 0 && args.positional(0) !== 'all') throw notFound(args.positional(0))
    return { json: { dropped }, text: `Dropped: ${dropped.length}` }
  },
}

export const DEAD_LETTER_COMMANDS: Command[] = [list, replay, drop]

/** Records the command before the first change. */
async function record(sql: Sql, args: CommandArguments, verb: 'replay' | 'drop'): Promise<void> {
  const { businessId = null } = businessOf(args)
  const target = args.positional(0)
  if (target !== 'all') checkId('ID', target)
  await recordCommand(sql, `dead-letters ${verb}`, { businessId, action: `dead-letter.${verb}`, target })
}

function businessOf(args: CommandArguments): { businessId?: string } {
  const business = args.text('business')
  return business === undefined ? {} : { businessId: checkId('--business', business) }
}

async function* choose(sql: Sql, args: CommandArguments): AsyncGenerator<string[]> {
  const id = args.positional(0)
  if (id === 'all') yield* pageDeadLetters(sql, businessOf(args).businessId)
  else yield [checkId('ID', id)]
}

/**
 * Returns `applied`, `queued`, or the reason why the letter stays. Throws CommandError when the letter does not exist.
 */
function outcomeOf(replayed: ReplayResult, id: string): string {
  const read = readReplayOutcome(replayed)
  if (read.outcome === 'not_found') throw notFound(id)
  if (read.outcome === 'not_replayable') return `not replayable: ${read.reason}`
  return read.outcome === 'failed' ? 'failed again' : read.outcome
}

const notFound = (id: string) => new CommandError('dead_letter_not_found', `There is no dead letter ${id}`)
