import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { findFaultyLines, insertLines, INSERT_SETTINGS, isDataFault } from '../stores/insert-lines.ts'
import type { WebEventLine } from './read-captures.ts'

export interface UnreadableLine extends WebEventLine {
  reason: string
}

/**
 * Inserts the lines as one block, all or none. An insert with a token that was used before has no effect. Resolves with
 * the lines that ClickHouse cannot read; these are left out. Rejects on other errors.
 */
export async function insertHits(
  clickhouse: ClickHouseClient,
  lines: WebEventLine[],
  token: string,
  signal: AbortSignal,
): Promise<UnreadableLine[]> {
  try {
    await insert(clickhouse, lines, token, signal)
    return []
  } catch (error) {
    if (!isDataFault(error)) throw error
    const unreadable = await findUnreadable(clickhouse, lines, signal)
    // ClickHouse can read each line on its own, so the data is not the cause.
    if (unreadable.length === 0) throw error
    const faulty = new Set(unreadable.map(({ line }) => line))
    await insert(
      clickhouse,
      lines.filter(({ line }) => !faulty.has(line)),
      token,
      signal,
    )
    return unreadable
  }
}

async function insert(
  clickhouse: ClickHouseClient,
  lines: WebEventLine[],
  token: string,
  signal: AbortSignal,
): Promise<void> {
  if (lines.length === 0) return
  const settings = `${INSERT_SETTINGS}, insert_deduplication_token = '${token}'`
  await insertLines(
    clickhouse,
    `insert into web_events settings ${settings}`,
    lines.map(({ line }) => line),
    signal,
  )
}

async function findUnreadable(
  clickhouse: ClickHouseClient,
  lines: WebEventLine[],
  signal: AbortSignal,
): Promise<UnreadableLine[]> {
  const texts = lines.map(({ line }) => line)
  const reasons = new Map(
    (await findFaultyLines(clickhouse, texts, signal, 'web_events_check')).map(({ line, reason }) => [line, reason]),
  )
  return lines.flatMap((one) => {
    const reason = reasons.get(one.line)
    return reason === undefined ? [] : [{ ...one, reason }]
  })
}
