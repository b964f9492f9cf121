import { queryOptions } from '@tanstack/react-query'
import { languagesWithoutUnsubscribe } from '../../../../rules/messages/unsubscribe-link.ts'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'

export type ListedTemplate = DataOf<'/dashboard/api/b/{businessId}/templates'>['templates'][number]
export type Rendering = NonNullable<
  DataOf<'/dashboard/api/b/{businessId}/messages/{messageId}'>['message']['rendering']
>
export type Template = DataOf<'/dashboard/api/b/{businessId}/templates/{templateId}'>['template']
export type Use = DataOf<'/dashboard/api/b/{businessId}/template-uses'>['uses'][number]

export interface TemplatePath {
  businessId: string
  templateId: string
}

/** Reading the texts of a template needs `contacts:read`. */
export const templateQuery = (path: TemplatePath) =>
  queryOptions({
    queryKey: ['template', path],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/templates/{templateId}', { params: { path }, signal })),
  })

/** The names of those of the email templates that have a language without a link to unsubscribe. */
export const withoutUnsubscribeQuery = (
  businessId: string,
  templates: readonly { templateId: string; version: number }[],
) =>
  queryOptions({
    queryKey: ['without-unsubscribe', businessId, templates.map(({ templateId, version }) => [templateId, version])],
    queryFn: async ({ client }) => {
      const read = await Promise.all(
        templates.map(({ templateId }) => client.fetchQuery(templateQuery({ businessId, templateId }))),
      )
      return read
        .filter(({ template }) => languagesWithoutUnsubscribe(template.variants).length > 0)
        .map(({ template }) => `\u2068${template.name}\u2069`)
    },
  })

/** The campaigns that are not archived, by the ID of the template that they use. */
export const usesQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['template-uses', businessId],
    queryFn: async ({ signal }) => {
      const params = { path: { businessId } }
      const { uses } = await take(api.GET('/dashboard/api/b/{businessId}/template-uses', { params, signal }))
      return Map.groupBy(uses, ({ templateId }) => templateId)
    },
  })

export interface Shown {
  contactId: string | undefined
  /** Replaces the language of the contact. */
  language: string | undefined
}

/** Preview of the stored version, which is part of the key. */
export const previewQuery = (path: TemplatePath, version: number, { contactId, language }: Shown) =>
  queryOptions({
    queryKey: ['template', path, 'preview', version, contactId, language],
    queryFn: ({ signal }) =>
      take(
        api.POST('/dashboard/api/b/{businessId}/templates/{templateId}/preview', {
          params: { path },
          body: { ...(contactId !== undefined && { contactId }), ...(language !== undefined && { language }) },
          signal,
        }),
      ),
    retry: false,
  })

/** Reads all templates, at most 1,000, newest first. */
export const templatesQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['templates', businessId],
    queryFn: async ({ signal }) => {
      const templates: ListedTemplate[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page = await readTemplates(businessId, cursor, signal)
        templates.push(...page.templates)
        cursor = page.nextCursor
      }
      return templates
    },
  })

const readTemplates = (businessId: string, cursor: string, signal: AbortSignal) =>
  take(
    api.GET('/dashboard/api/b/{businessId}/templates', {
      params: { path: { businessId }, query: { limit: 500, ...(cursor && { cursor }) } },
      signal,
    }),
  )
