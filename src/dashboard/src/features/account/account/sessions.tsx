import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { showError, showToast } from '../../../parts/feedback/toast.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './account.module.css'
import { nameBrowser } from './name-browser.ts'
import { sessionsQuery } from './queries.ts'

export function Sessions() {
  const texts = textsOf('account')
  const client = useQueryClient()
  const sessions = useQuery(sessionsQuery)
  const end = useMutation({
    mutationFn: (sessionId: string) =>
      take(api.DELETE('/dashboard/api/me/sessions/{sessionId}', { params: { path: { sessionId } } })),
    onSuccess: () => showToast(texts.ended),
    onError: showError,
    onSettled: () => client.invalidateQueries(sessionsQuery),
  })
  return (
    <Section title={texts.sessions} intro={texts.sessionsIntro}>
      <ErrorBox error={sessions.error} onRetry={() => void sessions.refetch()} />
      {sessions.isPending && <Loading />}
      <ul className={styles['sessions']}>
        {sessions.data?.map(({ id, userAgent, address, seenAt, isCurrent }) => {
          const browser = nameBrowser(userAgent) ?? texts.unknownBrowser
          return (
            <li key={id}>
              <div className={styles['session']}>
                <span className="row">
                  <strong title={userAgent}>{browser}</strong>
                  {isCurrent && <Badge kind="good">{texts.thisOne}</Badge>}
                </span>
                <span className="muted small">
                  <bdi>{address}</bdi> · {texts.lastUsed} <Time at={seenAt} as="ago" />
                </span>
              </div>
              {!isCurrent && (
                <Button
                  size="small"
                  aria-label={`${texts.end}: ${browser}, ${address}`}
                  isPending={end.isPending && end.variables === id}
                  onClick={() => end.mutate(id)}
                >
                  {texts.end}
                </Button>
              )}
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
