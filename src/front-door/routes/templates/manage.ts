/** Creates, changes, deletes and reads templates. */
import { type StoredTemplate, listTemplates, loadTemplate } from '../../../messages/templates/load-template.ts'
import {
  MAX_TEMPLATES,
  createTemplate,
  deleteTemplate as deleteOne,
  updateTemplate,
} from '../../../messages/templates/save-template.ts'
import type { Template } from '../../../messages/templates/template.ts'
import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import { isRecord } from '../../../rules/is-record.ts'
import { languagesWithoutUnsubscribe, warnOfUnsubscribe } from '../../../rules/messages/unsubscribe-link.ts'
import { languagesWithBareOutput, warnOfBareOutput } from '../../../rules/messages/webhook-json.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { invalidCursor, readPage } from '../../http/read-page.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { withWarnings } from '../submit-request.ts'
import { NewTemplateSchema, TemplateChangeSchema } from './schemas.ts'

export const CREATED = 'The template is created.'
export const UPDATED = 'The template is changed.'
export const DELETED = 'The template is deleted.'
export const LISTED = 'The templates.'
export const READ = 'The template.'

const checkNew = compileCheck(NewTemplateSchema)
const checkChange = compileCheck(TemplateChangeSchema)

export async function postTemplate(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.batch)
  const sent = requireBody(checkNew(body))
  refuseUnclean(sent.name)
  const created = await createTemplate(app, { businessId: business.id, actor }, sent)
  switch (created.kind) {
    case 'faults':
      throw invalidRequest(created.faults)
    case 'too_many':
      throw new RequestError('limit_reached', { reason: faultOf('', 'templates_full', { max: MAX_TEMPLATES }) })
    case 'created':
      return { message: CREATED, data: { template: show(created.template), ...warningsOf(created.template) } }
  }
}

export async function patchTemplate(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const templateId = requireTemplateId(context)
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.batch)
  // The check drops nulls.
  const isCleared = isRecord(body) && body['sender'] === null
  const wanted = { ...requireBody(checkChange(body)), ...(isCleared && { sender: null }) }
  if (Object.keys(wanted).length === 0) throw invalidRequest([NOTHING])
  refuseUnclean(wanted.name)
  const updated = await updateTemplate(app, { businessId: business.id, actor }, templateId, wanted)
  if (updated.kind === 'not_found') throw templateNotFound()
  if (updated.kind === 'faults') throw invalidRequest(updated.faults)
  return { message: UPDATED, data: { template: show(updated.template), ...warningsOf(updated.template) } }
}

export async function deleteTemplate(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const templateId = requireTemplateId(context)
  const deleted = await deleteOne(app, { businessId: business.id, actor }, templateId)
  if (deleted.kind === 'not_found') throw templateNotFound()
  if (deleted.kind === 'in_use')
    throw new RequestError('in_use', { reason: faultOf('', 'used_by', { names: deleted.names.join(', ') }) })
  return { message: DELETED, data: { templateId } }
}

export async function getTemplate(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  return { message: READ, data: { template: show(await requireTemplate(app, context, principal)) } }
}

export async function getTemplates(
  { sql }: AppContext,
  context: RequestContext,
  { business }: Principal,
): Promise<Reply> {
  const { limit, cursor } = readPage(context)
  const before = cursor === null ? null : readId(cursor)
  if (cursor !== null && before === null) throw invalidCursor()
  const found = await listTemplates(sql, { businessId: business.id, before, limit: limit + 1 })
  const templates = found.slice(0, limit)
  const nextCursor = found.length > limit ? (templates.at(-1)?.templateId ?? null) : null
  return { message: LISTED, data: { templates, nextCursor } }
}

export async function requireTemplate(
  app: AppContext,
  context: RequestContext,
  { business }: Principal,
): Promise<StoredTemplate> {
  const template = await loadTemplate(app.sql, { businessId: business.id, templateId: requireTemplateId(context) })
  if (template === null) throw templateNotFound()
  return template
}

const show = ({ compiled: _, readsData: __, ...template }: StoredTemplate): Template => template

function warningsOf({ channel, variants }: StoredTemplate): { warnings?: readonly string[] } {
  return withWarnings([
    ...warn(warnOfUnsubscribe, channel === 'email' ? languagesWithoutUnsubscribe(variants) : []),
    ...warn(warnOfBareOutput, channel === 'webhook' ? languagesWithBareOutput(variants) : []),
  ])
}

const warn = (say: (path: string, languages: readonly string[]) => string, languages: readonly string[]): string[] =>
  languages.length === 0 ? [] : [say('variants', languages)]

const NOTHING = faultOf('', 'at_least_one', { fields: 'name, sender, variants, defaultLanguage' })

function refuseUnclean(name: string | undefined): void {
  const issues = uncleanIssues({ name })
  if (issues.length > 0) throw invalidRequest(issues)
}

const templateNotFound = () => new RequestError('not_found', { reason: faultOf('', 'no_template') })

function requireTemplateId({ params }: RequestContext): string {
  const id = readId(params['templateId'])
  if (id === null) throw templateNotFound()
  return id
}
