/** What other features may use of this one. */
export { readText } from './imports/run-import.ts'
export { firstEvent } from './live/curl.ts'
export { type Result, savedQueriesQuery } from './sql/queries.ts'
export { chartOf } from './sql/result-chart.ts'
