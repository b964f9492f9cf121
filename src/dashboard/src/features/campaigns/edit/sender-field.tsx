import { useQuery } from '@tanstack/react-query'
import { SelectField } from '../../../parts/form/field.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { sendersQuery } from '../../settings/links.ts'
import type { StepFieldProps } from './editing.ts'

/** Only where the channel has several senders, or the step names one. */
export function SenderField({ step, path: _, value, onChange, ...rest }: StepFieldProps) {
  const texts = textsOf('campaign-editor')
  const { id: businessId } = useBusiness()
  const { data } = useQuery(sendersQuery(businessId))
  const chosen = typeof value === 'string' ? value : ''
  const keys = (data?.senders ?? []).flatMap(({ channel, key }) => (channel === step['channel'] ? [key] : []))
  if (chosen === '' && keys.length < 2) return null
  const listed = chosen === '' || keys.includes(chosen) ? keys : [...keys, chosen]
  return (
    <SelectField
      {...rest}
      value={chosen}
      options={[{ value: '', label: texts.usualSender }, ...listed.map((key) => ({ value: key, label: key }))]}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
    />
  )
}
