import type { BusinessEndpoint } from '../business-endpoint.ts'

export type SegmentEndpoint = Omit<BusinessEndpoint, 'operation'> & {
  operation: Omit<BusinessEndpoint['operation'], 'tag'>
}

export const withSegmentsTag = ({ operation, ...endpoint }: SegmentEndpoint): BusinessEndpoint => ({
  ...endpoint,
  operation: { ...operation, tag: 'Segments' },
})
