import { Badge } from '../../parts/value/badge.tsx'

const METHOD_KINDS = { get: 'good', post: 'accent', delete: 'bad' } as const

export function Method({ name }: { name: string }) {
  const kind = name in METHOD_KINDS ? METHOD_KINDS[name as keyof typeof METHOD_KINDS] : 'warn'
  return <Badge kind={kind}>{name.toUpperCase()}</Badge>
}
