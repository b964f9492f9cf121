import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useSpeaker } from '../rules/use-speaker.ts'
import { templatesQuery } from '../templates/links.ts'
import type { StepSpeaker } from './steps.ts'

/** Returns what describing steps needs. The route loads the texts `campaigns` and `segment-rules`. */
export function useStepSpeaker(businessId: string): StepSpeaker {
  const speaker = useSpeaker(businessId)
  const templates = useQuery(templatesQuery(businessId)).data
  // Until the templates are read, no template counts as deleted.
  return useMemo(() => {
    const names = templates && new Map(templates.map(({ templateId, name }) => [templateId, name]))
    return { ...speaker, nameOfTemplate: (id) => (names === undefined ? '…' : names.get(id)) }
  }, [speaker, templates])
}
