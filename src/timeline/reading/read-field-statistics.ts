/**
 * How custom fields are used, from the snapshots of contacts. When there are many contacts, a sample is read: always
 * the same ones.
 */
import type { FieldType } from '../../rules/events/facts.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { nullOnTimeout, selectWithinLimits } from './select-within-limits.ts'

/** Approximate number of contacts in a sample. */
export const SAMPLE_CONTACTS = 100_000
const TOP_VALUES = 10
const SHOWN_LENGTH = 200

/** `isSampled`: the counts cover only some of the contacts. */
interface Sample {
  contacts: number
  isSampled: boolean
}

export interface FieldUse extends Sample {
  /** Number of these contacts that have a value, by key. */
  filled: Map<string, number>
}

/** Resolves with null when ClickHouse does not answer in time, for whatever reason. */
export async function readFieldUse(clickhouse: ClickHouseClient, businessId: string): Promise<FieldUse | null> {
  return nullOnTimeout(async (signal) => {
    const step = await chooseStep(clickhouse, businessId, signal)
    const [row] = await selectWithinLimits<{ contacts: number; keys: string[]; counts: number[] }>(
      clickhouse,
      `select count() as contacts, tupleElement(used, 1) as keys, tupleElement(used, 2) as counts,
        sumMap(present, arrayMap(one -> toUInt64(1), present)) as used
      from (select JSONExtractKeys(custom_fields) as present from ${SAMPLE})`,
      { businessId, step },
      signal,
    )
    const { contacts = 0, keys = [], counts = [] } = row ?? {}
    return { contacts, isSampled: step > 1, filled: new Map(keys.map((key, at) => [key, counts[at] ?? 0])) }
  })
}

export interface FieldValues extends Sample {
  filled: number
  distinct: number
  /** The most frequent values, as text; long ones are cut. */
  top: { value: string; count: number }[]
  /** Numbers only: minimum, first quartile, median, third quartile, maximum. */
  quantiles: number[] | null
  /** Dates only: ISO 8601 UTC. */
  range: { from: string; to: string } | null
}

/** Resolves with null when ClickHouse does not answer in time, for whatever reason. */
export async function readFieldValues(
  clickhouse: ClickHouseClient,
  { businessId, key, type }: { businessId: string; key: string; type: FieldType },
): Promise<FieldValues | null> {
  return nullOnTimeout(async (signal) => {
    const step = await chooseStep(clickhouse, businessId, signal)
    const text = type === 'Number' || type === 'Boolean' ? 'JSONExtractRaw' : 'JSONExtractString'
    const [row] = await selectWithinLimits<ValuesRow>(
      clickhouse,
      `select sum(times) as contacts, sumIf(times, has) as filled, countIf(has) as distinct,
        arraySlice(arraySort(one -> (-one.2, one.1),
          groupArrayIf((substringUTF8(value, 1, ${SHOWN_LENGTH}), toInt64(times)), has)), 1, ${TOP_VALUES}) as top
        ${SPREADS[type]}
      from (
        select JSONHas(custom_fields, {key: String}) as has, ${text}(custom_fields, {key: String}) as value, count() as times
        from ${SAMPLE} group by has, value
      )`,
      { businessId, step, key },
      signal,
    )
    const { contacts = 0, filled = 0, distinct = 0, top = [], quantiles = [], range } = row ?? {}
    const [from, to] = range ?? [null, null]
    return {
      contacts,
      isSampled: step > 1,
      filled,
      distinct,
      top: top.map(([value, count]) => ({ value, count })),
      quantiles: filled > 0 && type === 'Number' ? quantiles : null,
      range:
        from === null || to === null ? null : { from: new Date(from).toISOString(), to: new Date(to).toISOString() },
    }
  })
}

interface ValuesRow {
  contacts: number
  filled: number
  distinct: number
  top: [value: string, count: number][]
  quantiles?: number[]
  range?: [from: number | null, to: number | null]
}

const INSTANT = "toUnixTimestamp64Milli(parseDateTime64BestEffortOrNull(value, 3, 'UTC'))"
const SPREADS: Record<FieldType, string> = {
  Number:
    ', quantilesExactWeightedIf(0, 0.25, 0.5, 0.75, 1)(toFloat64OrZero(value), toUInt64(times), has = 1) as quantiles',
  Date: `, [minIf(${INSTANT}, has), maxIf(${INSTANT}, has)] as range`,
  Boolean: '',
  Text: '',
}

/** The condition on the id is applied before the rows of a contact are merged, so that few texts are read. */
const SAMPLE = `contact_snapshots final
  prewhere business_id = {businessId: UUID} and cityHash64(contact_id) % {step: UInt32} = 0
  where merged_into is null and erased = 0`

/**
 * Returns n when every n-th contact is to be read. The count includes merged contacts and older states, which does not
 * matter here.
 */
async function chooseStep(clickhouse: ClickHouseClient, businessId: string, signal: AbortSignal): Promise<number> {
  const [row] = await selectWithinLimits<{ rows: number }>(
    clickhouse,
    'select count() as rows from contact_snapshots where business_id = {businessId: UUID}',
    { businessId },
    signal,
  )
  return Math.max(1, Math.round((row?.rows ?? 0) / SAMPLE_CONTACTS))
}
