/** Filters a list by state. The state is in the URL. */
import { useNavigate } from '@tanstack/react-router'
import { SelectField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './campaign.module.css'
import type { CampaignSearch } from '../search.ts'

interface StateFilterProps<State extends string> {
  tab: CampaignSearch['tab']
  states: readonly State[]
  names: Record<State, string>
  chosen: State | undefined
}

export function StateFilter<State extends string>({ tab, states, names, chosen }: StateFilterProps<State>) {
  const texts = textsOf('campaigns')
  const navigate = useNavigate()
  const show = (state: string | undefined) =>
    void navigate({ to: '.', search: { tab, state }, replace: true, resetScroll: false })
  return (
    <search className={styles['filters']}>
      <SelectField
        name="state"
        label={texts.state}
        value={chosen ?? ''}
        options={[{ value: '', label: texts.anyState }, ...states.map((value) => ({ value, label: names[value] }))]}
        onChange={(event) => show(event.target.value || undefined)}
      />
    </search>
  )
}
