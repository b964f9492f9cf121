/** Decides whether the data of a success matches the contract for the accepted body. */
import { FormatRegistry, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { IdentifyData } from '../../src/front-door/routes/sdk/identify.ts'
import { QueuedBatchData } from '../../src/front-door/routes/sdk/batch-items.ts'
import { BatchData } from '../../src/front-door/routes/sdk/track-batch.ts'
import { TrackData } from '../../src/front-door/routes/sdk/track.ts'
import { QueuedData, QueuedTrackData } from '../../src/front-door/routes/reply-fields.ts'
import { meaningOf } from './expect-meaning.ts'
import type { Endpoint } from './make-bodies.ts'
import { isObject, judgeItem, sent } from './verdict.ts'

FormatRegistry.Set('date', (text) => /^\d{4}-\d\d-\d\d$/.test(text))
FormatRegistry.Set('uuid', (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text))

type Json = Record<string, unknown>

interface Success {
  body: Json
  data: Json
  status: number
  keyed: boolean
}

const SCHEMAS: Record<Endpoint, Record<number, TSchema>> = {
  track: { 200: TrackData, 202: QueuedTrackData },
  'track/batch': { 200: BatchData, 202: QueuedBatchData },
  identify: { 200: IdentifyData, 202: QueuedData },
}

/** Returns the faults in words. */
export function judgeData(route: Endpoint, success: Success, caller: { businessId: string }, now: number): string[] {
  const schema = SCHEMAS[route][success.status]
  const [fault] = schema === undefined ? [{ path: '', message: 'no such status' }] : Value.Errors(schema, success.data)
  if (fault !== undefined) return [`its data is of another shape: ${fault.path} ${fault.message}`]
  const judge = { track: judgeTrack, 'track/batch': judgeItems, identify: judgeIdentified }[route]
  return judge(success, caller.businessId, now)
}

function judgeTrack({ body, data, status }: Success): string[] {
  const complaints: string[] = []
  if (data['event'] !== (sent(body, 'event') as string).trim()) complaints.push('the event has another name')
  const key = sent(body, 'idempotencyKey')
  if (data['deduped'] === true && key === undefined) complaints.push('deduped without a key')
  const { type, countedRevenue } = data['interpreted'] as { type: string; countedRevenue: number }
  const meaning = meaningOf(body)
  if (type !== meaning.type) complaints.push(`it means ${type}, not ${meaning.type}`)
  const counted = data['deduped'] === true ? 0 : meaning.counted
  // Steps of 0.000001, and the nearest double.
  const tolerance = 0.000_000_500_1 + Math.abs(counted) * 1e-15
  if (Math.abs(countedRevenue - counted) > tolerance) complaints.push(`it counts ${countedRevenue}, not ${counted}`)
  if (status !== 200) return complaints
  const warned = warnsOf(data, 'value was ')
  if (data['deduped'] === true) return warned ? [...complaints, 'a repeat warns of its amount'] : complaints
  const dropped = meaning.type === 'none' && sent(body, 'value') !== undefined
  return dropped && !warned ? [...complaints, 'an amount was dropped silently'] : complaints
}

function judgeItems({ body, data, status }: Success, businessId: string, now: number): string[] {
  const complaints: string[] = []
  const must = (holds: boolean, what: string) => void (holds || complaints.push(what))
  const items = body['events'] as unknown[]
  const failures = (data['failures'] ?? []) as { index: number }[]
  const [received, recorded, deduped, failed] = ['received', 'recorded', 'deduped', 'failed'].map((name) =>
    Number(data[name] ?? 0),
  )
  must(received === items.length, `${received} items were received, not ${items.length}`)
  must(failed === failures.length, `${failed} failed, and ${failures.length} are listed`)
  if (status === 200)
    must(Number(recorded) + Number(deduped) + Number(failed) === received, 'the numbers do not add up')
  const listed = new Set(failures.map(({ index }) => index))
  for (const [index, item] of items.entries()) {
    const { faults, unsure } = judgeItem(item, businessId, now)
    if (!unsure) must(listed.has(index) === faults.size > 0, `item ${index} is ${[...faults].join(', ') || 'good'}`)
  }
  const warnings = (data['warnings'] ?? []) as string[]
  must(
    warnings.length <= 50 && warnings.every((warning) => /^item \d+: ./.test(warning)),
    'the warnings are not as said',
  )
  return complaints
}

function judgeIdentified({ body, data, status, keyed }: Success): string[] {
  const traits = sent(body, 'traits')
  const ignores = !keyed && status === 200 && isObject(traits) && Object.keys(traits).length > 0
  return ignores && !warnsOf(data, 'traits') ? ['traits were ignored silently'] : []
}

const warnsOf = (data: Json, beginning: string): boolean =>
  ((data['warnings'] ?? []) as string[]).some((warning) => warning.startsWith(beginning))
