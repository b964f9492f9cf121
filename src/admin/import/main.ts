/** `admin import`: sends a file of past events to `track/batch` of a running service. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readTimezone } from '../../businesses/settings.ts'
import type { Config } from '../../config.ts'
import { checkId, readOption, readInteger } from '../read-option.ts'
import { WITHOUT_TIME, checkMapping, readMapping } from '../../imports/map-row.ts'
import { EVENT_FIELD_NAMES } from '../../rules/imports/event-fields.ts'
import { DECIMAL_SIGNS } from '../../rules/imports/read-decimal.ts'
import { Sluice } from '../../sdk/node/sluice.ts'
import { findFrontDoorUrl } from '../../stores/data-dir.ts'
import { type Command, type Report, UsageError, type CommandArguments } from '../command.ts'
import { createStopSignal } from '../stop-signal.ts'
import { findKey } from './find-key.ts'
import { paceRequests } from './pace-requests.ts'
import { surveyRows } from './number-rows.ts'
import { type Totals, openJournal } from './position.ts'
import { FileChangedError, type Plan, prepareRows } from './prepare-rows.ts'
import { describeSource, readHeader, readRows, type ImportFile } from './read-rows.ts'
import { recordBegin, recordEnd } from './record-import.ts'
import { describeFailures, describeLeftOut, describeRows, type Failure, report, SHOWN } from './report.ts'
import { requireService } from './require-service.ts'
import { sendRows, type Sending } from './send-rows.ts'
import { createProgressBar } from './show-progress.ts'

/** Maximum number of events that the API accepts in one request. */
const MAX_ROWS = 500
/** Number of events that a dry run shows. */
const DRY_RUN_EVENTS = 5

const plainFields = EVENT_FIELD_NAMES.filter((name) => !name.includes('.')).join(', ')

const NOTES = `Fields: ${plainFields},
  email, phone, platformCustomerId (or identity.email, …), traits.NAME, properties.NAME,
  and NAME:number or NAME:boolean for a trait or property that is not text.
Opt-ins: optIn.email, optIn.sms, optIn.whatsapp, optIn.push (yes, no, subscribed, unsubscribed, pending and more words
  of other tools, or the date of the opt-in) and optIn.method. Words were chosen at occurredAt. They are never recorded over a later choice.
  topic.KEY.CHANNEL, such as topic.newsletter.email, is a choice of a topic, in the same words.
  If the lines of an NDJSON file are events already, you need no --map. With any --map, only mapped fields are taken.
  Write a nested key as user.email.
Times: ISO 8601, or epoch milliseconds from 1990 on. Other numbers (seconds, 20240131) are rejected.
  A row fails if its mapped time is empty. With --without-time skip, such rows are left out.
Numbers: 1234.50 or 1234,50. What can be read in two ways (1.234; 1,234) is rejected, unless --decimal says which sign
  separates decimals. Of the amounts of currencies with three decimals (KWD, TND, …) it is never rejected.
File: UTF-8, or UTF-16LE with a byte order mark. Any other file is rejected before anything is sent.
Key: --key, otherwise SLUICE_API_KEY, otherwise the key of the Demo business in DATA_DIR.
Running it again: the idempotency key of a row is made from its content, so the same rows, in any order,
  are recorded once. Equal rows in one file are numbered, so that each of them is recorded. A stopped run
  continues where it stopped. If your rows have an ID, map it: --map idempotencyKey=COLUMN.

Example:
  admin import orders.csv --business ID --map platformCustomerId=customer --map occurredAt=date \\
    --map value=amount --set event=purchase --set type=purchase`

const importFile: Command = {
  name: 'import',
  summary: 'Send a CSV or NDJSON file of past events to a running service',
  positionals: ['FILE'],
  options: {
    business: { value: 'ID', help: 'The business that the events belong to' },
    map: { value: 'FIELD=COLUMN', help: 'Take a field from a column; repeat for more', repeated: true },
    set: { value: 'FIELD=VALUE', help: 'Give a field a constant value; repeat for more', repeated: true },
    timezone: { value: 'ZONE', help: 'Time zone of dates without an offset (UTC)' },
    decimal: { value: 'point|comma', help: 'Sign that separates decimals; the other one separates thousands' },
    'without-time': { value: 'fail|skip', help: 'What becomes of rows whose mapped time is empty (fail)' },
    format: { value: 'csv|ndjson', help: 'Format of the file (by its extension)' },
    delimiter: {
      value: 'CHAR',
      help: 'Separator between the cells of a CSV row (as a first line sep=; says, else ","; a tab for .tsv)',
    },
    name: {
      value: 'TEXT',
      help: 'Name of this import; its rows are recorded even if another import had equal rows',
    },
    url: { value: 'URL', help: 'Address of the service (the one that `start` runs, else http://127.0.0.1:PORT)' },
    key: { value: 'KEY', help: 'A secret key of the business' },
    'batch-size': { value: 'N', help: `Rows in a request, 1 to ${MAX_ROWS} (${MAX_ROWS})` },
    parallel: { value: 'N', help: 'Requests in flight, 1 to 64 (4)' },
    patience: { value: 'SECONDS', help: 'Give up when the service has accepted nothing for this time (300)' },
    restart: { help: 'Start again at the first row, not where the last run stopped' },
    'dry-run': { help: `Show the first ${DRY_RUN_EVENTS} events, check the cells of all rows, and send nothing` },
    'allow-failures': { help: 'Exit with code 0 even if rows failed, or would fail' },
  },
  required: ['business'],
  notes: NOTES,
  async run(config, args) {
    const source = describeSource(args.positional(0), args.text('format'), args.text('delimiter'))
    const rules = await readRules(source, args)
    if (args.flag('dry-run')) return dryRun(source, await makePlan(source, rules), args.flag('allow-failures'))
    // Checks the service and the key first, because reading the whole file can take minutes.
    const target = await findTarget(config, rules.businessId, args)
    const plan = await makePlan(source, rules)
    return send(config, source, plan, target, args)
  },
}
export const IMPORT_COMMANDS: Command[] = [importFile]

/** The rules by which a row becomes an event. */
type Rules = Omit<Plan, 'survey'>

async function readRules(source: ImportFile, args: CommandArguments): Promise<Rules> {
  const businessId = checkId('--business', args.text('business') ?? '')
  const timezone = readOption('--timezone', args.text('timezone') ?? 'UTC', readTimezone)
  const mapping = readMapping(args.texts('map'), args.texts('set'), timezone, {
    decimal: readWord(args, 'decimal', DECIMAL_SIGNS),
    withoutTime: readWord(args, 'without-time', WITHOUT_TIME),
    isCsv: source.format === 'csv',
  })
  checkMapping(mapping, source.format === 'csv' ? await readHeader(source) : null)
  return { businessId, mapping, name: args.text('name') ?? '' }
}

function readWord<Word extends string>(
  args: CommandArguments,
  option: string,
  words: readonly Word[],
): Word | undefined {
  const typed = args.text(option)
  const word = words.find((one) => one === typed)
  if (typed !== undefined && word === undefined) throw new UsageError(`--${option} must be ${words.join(' or ')}`)
  return word
}

async function makePlan(source: ImportFile, rules: Rules): Promise<Plan> {
  return { ...rules, survey: await surveyRows(readRows(source), await fileBytes(source.file)) }
}

async function fileBytes(file: string): Promise<number> {
  const { size } = await stat(file)
  return size
}

/** Reads all rows as when they are sent. The service is not asked. */
async function dryRun(source: ImportFile, plan: Plan, allowFailures: boolean): Promise<Report> {
  const events: unknown[] = []
  const failures: Failure[] = []
  let [failed, leftOut] = [0, 0]
  for await (const one of prepareRows(plan, readRows(source))) {
    if ('event' in one) {
      if (events.length < DRY_RUN_EVENTS) events.push(one.event)
    } else if (one.isLeftOut) leftOut += 1
    else {
      failed += 1
      if (failures.length < SHOWN) failures.push({ row: one.row.number, error: one.fault.message })
    }
  }
  const { rows } = plan.survey
  return {
    json: { rows, failed, leftOut, events, failures },
    text: [
      ...events.map((event) => JSON.stringify(event, null, 2)),
      `${describeRows(rows)}: ${failed} would fail${describeLeftOut(leftOut)}; nothing was sent`,
      ...describeFailures(failures, failed),
    ].join('\n'),
    exitCode: failed > 0 && !allowFailures ? 1 : 0,
  }
}

/** The service that receives the events, and options for sending them. */
interface Target {
  url: string
  key: string
  options: Sending['options']
}

/** Throws UsageError, or CommandError when there is no key or the service does not answer. */
async function findTarget(config: Config, businessId: string, args: CommandArguments): Promise<Target> {
  const url = checkUrl(args.text('url') ?? (await findFrontDoorUrl(config)))
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
  source: ImportFile,
  plan: Plan,
  target: Target,
  args: CommandArguments,
): Promise<Report> {
  const { url, key, options } = target
  const allowFailures = args.flag('allow-failures')
  const id = importId(plan, url)
  const journal = await openJournal(join(config.dataDir, 'imports'), id, source.file, args.flag('restart'))
  const bar = createProgressBar(process.stderr, plan.survey.rows, journal.start.position)
  if (journal.start.position > 0)
    bar.showStatus(`Continuing after row ${journal.start.position} of ${plan.survey.rows}`)
  const onWait = (waitMs: number): void =>
    bar.waiting(`a quarter of the rate limit of ${url} stays free for live calls`, waitMs)
  const paced = paceRequests(fetch, onWait)
  const sluice = new Sluice({ apiKey: key, baseUrl: url, fetch: paced })
  const entryId = await recordBegin(config, plan, source.file)
  const stop = createStopSignal()
  let progress: Totals = journal.start
  try {
    const rows = prepareRows(plan, readRows(source))
    const { businessId } = plan
    const settled = await sendRows(
      {
        sluice,
        url,
        choices: { key, fetch },
        businessId,
        signal: stop.signal,
        journal,
        bar,
        allowFailures,
        options,
        onProgress: (reached) => {
          progress = reached
        },
      },
      rows,
    )
    await journal.finish()
    return report(settled, journal, allowFailures)
  } catch (error) {
    // The stored position would refer to rows of another file.
    if (error instanceof FileChangedError) await journal.forgetPosition()
    throw error
  } finally {
    stop.end()
    bar.end()
    await recordEnd(config, entryId, journal.start, progress)
  }
}

/**
 * Identifies an import by its file, business, mapping, name and service. If any of them changes, the import starts
 * again at the first row.
 */
function importId({ survey, businessId, mapping, name }: Plan, url: string): string {
  const parts = JSON.stringify([survey.fingerprint, businessId, mapping, name, url])
  return createHash('sha256').update(parts).digest('hex').slice(0, 16)
}

function checkUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '')
  throw new UsageError(`--url must be an address such as http://127.0.0.1:8080, not "${text}"`)
}
