/** Line icons, 16 by 16, drawn in the colour of the text. */
const SHAPES = {
  home: 'M2.5 7.5 8 3l5.5 4.5V13a.5.5 0 0 1-.5.5H9.8V10H6.2v3.5H3a.5.5 0 0 1-.5-.5z',
  live: 'M1.5 8h3l2-4.5 3 9 2-4.5h3',
  people:
    'M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM1.8 13.2c0-2.3 1.9-3.7 4.2-3.7s4.2 1.4 4.2 3.7M10.6 3.2a2.2 2.2 0 0 1 0 4.1M12 9.9c1.4.5 2.2 1.7 2.2 3.3',
  person: 'M8 7.7a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM3 13.5c0-2.6 2.2-4 5-4s5 1.4 5 4',
  fields: 'M2.5 4h11M2.5 8h7M2.5 12h9',
  import: 'M8 2.5v7M5 6.7l3 3 3-3M2.5 11v2.5h11V11',
  send: 'M13.7 2.3 7.2 8.8M13.7 2.3 9.5 13.7 7.2 8.8 2.3 6.5z',
  key: 'M9.7 9.6a3.3 3.3 0 1 0-3.3-3.3c0 .4.1.8.2 1.1L2.5 11.5v2h2.2v-1.4h1.4v-1.4h1.4l1.1-1.2c.3.1.7.1 1.1.1z',
  settings:
    'M2.5 4.5h6M12 4.5h1.5M2.5 11.5H4M7.5 11.5h6M10.2 6a1.6 1.6 0 1 0 0-3.1 1.6 1.6 0 0 0 0 3.1zM5.8 13a1.6 1.6 0 1 0 0-3.1 1.6 1.6 0 0 0 0 3.1z',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.6 4h.01M2.6 8h.01M2.6 12h.01',
  gauge: 'M2.8 12a6 6 0 1 1 10.4 0M8 9.5l2.6-3.2',
  book: 'M8 4.2C6.8 3.2 5 3 2.5 3v9.5c2.5 0 4.3.2 5.5 1.2 1.2-1 3-1.2 5.5-1.2V3C11 3 9.2 3.2 8 4.2zM8 4.2v9.3',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5M9 3 7 13',
  chart: 'M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6',
  board: 'M2.5 2.5h4.5v6H2.5zM9 2.5h4.5v3.5H9zM2.5 10.5h4.5v3H2.5zM9 8h4.5v5.5H9z',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2',
  plus: 'M8 3v10M3 8h10',
  check: 'm3 8.5 3.2 3.2L13 4.8',
  close: 'm4 4 8 8M12 4l-8 8',
  grip: 'M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01',
  segments: 'M6.2 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM9.8 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8z',
  campaign: 'M2.5 6.4v3.2H5l6 3.4V3L5 6.4zM5 9.8v3.4h1.8M13.2 6.4a2.4 2.4 0 0 1 0 3.2',
  mail: 'M2 3.5h12v9H2zM2.3 4 8 8.7 13.7 4',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  up: 'm4.5 9.5 3.5-3.5 3.5 3.5',
  down: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  forward: 'm6.5 4.5 3.5 3.5-3.5 3.5',
  back: 'm9.5 4.5-3.5 3.5 3.5 3.5',
  sort: 'M5 3v10M2.8 10.8 5 13l2.2-2.2M11 13V3M8.8 5.2 11 3l2.2 2.2',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  external: 'M6 3H3v10h10v-3M9 3h4v4M13 3 7.5 8.5',
  warn: 'M8 2.5 14.3 13.3H1.7zM8 6.7v3M8 11.6h.01',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5V11M8 5.2h.01',
  trash: 'M3 4.5h10M6 4.5v-2h4v2M4.3 4.5l.6 9h6.2l.6-9',
  edit: 'm10.2 3.3 2.5 2.5-7 7H3.2v-2.5z',
  refresh: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.5v9l7.5-4.5z',
  filter: 'M2.5 3.5h11L9.5 8.5v4l-3 1v-5z',
  lock: 'M4 7.5h8v6H4zM5.7 7.5V5a2.3 2.3 0 0 1 4.6 0v2.5',
  out: 'M9.5 3H3v10h6.5M6.5 8h7M11 5.5 13.5 8 11 10.5',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.8.8M11.8 11.8l.8.8M3.4 12.6l.8-.8M11.8 4.2l.8-.8',
  keyboard: 'M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M5 9.5h6',
  building: 'M3 13.5V2.5h6.5v11M9.5 6H13v7.5M1.5 13.5h13M5.3 5.2h1.9M5.3 8h1.9M5.3 10.7h1.9',
} as const
export type IconName = keyof typeof SHAPES

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
