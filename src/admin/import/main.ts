/** `admin import`: a file of past events through `track/batch` of a running service. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readTimezone } from '../../businesses/settings.ts'
import type { Config } from '../../config.ts'
import { checkId, readOption, readInteger } from '../read-option.ts'
import { Sluice } from '../../sdk/node/sluice.ts'
import { type Command, type Report, UsageError, type CommandArguments } from '../command.ts'
import { createStopSignal } from '../stop-signal.ts'
import { findKey } from './find-key.ts'
import { checkMapping, readMapping } from './map-row.ts'
import { paceRequests } from './pace-requests.ts'
import { surveyRows } from './number-rows.ts'
import { openJournal } from './position.ts'
import { FileChangedError, type Plan, prepareRows } from './prepare-rows.ts'
import { describeSource, readHeader, readRows, type Source } from './read-rows.ts'
import { report } from './report.ts'
import { requireService } from './require-service.ts'
import { sendRows, type Sending } from './send-rows.ts'
import { createProgressBar } from './show-progress.ts'

/** The contract's limit of events in a request. */
const MAX_ROWS = 500
/** How many events a dry run shows. */
const DRY_RUN_EVENTS = 5

const NOTES = `Fields: event, occurredAt, type, value, currency, tags, idempotencyKey,
  email, phone, platformCustomerId (or identity.email, …), traits.NAME, properties.NAME,
  and NAME:number or NAME:boolean for a trait or property that is no text.
  An NDJSON file whose lines are events already needs no --map; with any, only what is mapped is taken.
  A nested key is written user.email.
Times: ISO 8601, or epoch milliseconds from 1990 on; other numbers (seconds, 20240131) are refused.
File: UTF-8; any other is refused before anything is sent.
Key: --key, else SLUICE_API_KEY, else the Demo business's own in DATA_DIR.
Repeating: every row carries an idempotency key made of its content, so the same rows, in any order,
  are recorded once. Equal rows of one file are told apart by counting them. A run that was stopped
  goes on where it was. Map idempotencyKey when the rows have an id of their own.

Example:
  admin import orders.csv --business ID --map platformCustomerId=customer --map occurredAt=date \\
    --map value=amount --set event=purchase --set type=purchase`

const importFile: Command = {
  name: 'import',
  summary: 'Send a CSV or NDJSON file of past events to a running service',
  positionals: ['FILE'],
  options: {
    business: { value: 'ID', help: 'The business that the events belong to' },
    map: { value: 'FIELD=COLUMN', help: 'Take a field from a column; repeat it for more', repeated: true },
    set: { value: 'FIELD=VALUE', help: 'Give a field a fixed value; repeat it for more', repeated: true },
    timezone: { value: 'ZONE', help: 'Time zone of dates without an offset (UTC)' },
    format: { value: 'csv|ndjson', help: "The file's format (by its extension)" },
    delimiter: { value: 'CHAR', help: 'Separator of the cells in a CSV row (","; a tab for .tsv)' },
    name: {
      value: 'TEXT',
      help: 'Name of this import: records its rows also when equal rows came with another import',
    },
    url: { value: 'URL', help: 'Where the service is (http://127.0.0.1:PORT)' },
    key: { value: 'KEY', help: 'A secret key of the business' },
    'batch-size': { value: 'N', help: `Rows in a request, 1 to ${MAX_ROWS} (${MAX_ROWS})` },
    parallel: { value: 'N', help: 'Requests in flight, 1 to 64 (4)' },
    patience: { value: 'SECONDS', help: 'Give up when the service has taken nothing for this long (300)' },
    restart: { help: 'Begin with the first row again, not where the last run stopped' },
    'dry-run': { help: `Show the first ${DRY_RUN_EVENTS} events and send nothing` },
    'allow-failures': { help: 'Exit with 0 also when rows failed' },
  },
  required: ['business'],
  notes: NOTES,
  async run(config, args) {
    const source = describeSource(args.positional(0), args.text('format'), args.text('delimiter'))
    const rules = await readRules(source, args)
    if (args.flag('dry-run')) return dryRun(source, await makePlan(source, rules))
    // Before the whole file is read, which can take minutes.
    const target = await findTarget(config, rules.businessId, args)
    return send(config, source, await makePlan(source, rules), target, args)
  },
}
export const IMPORT_COMMANDS: Command[] = [importFile]

/** How a row becomes an event. */
type Rules = Omit<Plan, 'survey'>

async function readRules(source: Source, args: CommandArguments): Promise<Rules> {
  const businessId = checkId('--business', args.text('business') ?? '')
  const timezone = readOption('--timezone', args.text('timezone') ?? 'UTC', readTimezone)
  const mapping = readMapping(args.texts('map'), args.texts('set'), timezone)
  checkMapping(mapping, source.format === 'csv' ? await readHeader(source) : null)
  return { businessId, mapping, name: args.text('name') ?? '' }
}

async function makePlan(source: Source, rules: Rules): Promise<Plan> {
  return { ...rules, survey: await surveyRows(readRows(source), await fileBytes(source.file)) }
}

async function fileBytes(file: string): Promise<number> {
  const { size } = await stat(file)
  return size
}

async function dryRun(source: Source, plan: Plan): Promise<Report> {
  const events: unknown[] = []
  for await (const one of prepareRows(plan, readRows(source))) {
    events.push('event' in one ? one.event : { row: one.row.number, error: one.fault })
    if (events.length === DRY_RUN_EVENTS) break
  }
  const text = events.map((event) => JSON.stringify(event, null, 2)).join('\n')
  return {
    json: { rows: plan.survey.rows, events },
    text: `${text}\n${plan.survey.rows} ${plan.survey.rows === 1 ? 'row' : 'rows'}; nothing was sent`,
  }
}

/** Where the events go, and how. */
interface Target {
  url: string
  key: string
  options: Sending['options']
}

/** Throws UsageError, and CommandError when there is no key, or nobody listens there. */
async function findTarget(config: Config, businessId: string, args: CommandArguments): Promise<Target> {
  const url = checkUrl(args.text('url') ?? `http://127.0.0.1:${config.port}`)
  const options = {
    chunkSize: readInteger('--batch-size', args.text('batch-size') ?? String(MAX_ROWS), MAX_ROWS),
    concurrency: readInteger('--parallel', args.text('parallel') ?? '4', 64),
    patienceMs: readInteger('--patience', args.text('patience') ?? '300', 86_400) * 1000,
  }
  const key = await findKey(config, businessId, args.text('key'))
  await requireService(url)
  return { url, key, options }
}

async function send(
  config: Config,
  source: Source,
  plan: Plan,
  target: Target,
  args: CommandArguments,
): Promise<Report> {
  const { url, key, options } = target
  const allowFailures = args.flag('allow-failures')
  const id = importId(plan, url)
  const journal = await openJournal(join(config.dataDir, 'imports'), id, source.file, args.flag('restart'))
  const bar = createProgressBar(process.stderr, plan.survey.rows, journal.start.position)
  if (journal.start.position > 0) bar.say(`Going on after row ${journal.start.position} of ${plan.survey.rows}`)
  const onWait = (waitMs: number): void =>
    bar.waiting(`a quarter of the rate limit of ${url} is left to live calls`, waitMs)
  const sluice = new Sluice({ apiKey: key, baseUrl: url, fetch: paceRequests(fetch, onWait) })
  const stop = createStopSignal()
  try {
    const rows = prepareRows(plan, readRows(source))
    const { businessId } = plan
    const settled = await sendRows(
      { sluice, url, businessId, signal: stop.signal, journal, bar, allowFailures, options },
      rows,
    )
    await journal.finish()
    return report(settled, journal, allowFailures)
  } catch (error) {
    // Its rows are not those that the position would stand for.
    if (error instanceof FileChangedError) await journal.forgetPosition()
    throw error
  } finally {
    stop.end()
    bar.end()
  }
}

/** One import is one file into one business with one mapping: a change of any begins anew. */
function importId({ survey, businessId, mapping, name }: Plan, url: string): string {
  const parts = JSON.stringify([survey.fingerprint, businessId, mapping, name, url])
  return createHash('sha256').update(parts).digest('hex').slice(0, 16)
}

function checkUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '')
  throw new UsageError(`--url must be such as http://127.0.0.1:8080, not "${text}"`)
}
