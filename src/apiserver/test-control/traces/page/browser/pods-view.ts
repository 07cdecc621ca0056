/** The view of pods that wait, of owners that cannot create pods, and of rejected pods. */
import type { TracedRequest } from '../../trace-data.ts'
import {
  failedOwners,
  type PodEvent,
  type Wait,
  type WaitingPod,
  waitingPods,
  withoutName,
} from '../model/pod-waits.ts'
import { messageOf } from '../model/request-filter.ts'
import { element, hashOf, link } from './element.ts'
import { offsetText, type Trace } from './trace.ts'
import type { View } from './view.ts'

export function podsView(trace: Trace): View {
  const pods = waitingPods(trace.histories)
  const owners = failedOwners(trace.histories)
  const rejected = trace.data.requests.filter(
    ({ verb, resource, subresource, code }) =>
      verb === 'create' && resource === 'pods' && subresource === '' && code >= 400,
  )
  const isEmpty = pods.length + owners.length + rejected.length === 0
  return {
    root: element(
      'div',
      { class: 'page' },
      isEmpty ? element('p', {}, 'No pod has waited.') : undefined,
      ...(owners.length > 0 ? [element('h2', {}, 'These objects could not create pods')] : []),
      ...owners.map(({ history, reasons }) =>
        element(
          'section',
          { class: 'card waiting' },
          element('h3', {}, objectLink(history.key, history.kind, history.namespace, history.name)),
          ...reasons.map((reason) => element('p', {}, reason)),
        ),
      ),
      ...rejections(trace, rejected),
      ...pods.map((pod) => podCard(trace, pod)),
    ),
  }
}

const objectLink = (key: string, kind: string, namespace: string, name: string): HTMLElement =>
  link(hashOf('objects', key), `${kind} ${namespace ? `${namespace}/` : ''}${name}`)

/** Equal messages are shown once, with the first request. */
function rejections(trace: Trace, requests: readonly TracedRequest[]): HTMLElement[] {
  const groups = Map.groupBy(requests, (request) => withoutName(`${request.code} ${messageOf(request)}`))
  if (groups.size === 0) return []
  return [
    element('h2', {}, 'These pods were rejected'),
    ...[...groups.values()].map(([first, ...others]) =>
      element(
        'section',
        { class: 'card waiting' },
        element('h3', {}, link(hashOf('requests', first!.number), `create pods in ${first!.namespace}`)),
        element('p', {}, `${first!.code} ${messageOf(first!)}`),
        element(
          'p',
          { class: 'quiet' },
          `${offsetText(trace, first!.time)}${others.length > 0 ? `, and ${others.length} more times` : ''}`,
        ),
      ),
    ),
  ]
}

function podCard(trace: Trace, { history, isWaiting, waits, events }: WaitingPod): HTMLElement {
  const { key, kind, namespace, name } = history
  return element(
    'section',
    { class: isWaiting ? 'card waiting' : 'card' },
    element('h3', {}, objectLink(key, kind, namespace, name), isWaiting ? ' waits' : ' waited, and waits no more'),
    element('table', {}, element('tbody', {}, ...waits.map((wait) => waitRow(trace, wait)))),
    ...(events.length > 0
      ? [
          element(
            'details',
            { open: isWaiting },
            element('summary', {}, 'Events'),
            element('table', {}, element('tbody', {}, ...events.map((event) => eventRow(trace, event)))),
          ),
        ]
      : []),
  )
}

function waitRow(trace: Trace, { from, until, reason, message, source }: Wait): HTMLElement {
  const begin = from === undefined ? '' : `since ${offsetText(trace, from)}`
  const end = until === undefined ? (begin ? '' : 'at the end') : `until ${offsetText(trace, until)}`
  return element(
    'tr',
    { class: until === undefined ? 'open' : 'done' },
    element('td', {}, `${begin} ${end}`),
    element('td', {}, element('strong', {}, reason), element('span', { class: 'quiet' }, ` ${source}`)),
    element('td', {}, message),
  )
}

const eventRow = (trace: Trace, { time, type, reason, message, count }: PodEvent): HTMLElement =>
  element(
    'tr',
    { class: type === 'Warning' ? 'open' : 'done' },
    element('td', {}, offsetText(trace, time)),
    element('td', {}, element('strong', {}, reason), count > 1 ? ` × ${count}` : ''),
    element('td', {}, message),
  )
