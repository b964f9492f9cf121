/** Actions that the status of the campaign allows. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, lazy, useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button, ButtonLink } from '../../../parts/action/button.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import type { IconName } from '../../../parts/value/icon-shapes.ts'
import { showError, showToast } from '../../../parts/feedback/toast.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Campaign, type CampaignPath, campaignQuery, campaignsQuery } from '../queries.ts'
import { walkSteps } from '../steps.ts'
import type { Step, StepState, Switch } from './use-change.ts'

const TestSequence = lazy(() => import('./test-sequence.tsx').then(({ TestSequence }) => ({ default: TestSequence })))

interface ActionsProps {
  path: CampaignPath
  campaign: Campaign
  step: StepState
  onSwitch: (change: Switch) => void
}

interface Next {
  change: Step | Switch
  icon: IconName
}

const NEXT: Partial<Record<Campaign['status'], Next>> = {
  draft: { change: 'publish', icon: 'play' },
  published: { change: 'pause', icon: 'pause' },
  paused: { change: 'resume', icon: 'play' },
}

export function Actions({ path, campaign, step, onSwitch }: ActionsProps) {
  const texts = textsOf('campaigns')
  const canChange = useCan('audience:write')
  const [isAsking, setAsking] = useState(false)
  const [isTesting, setTesting] = useState(false)
  const { status, name, steps } = campaign
  const next = NEXT[status]
  if (!canChange) return null
  if (next === undefined) return <Duplicate path={path} />
  const close = () => setAsking(false)
  const make = (change: Step | Switch) =>
    change === 'pause' || change === 'resume' ? onSwitch(change) : step.mutate(change)
  return (
    <>
      {/* One button whose content changes, so that it keeps the focus. */}
      <Button
        kind={status === 'published' ? 'plain' : 'primary'}
        icon={next.icon}
        isPending={step.isPending}
        onClick={() => make(next.change)}
      >
        {texts[next.change]}
      </Button>
      <ButtonLink icon="edit" to="/dashboard/b/$businessId/campaigns/$campaignId/edit" params={path}>
        {texts.edit}
      </ButtonLink>
      {walkSteps(steps).some(({ type }) => type === 'send') && (
        <Button icon="send" onClick={() => setTesting(true)}>
          {textsOf('test-sequence').button}
        </Button>
      )}
      <Duplicate path={path} />
      <Button kind="danger" onClick={() => setAsking(true)}>
        {status === 'draft' ? texts.remove : texts.archive}
      </Button>
      {isTesting && (
        <Suspense fallback={null}>
          <TestSequence path={path} campaign={campaign} onClose={() => setTesting(false)} />
        </Suspense>
      )}
      {isAsking && status === 'draft' && <DeleteDraft path={path} name={name} onClose={close} />}
      {isAsking && status !== 'draft' && (
        <Confirm
          title={texts.archiveTitle}
          action={texts.archive}
          onConfirm={() => step.mutateAsync('archive')}
          onClose={close}
        >
          {texts.archiveText(name)}
        </Confirm>
      )}
    </>
  )
}

/** Duplicates the campaign and opens the copy. */
function Duplicate({ path }: { path: CampaignPath }) {
  const texts = textsOf('campaigns')
  const client = useQueryClient()
  const navigate = useNavigate()
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      take(api.POST('/dashboard/api/b/{businessId}/campaigns/{campaignId}/duplicate', { params: { path } })),
    onSuccess: async ({ campaign: { campaignId } }) => {
      const { businessId } = path
      showToast(texts.duplicated)
      void client.invalidateQueries({ queryKey: campaignsQuery(businessId).queryKey })
      const params = { businessId, campaignId }
      await navigate({ to: '/dashboard/b/$businessId/campaigns/$campaignId', params, search: { tab: 'steps' } })
    },
    onError: showError,
  })
  return (
    <Button icon="copy" isPending={isPending} onClick={() => mutate()}>
      {texts.duplicate}
    </Button>
  )
}

interface DeleteDraftProps {
  path: CampaignPath
  name: string
  onClose: () => void
}

function DeleteDraft({ path, name, onClose }: DeleteDraftProps) {
  const texts = textsOf('campaigns')
  const client = useQueryClient()
  const navigate = useNavigate()
  const { businessId } = path
  async function remove() {
    await take(api.DELETE('/dashboard/api/b/{businessId}/campaigns/{campaignId}', { params: { path } }))
    showToast(texts.done.remove)
    await navigate({ to: '/dashboard/b/$businessId/campaigns', params: { businessId } })
    client.removeQueries({ queryKey: campaignQuery(path).queryKey })
    void client.invalidateQueries({ queryKey: campaignsQuery(businessId).queryKey })
  }
  return (
    <Confirm title={texts.removeTitle} action={texts.remove} onConfirm={remove} onClose={onClose}>
      {texts.removeText(name)}
    </Confirm>
  )
}
