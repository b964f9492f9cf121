/** The page of an editor: what it shows is a draft until it is saved. */
import type { ReactNode } from 'react'
import { textsOf } from '../../texts/index.ts'
import { Button } from '../action/button.tsx'
import { Page } from '../page/page.tsx'

interface DraftEditorProps {
  title: string
  intro?: ReactNode
  width?: 'full'
  /** ID of the form that saves the draft. */
  form: string
  /** False for people who may only read. */
  canSave?: boolean
  isSaving: boolean
  /** True while the draft cannot be saved. */
  isBlocked?: boolean
  /** Stand before the button that saves. */
  actions?: ReactNode
  /** Read aloud. */
  announcement?: string
  children: ReactNode
}

export function DraftEditor({ form, canSave = true, isSaving, isBlocked, actions, ...page }: DraftEditorProps) {
  const { announcement, children, ...rest } = page
  const save = (
    <>
      {actions}
      <Button kind="primary" type="submit" form={form} isPending={isSaving} disabled={isBlocked}>
        {textsOf('shell').save}
      </Button>
    </>
  )
  return (
    <Page {...rest} actions={canSave && save}>
      {children}
      {announcement !== undefined && (
        <p className="visually-hidden" role="status">
          {announcement}
        </p>
      )}
    </Page>
  )
}
