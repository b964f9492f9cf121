/** The steps as bars, with the figures of each. */
import { formatPercent } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Share } from '../../../parts/value/share.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import styles from '../analytics.module.css'
import { formatSeconds } from '../format-seconds.ts'
import { useChange } from '../frame.tsx'
import type { Funnel } from '../queries.ts'
import type { FunnelSearch } from '../search.ts'
import { nameOfStep } from './name-of-step.ts'

interface StepTableProps {
  funnel: Funnel
  search: FunnelSearch
}

export function StepTable({ funnel: { steps }, search }: StepTableProps) {
  const texts = textsOf('analytics')
  const change = useChange<FunnelSearch>()
  const canSee = useCan('contacts:read')
  return (
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={texts.steps}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{texts.step}</th>
            <th scope="col">{texts.contacts}</th>
            <th scope="col">{texts.conversion}</th>
            <th scope="col">{texts.fromBefore}</th>
            <th scope="col">{texts.medianTime}</th>
            <th scope="col">{texts.dropped}</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step, at) => {
            const { contacts, conversion, stepConversion, medianSeconds, dropped } = step
            const isShown = search.dropped === at + 1
            return (
              <tr key={at}>
                <th scope="row">
                  <bdi className="foreign">{nameOfStep(step.event, at)}</bdi>
                </th>
                <td>
                  <Num value={contacts} />
                </td>
                <td className={styles['bar']}>{conversion === null ? '–' : <Share share={conversion} />}</td>
                <td>{at === 0 || stepConversion === null ? '–' : formatPercent(stepConversion)}</td>
                <td>{medianSeconds === null ? '–' : formatSeconds(medianSeconds)}</td>
                <td>
                  {canSee && dropped > 0 ? (
                    <Button
                      size="small"
                      kind="quiet"
                      aria-expanded={isShown}
                      aria-label={texts.whoDropped(String(dropped), nameOfStep(step.event, at))}
                      onClick={() => change({ dropped: isShown ? undefined : at + 1 })}
                    >
                      <Num value={dropped} />
                    </Button>
                  ) : (
                    <Num value={dropped} />
                  )}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
