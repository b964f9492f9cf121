/** Conversions on their way: to be looked at, sent once more, or dropped. */
import {
  DELIVERY_STATES,
  type DeliveryState,
  type Shown,
  dropDeliveries,
  listDeliveries,
  retryDeliveries,
} from '../deliveries/handle-deliveries.ts'
import { checkId, checkWhole } from './check-option.ts'
import { type Command, CommandError, type Option, type Report, UsageError, type Words } from './command.ts'
import { truncateList, moreText } from './truncate-list.ts'
import { withPostgres } from './open-postgres.ts'
import type { Config } from '../config.ts'
import { table } from './show-help.ts'

const MOST = 10_000
const HEADS = ['DELIVERY', 'CREATED', 'DESTINATION', 'STATE', 'TYPE', 'EVENT', 'ATTEMPTS', 'NEXT', 'LAST REASON']

const OF: Record<string, Option> = {
  business: { value: 'ID', help: 'Of this business alone' },
  destination: { value: 'ID', help: 'Of this destination alone' },
}

const list: Command = {
  name: 'deliveries list',
  summary: 'Show conversions that wait, were sent or were given up, oldest first',
  options: {
    ...OF,
    state: { value: DELIVERY_STATES.join('|'), help: 'Of this state alone' },
    limit: { value: 'N', help: 'At most so many (100)' },
  },
  async run(config, words) {
    const limit = checkWhole('--limit', words.text('limit') ?? '100', MOST)
    const shown = { ...readOf(words), state: readState(words) }
    const found = await withPostgres(config, (sql) => listDeliveries(sql, shown, limit + 1))
    const { kept, truncated } = truncateList(found, limit)
    const deliveries = kept.map(({ id, nextAttemptAt, createdAt, settledAt, ...one }) => ({
      deliveryId: id,
      ...one,
      nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
      createdAt: createdAt.toISOString(),
      settledAt: settledAt?.toISOString() ?? null,
    }))
    const lines = deliveries.map((one) => [
      one.deliveryId,
      one.createdAt,
      one.destinationName,
      one.state,
      one.type,
      one.event,
      String(one.attempts),
      one.nextAttemptAt ?? '',
      one.lastError ?? '',
    ])
    const text = lines.length ? table([HEADS, ...lines]) : 'There is no delivery'
    const more = moreText(truncated, `these are the oldest ${limit}`)
    return { json: { deliveries, truncated }, text: text + more }
  },
}

const retry: Command = {
  name: 'deliveries retry',
  summary: 'Let one be due now, or all that were given up; one that was sent is not sent again',
  positionals: ['ID|all'],
  options: OF,
  run: (config, words) =>
    handle(config, words, retryDeliveries, 'Due, unless their destination rests or is not active'),
}

const drop: Command = {
  name: 'deliveries drop',
  summary: 'Forget one that was not sent, or all that were given up, for good',
  positionals: ['ID|all'],
  options: OF,
  run: (config, words) => handle(config, words, dropDeliveries, 'Dropped'),
}

export const DELIVERY_COMMANDS: Command[] = [list, retry, drop]

/** All: those that were given up. */
async function handle(config: Config, words: Words, change: typeof retryDeliveries, done: string): Promise<Report> {
  const word = words.positional(0)
  const id = word === 'all' ? null : checkId('ID', word)
  const chosen = { ...readOf(words), id }
  const report = (soFar: number) => void process.stderr.write(`${done}: ${soFar} so far\n`)
  const deliveries = await withPostgres(config, (sql) => change(sql, chosen, report))
  if (id !== null && deliveries === 0)
    throw new CommandError(
      'delivery_not_found',
      `There is no delivery ${id}, or it was sent, or is being sent just now`,
    )
  return { json: { deliveries }, text: `${done}: ${deliveries}` }
}

function readOf(words: Words): Omit<Shown, 'state'> {
  const [business, destination] = [words.text('business'), words.text('destination')]
  return {
    businessId: business === undefined ? null : checkId('--business', business),
    destinationId: destination === undefined ? null : checkId('--destination', destination),
  }
}

function readState(words: Words): DeliveryState | null {
  const typed = words.text('state')
  const state = DELIVERY_STATES.find((known) => known === typed)
  if (typed !== undefined && !state) throw new UsageError(`--state must be one of ${DELIVERY_STATES.join(', ')}`)
  return state ?? null
}
