/** Plots latency against the offered rate as SVG: one line per percentile, with milliseconds on a logarithmic axis. */
import type { Point } from './scenarios/scenario.ts'

const WIDTH = 720
const HEIGHT = 400
const LEFT = 60
const RIGHT = 80
const TOP = 40
const BOTTOM = 50

const LINES = { p50: '#2a7', p99: '#d80', p999: '#c33' } as const
const NAMES = { p50: 'p50', p99: 'p99', p999: 'p99.9' } as const
type Line = keyof typeof LINES

export function plotLatency(points: Point[]): string {
  const most = Math.max(...points.map(({ rate }) => rate))
  const values = points.flatMap(({ p50, p99, p999 }) => [p50, p99, p999])
  const decades = range(Math.floor(Math.log10(Math.min(...values, 1))), Math.ceil(Math.log10(Math.max(...values, 10))))
  const [lowest = 0, highest = 1] = [decades[0], decades.at(-1)]
  const x = (rate: number) => LEFT + (rate / most) * (WIDTH - LEFT - RIGHT)
  const y = (ms: number) =>
    HEIGHT - BOTTOM - ((Math.log10(Math.max(ms, 10 ** lowest)) - lowest) / (highest - lowest)) * (HEIGHT - TOP - BOTTOM)

  const grid = decades.map((decade) => {
    const at = y(10 ** decade)
    return `<line x1="${LEFT}" y1="${at}" x2="${WIDTH - RIGHT}" y2="${at}" stroke="#ddd"/>${text(LEFT - 8, at + 4, `${10 ** decade}`, 'end')}`
  })
  const ticks = points.map(({ rate }) => text(x(rate), HEIGHT - BOTTOM + 20, rate.toLocaleString('en'), 'middle'))
  const lines = (Object.keys(LINES) as Line[]).map((line) => {
    const places = points.map((point) => [x(point.rate), y(point[line])] as const)
    const [endX = 0, endY = 0] = places.at(-1) ?? []
    const dots = places.map(([atX, atY]) => `<circle cx="${atX}" cy="${atY}" r="3" fill="${LINES[line]}"/>`)
    return `<polyline points="${places.map((place) => place.join(',')).join(' ')}" fill="none" stroke="${LINES[line]}" stroke-width="2"/>${dots.join('')}${text(endX + 8, endY + 4, NAMES[line], 'start', LINES[line])}`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(LEFT, 20, 'Answer latency in ms against offered requests a second (open loop)', 'start'),
    ...grid,
    ...ticks,
    ...lines,
    '</svg>\n',
  ].join('\n')
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at)

const text = (x: number, y: number, words: string, anchor: string, fill = '#333'): string =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${fill}">${words}</text>`
