/** What could not be applied: to be looked at, sent along once more, or dropped. */
import process from 'node:process'
import type { Sql } from '../stores/postgres.ts'
import {
  dropDeadLetters,
  listDeadLetters,
  pageDeadLetters,
  replayDeadLetter,
  type Replayed,
} from '../stream/dead-letter.ts'
import { checkId, checkWhole } from './check-option.ts'
import { type Command, CommandError, type Option, type Words } from './command.ts'
import { truncateList, moreText } from './truncate-list.ts'
import { drawProgress } from './draw-progress.ts'
import { withPostgres } from './open-postgres.ts'
import { withSubmitter } from './open-submitter.ts'
import { table } from './show-help.ts'

/** As many as are shown at once. */
const MOST = 10_000

const BUSINESS: Option = { value: 'ID', help: 'Of this business alone' }

const list: Command = {
  name: 'dead-letters list',
  summary: 'Show what could not be applied, oldest first',
  options: {
    business: BUSINESS,
    limit: { value: 'N', help: 'At most so many (100)' },
    payload: { help: 'With the requests themselves, which hold personal data' },
  },
  async run(config, words) {
    const limit = checkWhole('--limit', words.text('limit') ?? '100', MOST)
    const { kept, truncated } = await withPostgres(config, async (sql) =>
      truncateList(await listDeadLetters(sql, { ...businessOf(words), limit: limit + 1 }), limit),
    )
    const deadLetters = kept.map(({ id, businessId, partition, streamId, kind, reason, ...letter }) => ({
      deadLetterId: id,
      businessId,
      kind,
      reason,
      partition,
      streamId,
      receivedAt: letter.receivedAt === null ? null : new Date(letter.receivedAt).toISOString(),
      createdAt: letter.createdAt.toISOString(),
      ...(words.flag('payload') && { payload: letter.payload }),
    }))
    const lines = deadLetters.map((letter) => [
      letter.deadLetterId,
      letter.createdAt,
      letter.kind,
      letter.reason,
      letter.payload ?? '',
    ])
    const more = moreText(truncated, `these are the oldest ${limit}`)
    return { json: { deadLetters, truncated }, text: (lines.length ? table(lines) : 'There is no dead letter') + more }
  },
}

const replay: Command = {
  name: 'dead-letters replay',
  summary: 'Send one dead letter, or all of them, to the workers again; what is applied is gone from the list',
  positionals: ['ID|all'],
  options: { business: BUSINESS },
  async run(config, words) {
    const results: { deadLetterId: string; outcome: string }[] = []
    const pen = drawProgress(process.stderr, Date.now)
    await withSubmitter(config, async (deps) => {
      for await (const ids of choose(deps.sql, words)) {
        for (const deadLetterId of ids) {
          const outcome = await replayDeadLetter(deps, deadLetterId)
          // One of many can be gone by now: applied after all, or dropped.
          if (outcome.kind === 'not_found' && words.positional(0) === 'all') continue
          results.push({ deadLetterId, outcome: outcomeOf(outcome, deadLetterId) })
          pen.draw(`Replayed: ${results.length} so far`)
        }
      }
    }).finally(() => pen.end())
    const done = results.every(({ outcome }) => outcome === 'applied' || outcome === 'queued')
    const lines = results.map(({ deadLetterId, outcome }) => [deadLetterId, outcome])
    const text = lines.length ? table(lines) : 'There is no dead letter'
    return { json: { results }, text, exitCode: done ? 0 : 1 }
  },
}

const drop: Command = {
  name: 'dead-letters drop',
  summary: 'Forget one dead letter, or all of them, for good',
  positionals: ['ID|all'],
  options: { business: BUSINESS },
  async run(config, words) {
    const dropped: string[] = []
    const pen = drawProgress(process.stderr, Date.now)
    await withPostgres(config, async (sql) => {
      for await (const ids of choose(sql, words)) {
        dropped.push(...(await dropDeadLetters(sql, ids)))
        pen.draw(`Dropped: ${dropped.length} so far`)
      }
    }).finally(() => pen.end())
    if (dropped.length === 0 && words.positional(0) !== 'all') throw notFound(words.positional(0))
    return { json: { dropped }, text: `Dropped: ${dropped.length}` }
  },
}

export const DEAD_LETTER_COMMANDS: Command[] = [list, replay, drop]

function businessOf(words: Words): { businessId?: string } {
  const business = words.text('business')
  return business === undefined ? {} : { businessId: checkId('--business', business) }
}

async function* choose(sql: Sql, words: Words): AsyncGenerator<string[]> {
  const id = words.positional(0)
  if (id === 'all') yield* pageDeadLetters(sql, businessOf(words).businessId)
  else yield [checkId('ID', id)]
}

/** `applied`, `queued`, or why it stays. Throws CommandError when there is none. */
function outcomeOf(replayed: Replayed, id: string): string {
  if (replayed.kind === 'not_found') throw notFound(id)
  if (replayed.kind === 'not_replayable') return `not replayable: ${replayed.reason}`
  if (replayed.kind !== 'answered') return replayed.kind
  const { answer } = replayed
  const failed = 'failed' in answer || ('items' in answer && answer.items.some((item) => 'error' in item))
  return failed ? 'failed again' : 'applied'
}

const notFound = (id: string) => new CommandError('dead_letter_not_found', `There is no dead letter ${id}`)
