/**
 * Stores the boards of a business in Postgres. Changes of boards take the lock of the business, so that limits hold.
 */
import { uuidv7 } from 'uuidv7'
import { type Change, recordAudit } from '../../audit/audit.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import { BOARD_LIMITS, type Board, type BoardChart, type ListedBoard } from './board.ts'

/** In their order; at most `BOARD_LIMITS.boards`. */
export async function listBoards(sql: Queryable, businessId: string): Promise<ListedBoard[]> {
  return sql<ListedBoard[]>`
    select id, name, version, jsonb_array_length(charts) as "chartCount", is_weekly as "isWeekly"
    from boards where business_id = ${businessId} order by place, id`
}

export async function findBoard(sql: Queryable, businessId: string, id: string): Promise<Board | null> {
  const [found] = await sql<Board[]>`
    select id, name, version, charts, is_weekly as "isWeekly",
      (select coalesce(json_agg(r.user_id order by r.user_id), '[]') from board_recipients r
        where r.business_id = b.business_id and r.board_id = b.id) as recipients
    from boards b where business_id = ${businessId} and id = ${id}`
  return found ?? null
}

export async function createBoard(
  sql: Sql,
  { businessId, actor }: Change,
  name: string,
): Promise<Board | 'name_taken' | 'limit_reached'> {
  return inTransaction(sql, async (tx) => {
    await lockBoards(tx, businessId)
    const held = await tx<{ name: string; place: number }[]>`
      select name, place from boards where business_id = ${businessId}`
    if (held.some((one) => one.name === name)) return 'name_taken'
    if (held.length >= BOARD_LIMITS.boards) return 'limit_reached'
    const id = uuidv7()
    const place = Math.max(-1, ...held.map((one) => one.place)) + 1
    await tx`insert into boards (business_id, id, name, place) values (${businessId}, ${id}, ${name}, ${place})`
    await recordAudit(tx, { businessId, actor, action: 'board.create', target: id })
    return { id, name, version: 1, charts: [], isWeekly: false, recipients: [] }
  })
}

export interface BoardEdit {
  id: string
  /** Version of the board that was edited. */
  version: number
  name: string
  /** All remaining charts, in their order. */
  charts: Pick<BoardChart, 'id' | 'title' | 'size'>[]
}

/**
 * `changed`: the board no longer has the version that was edited. `no_chart`: one of the charts is not on it, or is
 * named twice.
 */
export async function updateBoard(
  sql: Sql,
  { businessId, actor }: Change,
  { id, version, name, charts }: BoardEdit,
): Promise<Board | 'name_taken' | 'not_found' | 'changed' | 'no_chart'> {
  return inTransaction(sql, async (tx) => {
    await lockBoards(tx, businessId)
    const board = await findBoard(tx, businessId, id)
    if (board === null) return 'not_found'
    if (board.version !== version) return 'changed'
    const others = await tx`select from boards where business_id = ${businessId} and name = ${name} and id <> ${id}`
    if (others.length > 0) return 'name_taken'
    const next = charts.flatMap((edit) => {
      const held = board.charts.find((one) => one.id === edit.id)
      return held === undefined ? [] : [{ ...held, ...edit }]
    })
    if (new Set(next.map((one) => one.id)).size < charts.length) return 'no_chart'
    await writeCharts(tx, businessId, { id, name, charts: next })
    await recordAudit(tx, { businessId, actor, action: 'board.update', target: id })
    return { ...board, name, charts: next, version: version + 1 }
  })
}

/** Adds a chart, whatever the version: two people who add charts lose neither. */
export async function addChart(
  sql: Sql,
  { businessId, actor }: Change,
  boardId: string,
  chart: Omit<BoardChart, 'id'>,
): Promise<Board | 'not_found' | 'limit_reached'> {
  return inTransaction(sql, async (tx) => {
    await lockBoards(tx, businessId)
    const board = await findBoard(tx, businessId, boardId)
    if (board === null) return 'not_found'
    if (board.charts.length >= BOARD_LIMITS.charts) return 'limit_reached'
    const charts = [...board.charts, { id: uuidv7(), ...chart }]
    await writeCharts(tx, businessId, { ...board, charts })
    const entry = { businessId, actor, action: 'board.update', target: boardId }
    await recordAudit(tx, { ...entry, details: { added: chart.kind } })
    return { ...board, charts, version: board.version + 1 }
  })
}

async function writeCharts(
  tx: Queryable,
  businessId: string,
  { id, name, charts }: Pick<Board, 'id' | 'name' | 'charts'>,
): Promise<void> {
  await tx`
    update boards set name = ${name}, charts = ${JSON.stringify(charts)}::text::jsonb, version = version + 1
    where business_id = ${businessId} and id = ${id}`
}

/** Returns false when there is none. */
export async function deleteBoard(sql: Sql, { businessId, actor }: Change, id: string): Promise<boolean> {
  return inTransaction(sql, async (tx) => {
    await lockBoards(tx, businessId)
    const { count } = await tx`delete from boards where business_id = ${businessId} and id = ${id}`
    if (count > 0) await recordAudit(tx, { businessId, actor, action: 'board.delete', target: id })
    return count > 0
  })
}

/**
 * `ids`: all boards in their new order. Returns false when some are missing, because another person has created or
 * deleted one meanwhile.
 */
export async function orderBoards(sql: Sql, { businessId, actor }: Change, ids: readonly string[]): Promise<boolean> {
  return inTransaction(sql, async (tx) => {
    await lockBoards(tx, businessId)
    const held = new Set((await listBoards(tx, businessId)).map(({ id }) => id))
    if (ids.length !== held.size || new Set(ids).size < ids.length || !ids.every((id) => held.has(id))) return false
    await tx`
      update boards b set place = wanted.place - 1
      from unnest(${`{${ids.join(',')}}`}::uuid[]) with ordinality as wanted (id, place)
      where b.business_id = ${businessId} and b.id = wanted.id`
    await recordAudit(tx, { businessId, actor, action: 'board.order', target: null })
    return true
  })
}

/** `not_member`: one of the recipients is not a user of the business. */
export async function setBoardMail(
  sql: Sql,
  { businessId, actor }: Change,
  { id, isWeekly, recipients }: Pick<Board, 'id' | 'isWeekly' | 'recipients'>,
): Promise<Board | 'not_found' | 'not_member'> {
  return inTransaction(sql, async (tx) => {
    await lockBoards(tx, businessId)
    const board = await findBoard(tx, businessId, id)
    if (board === null) return 'not_found'
    const wanted = `{${recipients.join(',')}}`
    // The lock keeps them from leaving the business until they are recipients.
    const members = await tx`
      select from memberships where business_id = ${businessId} and user_id = any (${wanted}::uuid[]) for key share`
    if (members.length < new Set(recipients).size) return 'not_member'
    await tx`update boards set is_weekly = ${isWeekly} where business_id = ${businessId} and id = ${id}`
    await tx`
      delete from board_recipients
      where business_id = ${businessId} and board_id = ${id} and user_id <> all (${wanted}::uuid[])`
    await tx`
      insert into board_recipients (business_id, board_id, user_id)
      select ${businessId}, ${id}, wanted from unnest(${wanted}::uuid[]) as wanted on conflict do nothing`
    const entry = { businessId, actor, action: 'board.mail', target: id }
    await recordAudit(tx, { ...entry, details: { isOn: isWeekly, recipients: recipients.length } })
    return { ...board, isWeekly, recipients: [...new Set(recipients)].toSorted() }
  })
}

/**
 * Removes the person from the recipients; succeeds also when they were no recipient. Null when there is no such board.
 */
export async function leaveBoardMail(
  sql: Sql,
  { businessId, actor }: Change,
  { id, userId }: { id: string; userId: string },
): Promise<Board | null> {
  return inTransaction(sql, async (tx) => {
    await lockBoards(tx, businessId)
    const { count } = await tx`
      delete from board_recipients where business_id = ${businessId} and board_id = ${id} and user_id = ${userId}`
    if (count > 0) {
      const entry = { businessId, actor, action: 'board.mail', target: id }
      await recordAudit(tx, { ...entry, details: { left: true } })
    }
    return findBoard(tx, businessId, id)
  })
}

async function lockBoards(tx: Queryable, businessId: string): Promise<void> {
  await tx`select from businesses where id = ${businessId} for no key update`
}
