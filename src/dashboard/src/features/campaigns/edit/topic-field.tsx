import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import { SelectField } from '../../../parts/form/field.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import type { StepFieldProps } from './editing.ts'

const topicsQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['topics', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/topics', { params: { path: { businessId } }, signal })),
  })

/** Only for marketing by a channel that has topics, or where the step names one. */
export function TopicField({ step, path: _, value, onChange, ...rest }: StepFieldProps) {
  const { id: businessId } = useBusiness()
  const { data } = useQuery(topicsQuery(businessId))
  const chosen = typeof value === 'string' ? value : ''
  const isMarketing = step['kind'] !== 'transactional'
  const keys = (data?.topics ?? []).flatMap(({ key, status, channels }) =>
    isMarketing && status === 'active' && channels.some((one) => one === step['channel']) ? [key] : [],
  )
  if (chosen === '' && keys.length === 0) return null
  const listed = chosen === '' || keys.includes(chosen) ? keys : [...keys, chosen]
  return (
    <SelectField
      {...rest}
      value={chosen}
      options={[
        { value: '', label: textsOf('campaign-editor').noTopic },
        ...listed.map((key) => ({ value: key, label: key })),
      ]}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
    />
  )
}
