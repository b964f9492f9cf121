/** `admin deliveries …`: the conversions that are sent to destinations. */
import { commandActor } from '../audit/command-actor.ts'
import {
  DELIVERY_STATES,
  type DeliveryState,
  type DeliveryFilter,
  dropDeliveries,
  listDeliveries,
  retryDeliveries,
} from '../deliveries/handle-deliveries.ts'
import { checkId, readInteger } from './read-option.ts'
import { type Command, CommandError, type Option, type Report, UsageError, type CommandArguments } from './command.ts'
import { truncateList, describeMore } from './truncate-list.ts'
import { withPostgres } from './open-postgres.ts'
import type { Config } from '../config.ts'
import { formatTable } from './format-help.ts'

const MAX_LISTED = 10_000
const HEADS = ['DELIVERY', 'CREATED', 'DESTINATION', 'STATE', 'TYPE', 'EVENT', 'ATTEMPTS', 'NEXT', 'LAST REASON']

const FILTERS: Record<string, Option> = {
  business: { value: 'ID', help: 'Only this business' },
  destination: { value: 'ID', help: 'Only this destination' },
}

const list: Command = {
  name: 'deliveries list',
  summary: 'List conversions that are queued, were sent or were given up, oldest first',
  options: {
    ...FILTERS,
    state: { value: DELIVERY_STATES.join('|'), help: 'Only this state' },
    limit: { value: 'N', help: `Maximum number of deliveries, up to ${MAX_LISTED} (100)` },
  },
  async run(config, args) {
    const limit = readInteger('--limit', args.text('limit') ?? '100', MAX_LISTED)
    const filter = { ...readFilter(args), state: readState(args) }
    const found = await withPostgres(config, (sql) => listDeliveries(sql, filter, limit + 1))
    const { shown, truncated } = truncateList(found, limit)
    const deliveries = shown.map(({ id, nextAttemptAt, createdAt, settledAt, ...one }) => ({
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
    const text = lines.length ? formatTable([HEADS, ...lines]) : 'There are no deliveries'
    const more = describeMore(truncated, `these are the oldest ${limit}`)
    return { json: { deliveries, truncated }, text: text + more }
  },
}

const retry: Command = {
  name: 'deliveries retry',
  summary: 'Make one delivery due now, or all that were given up; a sent one is not sent again',
  positionals: ['ID|all'],
  options: FILTERS,
  run: (config, args) =>
    handle(
      config,
      args,
      { verb: 'retry', by: retryDeliveries },
      'Due now, unless their destination is paused or inactive',
    ),
}

const drop: Command = {
  name: 'deliveries drop',
  summary: 'Delete one delivery that was not sent, or all that were given up, permanently',
  positionals: ['ID|all'],
  options: FILTERS,
  run: (config, args) => handle(config, args, { verb: 'drop', by: dropDeliveries }, 'Dropped'),
}

export const DELIVERY_COMMANDS: Command[] = [list, retry, drop]

/** `all` means all deliveries that were given up. */
async function handle(
  config: Config,
  args: CommandArguments,
  change: { verb: 'retry' | 'drop'; by: typeof retryDeliveries },
  done: string,
): Promise<Report> {
  const word = args.positional(0)
  const id = word === 'all' ? null : checkId('ID', word)
  const chosen = { ...readFilter(args), id }
  const report = (soFar: number) => void process.stderr.write(`${done}: ${soFar} so far\n`)
  const details = chosen.destinationId === null ? {} : { destinationId: chosen.destinationId }
  const named = { actor: commandActor(`admin deliveries ${change.verb}`), target: word, details }
  const deliveries = await withPostgres(config, (sql) => change.by(sql, named, chosen, report))
  if (id !== null && deliveries === 0)
    throw new CommandError(
      'delivery_not_found',
      `Delivery ${id} does not exist, was already sent, or is being sent now`,
    )
  return { json: { deliveries }, text: `${done}: ${deliveries}` }
}

function readFilter(args: CommandArguments): Omit<DeliveryFilter, 'state'> {
  const [business, destination] = [args.text('business'), args.text('destination')]
  return {
    businessId: business === undefined ? null : checkId('--business', business),
    destinationId: destination === undefined ? null : checkId('--destination', destination),
  }
}

function readState(args: CommandArguments): DeliveryState | null {
  const typed = args.text('state')
  const state = DELIVERY_STATES.find((known) => known === typed)
  if (typed !== undefined && !state) throw new UsageError(`--state must be one of ${DELIVERY_STATES.join(', ')}`)
  return state ?? null
}
