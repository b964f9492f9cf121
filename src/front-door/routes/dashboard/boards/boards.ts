/** Boards: saved charts, which a business shares and which are sent by mail every Monday. */
import { Type } from '@sinclair/typebox'
import { BOARD_LIMITS, type Board } from '../../../../analytics/boards/board.ts'
import {
  addChart,
  createBoard,
  deleteBoard,
  findBoard,
  leaveBoardMail,
  listBoards,
  orderBoards,
  setBoardMail,
  updateBoard,
} from '../../../../analytics/boards/store-boards.ts'
import type { Change } from '../../../../audit/audit.ts'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { readId } from '../../../../rules/read-id.ts'
import { closed } from '../../reply-fields.ts'
import { requireChart } from './board-charts.ts'
import { BoardBody, BoardData, BoardsData, ChartBody, MailBody, NewBoardBody, OrderBody } from './board-schemas.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from '../people/session.ts'

const checkNew = compileCheck(NewBoardBody)
const checkBoard = compileCheck(BoardBody)
const checkChart = compileCheck(ChartBody)
const checkOrder = compileCheck(OrderBody)
const checkMail = compileCheck(MailBody)

const changeBy = ({ business, actor }: Principal): Change => ({ businessId: business.id, actor })

const getBoards = async ({ sql }: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> => ({
  message: LISTED,
  data: { boards: await listBoards(sql, business.id) },
})

async function getBoard({ sql }: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const board = await findBoard(sql, principal.business.id, requireBoardId(context))
  if (board === null) throw boardNotFound()
  return show(FOUND, board, principal)
}

async function postBoard(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { name } = requireBody(checkNew(await readJson(app, context, BODY_LIMITS.single)))
  requireClean({ name })
  return saved(await createBoard(app.sql, changeBy(principal), name), principal)
}

async function putBoard(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const id = requireBoardId(context)
  const body = requireBody(checkBoard(await readJson(app, context, BODY_LIMITS.single)))
  const titles = body.charts.map(({ title }, at) => [`charts.${at}.title`, title] as const)
  requireClean({ name: body.name, ...Object.fromEntries(titles) })
  return saved(await updateBoard(app.sql, changeBy(principal), { id, ...body }), principal)
}

async function removeBoard(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  if (!(await deleteBoard(app.sql, changeBy(principal), requireBoardId(context)))) throw boardNotFound()
  return { message: DELETED, data: {} }
}

async function putOrder(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { ids } = requireBody(checkOrder(await readJson(app, context, BODY_LIMITS.single)))
  const isDone = await orderBoards(app.sql, changeBy(principal), requireIds('ids', ids))
  if (!isDone) throw new RequestError('locked', { reason: CHANGED })
  return { message: ORDERED, data: { boards: await listBoards(app.sql, principal.business.id) } }
}

async function postChart(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const id = requireBoardId(context)
  const body = requireBody(checkChart(await readJson(app, context, BODY_LIMITS.single)))
  const chart = await requireChart(app, principal, body, context.receivedAt)
  return saved(await addChart(app.sql, changeBy(principal), id, chart), principal, TOO_MANY_CHARTS)
}

async function putMail(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const id = requireBoardId(context)
  const { isOn, recipients } = requireBody(checkMail(await readJson(app, context, BODY_LIMITS.single)))
  if (isOn && recipients.length === 0) throw invalidRequest([faultOf('recipients', 'a_recipient')])
  const mail = { id, isWeekly: isOn, recipients: requireIds('recipients', recipients) }
  return saved(await setBoardMail(app.sql, changeBy(principal), mail), principal)
}

async function leaveMail({ sql }: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const left = { id: requireBoardId(context), userId: principal.actor.id }
  return saved((await leaveBoardMail(sql, changeBy(principal), left)) ?? 'not_found', principal)
}

function requireIds(path: string, sent: readonly string[]): string[] {
  const ids = sent.map(readId)
  const at = ids.indexOf(null)
  if (at >= 0) throw invalidRequest([faultOf(`${path}.${at}`, 'id')])
  return ids as string[]
}

function requireClean(texts: Record<string, string>): void {
  const issues = uncleanIssues(texts)
  if (issues.length > 0) throw invalidRequest(issues)
}

type Outcome = Board | 'not_found' | 'limit_reached' | 'name_taken' | 'changed' | 'no_chart' | 'not_member'

function saved(outcome: Outcome, principal: Principal, tooMany = TOO_MANY_BOARDS): Reply {
  switch (outcome) {
    case 'not_found':
      throw boardNotFound()
    case 'limit_reached':
      throw new RequestError('limit_reached', { reason: tooMany })
    case 'changed':
      throw new RequestError('locked', { reason: CHANGED })
    case 'name_taken':
      throw invalidRequest([faultOf('name', 'name_taken')])
    case 'no_chart':
      throw invalidRequest([faultOf('charts', 'charts_of_board')])
    case 'not_member':
      throw invalidRequest([faultOf('recipients', 'recipients')])
    default:
      return show(SAVED, outcome, principal)
  }
}

/**
 * Conditions and breakdowns can contain values of people. Of a chart that a person must not see, they see only the
 * title.
 */
function show(message: string, { isWeekly, recipients, charts, ...board }: Board, { can }: Principal): Reply {
  const shown = charts.map(({ query, page, ...chart }) =>
    can(chart.needs) ? { ...chart, query, page } : { ...chart, query: null, page: null },
  )
  return { message, data: { board: { ...board, charts: shown, mail: { isOn: isWeekly, recipients } } } }
}

function requireBoardId(context: RequestContext): string {
  const id = readId(context.params['boardId'])
  if (id === null) throw boardNotFound()
  return id
}

const boardNotFound = () => new RequestError('not_found', { reason: faultOf('', 'no_board') })

const LISTED = 'The boards.'
const FOUND = 'The board.'
const SAVED = 'The board is saved.'
const DELETED = 'The board is deleted.'
const ORDERED = 'The boards are in order.'
const CHANGED = faultOf('', 'changed_meanwhile')
const TOO_MANY_BOARDS = faultOf('', 'boards_full', { max: BOARD_LIMITS.boards })
const TOO_MANY_CHARTS = faultOf('', 'charts_full', { max: BOARD_LIMITS.charts })

const common = { tag: 'Analytics', key: 'session' } as const
const boardReply = (message: string) => ({ 200: { message, description: 'The board.', data: BoardData } })
const boardsReply = (message: string) => ({
  200: { message, description: `At most ${BOARD_LIMITS.boards}.`, data: BoardsData },
})

export const boardRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/boards',
    permission: 'lists:read',
    handler: getBoards,
    operation: { ...common, summary: 'List the boards', replies: boardsReply(LISTED), errors: MEMBER_ERRORS },
  }),
  businessRoute({
    method: 'POST',
    path: '/boards',
    permission: 'boards:write',
    handler: postBoard,
    operation: {
      ...common,
      summary: 'Create a board',
      body: { schema: NewBoardBody },
      replies: boardReply(SAVED),
      errors: [...MEMBER_BODY_ERRORS, 'limit_reached'],
    },
  }),
  businessRoute({
    method: 'PUT',
    path: '/boards',
    permission: 'boards:write',
    handler: putOrder,
    operation: {
      ...common,
      summary: 'Order the boards',
      description: 'Answers `locked` when another person has created or deleted a board meanwhile.',
      body: { schema: OrderBody },
      replies: boardsReply(ORDERED),
      errors: [...MEMBER_BODY_ERRORS, 'locked'],
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/boards/:boardId',
    permission: 'lists:read',
    handler: getBoard,
    operation: {
      ...common,
      summary: 'Read a board',
      description: 'Its charts are read from their own endpoints.',
      replies: boardReply(FOUND),
      errors: [...MEMBER_ERRORS, 'not_found'],
    },
  }),
  businessRoute({
    method: 'PUT',
    path: '/boards/:boardId',
    permission: 'boards:write',
    handler: putBoard,
    operation: {
      ...common,
      summary: 'Rename a board; order, rename, resize and remove its charts',
      description: 'Answers `locked` when the board is no longer in the version that was edited.',
      body: { schema: BoardBody },
      replies: boardReply(SAVED),
      errors: [...MEMBER_BODY_ERRORS, 'not_found', 'locked'],
    },
  }),
  businessRoute({
    method: 'DELETE',
    path: '/boards/:boardId',
    permission: 'boards:write',
    handler: removeBoard,
    operation: {
      ...common,
      summary: 'Delete a board',
      replies: { 200: { message: DELETED, description: 'Done.', data: Type.Object({}, closed) } },
      errors: [...MEMBER_ERRORS, 'not_found'],
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/boards/:boardId/charts',
    permission: 'boards:write',
    handler: postChart,
    operation: {
      ...common,
      summary: 'Add a chart to a board',
      description: `Last on the board. A board has at most ${BOARD_LIMITS.charts} charts.`,
      body: { schema: ChartBody },
      replies: boardReply(SAVED),
      errors: [...MEMBER_BODY_ERRORS, 'not_found', 'limit_reached'],
    },
  }),
  businessRoute({
    method: 'PUT',
    path: '/boards/:boardId/mail',
    permission: 'boards:write',
    handler: putMail,
    operation: {
      ...common,
      summary: 'Turn the mail of a board on or off, and choose who gets it',
      description:
        'Sent on Mondays at 08:00 in the time zone of the business, when SYSTEM_SMTP_URL and PUBLIC_URL are set. Each person gets ' +
        'the charts that they may see.',
      body: { schema: MailBody },
      replies: boardReply(SAVED),
      errors: [...MEMBER_BODY_ERRORS, 'not_found'],
    },
  }),
  businessRoute({
    method: 'DELETE',
    path: '/boards/:boardId/mail/me',
    permission: 'lists:read',
    handler: leaveMail,
    operation: {
      ...common,
      summary: 'Stop getting the mail of a board',
      description: 'Removes the caller from the recipients. Any role may do this.',
      replies: boardReply(SAVED),
      errors: [...MEMBER_ERRORS, 'not_found'],
    },
  }),
]
