/** What is wrong with a field, where the field itself is not shown: its path, and what the server said of it. */
import type { Issue } from '../client.ts'
import { withoutPath } from '../without-path.ts'

export function IssueText({ path, message }: Issue) {
  if (path === '') return message
  return (
    <>
      <code dir="ltr">{path}</code> {withoutPath({ path, message })}
    </>
  )
}
