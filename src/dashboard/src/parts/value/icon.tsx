import { type IconName, SHAPES } from './icon-shapes.ts'

/** Icons that point in the direction of the text. They are mirrored in right-to-left text. */
const DIRECTED: readonly IconName[] = ['forward', 'back', 'out', 'external', 'send', 'campaign']

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  const isTurned = DIRECTED.includes(name) && document.documentElement.dir === 'rtl'
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      style={{ flex: 'none', ...(isTurned && { transform: 'scaleX(-1)' }) }}
    >
      <path d={SHAPES[name]} />
    </svg>
  )
}
