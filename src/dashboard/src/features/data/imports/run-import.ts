/** Sends a file in parts: first to check it, then to record it. */
import { MAX_START, endsLinesWithCr, readSepLine } from '../../../../../rules/imports/file-start.ts'
import { ApiError, api, take } from '../../../client.ts'
import { sayRows } from '../../../translate-error.ts'
import { textsOf } from '../../../texts/index.ts'
import { entryOf } from '../../rules/entry-of.ts'
import { type Faults, addFaults, noFaults } from './faults.ts'
import type { MappedField } from './guess-mapping.ts'
import { type RecordSplitter, joinRecords, splitRecords } from './split-records.ts'

/** Larger files would need too much browser memory for the numbers of equal rows. */
export const MAX_FILE_BYTES = 200 * 1024 * 1024
/** Longest name of a file that the server takes. */
const MAX_NAME = 255
const LIMITS = { records: 500, characters: 2 * 1024 * 1024 }

export type Format = 'csv' | 'ndjson'

export interface ImportFile {
  file: File
  format: Format
  delimiter: string
  /** Columns of a CSV file. */
  columns: string[]
  /** Cells of its first rows. */
  samples: string[][]
}

export interface ImportRules {
  mapping: MappedField[]
  timezone: string
  name: string
  /** Undefined: as far as the number says it. */
  decimal?: 'point' | 'comma'
  /** What becomes of rows without a time. */
  withoutTime: 'fail' | 'skip'
}

export interface Checked extends Faults {
  rows: number
  /** Rows without a time. */
  leftOut: number
  /** Rows with the key of an earlier row, which will not be recorded. */
  repeatedKeys: number
  /** The first rows, as events. */
  events: unknown[]
  /** One list for each part: the number of each row among the equal rows of the file. */
  numbers: number[][]
}

export interface Sent extends Faults {
  recorded: number
  deduped: number
  queued: number
  leftOut: number
  firstWarning: string | null
  warnings: number
  /** Rows with the key of an event of another name. */
  keyWarnings: number
}

export interface Run {
  businessId: string
  signal: AbortSignal
  /** Called with the share that is done, between 0 and 1. */
  report: (share: number) => void
}

/**
 * Reads UTF-8, or UTF-16LE with a byte order mark. Throws TypeError for other bytes, which would otherwise be recorded
 * as wrong characters.
 */
export async function* readText(file: File): AsyncGenerator<string> {
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const encoding = start[0] === 0xff && start[1] === 0xfe ? 'utf-16le' : 'utf-8'
  const decoder = new TextDecoder(encoding, { fatal: true })
  const reader = file.stream().getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      yield decoder.decode(value, { stream: true })
    }
    yield decoder.decode()
  } finally {
    await reader.cancel()
  }
}

/** Yields the records of a file. Of a CSV file, the first one may name the delimiter. Throws ApiError for a long one. */
async function* readRecords(file: File, format: Format): AsyncGenerator<string> {
  let splitter: RecordSplitter | undefined
  for await (const text of readText(file)) {
    splitter ??= splitRecords(format, format === 'csv' && endsLinesWithCr(text) ? '\r' : '\n')
    const records = splitter.push(text)
    if ([...records, splitter.end()].some(({ length }) => length > LIMITS.characters)) throw tooLong()
    yield* records
  }
  const rest = splitter?.end() ?? ''
  if (rest !== '') yield rest
}

const tooLong = () => new ApiError('unreadable_file', textsOf('imports').rowTooLong)

const START_RECORDS = 4

export interface FileStart {
  /** As the first line of the file says. */
  delimiter: string | null
  /** The header and some rows. */
  records: string[]
}

/** Reads the first non-empty records of a CSV file, as many as the server takes. Throws ApiError for a long header. */
export async function readStart(file: File): Promise<FileStart> {
  const start: FileStart = { delimiter: null, records: [] }
  let characters = 0
  for await (const record of readRecords(file, 'csv')) {
    const sepLine = start.records.length === 0 && start.delimiter === null ? readSepLine(record) : null
    if (sepLine !== null) {
      start.delimiter = sepLine.delimiter
      continue
    }
    if (record.trim() === '') continue
    characters += record.length
    if (characters > MAX_START) {
      if (start.records.length === 0) throw tooLong()
      break
    }
    start.records.push(record)
    if (start.records.length === START_RECORDS) break
  }
  return start
}

/** Yields the records without the header of a CSV file. */
async function* readBody({ file, format }: ImportFile): AsyncGenerator<string> {
  let isFirst = format === 'csv'
  let isHeader = isFirst
  for await (const record of readRecords(file, format)) {
    const isSepLine = isFirst && readSepLine(record) !== null
    isFirst = false
    if (isSepLine || record.trim() === '') continue
    if (isHeader) isHeader = false
    else yield record
  }
}

const partsOf = (file: ImportFile) => joinRecords(readBody(file), LIMITS)
const bytesOf = new TextEncoder()

/** As the page names the field of a path in an event. */
const nameOfField = (path: string): string | undefined => entryOf(textsOf('imports').fields, path)

export async function checkFile(source: ImportFile, rules: ImportRules, run: Run): Promise<Checked> {
  const { businessId, signal, report } = run
  const checked: Checked = { rows: 0, leftOut: 0, repeatedKeys: 0, ...noFaults(), events: [], numbers: [] }
  const counts = new Map<string, number>()
  const known = new Set<string>()
  let bytes = 0
  for await (const text of partsOf(source)) {
    const body = { ...bodyOf(source, rules), firstRow: checked.rows + 1, text }
    const { hashes, keys, leftOut, faults, events } = await patiently(signal, () =>
      take(api.POST('/dashboard/api/b/{businessId}/imports/check', { params: { path: { businessId } }, body, signal })),
    )
    checked.numbers.push(
      hashes.map((hash) => {
        const number = (counts.get(hash) ?? 0) + 1
        counts.set(hash, number)
        return number
      }),
    )
    checked.rows += hashes.length
    checked.leftOut += leftOut
    const own = keys.filter((key) => key !== null)
    checked.repeatedKeys += own.filter((key) => known.size === known.add(key).size).length
    if (checked.events.length === 0) checked.events = events
    addFaults(checked, await sayRows(faults, nameOfField))
    bytes += bytesOf.encode(text).length
    report(Math.min(1, bytes / source.file.size))
  }
  return checked
}

export async function sendFile(
  source: ImportFile,
  rules: ImportRules,
  { rows, numbers }: Checked,
  run: Run,
  onPart: (sent: Sent) => void,
): Promise<Sent> {
  const { businessId, signal, report } = run
  const sent: Sent = {
    recorded: 0,
    deduped: 0,
    queued: 0,
    leftOut: 0,
    warnings: 0,
    keyWarnings: 0,
    ...noFaults(),
    firstWarning: null,
  }
  const begun = { file: source.file.name.slice(-MAX_NAME), fields: rules.mapping.map(({ field }) => field), rows }
  const { importId } = await patiently(signal, () =>
    take(api.POST('/dashboard/api/b/{businessId}/imports', { params: { path: { businessId } }, body: begun, signal })),
  )
  let [part, done] = [0, 0]
  for await (const text of partsOf(source)) {
    const body = { ...bodyOf(source, rules), importId, firstRow: done + 1, text, numbers: numbers[part] ?? [] }
    const answer = await patiently(signal, () =>
      take(api.POST('/dashboard/api/b/{businessId}/imports/rows', { params: { path: { businessId } }, body, signal })),
    )
    sent.recorded += answer.recorded
    sent.deduped += answer.deduped
    sent.queued += answer.queued
    sent.leftOut += answer.leftOut
    sent.warnings += answer.warnings
    sent.keyWarnings += answer.keyWarnings
    sent.firstWarning ??= answer.firstWarning
    addFaults(sent, await sayRows(answer.faults, nameOfField))
    done += body.numbers.length
    part += 1
    onPart({ ...sent })
    report(done / rows)
  }
  return sent
}

const bodyOf = ({ format, delimiter, columns }: ImportFile, rules: ImportRules) => ({
  format,
  delimiter,
  columns,
  ...rules,
})

/** Codes after which the same request is sent again. Rows that are already recorded are not recorded twice. */
const WAITING: ReadonlySet<string> = new Set(['rate_limited', 'unavailable', 'outcome_unknown', 'offline'])
const RETRY_MS = 2000
const MAX_ATTEMPTS = 150

async function patiently<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ApiError) || !WAITING.has(error.code) || attempt === MAX_ATTEMPTS) throw error
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      signal.throwIfAborted()
    }
  }
}
