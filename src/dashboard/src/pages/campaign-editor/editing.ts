/** What all parts of the editor share. */
import { createContext, useContext } from 'react'
import type { Issue } from '../../client.ts'
import type { ListedTemplate } from '../campaigns/queries.ts'
import { withoutPath } from '../../without-path.ts'
import type { Json } from './definition.ts'

export interface CampaignEditing {
  businessId: string
  value: Json
  /** What the server said of it. */
  issues: readonly Issue[]
  /** Undefined until they are read. */
  templates: readonly ListedTemplate[] | undefined
  /** `focus` is a `data-focus` that gets the focus when the change is shown. */
  change: (value: Json, focus?: string) => void
  /** Read aloud. */
  announce: (text: string) => void
}

export const CampaignContext = createContext<CampaignEditing | null>(null)

export function useCampaignEditing(): CampaignEditing {
  const editing = useContext(CampaignContext)
  if (editing === null) throw new Error('The editor is not around this.')
  return editing
}

/** Suggestions of names of events. */
export const EVENTS = 'campaign-events'

const isWithin = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)

/** The first issue of a field or of what is in it. */
export function issueAt(issues: readonly Issue[], field: string): string | undefined {
  const found = issues.find(({ path }) => isWithin(path, field))
  return found && withoutPath(found)
}

/** Those within a part that none of the shown fields has. */
export const otherIssues = (issues: readonly Issue[], part: string, shown: readonly string[]): Issue[] =>
  issues.filter(({ path }) => isWithin(path, part) && !shown.some((field) => isWithin(path, field)))
