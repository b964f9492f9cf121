/** What other features may use of this one. */
export { Content } from './content.tsx'
export { type ListedTemplate, templatesQuery, withoutUnsubscribeQuery } from './queries.ts'
export { TestSend } from './test-send.tsx'
