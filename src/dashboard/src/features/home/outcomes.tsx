/** Number of requests in the last minute by outcome. Each outcome links to its requests. */
import { Link } from '@tanstack/react-router'
import { Badge, type BadgeKind } from '../../parts/value/badge.tsx'
import { Num } from '../../parts/value/values.tsx'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './home.module.css'
import type { Status } from './queries.ts'

type Counts = NonNullable<Status['minute']>['outcomes']

/** The same colours as on the page of live requests, whose files are not loaded here. */
const KINDS = {
  done: 'good',
  warned: 'warn',
  queued: 'accent',
  refused: 'bad',
  limited: 'warn',
  failed: 'bad',
} as const satisfies Record<string, BadgeKind>
type Outcome = keyof typeof KINDS

export function Outcomes({ businessId, counts }: { businessId: string; counts: Counts }) {
  const texts = textsOf('home')
  const canLook = useCan('contacts:read')
  return (
    <ul className={styles['outcomes']} aria-label={texts.byOutcome}>
      {(Object.keys(KINDS) as Outcome[]).map((outcome) => {
        const name = <Badge kind={KINDS[outcome]}>{texts.outcomes[outcome]}</Badge>
        return (
          <li key={outcome}>
            {canLook ? (
              <Link to="/dashboard/b/$businessId/live" params={{ businessId }} search={{ outcome }}>
                {name}
              </Link>
            ) : (
              name
            )}{' '}
            <Num value={counts[outcome] ?? 0} />
          </li>
        )
      })}
    </ul>
  )
}
