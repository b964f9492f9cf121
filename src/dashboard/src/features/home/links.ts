/** What other features may use of this one. */
export { statusQuery } from './queries.ts'
