/** The error of a field that is not visible itself: its path, and the server's message. */
import type { Issue } from '../../client.ts'
import { withoutPath } from '../../without-path.ts'

export function IssueText({ path, message }: Issue) {
  if (path === '') return message
  return (
    <>
      <code dir="ltr">{path}</code> {withoutPath({ path, message })}
    </>
  )
}
