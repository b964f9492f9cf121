import { ApiError } from '../../client.ts'
import { sayAtField } from '../../without-path.ts'
import type { PlacedIssue } from '../rules/place-issues.ts'

/** Returns the server's issues of one series or step. `prefix` is its path, with the dot. */
export const issuesIn = (error: Error | null, prefix: string): PlacedIssue[] =>
  error instanceof ApiError
    ? error.issues
        .filter(({ path }) => path.startsWith(prefix))
        .map((issue) => ({ part: issue.path.slice(prefix.length), message: sayAtField(issue) }))
    : []
