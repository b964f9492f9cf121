/**
 * Finds the due mails of boards, and claims the right to send one. Each mail is sent at most once: its row is written
 * before it is sent. A mail that the mail server has refused is tried a second time some minutes later.
 */
import type { Role } from '../../accounts/rights.ts'
import { dueWeek } from '../../rules/boards/mail-week.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Board } from './board.ts'

const MAX_BOARDS = 20
const MAX_ATTEMPTS = 2
const RETRY_MINUTES = 5
/**
 * Milliseconds, longer than composing takes. After this, another front door may begin, because the first one has died.
 */
const COMPOSE_MINUTES = 15
const KEEP_WEEKS = 8

export interface BoardId {
  businessId: string
  boardId: string
}

export interface DueBoard extends BoardId {
  /** Date of the Monday. */
  week: string
}

/** At most `MAX_BOARDS`; the next call finds the others. `now`: epoch milliseconds. */
export async function findDueBoards(sql: Sql, now: number): Promise<DueBoard[]> {
  const zones = await sql<{ timezone: string }[]>`
    select distinct s.timezone from boards b join businesses s on s.id = b.business_id where b.is_weekly`
  const due = zones.flatMap(({ timezone }) => {
    const week = dueWeek(now, timezone)
    return week === null ? [] : [{ timezone, week }]
  })
  if (due.length === 0) return []
  return sql<DueBoard[]>`
    select b.business_id as "businessId", b.id as "boardId", due.week
    from boards b join businesses s on s.id = b.business_id and s.active and s.removed_at is null
    join json_to_recordset(${JSON.stringify(due)}::text::json) as due (timezone text, week text) using (timezone)
    where b.is_weekly and (b.composing_until is null or b.composing_until < now()) and exists (
      select from board_recipients r left join board_mails m
        on m.business_id = r.business_id and m.board_id = r.board_id and m.user_id = r.user_id and m.week = due.week::date
      where r.business_id = b.business_id and r.board_id = b.id and (m.state is null or ${mayTryAgain(sql)}))
    order by b.id limit ${MAX_BOARDS}`
}

const mayTryAgain = (sql: Sql) => sql`
  (m.state = 'failed' and m.attempts < ${MAX_ATTEMPTS}
    and m.changed_at < now() - ${`${RETRY_MINUTES} minutes`}::interval)`

/** Null when another front door composes its mails, or they were turned off. Call `endComposing` in any case. */
export async function beginComposing(
  sql: Sql,
  { businessId, boardId }: BoardId,
): Promise<Pick<Board, 'name' | 'charts'> | null> {
  const [board] = await sql<Pick<Board, 'name' | 'charts'>[]>`
    update boards set composing_until = now() + ${`${COMPOSE_MINUTES} minutes`}::interval
    where business_id = ${businessId} and id = ${boardId} and is_weekly
      and (composing_until is null or composing_until < now())
    returning name, charts`
  return board ?? null
}

/**
 * After a failure the board waits, so that others have their turn. Also deletes the mails of weeks that are long past.
 */
export async function endComposing(
  sql: Sql,
  { businessId, boardId, week }: DueBoard,
  outcome: 'done' | 'failed',
): Promise<void> {
  const wait = outcome === 'done' ? null : `${RETRY_MINUTES} minutes`
  await sql`
    update boards set composing_until = now() + ${wait}::interval where business_id = ${businessId} and id = ${boardId}`
  await sql`
    delete from board_mails
    where business_id = ${businessId} and board_id = ${boardId} and week < ${week}::date - ${KEEP_WEEKS * 7}::integer`
}

export interface Recipient {
  userId: string
  email: string
  role: Role
  /** Null: not known. */
  language: string | null
}

export async function listRecipients(sql: Sql, { businessId, boardId }: BoardId): Promise<Recipient[]> {
  return sql<Recipient[]>`
    select r.user_id as "userId", u.email, m.role, u.language
    from board_recipients r join memberships m using (business_id, user_id) join users u on u.id = r.user_id
    where r.business_id = ${businessId} and r.board_id = ${boardId} order by r.user_id`
}

/**
 * Returns true when the caller has to send the mail now. False: it was sent, another front door sends it, or the person
 * no longer gets mails.
 */
export async function claimMail(
  sql: Sql,
  { businessId, boardId, week }: DueBoard,
  { userId, role }: Pick<Recipient, 'userId' | 'role'>,
): Promise<boolean> {
  const claimed = await sql`
    insert into board_mails as m (business_id, board_id, week, user_id, state)
    select r.business_id, r.board_id, ${week}::date, r.user_id, 'sending'
    from board_recipients r join memberships using (business_id, user_id)
      join boards b on b.business_id = r.business_id and b.id = r.board_id and b.is_weekly
    where r.business_id = ${businessId} and r.board_id = ${boardId} and r.user_id = ${userId} and role = ${role}
    on conflict (business_id, board_id, week, user_id) do update
    set state = 'sending', attempts = m.attempts + 1, changed_at = now() where ${mayTryAgain(sql)}
    returning 1`
  return claimed.length > 0
}

export async function settleMail(
  sql: Sql,
  { businessId, boardId, week }: DueBoard,
  userId: string,
  state: 'sent' | 'failed' | 'unknown',
): Promise<void> {
  await sql`
    update board_mails set state = ${state}, changed_at = now()
    where business_id = ${businessId} and board_id = ${boardId} and week = ${week}::date and user_id = ${userId}`
}
