/** First steps in an empty installation. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, take } from '../../client.ts'
import { formatNumber } from '../../format.ts'
import { Button } from '../../parts/action/button.tsx'
import { Code } from '../../parts/value/code.tsx'
import { Section } from '../../parts/page/page.tsx'
import { showError, showToast } from '../../parts/feedback/toast.tsx'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import { firstEvent } from '../data/links.ts'
import styles from './home.module.css'

export function FirstSteps({ businessId }: { businessId: string }) {
  const texts = textsOf('home')
  const canLoad = useCan('business:write')
  return (
    <Section title={texts.firstSteps} intro={texts.firstStepsIntro}>
      <ol className={styles['steps']}>
        <li>
          <Link to="/dashboard/b/$businessId/settings/keys" params={{ businessId }}>
            {texts.stepKey}
          </Link>
        </li>
        <li>
          <Code label={texts.stepEvent} text={firstEvent(location.origin)} />
        </li>
        <li>
          <Link to="/dashboard/b/$businessId/settings/business" params={{ businessId }}>
            {texts.stepPage}
          </Link>
        </li>
      </ol>
      {canLoad && <LoadDemo businessId={businessId} />}
    </Section>
  )
}

function LoadDemo({ businessId }: { businessId: string }) {
  const texts = textsOf('home')
  const client = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: () => take(api.POST('/dashboard/api/b/{businessId}/demo', { params: { path: { businessId } } })),
    onSuccess: ({ contacts, events }) => showToast(texts.demoLoaded(formatNumber(contacts), formatNumber(events))),
    onError: showError,
    onSettled: () => client.invalidateQueries(),
  })
  return (
    <div className={styles['demo']}>
      <Button isPending={isPending} onClick={() => mutate()}>
        {texts.loadDemo}
      </Button>
      <p className="muted small">{texts.demoHint}</p>
    </div>
  )
}
