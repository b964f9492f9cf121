import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { findFaultyLines, insertLines, INSERT_SETTINGS, isDataFault } from '../stores/insert-lines.ts'
import type { WebEventLine } from './read-captures.ts'

export interface Unreadable extends WebEventLine {
  reason: string
}

/**
 * Inserts the lines as one block: all of them or none; a token that was used before changes nothing. Resolves with those
 * that ClickHouse cannot read, which are left out. Rejects on trouble.
 */
export async function insertHits(
  clickhouse: ClickHouseClient,
  lines: WebEventLine[],
  token: string,
  signal: AbortSignal,
): Promise<Unreadable[]> {
  try {
    await insert(clickhouse, lines, token, signal)
    return []
  } catch (error) {
    if (!isDataFault(error)) throw error
    const unreadable = await findUnreadable(clickhouse, lines, signal)
    // Each line by itself can be read: it was not the data after all.
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
): Promise<Unreadable[]> {
  const texts = lines.map(({ line }) => line)
  const reasons = new Map(
    (await findFaultyLines(clickhouse, texts, signal, 'web_events_check')).map(({ line, reason }) => [line, reason]),
  )
  return lines.flatMap((one) => {
    const reason = reasons.get(one.line)
    return reason === undefined ? [] : [{ ...one, reason }]
  })
}
