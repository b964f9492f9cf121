/** The canvas of a chart. */
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatOnClock, utcOf } from '../../format.ts'
import { theme } from '../../preferences.ts'
import { useStore } from '../../store.ts'
import type { ChartProps } from './chart-props.ts'
import styles from './chart.module.css'
import { type Drawn, drawEach, drawStack } from './stack.ts'
import { areRound, areWithinDays, labelsOf, stepsOfValues, ticksOf } from './ticks.ts'

export function Plot(props: ChartProps & Required<Pick<ChartProps, 'height' | 'format' | 'formatAt'>>) {
  const { times, series, height, kind } = props
  const ref = useRef<HTMLDivElement>(null)
  const readout = useRef<HTMLDivElement>(null)
  const chosenTheme = useStore(theme)
  const isDark = useSystemTheme()
  useEffect(() => {
    const frame = ref.current
    if (frame === null) return
    const drawn = kind === 'stack' ? drawStack(series) : drawEach(series)
    const data = [times, ...drawn.map(({ values }) => values)] as unknown as uPlot.AlignedData
    const plot = new uPlot(optionsOf(props, drawn, frame, readout.current), data, frame)
    const observer = new ResizeObserver(() => plot.setSize({ width: frame.clientWidth, height }))
    observer.observe(frame)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
    // The theme is a dependency because colours are read when the chart is drawn.
  }, [props, times, series, height, kind, chosenTheme, isDark])
  return (
    <div ref={ref} dir="ltr" className={styles['plot']}>
      <div ref={readout} className={styles['readout']} hidden />
    </div>
  )
}

const DARK = matchMedia('(prefers-color-scheme: dark)')

function useSystemTheme(): boolean {
  return useStore({
    get: () => DARK.matches,
    set: () => undefined,
    subscribe(listener) {
      DARK.addEventListener('change', listener)
      return () => DARK.removeEventListener('change', listener)
    },
  })
}

type Options = ChartProps & Required<Pick<ChartProps, 'height' | 'format' | 'formatAt'>>

/** Half of the last label of the times may stand beside the plot. */
const LAST_LABEL_PX = 30

function optionsOf(
  { times, series, kind = 'line', height, format, formatAt, formatStep, starts }: Options,
  drawn: readonly Drawn[],
  frame: HTMLElement,
  readout: HTMLElement | null,
): uPlot.Options {
  const colour = (name: string) => resolve(frame, name)
  const grid = { stroke: colour('--border'), width: 1 }
  const axis = { stroke: colour('--muted'), grid, ticks: { show: false }, font: '11px system-ui', gap: 6 }
  const isStack = kind === 'stack'
  const incrs = stepsOfValues(series)
  const bars = uPlot.paths.bars?.({ size: [0.7, 40], radius: isStack ? 0 : 0.15 })
  return {
    width: frame.clientWidth,
    height,
    legend: { show: false },
    padding: [null, LAST_LABEL_PX, null, null],
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: {
      x: { time: formatStep === undefined, ...(kind !== 'line' && { range: wholeBars }) },
      y: { range: (_, min, max) => [Math.min(0, min * 1.08), max <= 0 ? 1 : max * 1.08] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        splits: (plot, _axis, min, max) => ticksOf(times, { min, max, width: plot.bbox.width / devicePixelRatio }),
        values: (_, ticks) => (formatStep ? ticks.map(formatStep) : labelTimes(ticks, times, formatAt)),
      },
      {
        ...axis,
        size: 52,
        ...(incrs && { incrs }),
        values: (_, ticks) => ticks.map((tick) => format(isStack ? Math.abs(tick) : tick)),
      },
    ],
    series: [
      {},
      ...drawn.map(({ label, place }) => {
        const stroke = colour(`--chart-${(place % 4) + 1}`)
        return {
          label,
          stroke,
          width: isStack ? 0 : 1.6,
          points: { show: false },
          ...(kind !== 'line' && bars && { fill: stroke, paths: bars }),
        }
      }),
    ],
    hooks: {
      setCursor: [
        (plot) => {
          if (readout === null) return
          const at = plot.cursor.idx
          const time = at == null ? undefined : plot.data[0][at]
          readout.hidden = at == null || time === undefined
          if (at == null || time === undefined) return
          const parts = series.map(({ label, values }) => `${label}: ${values[at] == null ? '–' : format(values[at])}`)
          const shown = formatStep?.(time) ?? formatAt(new Date(time * 1000))
          const utc = utcOf(starts?.[at])
          readout.textContent = [utc === undefined ? shown : `${shown} (${utc})`, ...parts].join('  ·  ')
        },
      ],
    },
  }
}

const DAY_S = 86_400

/**
 * Extends the range by half an interval on either side, so that the first and the last bar are as wide as the others.
 */
function wholeBars({ data: [times] }: uPlot, min: number, max: number): [number, number] {
  const half = times.length > 1 ? (max - min) / (times.length - 1) / 2 : DAY_S / 2
  return [min - half, max + half]
}

/**
 * Formats ticks for the reader's region. The first tick has the year, and so does each tick at which the year changes.
 */
function labelTimes(ticks: number[], times: readonly number[], formatAt: (at: Date) => string): string[] {
  if (times.length === 1) return ticks.map((tick) => formatAt(new Date(tick * 1000)))
  const { minute, second, dayOfYear, year } = formatOnClock
  return areWithinDays(times)
    ? labelsOf(ticks, { short: areRound(ticks) ? minute : second, long: dayOfYear })
    : labelsOf(ticks, { short: dayOfYear, long: year })
}

/** Returns the computed colour: a canvas cannot use `light-dark()`. */
function resolve(frame: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  frame.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
