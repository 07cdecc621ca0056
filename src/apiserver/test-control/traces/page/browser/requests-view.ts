/** The list of requests with its filters, and the request that is selected. */
import type { TracedBody, TracedRequest } from '../../trace-data.ts'
import { keyOf } from '../model/histories.ts'
import { isComponent, noFilter, type RequestFilter, selectRequests, targetOf } from '../model/request-filter.ts'
import type { TimeBin } from '../model/time-bins.ts'
import { element, facts, hashOf, link } from './element.ts'
import { statusClass } from './overview.ts'
import { durationText, offsetText, type Trace } from './trace.ts'
import type { View } from './view.ts'
import { VirtualList } from './virtual-list.ts'

export interface RequestsView {
  readonly view: View
  /** Shows the requests of a part of the timeline; undefined for all. */
  select(bin: TimeBin | undefined): void
}

const rowHeight = 26

export function requestsView(trace: Trace): RequestsView {
  const all = trace.data.requests
  // A trace without requests of a user would be an empty list.
  let filter: RequestFilter = { ...noFilter, components: all.every(isComponent) }
  let shown: readonly TracedRequest[] = []
  let current: number | undefined
  const detail = element('article', { class: 'detail', 'aria-live': 'polite' })
  const total = element('output', {})
  const list = new VirtualList({
    ...{ label: 'Requests', rowHeight },
    select: (index) => (location.hash = hashOf('requests', shown[index]!.number)),
  })
  const apply = (change: Partial<RequestFilter>): void => {
    filter = { ...filter, ...change }
    shown = selectRequests(all, filter)
    total.textContent = `${shown.length} of ${all.length}`
    list.show(
      shown.map((request) => () => rowOf(trace, request)),
      shown.findIndex(({ number }) => number === current),
    )
  }
  const open = ([number]: readonly string[]): void => {
    const request = all.find((one) => `${one.number}` === number)
    if (!request) return
    current = request.number
    detail.replaceChildren(...detailOf(trace, request))
    if (!shown.includes(request)) {
      filters.showAll()
      apply({ ...noFilter, components: true, from: undefined, to: undefined })
    }
    list.select(shown.indexOf(request))
  }
  const filters = filterForm(trace, filter, apply)
  apply({})
  return {
    view: {
      root: element(
        'div',
        { class: 'split' },
        element('div', { class: 'pane' }, filters.root, total, list.root),
        detail,
      ),
      open,
    },
    select: (bin) => apply({ from: bin?.from, to: bin?.to }),
  }
}

function filterForm(
  { data: { requests } }: Trace,
  { components }: RequestFilter,
  apply: (change: Partial<RequestFilter>) => void,
): { readonly root: HTMLElement; showAll(): void } {
  const text = element('input', { type: 'search', placeholder: 'Words in path, user, bodies', 'aria-label': 'Words' })
  text.addEventListener('input', () => apply({ text: text.value }))
  const choice = (name: 'verb' | 'resource' | 'user' | 'status', options: readonly (readonly [string, string])[]) => {
    const all = element('option', { value: '' }, `any ${name}`)
    const rest = options.map(([value, title]) => element('option', { value }, title))
    const select = element('select', { 'aria-label': name }, all, ...rest)
    select.addEventListener('change', () => apply({ [name]: select.value }))
    return select
  }
  const found = (values: readonly string[]) =>
    [...new Set(values)].sort().map((value) => [value, value || '(none)'] as const)
  const box = element('input', { type: 'checkbox', checked: components })
  box.addEventListener('change', () => apply({ components: box.checked }))
  const root = element(
    'form',
    { class: 'filters', 'aria-label': 'Filters' },
    text,
    choice('verb', found(requests.map(({ verb }) => verb))),
    choice('resource', found(requests.map(targetOf))),
    choice('user', found(requests.map(({ user }) => user))),
    choice('status', [
      ['errors', 'errors'],
      ['faults', 'hit by a fault'],
      ...['2', '3', '4', '5'].map((digit) => [digit, `${digit}xx`] as const),
    ]),
    element('label', {}, box, 'with controllers, scheduler and nodes'),
  )
  // Enter in a field would load the page once more.
  root.addEventListener('submit', (event) => event.preventDefault())
  const showAll = (): void => {
    root.reset()
    box.checked = true
  }
  return { root, showAll }
}

function rowOf(trace: Trace, request: TracedRequest): HTMLElement {
  const { verb, path, code, user, time, durationMs } = request
  return element(
    'div',
    { class: 'row' },
    element('span', { class: 'time' }, offsetText(trace, time)),
    element('span', { class: statusClass(code) }, `${code}`),
    element('span', { class: 'verb' }, verb),
    element('span', { class: 'path', title: path }, path),
    element('span', { class: 'user', title: user }, user),
    element('span', { class: 'time' }, durationText(durationMs)),
  )
}

function detailOf(trace: Trace, request: TracedRequest): (HTMLElement | string)[] {
  const { method, path, code, user, groups, impersonator, userAgent, time, durationMs, events, fault } = request
  const history = trace.histories.get(keyOf(request))
  return [
    element('h2', {}, element('span', { class: statusClass(code) }, `${code}`), `${request.verb} ${targetOf(request)}`),
    facts([
      ['Request', `${method} ${path}`],
      ['Time', `${offsetText(trace, time)} (${new Date(time).toISOString()})`],
      ['Duration', `${durationText(durationMs)}${events === undefined ? '' : `, ${events} events`}`],
      ['User', user || '(none)'],
      ['Groups', groups?.join(', ')],
      ['Impersonated by', impersonator],
      ['User agent', userAgent],
      ['Fault', fault === undefined ? undefined : `hit by fault ${fault}`],
      ['Object', history && link(hashOf('objects', history.key), `${history.kind} ${history.name}`)],
    ]),
    ...bodyOf('Body of the request', request.request),
    ...bodyOf('Body of the answer', request.response),
  ]
}

function bodyOf(title: string, body: TracedBody | undefined): HTMLElement[] {
  if (!body) return []
  const note = body.omitted ? element('p', { class: 'notice' }, body.omitted) : undefined
  return [
    element('h3', {}, `${title}, ${body.bytes} bytes`),
    ...(note ? [note] : []),
    ...(body.text ? [element('pre', {}, pretty(body.text))] : []),
  ]
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}
