/** The endpoints about templates. */
import { PAGE_QUERY } from '../../http/read-page.ts'
import { LISTED_TEMPLATE_EXAMPLE, TEMPLATE_EXAMPLE } from '../../openapi/examples.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import * as manage from './manage.ts'
import { PREVIEWED, postPreview } from './preview.ts'
import * as schemas from './schemas.ts'

const { name, channel, variants, defaultLanguage, templateId } = TEMPLATE_EXAMPLE
const tag = 'Messages'
const templateReply = (message: string) => ({
  200: { message, description: 'The template.', data: schemas.TemplateData, example: { template: TEMPLATE_EXAMPLE } },
})
const savedReply = (message: string) => ({
  200: {
    message,
    description: 'The template. A warning names the languages of an email that have no link to unsubscribe.',
    data: schemas.SavedTemplateData,
    example: { template: TEMPLATE_EXAMPLE },
  },
})

export const templateEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'POST',
    path: '/templates',
    permission: 'audience:write',
    handler: manage.postTemplate,
    operation: {
      summary: 'Create a template',
      description:
        'Refused when it does not parse, or reads what no contact and no event has. A business has at most 1,000 templates.',
      tag,
      body: { schema: schemas.NewTemplateSchema, example: { name, channel, variants, defaultLanguage } },
      replies: savedReply(manage.CREATED),
    },
    errors: ['limit_reached'],
  },
  {
    method: 'GET',
    path: '/templates',
    permission: 'lists:read',
    handler: manage.getTemplates,
    operation: {
      summary: 'List the templates',
      tag,
      query: PAGE_QUERY,
      replies: {
        200: {
          message: manage.LISTED,
          description: 'Newest first, without their variants.',
          data: schemas.TemplatesData,
          example: { templates: [LISTED_TEMPLATE_EXAMPLE], nextCursor: null },
        },
      },
    },
    errors: ['invalid_request'],
  },
  {
    method: 'GET',
    path: '/templates/:templateId',
    permission: 'lists:read',
    handler: manage.getTemplate,
    operation: { summary: 'Read a template', tag, replies: templateReply(manage.READ) },
    errors: ['not_found'],
  },
  {
    method: 'PATCH',
    path: '/templates/:templateId',
    permission: 'audience:write',
    handler: manage.patchTemplate,
    operation: {
      summary: 'Change a template',
      description:
        'Changes only the fields that you send; `variants` replaces all of them. Messages that are sent later use the new version.',
      tag,
      body: { schema: schemas.TemplateChangeSchema, example: { name, variants } },
      replies: savedReply(manage.UPDATED),
    },
    errors: ['not_found'],
  },
  {
    method: 'DELETE',
    path: '/templates/:templateId',
    permission: 'audience:write',
    handler: manage.deleteTemplate,
    operation: {
      summary: 'Delete a template',
      description: 'Refused while a campaign that is not archived names it.',
      tag,
      replies: {
        200: {
          message: manage.DELETED,
          description: 'Deleted.',
          data: schemas.DeletedTemplateData,
          example: { templateId },
        },
      },
    },
    errors: ['not_found', 'in_use'],
  },
  {
    method: 'POST',
    path: '/templates/:templateId/preview',
    permission: 'contacts:read',
    handler: postPreview,
    operation: {
      summary: 'Preview a template',
      description: 'The message before links are changed to track clicks. Its unsubscribe link unsubscribes no person.',
      tag,
      body: { schema: schemas.PreviewTemplateSchema, example: { language: 'en' } },
      replies: {
        200: {
          message: PREVIEWED,
          description: 'The message.',
          data: schemas.PreviewTemplateData,
          example: {
            message: { language: 'en', subject: 'Welcome, there', html: '<p>Hello there</p>', text: 'Hello there' },
          },
        },
      },
    },
    errors: ['not_found'],
  },
]
