/** The timeline: requests, errors and versions over time. A selected part filters the requests. */
import { type TimeBin, timeBins } from '../model/time-bins.ts'
import { element } from './element.ts'
import { count, offsetText, type Trace } from './trace.ts'

const bins = 120
const height = 44
const versionsHeight = 12
const svgNamespace = 'http://www.w3.org/2000/svg'

export interface Timeline {
  readonly root: HTMLElement
  /** Marks nothing. */
  clear(): void
}

/** `select` is called with a part, and with undefined when the selection is removed. */
export function timeline(trace: Trace, select: (bin: TimeBin | undefined) => void): Timeline {
  const parts = timeBins(trace.data, bins)
  const caption = element('output', {})
  const drawing = document.createElementNS(svgNamespace, 'svg')
  drawing.setAttribute('viewBox', `0 0 ${parts.length} ${height + versionsHeight}`)
  drawing.setAttribute('preserveAspectRatio', 'none')
  drawing.setAttribute('aria-hidden', 'true')
  const marks = draw(drawing, parts)
  let selected = -1
  const mark = (index: number): void => {
    marks[selected]?.classList.remove('selected')
    selected = index
    marks[index]?.classList.add('selected')
    caption.textContent = parts[index] ? textOf(trace, parts[index]) : summary(trace)
  }
  const choose = (index: number): void => {
    mark(index)
    select(parts[index])
  }
  const root = element(
    'section',
    { class: 'timeline', tabindex: 0, 'aria-label': 'Timeline: arrow keys select a part, Escape selects all' },
    drawing as unknown as HTMLElement,
    caption,
  )
  drawing.addEventListener('click', ({ offsetX }) => {
    const index = Math.floor((offsetX / drawing.clientWidth) * parts.length)
    choose(index === selected ? -1 : index)
  })
  root.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') choose(-1)
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step !== 0) choose(Math.min(parts.length - 1, Math.max(0, selected + step)))
  })
  mark(-1)
  return { root, clear: () => mark(-1) }
}

const summary = ({ data: { begin, end, requests, versions } }: Trace): string =>
  `${((end - begin) / 1000).toFixed(3)} s: ${count(requests.length, 'request')}, ` +
  `${count(versions.length, 'version')} of objects`

const textOf = (trace: Trace, { from, to, requests, errors, versions }: TimeBin): string =>
  `${offsetText(trace, from)} to ${offsetText(trace, to)}: ${count(requests, 'request')}, ` +
  `${count(errors, 'error')}, ${count(versions, 'version')} of objects`

/** Returns the background of each part. */
function draw(drawing: SVGElement, parts: readonly TimeBin[]): SVGElement[] {
  const most = Math.max(1, ...parts.map(({ requests }) => requests))
  const mostVersions = Math.max(1, ...parts.map(({ versions }) => versions))
  const rect = (x: number, y: number, size: number, name: string, opacity = 1): SVGElement => {
    const result = document.createElementNS(svgNamespace, 'rect')
    const values = { x, y, width: 1, height: size, class: name, opacity }
    for (const [attribute, value] of Object.entries(values)) result.setAttribute(attribute, `${value}`)
    drawing.append(result)
    return result
  }
  return parts.map(({ requests, errors, versions }, x) => {
    const back = rect(x, 0, height + versionsHeight, 'back')
    // Few requests beside many remain visible.
    const scaled = (number: number): number => Math.sqrt(number / most) * height
    if (requests > 0) rect(x, height - scaled(requests), scaled(requests), 'requests')
    if (errors > 0) rect(x, height - scaled(errors), scaled(errors), 'errors')
    if (versions > 0) rect(x, height + 2, versionsHeight - 2, 'versions', 0.3 + 0.7 * (versions / mostVersions))
    return back
  })
}
