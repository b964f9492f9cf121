/** Writes lost events as NDJSON that `admin import` accepts without a mapping. */
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { toTimelineEvent } from '../../outbox/timeline-row.ts'
import type { LostEvent } from '../verify/find-lost.ts'
import type { PersonIdentities } from './read-people.ts'

/** Returns the path of a business's file. */
export const fileOf = (directory: string, businessId: string): string => join(directory, `${businessId}.ndjson`)

/** Appends the events, and resolves when they are on the disk. Removes an incomplete last line of a killed run. */
export async function writeEvents(directory: string, businessId: string, lines: string[]): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const file = await open(fileOf(directory, businessId), 'a+', 0o600)
  try {
    await file.truncate(await endOfLastLine(file))
    await file.appendFile(lines.map((line) => `${line}\n`).join(''))
    await file.sync()
  } finally {
    await file.close()
  }
  const entries = await open(directory, 'r')
  try {
    await entries.sync()
  } finally {
    await entries.close()
  }
}

const BLOCK = 64 * 1024
const LINE_FEED = 10

async function endOfLastLine(file: FileHandle): Promise<number> {
  for (let end = (await file.stat()).size; end > 0;) {
    const from = Math.max(0, end - BLOCK)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - from), 0, end - from, from)
    const at = buffer.subarray(0, bytesRead).lastIndexOf(LINE_FEED)
    if (at >= 0) return from + at + 1
    end = from
  }
  return 0
}

/** Fields of the API's events that callers do not send in a batch. */
const NOT_SENT = new Set(['eventId', 'receivedAt', 'countedRevenue', 'properties', 'source', 'visitorId'])

/** Distributes several identities of a kind over the events, so that the import unites them in one person again. */
export function lineOf(event: LostEvent, person: PersonIdentities | undefined, place: number): string {
  const nth = (values: string[] = []) => values[place % Math.max(1, values.length)]
  const { type, value, currency, ...shown } = toTimelineEvent({ ...event, properties: '' })
  const sent = Object.entries(shown).filter(([name, value]) => value !== null && !NOT_SENT.has(name))
  const fields = JSON.stringify({
    identity: {
      platformCustomerId: nth(person?.platform_customer_ids),
      email: nth(person?.emails),
      phone: nth(person?.phones),
    },
    ...(type !== 'none' && { type }),
    ...(value !== null && { value, ...(currency !== null && { currency }) }),
    idempotencyKey: `recovered:${event.event_id}`,
    ...Object.fromEntries(sent),
  })
  // `properties` is already the JSON of an object.
  return event.properties === '' ? fields : `${fields.slice(0, -1)},"properties":${event.properties}}`
}
