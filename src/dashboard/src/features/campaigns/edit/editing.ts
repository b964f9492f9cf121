/** Shared state of all parts of the editor. */
import { createContext, useContext } from 'react'
import type { Issue } from '../../../client.ts'
import type { ListedTemplate } from '../../templates/links.ts'
import { sayAtField } from '../../../without-path.ts'
import type { Json } from './definition.ts'

export interface CampaignEditing {
  businessId: string
  value: Json
  /** The server's issues with the last save. */
  issues: readonly Issue[]
  /** Undefined until they are read. */
  templates: readonly ListedTemplate[] | undefined
  /** `focus` is the `data-focus` of the element that gets the focus once the change is shown. */
  change: (value: Json, focus?: string) => void
  /** Announces a text to screen readers. */
  announce: (text: string) => void
}

export const CampaignContext = createContext<CampaignEditing | null>(null)

export function useCampaignEditing(): CampaignEditing {
  const editing = useContext(CampaignContext)
  if (editing === null) throw new Error('The editor is not around this.')
  return editing
}

/** ID of the list that suggests event names. */
export const EVENTS = 'campaign-events'

const isWithin = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)

/** Returns the first issue of a field or of its content. */
export function issueAt(issues: readonly Issue[], field: string): string | undefined {
  const found = issues.find(({ path }) => isWithin(path, field))
  return found && sayAtField(found)
}

/** Returns the issues within a part that no shown field has. */
export const otherIssues = (issues: readonly Issue[], part: string, shown: readonly string[]): Issue[] =>
  issues.filter(({ path }) => isWithin(path, part) && !shown.some((field) => isWithin(path, field)))

/** One field of a step. */
export interface StepFieldProps {
  step: Json
  /** Path of the step. */
  path: string
  /** Path of the field. */
  name: string
  label: string
  value: unknown
  error: string | undefined
  onChange: (next: unknown) => void
}
