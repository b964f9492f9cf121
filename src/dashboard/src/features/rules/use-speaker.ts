import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { formatNumber, formatTime } from '../../format.ts'
import { textsOf } from '../../texts/index.ts'
import { fieldsQuery, segmentsQuery } from './queries.ts'
import type { FieldTypes } from './condition.ts'
import type { Speaker } from './sentence.ts'

/** Returns what describing the business's rules needs. The route loads the texts `segment-rules`. */
export function useSpeaker(businessId: string): Speaker {
  const words = textsOf('segment-rules')
  const segments = useQuery(segmentsQuery(businessId)).data?.segments
  const groups = useQuery(fieldsQuery(businessId, '')).data?.groups
  return useMemo(() => {
    const fields = groups?.find(({ group }) => group === 'Custom fields')?.fields ?? []
    const fieldTypes: FieldTypes = new Map(
      fields.map(({ condition, type }) => [String(condition['customField']), type] as const),
    )
    const names = new Map(segments?.map(({ segmentId, name }) => [segmentId, name]))
    const nameOfSegment = (id: string) => names.get(id)
    return { words, fieldTypes, nameOfSegment, formatNumber, formatTime }
  }, [words, segments, groups])
}
