/** Quiet hours and caps for all campaigns of the business. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import type { BodyOf } from '../../../data-of.ts'
import { ApiError, type Issue, api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Page, Section } from '../../../parts/page/page.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { CampaignContext, type CampaignEditing, Caps, Issues, QuietHours } from '../../campaigns/links.ts'
import { useFocus } from '../../../parts/action/use-focus.ts'
import { type Messaging, messagingQuery } from './queries.ts'

export function MessagingPage() {
  const texts = textsOf('messaging')
  const { id: businessId } = useBusiness()
  // Read once, when the page opens: a save by another person must not change what is being edited.
  const { data, error, isPending, refetch } = useQuery({
    ...messagingQuery(businessId),
    staleTime: Infinity,
    gcTime: 0,
  })
  return (
    <Page title={texts.title} intro={texts.intro} width="text">
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {isPending && <Loading lines={8} />}
      {data !== undefined && <Rules businessId={businessId} stored={data.messaging} />}
    </Page>
  )
}

type MessagingBody = BodyOf<'/dashboard/api/b/{businessId}/messaging', 'put'>

const NO_ISSUES: readonly Issue[] = []
const SHOWN = /^(quietHours|caps)\b/

function Rules({ businessId, stored }: { businessId: string; stored: Messaging }) {
  const texts = textsOf('messaging')
  const shell = textsOf('shell')
  const canChange = useCan('business:write')
  const [draft, setDraft] = useState<MessagingBody>(stored)
  const frame = useRef<HTMLFormElement>(null)
  const focus = useFocus(frame)
  const save = useMutation({
    mutationFn: (body: MessagingBody) => {
      const params = { path: { businessId } }
      return take(api.PUT('/dashboard/api/b/{businessId}/messaging', { params, body }))
    },
    onSuccess: ({ messaging }) => {
      setDraft(messaging)
      showToast(shell.saved)
    },
  })
  const issues = save.error instanceof ApiError ? save.error.issues : NO_ISSUES
  const editing: CampaignEditing = {
    businessId,
    value: draft,
    issues,
    templates: undefined,
    change(value, wanted) {
      save.reset()
      // The server checks what a person edits.
      setDraft(value as MessagingBody)
      if (wanted !== undefined) focus(`[data-focus="${wanted}"]`)
    },
    announce: () => undefined,
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!save.isPending) save.mutate(draft, { onError: () => focus('[aria-invalid], [role=alert]') })
  }
  return (
    <CampaignContext value={editing}>
      <Section title={texts.rules} intro={canChange ? texts.rulesIntro : textsOf('settings').ownersOnly}>
        <form ref={frame} noValidate onSubmit={submit}>
          <fieldset disabled={!canChange} aria-label={texts.rules} className="stack">
            <QuietHours kinds={['none', 'own']} />
            <Caps hint={texts.capsHint} />
            <Issues issues={issues.filter(({ path }) => !SHOWN.test(path))} />
            <ErrorBox error={issues.length > 0 ? null : save.error} />
            {canChange && (
              <div className="actions">
                <Button kind="primary" type="submit" isPending={save.isPending}>
                  {shell.save}
                </Button>
              </div>
            )}
          </fieldset>
        </form>
      </Section>
    </CampaignContext>
  )
}
