import { readRule } from '../../../rules/segments/reading/read-rule.ts'
import { resolveRule } from '../../../rules/segments/resolve-rule.ts'
import { loadDefinitions, rulesOf } from '../../../segments/load-definitions.ts'
import { previewRule } from '../../../segments/preview-rule.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { clickHouseUnavailable } from '../../health/clickhouse-unavailable.ts'
import { CHECKED } from './schemas.ts'

export const PREVIEWED = 'The preview.'

const DEFAULT_SAMPLE = 10

const checkPreview = compileCheck(CHECKED.preview)

export async function postPreview(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { rule: sent, sample = DEFAULT_SAMPLE } = requireBody(checkPreview(body))
  const definitions = await loadDefinitions(app.sql, business.id)
  const { fields, currency, country, topics } = definitions
  const segments = rulesOf(definitions)
  const read = readRule(sent, { fields, segments, topics })
  if ('faults' in read) throw invalidRequest(read.faults)
  const rule = resolveRule(read.rule, { segments, currency, country, topics })
  const query = { businessId: business.id, rule, fields, sample, now: app.now() }
  const preview = await previewRule(app, query)
  if (preview === 'unavailable') throw clickHouseUnavailable(app)
  return { message: PREVIEWED, data: preview }
}
