/** What could not be applied: to be looked at, sent along once more, or dropped. */
import type { Sql } from '../stores/postgres.ts'
import { dropDeadLetters, listDeadLetters, replayDeadLetter, type Replayed } from '../stream/dead-letter.ts'
import { checkId, checkWhole } from './check-settings.ts'
import { type Command, CommandError, type Option, type Words } from './command.ts'
import { cutList, tellMore } from './cut-list.ts'
import { withPostgres } from './open-postgres.ts'
import { withRoad } from './open-road.ts'
import { table } from './show-help.ts'

/** As many as one command takes on. */
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
    const { kept, truncated } = await withPostgres(config, (sql) => readFirst(sql, words, limit))
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
    const more = tellMore(truncated, `these are the oldest ${limit}`)
    return { json: { deadLetters, truncated }, text: (lines.length ? table(lines) : 'There is no dead letter') + more }
  },
}

const replay: Command = {
  name: 'dead-letters replay',
  summary: 'Send one dead letter, or all of them, to the workers again; what is applied is gone from the list',
  positionals: ['ID|all'],
  options: { business: BUSINESS },
  async run(config, words) {
    const { results, truncated } = await withRoad(config, async (deps) => {
      const { ids, truncated } = await choose(deps.sql, words)
      const replayed: { deadLetterId: string; outcome: string }[] = []
      for (const deadLetterId of ids) {
        const outcome = await replayDeadLetter(deps, deadLetterId)
        // One of many can be gone by now: applied after all, or dropped.
        if (outcome.kind === 'not_found' && words.positional(0) === 'all') continue
        replayed.push({ deadLetterId, outcome: outcomeOf(outcome, deadLetterId) })
      }
      return { results: replayed, truncated }
    })
    const done = results.every(({ outcome }) => outcome === 'applied' || outcome === 'queued')
    const lines = results.map(({ deadLetterId, outcome }) => [deadLetterId, outcome])
    const text = (lines.length ? table(lines) : 'There is no dead letter') + tellMore(truncated, ONLY_THE_OLDEST)
    return { json: { results, truncated }, text, exitCode: done ? 0 : 1 }
  },
}

const drop: Command = {
  name: 'dead-letters drop',
  summary: 'Forget one dead letter, or all of them, for good',
  positionals: ['ID|all'],
  options: { business: BUSINESS },
  async run(config, words) {
    const { dropped, truncated } = await withPostgres(config, async (sql) => {
      const { ids, truncated } = await choose(sql, words)
      const dropped = await dropDeadLetters(sql, ids)
      if (dropped.length === 0 && words.positional(0) !== 'all') throw notFound(words.positional(0))
      return { dropped, truncated }
    })
    const text = `Dropped: ${dropped.length}${tellMore(truncated, ONLY_THE_OLDEST)}`
    return { json: { dropped, truncated }, text }
  },
}

export const DEAD_LETTER_COMMANDS: Command[] = [list, replay, drop]

function businessOf(words: Words): { businessId?: string } {
  const business = words.text('business')
  return business === undefined ? {} : { businessId: checkId('--business', business) }
}

async function readFirst(sql: Sql, words: Words, most: number) {
  return cutList(await listDeadLetters(sql, { ...businessOf(words), limit: most + 1 }), most)
}

async function choose(sql: Sql, words: Words): Promise<{ ids: string[]; truncated: boolean }> {
  const id = words.positional(0)
  if (id !== 'all') return { ids: [checkId('ID', id)], truncated: false }
  const { kept, truncated } = await readFirst(sql, words, MOST)
  return { ids: kept.map((letter) => letter.id), truncated }
}

const ONLY_THE_OLDEST = `only the oldest ${MOST} were taken`

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
