/** A campaign as JSON, as the API takes it. The server checks it, and names what is wrong by its path. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { ApiError, api, take } from '../../client.ts'
import { Button } from '../../parts/button.tsx'
import { Copy } from '../../parts/code.tsx'
import { ErrorBox } from '../../parts/error-box.tsx'
import { TextAreaField } from '../../parts/field.tsx'
import { Note } from '../../parts/note.tsx'
import { Page } from '../../parts/page.tsx'
import { showToast } from '../../parts/toast.tsx'
import { textsOf } from '../../texts/index.ts'
import { type Campaign, campaignQuery, campaignsQuery } from '../campaigns/queries.ts'
import { LeaveDialog } from '../segment-editor/leave-dialog.tsx'
import { withoutPath } from '../segments/rule/place-issues.ts'
import styles from './campaign-editor.module.css'

interface EditorProps {
  businessId: string
  /** Undefined: a new one. */
  campaign: Campaign | undefined
}

const FORM = 'campaign'

export function Editor({ businessId, campaign }: EditorProps) {
  const texts = textsOf('campaigns')
  const [first] = useState(() => textOf(campaign))
  const [text, setText] = useState(first)
  const isChanged = useRef(false)
  useEffect(() => {
    isChanged.current = text !== first
  }, [text, first])
  const save = useSave({ businessId, campaign }, () => {
    isChanged.current = false
  })
  const { value, fault } = readJson(text)
  const issues = save.error instanceof ApiError ? save.error.issues : []
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (fault === undefined) save.mutate(value)
  }
  return (
    <Page
      title={campaign === undefined ? texts.newTitle : texts.editTitle}
      intro={campaign && <bdi className="foreign">{campaign.name}</bdi>}
      actions={
        <Button kind="primary" type="submit" form={FORM} isPending={save.isPending} disabled={fault !== undefined}>
          {textsOf('shell').save}
        </Button>
      }
    >
      {campaign !== undefined && campaign.status !== 'draft' && <Note>{texts.makesVersion}</Note>}
      <ErrorBox error={issues.length > 0 ? null : save.error} />
      <form id={FORM} noValidate onSubmit={submit} className={`card ${styles['form']}`}>
        <TextAreaField
          name="json"
          label={texts.jsonLabel}
          hint={texts.jsonHint}
          rows={24}
          dir="ltr"
          spellCheck={false}
          value={text}
          error={fault && `${texts.jsonInvalid} ${fault}`}
          onChange={(event) => {
            save.reset()
            setText(event.target.value)
          }}
        />
        {issues.length > 0 && (
          <ul className={styles['issues']} role="alert">
            {issues.map(({ path, message }) => (
              <li key={path + message}>
                <code dir="ltr">{path}</code> {withoutPath({ path, message })}
              </li>
            ))}
          </ul>
        )}
        <div className="row">
          <Copy what={text} />
        </div>
      </form>
      <LeaveDialog isChanged={isChanged} onLeave={() => undefined} />
    </Page>
  )
}

const EXAMPLE = {
  name: '',
  trigger: { event: 'signup' },
  goal: { event: 'purchase' },
  steps: [{ type: 'wait', for: 'P1D' }],
}

/** What a change may name. */
function textOf(campaign: Campaign | undefined): string {
  if (campaign === undefined) return JSON.stringify(EXAMPLE, null, 2)
  const { campaignId: _, status: _status, version: _version, ...fields } = campaign
  return JSON.stringify(fields, null, 2)
}

function readJson(text: string): { value: object; fault?: string } {
  try {
    const value = JSON.parse(text) as unknown
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value }
    return { value: {}, fault: textsOf('campaigns').notAnObject }
  } catch (error) {
    return { value: {}, fault: (error as Error).message }
  }
}

/** Shows the saved campaign. `onSaved` comes first. */
function useSave({ businessId, campaign }: EditorProps, onSaved: () => void) {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (value: object) => send({ businessId, campaign }, value),
    onSuccess: async ({ campaign: { campaignId } }) => {
      onSaved()
      showToast(textsOf('campaigns').saved)
      const path = { businessId, campaignId }
      void client.invalidateQueries({ queryKey: campaignsQuery(businessId).queryKey })
      void client.invalidateQueries({ queryKey: campaignQuery(path).queryKey })
      await navigate({ to: '/dashboard/b/$businessId/campaigns/$campaignId', params: path, search: { tab: 'steps' } })
    },
  })
}

/** The server checks what the person has typed. */
function send({ businessId, campaign }: EditorProps, value: object): Promise<{ campaign: Campaign }> {
  if (campaign === undefined) {
    const params = { path: { businessId } }
    return take(api.POST('/dashboard/api/b/{businessId}/campaigns', { params, body: value as never }))
  }
  const params = { path: { businessId, campaignId: campaign.campaignId } }
  return take(api.PATCH('/dashboard/api/b/{businessId}/campaigns/{campaignId}', { params, body: value as never }))
}
